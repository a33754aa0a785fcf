// GlobalHeap writes HDF5 global heaps. They hold the variable-length values of attributes
// (spec/hdf5_view.md, "Values of variable length").
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "encoding/hdf5_bytes.h"
#include "encoding/view_output.h"
#include "wire/failure.h"

namespace nmb {

// The minimum size of a heap that HDF5 readers accept, in bytes.
inline constexpr std::size_t kGlobalHeapBytes = 4096;
// These functions write the parts of a heap of `bytes` bytes: its prefix, its objects, and its free
// space. The first object has index 1.
void start_global_heap(Hdf5Bytes& heap, std::uint64_t bytes);
void put_heap_object(Hdf5Bytes& heap, std::uint32_t index, std::span<const std::byte> object);
void end_global_heap(Hdf5Bytes& heap, std::size_t bytes);

class GlobalHeap {
 public:
  // The first heap begins at `position`.
  GlobalHeap(ViewSink& sink, std::uint64_t position) : out_(sink, position) {}
  struct HeapId {
    std::uint64_t heap = 0;   // address
    std::uint32_t index = 0;  // index of the object in the heap
  };
  Result<HeapId> add(std::span<const std::byte> object);
  // Writes the last heap. Returns the position after it.
  Result<std::uint64_t> finish();

 private:
  Status close();

  ViewOutput out_;
  Hdf5Bytes heap_;  // the newest heap with its prefix, or empty if there is none
  std::uint32_t objects_ = 0;
};

}  // namespace nmb
