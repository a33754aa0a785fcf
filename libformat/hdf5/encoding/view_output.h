// ViewOutput receives the structures that the encoders of an HDF5 view produce (spec/hdf5_view.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "wire/checked.h"
#include "wire/failure.h"

namespace nmb {

// Receives the bytes of a view. A sink may be a file, or code that compares the bytes with a file.
class ViewSink {
 public:
  virtual ~ViewSink() = default;
  virtual Status write_at(std::uint64_t position, std::span<const std::byte> bytes) = 0;
};

// Places structures one after another, each at a multiple of 8. Collects the structures and passes
// them to the sink in writes of up to 1 MiB.
class ViewOutput {
 public:
  // The first structure begins at `position`.
  ViewOutput(ViewSink& sink, std::uint64_t position) : sink_(sink), position_(position) {}
  // Returns the position at which the next structure will begin.
  std::uint64_t position() const { return position_ + waiting_.size(); }
  // Appends a structure and returns its address. The address equals the position, because the HDF5
  // superblock is at position 0.
  Result<std::uint64_t> append(std::span<const std::byte> bytes) {
    if (waiting_.size() + bytes.size() > kCapacity) NMB_TRY(flush());
    const std::uint64_t address = position();
    waiting_.insert(waiting_.end(), bytes.begin(), bytes.end());
    waiting_.resize(round_up(waiting_.size(), 8));
    return address;
  }
  // Leaves out a structure of `bytes` bytes, for passes that only compute addresses.
  Status skip(std::uint64_t bytes) {
    NMB_TRY(flush());
    position_ += round_up(bytes, 8);
    return {};
  }
  Status flush() {
    if (!waiting_.empty()) NMB_TRY(sink_.write_at(position_, waiting_));
    position_ += waiting_.size();
    waiting_.clear();
    return {};
  }

 private:
  static constexpr std::size_t kCapacity = 1 << 20;
  ViewSink& sink_;
  std::uint64_t position_;
  std::vector<std::byte> waiting_;
};

}  // namespace nmb
