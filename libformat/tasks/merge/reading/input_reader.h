// InputReader: opens inputs, recognizes their kinds, and passes on their blocks. A classic file is
// one block. NmbInput and Hdf5Input read files of the other kinds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "merge/reading/hdf5_input.h"
#include "merge/reading/input_block.h"
#include "merge/reading/input_context.h"
#include "merge/reading/input_extras.h"
#include "merge/reading/input_options.h"
#include "sources/value_source.h"
#include "wire/failure.h"

namespace nmb {

class InputReader {
 public:
  // `warnings` must outlive the object.
  InputReader(InputOptions options, std::vector<std::string>* warnings)
      : context_{std::move(options), *warnings} {}
  InputReader(const InputReader&) = delete;
  InputReader& operator=(const InputReader&) = delete;

  // Passes the blocks of an input to `visit`. index: position of the input in the list of inputs.
  // Errors: kUnknownKind, kDamaged, kUnsupported, kLimit and kIo; the first error of `visit`.
  Status read(std::size_t index, Source file, const VisitBlock& visit);
  // Passes the blocks of an input to InputOptions::chooser and visits none of them. Errors: as
  // read().
  Status choose(std::size_t index, Source file);

  // Limits early starts: an input is started early only if its position in the list is less than
  // `end`.
  void set_end(std::size_t end) { starter_.set_end(end); }

  // Returns the counts of all inputs, which the caller may change.
  InputCounts& counts() { return context_.counts; }

  // Returns the extras of the input that was read last.
  InputExtras take_extras() { return std::exchange(extras_, {}); }

 private:
  Status read_classic(std::size_t index, const Source& file, const VisitBlock& visit);

  InputContext context_;
  Hdf5Starter starter_{context_.options};
  InputExtras extras_;
};

}  // namespace nmb
