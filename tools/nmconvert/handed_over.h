// HandedOverFile: an output that is checked again before it gets its name. Everything that a report
// says about the output is then true before another program can see it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "nmb/files.h"
#include "nmconvert/conversion_record.h"

namespace nmb::tools {

struct HandOver {
  const FileSource* input = nullptr;
  // Checks that the input, opened again as `now`, still has the content that was read. If no
  // function is given, the size and time of the input are compared.
  std::function<Status(const ByteSource& now)> unchanged{};
  bool digest = false;   // computes SHA-256 of input and output
  bool compare = false;  // the target exists; it must equal this file, and is kept
  unsigned threads = 1;
  const std::atomic<bool>* cancel = nullptr;
  ConversionRecord* record = nullptr;  // receives the length and the digests
};

// Returns a layer for OutputLayer that checks the output. The layer's publish() fails with kDamaged
// if the input was replaced after it was opened, and with kExists if `compare` is true and the
// target differs.
std::unique_ptr<OutputFile> hand_over(std::unique_ptr<OutputFile> file, const HandOver& how);

}  // namespace nmb::tools
