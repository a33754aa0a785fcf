#include "slabs.h"

#include <algorithm>

#include "hdf5_error.h"
#include "wire/checked.h"

namespace nmb::hdf5 {

Status for_each_slab(const std::vector<std::uint64_t>& lengths, std::uint64_t most,
                     std::uint64_t rows, const std::function<Status(const Slab&)>& visit) {
  const std::size_t rank = lengths.size();
  std::uint64_t all = 1;
  for (const std::uint64_t length : lengths)
    if (!checked_mul(all, length, &all)) return damaged("found more than 2^64 values");
  if (all == 0) return {};
  // The dimension along which the array is divided. A slab has all indexes of the dimensions
  // after it, and one index of each dimension before it.
  std::size_t cut = rank;
  std::uint64_t inner = 1;  // number of elements for one index of the dimension `cut`
  while (cut > 0 && inner * lengths[cut - 1] <= most) inner *= lengths[--cut];
  if (cut > 0)
    --cut;
  else if (rank > 0)
    inner /= lengths[0];
  Slab slab;
  slab.start.assign(rank, 0);
  slab.count.assign(rank, 1);
  for (std::size_t i = cut + 1; i < rank; ++i) slab.count[i] = lengths[i];
  std::uint64_t step = rank == 0 ? 1 : std::clamp<std::uint64_t>(most / inner, 1, lengths[cut]);
  if (cut == 0 && step > rows && step < (rank == 0 ? 1 : lengths[0])) step -= step % rows;
  while (slab.first < all) {
    if (rank > 0) {
      slab.count[cut] = std::min<hsize_t>(step, lengths[cut] - slab.start[cut]);
      slab.elements = slab.count[cut] * inner;
    }
    NMB_TRY(visit(slab));
    slab.first += slab.elements;
    if (rank == 0) break;
    slab.start[cut] += slab.count[cut];
    for (std::size_t i = cut; i > 0 && slab.start[i] == lengths[i]; --i) {
      slab.start[i] = 0;
      ++slab.start[i - 1];
    }
  }
  return {};
}

}  // namespace nmb::hdf5
