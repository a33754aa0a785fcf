#include "encoding/dimension_references.h"

#include <algorithm>

#include "encoding/global_heap.h"

namespace nmb {

Status DimensionReferences::write(ViewSink& sink) const {
  ViewOutput out(sink, position_);
  Hdf5Bytes heap;
  for (std::size_t first = 0; first < addresses_.size(); first += kInHeap) {
    const std::size_t count = std::min<std::size_t>(kInHeap, addresses_.size() - first);
    start_global_heap(heap, kHeapBytes);
    for (std::size_t i = 0; i < count; ++i) {
      std::byte address[8];
      store_le(address, addresses_[first + i]);
      put_heap_object(heap, static_cast<std::uint32_t>(i + 1), address);
    }
    end_global_heap(heap, kHeapBytes);
    NMB_TRY(out.append(heap.bytes()).status());
  }
  return out.flush();
}

}  // namespace nmb
