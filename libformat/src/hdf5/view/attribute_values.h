// AttributeValues converts an attribute's values to the form of an HDF5 file. Values of variable
// length go to global heaps (spec/hdf5_view.md, "Values of variable length").
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hdf5/bytes/global_heap.h"
#include "hdf5/bytes/hdf5_bytes.h"
#include "hdf5/view/known_objects.h"
#include "nmb/hdf5_view.h"
#include "nmb/metadata.h"
#include "nmb/status.h"

namespace nmb {

class AttributeValues {
 public:
  // All arguments must outlive the object.
  AttributeValues(const TypeTable& types, const KnownObjects& objects, GlobalHeap& heap)
      : types_(types), objects_(objects), heap_(heap) {}
  // Appends the values of an attribute. Errors: kDamaged (R-XV-1); kUnsupported, with the reason,
  // if values refer to the same bytes too often, or if a reference to a region does not have the
  // form that HDF5 writes.
  Status put(const Attribute& attribute, Hdf5Bytes& out);
  // Returns the reason why put() returned kUnsupported.
  LeftOutReason reason() const { return reason_; }

 private:
  Status convert(Type type, const std::byte* value, std::span<std::byte> out);
  Status convert_list(const std::byte* value, Type base, std::span<std::byte> out);
  Result<std::vector<std::byte>> bytes_of(const std::byte* value, std::uint64_t size);
  Status convert_region(std::span<const std::byte> reference, std::span<std::byte> out);
  Status add_to_heap(std::span<const std::byte> object, std::byte* out);

  const TypeTable& types_;
  const KnownObjects& objects_;
  GlobalHeap& heap_;
  std::span<const std::byte> region_;
  LeftOutReason reason_ = LeftOutReason::kTooLarge;
  std::uint64_t left_ = 0;  // number of bytes that the next values may refer to
};

}  // namespace nmb
