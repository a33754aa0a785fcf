// FoundBlocks: blocks that a caller names in one list, found and loaded together.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "handles.h"

namespace nmb_python {

// Calls work(i) once for each i below `count`, on up to `threads` threads. work() must not throw
// and must not use the interpreter. Call it without the lock.
void on_threads(unsigned threads, std::size_t count, const std::function<void(std::size_t)>& work);

class FoundBlocks {
 public:
  explicit FoundBlocks(std::shared_ptr<const FileHandle> file) : file_(std::move(file)) {}

  // Adds a name, a position or a BlockHandle, and returns its number. Successive equal names have
  // one number. Needs the lock.
  std::size_t add(nb::handle block);
  // Finds all blocks, and calls then(i, block) for each without the lock, on several threads.
  // Raises the first failure. Needs the lock, and releases it.
  using Then = std::function<nmb::Status(std::size_t, const nmb::BlockView&)>;
  void load(unsigned threads, const Then& then);
  std::size_t size() const { return wanted_.size(); }
  const BlockHandle& operator[](std::size_t i) const { return found_[i]; }

 private:
  using Wanted = std::variant<std::string, std::uint64_t, nmb::BlockView>;
  std::shared_ptr<const FileHandle> file_;
  std::vector<Wanted> wanted_;
  std::vector<BlockHandle> found_;
};

}  // namespace nmb_python
