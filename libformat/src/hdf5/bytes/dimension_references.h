// DimensionReferences: the global heaps with a reference to each dimension's data set, which
// attributes DIMENSION_LIST lead to (spec/hdf5_view.md, "Dimensions").
#pragma once

#include <cstdint>
#include <vector>

#include "hdf5/bytes/hdf5_bytes.h"
#include "hdf5/bytes/view_output.h"
#include "nmb/status.h"

namespace nmb {

class DimensionReferences {
 public:
  // For so many dimensions, in heaps from `position` on.
  DimensionReferences(std::uint64_t position, std::uint64_t dimensions)
      : position_(position), count_(dimensions) {}
  static std::uint64_t bytes_for(std::uint64_t dimensions) {
    return (dimensions + kInHeap - 1) / kInHeap * kHeapBytes;
  }
  // Room for so many more; false: that is more than there are.
  [[nodiscard]] bool grow(std::uint64_t dimensions) {
    if (dimensions > count_ - addresses_.size()) return false;
    addresses_.resize(addresses_.size() + dimensions);
    return true;
  }
  // id: in the file, from 0.
  void set(std::uint64_t id, std::uint64_t address) { addresses_[id] = address; }
  // A sequence of one reference, that to the dimension.
  void put_sequence(Hdf5Bytes& out, std::uint64_t id) const {
    out.put32(1);
    out.put64(position_ + id / kInHeap * kHeapBytes);
    out.put32(id % kInHeap + 1);
  }
  Status write(ViewSink& sink) const;

 private:
  // Readers want at least so many bytes; 170 objects fill them.
  static constexpr std::uint64_t kHeapBytes = 4096, kObject = 24, kInHeap = (kHeapBytes - 16) / 24;
  std::uint64_t position_;
  std::uint64_t count_;
  std::vector<std::uint64_t> addresses_;
};

}  // namespace nmb
