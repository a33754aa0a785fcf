// HandedOverFile: an output that is checked again before it gets its name, so that everything a
// report says of it was true before anybody could see it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "nmb/files.h"
#include "nmconvert/conversion_record.h"

namespace nmb::tools {

struct HandOver {
  const FileSource* input = nullptr;
  // If set, it says whether the input, opened again, is still what was read; otherwise its size and
  // time decide.
  std::function<Status(const ByteSource& now)> unchanged{};
  bool digest = false;   // computes SHA-256 of input and output
  bool compare = false;  // the target exists: it must be equal to this file, and stays
  unsigned threads = 1;
  const std::atomic<bool>* cancel = nullptr;
  ConversionRecord* record = nullptr;  // gets length and digests
};

// Returns a layer for OutputLayer. publish() fails with kDamaged if the input was replaced after it
// was opened, and with kExists if the target is to be compared and differs.
std::unique_ptr<OutputFile> hand_over(std::unique_ptr<OutputFile> file, const HandOver& how);

}  // namespace nmb::tools
