// DimensionReferences writes the global heaps of a view, which contain a reference to the data set
// of each dimension. The attributes DIMENSION_LIST refer to these heaps (spec/hdf5_view.md,
// "Dimensions and variables").
#pragma once

#include <cstdint>
#include <vector>

#include "encoding/global_heap.h"
#include "encoding/hdf5_bytes.h"
#include "encoding/view_output.h"
#include "wire/failure.h"

namespace nmb {

class DimensionReferences {
 public:
  // Prepares heaps for `dimensions` references, and for those of add(). The first heap lies at
  // `position`.
  DimensionReferences(std::uint64_t position, std::uint64_t dimensions)
      : position_(position), count_(dimensions) {}
  static std::uint64_t bytes_for(std::uint64_t dimensions) {
    return (dimensions + kInHeap - 1) / kInHeap * kHeapBytes;
  }
  // Adds space for `dimensions` references. Returns false if the total would exceed the count that
  // the constructor got.
  [[nodiscard]] bool grow(std::uint64_t dimensions) {
    if (dimensions > count_ - addresses_.size()) return false;
    addresses_.resize(addresses_.size() + dimensions);
    return true;
  }
  // Adds space for `dimensions` references that the count of the constructor does not include.
  void add(std::uint64_t dimensions) {
    count_ += dimensions;
    addresses_.resize(addresses_.size() + dimensions);
  }
  // Sets the address of a dimension's data set. `id` is the number of the dimension in the file,
  // from 0.
  void set(std::uint64_t id, std::uint64_t address) { addresses_[id] = address; }
  std::uint64_t address(std::uint64_t id) const { return addresses_[id]; }
  // Writes a sequence with one element: the reference to the dimension's data set.
  void put_sequence(Hdf5Bytes& out, std::uint64_t id) const {
    out.put32(1);
    out.put64(position_ + id / kInHeap * kHeapBytes);
    out.put32(id % kInHeap + 1);
  }
  Status write(ViewSink& sink) const;

 private:
  // 170 objects fit in a heap.
  static constexpr std::uint64_t kHeapBytes = kGlobalHeapBytes, kObject = 24,
                                 kInHeap = (kHeapBytes - 16) / 24;
  std::uint64_t position_;
  std::uint64_t count_;
  std::vector<std::uint64_t> addresses_;
};

}  // namespace nmb
