// Stage: stores values that were put before they had a place in the file. The next collective call
// assigns places to the waiting values (spec/rationale.md, "Values that wait for space").
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "files/spool_file.h"
#include "wire/failure.h"

namespace nmb {

// The stage keeps the last values in memory, at most kInMemory bytes, and all earlier ones in a
// temporary file without a name. Not thread-safe.
class Stage {
 public:
  static constexpr std::uint64_t kInMemory = 16 << 20;
  // A single rank assigns places as soon as more than this many bytes would wait.
  static constexpr std::uint64_t kMost = 64 << 20;

  // folder: where the temporary file is made; empty for the system's folder (TMPDIR).
  explicit Stage(std::string folder = {}) : folder_(std::move(folder)) {}

  // Returns the number of bytes appended so far, which is the offset of the next byte in the stage.
  std::uint64_t size() const { return spooled_ + memory_.size(); }
  // Errors: kIo, kNoSpace.
  Status append(std::span<const std::byte> bytes);
  // Replaces bytes that were appended before.
  Status replace(std::uint64_t offset, std::span<const std::byte> bytes);
  Status read(std::uint64_t offset, std::span<std::byte> out) const;
  // Forgets all bytes, and frees the memory and the temporary file.
  void clear();

 private:
  Status spool(std::span<const std::byte> bytes);

  std::string folder_;
  std::shared_ptr<SpoolFile> file_;  // nullptr until bytes are spooled
  std::uint64_t spooled_ = 0;        // bytes in file_
  std::vector<std::byte> memory_;    // the bytes after them
};

}  // namespace nmb
