#include "import/space_in.h"

#include "hdf5_error.h"
#include "wire/checked.h"
#include "wire/joined_text.h"

namespace nmb::hdf5 {

namespace {

// Fails if a selection has too many points or blocks.
Status check_parts(hsize_t count, const std::string& object) {
  constexpr hsize_t kMost = 1 << 20;
  if (count <= kMost) return {};
  return failure(Code::kLimit, object, ": found a selection of ", count,
                 " parts, expected at most ", kMost);
}

// Returns the same dataspace without its selection. If all maximum lengths equal the lengths, the
// new dataspace has no maximum lengths: this has the same meaning, but another encoding in HDF5.
Result<Handle> same_extent(hid_t from, Extent extent, const std::string& object) {
  if (H5Sget_simple_extent_type(from) != H5S_SIMPLE) return read_handle(H5Scopy(from), object);
  NMB_ASSIGN(const int rank, read_value(H5Sget_simple_extent_ndims(from), object));
  std::vector<hsize_t> lengths(static_cast<std::size_t>(rank)), maximum(lengths.size());
  NMB_TRY(check_read(H5Sget_simple_extent_dims(from, lengths.data(), maximum.data()), object));
  if (extent == Extent::kOfVirtual)
    for (std::size_t d = 0; d < lengths.size(); ++d)
      if (maximum[d] == H5S_UNLIMITED) lengths[d] = 0;
  return read_handle(
      H5Screate_simple(rank, lengths.data(), maximum == lengths ? nullptr : maximum.data()),
      object);
}

// Selects the same points as `from`, in the same order.
Status copy_points(hid_t space, hid_t from, std::size_t rank, const std::string& object) {
  NMB_ASSIGN(const hssize_t count, read_value(H5Sget_select_elem_npoints(from), object));
  const auto points = static_cast<hsize_t>(count);
  NMB_TRY(check_parts(points, object));
  std::vector<hsize_t> places(rank * points);
  NMB_TRY(check_read(H5Sget_select_elem_pointlist(from, 0, points, places.data()), object));
  return check_read(H5Sselect_elements(space, H5S_SELECT_SET, points, places.data()), object);
}

// Selects the same hyperslab as `from`. A regular hyperslab is selected by one call. Any other
// hyperslab is selected block by block.
Status copy_hyperslab(hid_t space, hid_t from, std::size_t rank, const std::string& object) {
  std::vector<hsize_t> start(rank), stride(rank), count(rank), block(rank);
  NMB_ASSIGN(const htri_t regular, read_value(H5Sis_regular_hyperslab(from), object));
  if (regular > 0) {
    NMB_TRY(check_read(
        H5Sget_regular_hyperslab(from, start.data(), stride.data(), count.data(), block.data()),
        object));
    return check_read(H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), stride.data(),
                                          count.data(), block.data()),
                      object);
  }
  NMB_ASSIGN(const hssize_t found, read_value(H5Sget_select_hyper_nblocks(from), object));
  const auto blocks = static_cast<hsize_t>(found);
  NMB_TRY(check_parts(blocks, object));
  std::vector<hsize_t> corners(2 * rank * blocks);
  NMB_TRY(check_read(H5Sget_select_hyper_blocklist(from, 0, blocks, corners.data()), object));
  for (hsize_t i = 0; i < blocks; ++i) {
    const hsize_t* first = corners.data() + 2 * rank * i;
    for (std::size_t d = 0; d < rank; ++d) {
      start[d] = first[d];
      count[d] = 1;
      block[d] = first[rank + d] - first[d] + 1;
    }
    NMB_TRY(check_read(H5Sselect_hyperslab(space, i == 0 ? H5S_SELECT_SET : H5S_SELECT_OR,
                                           start.data(), nullptr, count.data(), block.data()),
                       object));
  }
  return {};
}

// Selects in `space` the elements that are selected in `from`. At the time of the call, `space`
// must have the same extent as `from`, and all its elements must be selected.
Status copy_selection(hid_t space, hid_t from, const std::string& object) {
  const H5S_sel_type kind = H5Sget_select_type(from);
  if (kind == H5S_SEL_NONE) return check_read(H5Sselect_none(space), object);
  if (kind != H5S_SEL_POINTS && kind != H5S_SEL_HYPERSLABS) return {};
  NMB_ASSIGN(const int dimensions, read_value(H5Sget_simple_extent_ndims(from), object));
  const auto rank = static_cast<std::size_t>(dimensions);
  return kind == H5S_SEL_POINTS ? copy_points(space, from, rank, object)
                                : copy_hyperslab(space, from, rank, object);
}

}  // namespace

Result<Space> space_in(hid_t id, const std::string& object) {
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
      return hdf5_failure(object, Code::kDamaged);
  }
  NMB_ASSIGN(const int rank, read_value(H5Sget_simple_extent_ndims(id), object));
  std::vector<hsize_t> lengths(static_cast<std::size_t>(rank)), maximum(lengths.size());
  NMB_TRY(check_read(H5Sget_simple_extent_dims(id, lengths.data(), maximum.data()), object));
  space.lengths.assign(lengths.begin(), lengths.end());
  for (const hsize_t m : maximum)
    space.maximum.push_back(m == H5S_UNLIMITED ? kUnlimitedLength : m);
  return space;
}

Result<std::uint64_t> elements_of(const Space& space, const std::string& object) {
  if (space.space_class == SpaceClass::kNull) return std::uint64_t{0};
  std::uint64_t n = 1;
  for (const std::uint64_t length : space.lengths)
    if (!checked_mul(n, length, &n)) return damaged(object + ": found more than 2^64 values");
  return n;
}

Result<std::vector<std::byte>> encoded_selection(hid_t space, const std::string& object,
                                                 Extent extent) {
  NMB_ASSIGN(const Handle again, same_extent(space, extent, object));
  NMB_TRY(copy_selection(again.get(), space, object));
  std::size_t size = 0;
  NMB_TRY(check_read(H5Sencode(again.get(), nullptr, &size), object));
  std::vector<std::byte> bytes(size);
  NMB_TRY(check_read(H5Sencode(again.get(), bytes.data(), &size), object));
  return bytes;
}

}  // namespace nmb::hdf5
