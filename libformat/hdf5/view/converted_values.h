// ConvertedValues converts values to the form of an HDF5 file. Values of variable length go to
// global heaps (spec/hdf5_view.md, "Values of variable length").
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "encoding/global_heap.h"
#include "encoding/hdf5_bytes.h"
#include "model/metadata.h"
#include "view/hdf5_view.h"
#include "view/known_objects.h"
#include "wire/failure.h"

namespace nmb {

class ConvertedValues {
 public:
  // All arguments must outlive the object.
  ConvertedValues(const TypeTable& types, const KnownObjects& objects, GlobalHeap& heap)
      : types_(types), objects_(objects), heap_(heap) {}
  // Starts the conversion of values that refer to bytes of `region`, which must outlive the
  // conversion. If `adds_to_heap` is false, the heap does not change, and the result has zeros in
  // place of addresses in the heap.
  void start(const ByteSource& region, bool adds_to_heap);
  // Appends values in the form of an HDF5 file. Errors: kDamaged (R-XV-1); kUnsupported, with the
  // reason, if values refer to the same bytes too often, if a value is too long, or if a reference
  // to a region does not have the form that HDF5 writes; kIo.
  Status convert(Type type, std::span<const std::byte> values, std::uint64_t count, Hdf5Bytes& out);
  // Converts the values of an attribute, or a fill value.
  Status put(Type type, std::span<const std::byte> values, std::uint64_t count, Hdf5Bytes& out);
  // Returns the reason why convert() returned kUnsupported.
  LeftOutReason reason() const { return reason_; }
  // Returns how many references since start() lead to objects that the view does not show. They
  // become null references.
  std::uint64_t lost_references() const { return lost_references_; }

 private:
  Status convert_one(Type type, const std::byte* value, std::span<std::byte> out);
  Status convert_list(const std::byte* value, Type base, std::span<std::byte> out);
  Result<std::vector<std::byte>> bytes_of(const std::byte* value, std::uint64_t size);
  Status read(std::uint64_t offset, std::span<std::byte> out);
  Status convert_region(std::span<const std::byte> reference, std::span<std::byte> out);
  std::uint64_t address_of(std::string_view path);
  Status add_to_heap(std::span<const std::byte> object, std::byte* out);

  const TypeTable& types_;
  const KnownObjects& objects_;
  GlobalHeap& heap_;
  const ByteSource* region_ = nullptr;
  bool adds_to_heap_ = true;
  std::vector<std::byte> window_;  // bytes of the region from window_begin_ on
  std::uint64_t window_begin_ = 0;
  LeftOutReason reason_ = LeftOutReason::kTooLarge;
  std::uint64_t left_ = 0;  // number of bytes that the next values may refer to
  std::uint64_t lost_references_ = 0;
};

}  // namespace nmb
