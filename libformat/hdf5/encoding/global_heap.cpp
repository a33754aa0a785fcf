#include "encoding/global_heap.h"

#include <algorithm>

namespace nmb {

namespace {

constexpr std::size_t kPrefix = 16, kObject = 16;
constexpr std::uint32_t kMostObjects = 0xFFFF;

}  // namespace

void start_global_heap(Hdf5Bytes& heap, std::uint64_t bytes) {
  heap.clear();
  heap.put("GCOL");
  heap.put32(1);  // version
  heap.put64(bytes);
}

void end_global_heap(Hdf5Bytes& heap, std::size_t bytes) {
  const std::size_t free = bytes - heap.size();
  if (free >= kObject) {  // object 0: free space
    heap.zeros(8);
    heap.put64(free);
  }
  heap.zeros_to(bytes);
}

void put_heap_object(Hdf5Bytes& heap, std::uint32_t index, std::span<const std::byte> object) {
  heap.put16(index);
  heap.zeros(6);
  heap.put64(object.size());
  heap.put(object);
  heap.zeros_to(round_up(heap.size(), 8));
}

Result<GlobalHeap::HeapId> GlobalHeap::add(std::span<const std::byte> object) {
  const std::size_t bytes = kObject + round_up(object.size(), 8);
  if (heap_.size() > 0 && (bytes > kGlobalHeapBytes - std::min(heap_.size(), kGlobalHeapBytes) ||
                           objects_ == kMostObjects))
    NMB_TRY(close());
  if (heap_.size() == 0) {
    start_global_heap(heap_, std::max<std::uint64_t>(kGlobalHeapBytes, kPrefix + bytes));
    objects_ = 0;
  }
  put_heap_object(heap_, ++objects_, object);
  return HeapId{out_.position(), objects_};
}

Status GlobalHeap::close() {
  end_global_heap(heap_, std::max(heap_.size(), kGlobalHeapBytes));
  NMB_TRY(out_.append(heap_.bytes()).status());
  heap_.clear();
  return {};
}

Result<std::uint64_t> GlobalHeap::finish() {
  if (heap_.size() > 0) NMB_TRY(close());
  NMB_TRY(out_.flush());
  return out_.position();
}

}  // namespace nmb
