// Writes global heaps (see dimension_references.h).
#include "hdf5/bytes/dimension_references.h"

#include <algorithm>

namespace nmb {

Status DimensionReferences::write(ViewSink& sink) const {
  ViewOutput out(sink, position_);
  Hdf5Bytes heap;
  for (std::size_t first = 0; first < addresses_.size(); first += kInHeap) {
    const std::size_t count = std::min<std::size_t>(kInHeap, addresses_.size() - first);
    heap.clear();
    heap.put("GCOL");
    heap.put32(1);  // version
    heap.put64(kHeapBytes);
    for (std::size_t i = 0; i < count; ++i) {
      heap.put16(i + 1);
      heap.zeros(6);
      heap.put64(8);
      heap.put64(addresses_[first + i]);
    }
    if (heap.size() < kHeapBytes) {  // object 0: free space
      heap.zeros(8);
      heap.put64(kHeapBytes - heap.size() + 8);
      heap.zeros_to(kHeapBytes);
    }
    NMB_TRY(out.append(heap.bytes()).status());
  }
  return out.flush();
}

}  // namespace nmb
