// Selections, encoded (see selection_in.h).
#include "selection_in.h"

#include "hdf5_id.h"

namespace nmb::hdf5 {

namespace {

// The same hyperslab, selected by the regular pattern that it is or block by block.
void select_again(hid_t space, hid_t from, const std::string& object) {
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
  constexpr hsize_t kMostBlocks = 1 << 20;
  if (blocks > kMostBlocks)
    throw Failure(Code::kLimit, object + ": found a selection of " + std::to_string(blocks) +
                                    " blocks");
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

std::vector<std::byte> encoded_selection(hid_t space, const std::string& object) {
  const Id again(H5Scopy(space), H5Sclose, object);
  if (H5Sget_select_type(space) == H5S_SEL_HYPERSLABS) select_again(again, space, object);
  std::size_t size = 0;
  checked(H5Sencode(again, nullptr, &size), object);
  std::vector<std::byte> bytes(size);
  checked(H5Sencode(again, bytes.data(), &size), object);
  return bytes;
}

}  // namespace nmb::hdf5
