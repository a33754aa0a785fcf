// An encoded selection has these parts: id, version, size of lengths, length of the extent message
// (u32), extent message, selection. The extent message and the selection are described in the HDF5
// File Format Specification, IV.A.2.b and "Dataset Region Reference".
#include "export/space_out.h"

#include <string>
#include <vector>

#include "hdf5_error.h"
#include "wire/items.h"
#include "wire/joined_text.h"

namespace nmb::hdf5 {

namespace {

constexpr const char* kRule = "R-H5-1";
constexpr std::uint32_t kNone = 0, kPoints = 1, kHyperslabs = 2, kAll = 3;

Status wrong(const auto&... found) {
  return Status(Code::kDamaged, {}, kNoOffset, kRule,
                joined_text("found a selection with ", found..., ", which HDF5 does not write"));
}

bool take_lengths(ItemsIn* in, std::size_t rank, unsigned bytes, std::vector<hsize_t>* out) {
  for (std::size_t i = 0; i < rank && in->ok(); ++i) {
    if (bytes == 8)
      out->push_back(in->number<std::uint64_t>(kRule));
    else if (const auto length = in->number<std::uint32_t>(kRule); length == ~std::uint32_t{0})
      out->push_back(H5S_UNLIMITED);
    else
      out->push_back(length);
  }
  return in->ok();
}

// Reads an extent, and returns a space with this extent and without a selection.
Result<Handle> take_extent(ItemsIn* in, unsigned bytes) {
  const auto version = in->number<std::uint8_t>(kRule);
  const std::size_t rank = in->number<std::uint8_t>(kRule);
  const auto flags = in->number<std::uint8_t>(kRule);
  auto space_class = in->number<std::uint8_t>(kRule);  // reserved in version 1
  if (version == 1) {
    in->zeros(4, kRule);
    space_class = rank > 0 ? 1 : 0;
  }
  if (!in->ok()) return in->status();
  if (version < 1 || version > 2 || rank > H5S_MAX_RANK || flags > 1 || space_class > 2)
    return wrong("an extent of version ", version, ", ", rank, " dimensions");
  Space space;
  space.space_class = space_class == 0   ? SpaceClass::kScalar
                      : space_class == 1 ? SpaceClass::kSimple
                                         : SpaceClass::kNull;
  std::vector<hsize_t> lengths, maximum;
  take_lengths(in, rank, bytes, &lengths);
  if (flags & 1) take_lengths(in, rank, bytes, &maximum);
  if (!in->ok()) return in->status();
  space.lengths.assign(lengths.begin(), lengths.end());
  space.maximum =
      maximum.empty() ? space.lengths : std::vector<std::uint64_t>(maximum.begin(), maximum.end());
  return make_space(space);
}

// Returns whether a hyperslab ends before 2^63 along one dimension, or is unlimited along it. The
// end may be outside the space, because the sources of a virtual data set may grow; callers check
// it where it must be inside.
bool has_end(std::uint64_t start, std::uint64_t stride, std::uint64_t count, std::uint64_t block) {
  if (count == H5S_UNLIMITED || block == H5S_UNLIMITED) return true;
  std::uint64_t end = 0;
  return count == 0 || (checked_mul(count - 1, stride, &end) && checked_add(end, start, &end) &&
                        checked_add(end, block, &end) && end < kUnlimitedLength / 2);
}

Status select_points(ItemsIn* in, hid_t space, std::size_t rank) {
  const std::uint64_t count = in->count(4 * rank, kRule);
  std::vector<hsize_t> points;
  take_lengths(in, count * rank, 4, &points);
  if (!in->ok()) return in->status();
  if (count == 0) return check_hdf5(H5Sselect_none(space), "a selection");
  return check_hdf5(H5Sselect_elements(space, H5S_SELECT_SET, count, points.data()),
                    "a selection of points");
}

// Reads a hyperslab of version 1, which lists the first and the last element of each block.
Status select_blocks(ItemsIn* in, hid_t space, std::size_t rank) {
  // The number of blocks is limited, because the time that HDF5 takes for each block grows with
  // this number.
  constexpr std::uint64_t kMostBlocks = 65536;
  const std::uint64_t count = in->count(8 * rank, kRule);
  if (count > kMostBlocks)
    return failure(Code::kLimit, "found a selection of ", count, " blocks, expected at most ",
                   kMostBlocks);
  NMB_TRY(check_hdf5(H5Sselect_none(space), "a selection"));
  for (std::uint64_t n = 0; n < count; ++n) {
    std::vector<hsize_t> first, last;
    take_lengths(in, rank, 4, &first);
    take_lengths(in, rank, 4, &last);
    if (!in->ok()) return in->status();
    for (std::size_t i = 0; i < rank; ++i) {
      if (last[i] < first[i]) return wrong("a block that ends before it begins");
      last[i] = last[i] - first[i] + 1;
    }
    const std::vector<hsize_t> one(rank, 1);
    NMB_TRY(check_hdf5(
        H5Sselect_hyperslab(space, H5S_SELECT_OR, first.data(), nullptr, one.data(), last.data()),
        "a selection of blocks"));
  }
  return {};
}

// Reads a hyperslab of version 2, which is always regular.
Status select_regular(ItemsIn* in, hid_t space, std::size_t rank) {
  std::vector<hsize_t> start, stride, count, block;
  for (std::size_t i = 0; i < rank; ++i)
    for (std::vector<hsize_t>* part : {&start, &stride, &count, &block})
      take_lengths(in, 1, 8, part);
  if (!in->ok()) return in->status();
  for (std::size_t i = 0; i < rank; ++i)
    if (!has_end(start[i], stride[i], count[i], block[i])) return wrong("a hyperslab past 2^63");
  return check_hdf5(H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), stride.data(),
                                        count.data(), block.data()),
                    "a hyperslab");
}

Status take_selection(ItemsIn* in, hid_t space) {
  const auto kind = in->number<std::uint32_t>(kRule);
  const auto version = in->number<std::uint32_t>(kRule);
  const bool regular = kind == kHyperslabs && version == 2;
  if (in->ok() && (kind > kAll || (version != 1 && !regular)))
    return wrong("kind ", kind, ", version ", version);
  if (regular) {
    if (in->number<std::uint8_t>(kRule) != 1 && in->ok()) return wrong("unknown flags");
  } else {
    in->zeros(4, kRule);
  }
  // The length of the remaining bytes is not used, because it also follows from rank and count.
  (void)in->number<std::uint32_t>(kRule);
  if (!in->ok()) return in->status();
  if (kind == kNone) return check_hdf5(H5Sselect_none(space), "a selection");
  if (kind == kAll) return check_hdf5(H5Sselect_all(space), "a selection");
  const int dimensions = H5Sget_simple_extent_ndims(space);
  const auto rank = in->number<std::uint32_t>(kRule);
  if (!in->ok()) return in->status();
  if (dimensions <= 0 || rank != static_cast<std::uint32_t>(dimensions))
    return wrong(rank, " dimensions in a space of ", dimensions);
  if (kind == kPoints) return select_points(in, space, rank);
  return regular ? select_regular(in, space, rank) : select_blocks(in, space, rank);
}

}  // namespace

Result<Handle> make_space(const Space& space) {
  switch (space.space_class) {
    case SpaceClass::kNull:
      return check_handle(H5Screate(H5S_NULL), "a null space");
    case SpaceClass::kScalar:
      return check_handle(H5Screate(H5S_SCALAR), "a scalar space");
    case SpaceClass::kSimple:
      break;
  }
  const std::size_t rank = space.lengths.size();
  if (rank == 0 || rank > H5S_MAX_RANK)
    return unsupported("found a space of ", rank, " dimensions, expected 1 to ", H5S_MAX_RANK);
  const std::vector<hsize_t> lengths(space.lengths.begin(), space.lengths.end()),
      maximum(space.maximum.begin(), space.maximum.end());
  return check_handle(H5Screate_simple(static_cast<int>(rank), lengths.data(), maximum.data()),
                      "a space");
}

Result<Handle> decode_selection(std::span<const std::byte> encoded) {
  ItemsIn in(encoded, 0);
  const auto id = in.number<std::uint8_t>(kRule);
  const auto version = in.number<std::uint8_t>(kRule);
  const auto bytes = in.number<std::uint8_t>(kRule);
  if (in.ok() && (id != 1 || version != 0 || (bytes != 4 && bytes != 8)))
    return wrong("id ", id, ", version ", version);
  const auto length = in.number<std::uint32_t>(kRule);
  ItemsIn extent(in.take(length, kRule), 7);
  if (!in.ok()) return in.status();
  NMB_ASSIGN(Handle space, take_extent(&extent, bytes));
  NMB_TRY(take_selection(&in, space.get()));
  return space;
}

}  // namespace nmb::hdf5
