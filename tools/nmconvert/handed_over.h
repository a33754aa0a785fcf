// HandedOverFile: an output that is checked again before it gets its name. No other program sees
// the output until then, so the report about it is true from the moment at which others can see it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "files/files.h"
#include "nmconvert/conversion_record.h"

namespace nmb::tools {

struct HandOver {
  const FileSource* input = nullptr;
  // Checks that the input, opened again as `now`, still has the content that was read. If this is
  // empty, the size and time of the input are compared instead.
  std::function<Status(const ByteSource& now)> unchanged{};
  bool digest = false;   // whether to compute SHA-256 of input and output
  bool compare = false;  // whether to keep the existing target, which the output must equal
  unsigned threads = 1;
  const std::atomic<bool>* cancel = nullptr;
  ConversionRecord* record = nullptr;  // receives the length and the digests
};

// Returns a layer for OutputLayer that checks the output when publish() is called. publish() fails
// with kDamaged if the input was replaced after it was opened. If `compare` is true, publish()
// fails with kExists if the output differs from the target.
std::unique_ptr<OutputFile> hand_over(std::unique_ptr<OutputFile> file, const HandOver& how);

}  // namespace nmb::tools
