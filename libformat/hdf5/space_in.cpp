// Reads dataspaces of HDF5 (see space_in.h).
#include "space_in.h"

#include <vector>

#include "hdf5_id.h"
#include "wire/checked.h"

namespace nmb::hdf5 {

Space space_in(hid_t id, const std::string& object) {
  Space space;
  switch (H5Sget_simple_extent_type(id)) {
    case H5S_SCALAR:
      space.space_class = SpaceClass::kScalar;
      return space;
    case H5S_NULL:
      space.space_class = SpaceClass::kNull;
      return space;
    case H5S_SIMPLE:
      break;
    default:
      fail(object);
  }
  const int rank = checked(H5Sget_simple_extent_ndims(id), object);
  std::vector<hsize_t> lengths(static_cast<std::size_t>(rank)), maximum(lengths.size());
  checked(H5Sget_simple_extent_dims(id, lengths.data(), maximum.data()), object);
  space.lengths.assign(lengths.begin(), lengths.end());
  for (const hsize_t m : maximum)
    space.maximum.push_back(m == H5S_UNLIMITED ? kUnlimitedLength : m);
  return space;
}

std::uint64_t elements_of(const Space& space, const std::string& object) {
  if (space.space_class == SpaceClass::kNull) return 0;
  std::uint64_t n = 1;
  for (const std::uint64_t length : space.lengths)
    if (!checked_mul(n, length, &n))
      throw Failure(Code::kDamaged, object + ": found more than 2^64 values");
  return n;
}

}  // namespace nmb::hdf5
