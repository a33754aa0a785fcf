// HandedOverFile: an output that is looked at once more before it gets its name, so that what a
// report says of it was so before anybody could see it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "nmb/files.h"
#include "nmconvert/conversion_record.h"

namespace nmb::tools {

struct HandOver {
  const FileSource* input = nullptr;
  // Set: says whether the input, opened anew, is what was read; else its size and time do.
  std::function<Status(const ByteSource& now)> unchanged{};
  bool digest = false;   // SHA-256 of input and output
  bool compare = false;  // the target exists: it must be this very file, and stays
  unsigned threads = 1;
  const std::atomic<bool>* cancel = nullptr;
  ConversionRecord* record = nullptr;  // gets length and digests
};

// A layer for OutputLayer. publish() fails with kDamaged if the input is another file than when it
// was opened, and with kExists if the target is to be compared and is another.
std::unique_ptr<OutputFile> hand_over(std::unique_ptr<OutputFile> file, const HandOver& how);

}  // namespace nmb::tools
