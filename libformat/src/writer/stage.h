// Stage: values that were put where the file has no space for them yet, until the next collective
// call gives them their places (spec/rationale.md, "Values that wait for space").
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "nmb/output_file.h"

namespace nmb {

// In memory up to kMemory bytes, then in a file without a name beside the one that is written. Not
// thread-safe.
class Stage {
 public:
  static constexpr std::size_t kMemory = 64 << 20;

  // near: the file that is written; number: tells the stages of one process apart.
  Stage(std::string near, int number) : near_(std::move(near)), number_(number) {}

  // Bytes appended so far: where the next will be.
  std::uint64_t size() const { return size_; }
  Status append(std::span<const std::byte> bytes);
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const;
  void clear();

 private:
  std::string near_;
  int number_;
  std::uint64_t size_ = 0;
  std::vector<std::byte> memory_;     // the first bytes
  std::unique_ptr<OutputFile> file_;  // those behind kMemory
};

}  // namespace nmb
