// Encodes selections (see selection_in.h).
#include "selection_in.h"

#include "hdf5_id.h"

namespace nmb::hdf5 {

namespace {

// Checks the number of points or blocks.
void check_parts(hsize_t count, const std::string& object) {
  constexpr hsize_t kMost = 1 << 20;
  if (count > kMost)
    throw Failure(Code::kLimit, object + ": found a selection of " + std::to_string(count) +
                                    " parts, expected at most " + std::to_string(kMost));
}

// Returns the same dataspace without its selection. A maximum that equals the length has no effect,
// but is encoded differently.
Id same_extent(hid_t from, Extent extent, const std::string& object) {
  if (H5Sget_simple_extent_type(from) != H5S_SIMPLE) return Id(H5Scopy(from), H5Sclose, object);
  const int rank = checked(H5Sget_simple_extent_ndims(from), object);
  std::vector<hsize_t> lengths(static_cast<std::size_t>(rank)), maximum(lengths.size());
  checked(H5Sget_simple_extent_dims(from, lengths.data(), maximum.data()), object);
  if (extent == Extent::kOfVirtual)
    for (std::size_t d = 0; d < lengths.size(); ++d)
      if (maximum[d] == H5S_UNLIMITED) lengths[d] = 0;
  return Id(H5Screate_simple(rank, lengths.data(), maximum == lengths ? nullptr : maximum.data()),
            H5Sclose, object);
}

// Selects the same points, in their order.
void select_points(hid_t space, hid_t from, const std::string& object) {
  const auto rank = static_cast<std::size_t>(checked(H5Sget_simple_extent_ndims(from), object));
  const auto points = static_cast<hsize_t>(checked(H5Sget_select_elem_npoints(from), object));
  check_parts(points, object);
  std::vector<hsize_t> places(rank * points);
  checked(H5Sget_select_elem_pointlist(from, 0, points, places.data()), object);
  checked(H5Sselect_elements(space, H5S_SELECT_SET, points, places.data()), object);
}

// Selects the same hyperslab, by its regular pattern if it has one, otherwise block by block.
void select_hyperslab(hid_t space, hid_t from, const std::string& object) {
  const auto rank = static_cast<std::size_t>(checked(H5Sget_simple_extent_ndims(from), object));
  std::vector<hsize_t> start(rank), stride(rank), count(rank), block(rank);
  if (checked(H5Sis_regular_hyperslab(from), object) > 0) {
    checked(H5Sget_regular_hyperslab(from, start.data(), stride.data(), count.data(), block.data()),
            object);
    checked(H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), stride.data(), count.data(),
                                block.data()),
            object);
    return;
  }
  const auto blocks = static_cast<hsize_t>(checked(H5Sget_select_hyper_nblocks(from), object));
  check_parts(blocks, object);
  std::vector<hsize_t> corners(2 * rank * blocks);
  checked(H5Sget_select_hyper_blocklist(from, 0, blocks, corners.data()), object);
  for (hsize_t i = 0; i < blocks; ++i) {
    const hsize_t* first = corners.data() + 2 * rank * i;
    for (std::size_t d = 0; d < rank; ++d) {
      start[d] = first[d];
      count[d] = 1;
      block[d] = first[rank + d] - first[d] + 1;
    }
    checked(H5Sselect_hyperslab(space, i == 0 ? H5S_SELECT_SET : H5S_SELECT_OR, start.data(),
                                nullptr, count.data(), block.data()),
            object);
  }
}

}  // namespace

std::vector<std::byte> encoded_selection(hid_t space, const std::string& object, Extent extent) {
  const Id again = same_extent(space, extent, object);
  switch (H5Sget_select_type(space)) {
    case H5S_SEL_HYPERSLABS:
      select_hyperslab(again, space, object);
      break;
    case H5S_SEL_POINTS:
      select_points(again, space, object);
      break;
    case H5S_SEL_NONE:
      checked(H5Sselect_none(again), object);
      break;
    default:
      break;  // everything is selected already
  }
  std::size_t size = 0;
  checked(H5Sencode(again, nullptr, &size), object);
  std::vector<std::byte> bytes(size);
  checked(H5Sencode(again, bytes.data(), &size), object);
  return bytes;
}

}  // namespace nmb::hdf5
