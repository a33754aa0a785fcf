// The state behind the handles of a Writer, and the communicator of a Ranks object.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "nmb/ranks.h"
#include "parallel/communicator.h"
#include "wire/failure.h"
#include "writer/file_writer.h"

namespace nmb {

// Returns kUsage for a handle without the state that its calls need.
template <class Pointer>
Status check_handle(const Pointer& state) {
  return state ? Status()
               : Status(Code::kUsage, "the handle is empty: it was moved from or not assigned");
}

// Returns the communicator of `ranks`, which lives as long as `ranks` does. Throws an Error if
// `ranks` was moved from.
NMB_EXPORT Communicator& communicator(Ranks& ranks);

// The writer of a Writer and its handles. `file` is nullptr after the Writer is destroyed, so that
// a handle that is left over keeps nothing open.
struct WriterState {
  std::unique_ptr<FileWriter> file;
  Communicator* ranks = nullptr;  // nullptr: one rank
  bool defining = true, closed = false;
  const std::uint64_t number = next_number();  // of the writers that this process has made

  bool is_alone() const { return !ranks || ranks->size() == 1; }
  // Get ready for definitions and for values. A rank that is not alone must be ready.
  Status begin_define();
  Status begin_values();

 private:
  static std::uint64_t next_number() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
  }
};

}  // namespace nmb
