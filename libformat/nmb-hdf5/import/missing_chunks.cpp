#include "import/missing_chunks.h"

#include <algorithm>
#include <utility>

#include "hdf5_error.h"

namespace nmb::hdf5 {

namespace {

// Returns the number of the element at `at` in a box of `count` elements.
std::uint64_t number_in(const std::vector<hsize_t>& count, const ChunkGrid::Lengths& at) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < at.size(); ++i) number = number * count[i] + at[i];
  return number;
}

Status select_box(hid_t space, const std::vector<hsize_t>& start, const std::vector<hsize_t>& count,
                  const std::string& object) {
  return check_read(
      H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr),
      object);
}

}  // namespace

Result<bool> has_storage(hid_t data_set, const std::string& object) {
  // A result of 0 means that there is no storage, or that the call failed.
  if (H5Dget_storage_size(data_set) > 0) return true;
  H5D_space_status_t status = H5D_SPACE_STATUS_ERROR;
  NMB_TRY(check_read(H5Dget_space_status(data_set, &status), object));
  return status != H5D_SPACE_STATUS_NOT_ALLOCATED;
}

bool has_misplaced_chunks(const Space& space) {
  const auto unlimited = std::count(space.maximum.begin(), space.maximum.end(), kUnlimitedLength);
  return unlimited == 1 && space.maximum.front() != kUnlimitedLength;
}

Status chunks_elsewhere(const std::string& object, std::uint64_t found, std::uint64_t present) {
  return damaged(object, ": found ", found, " chunks at their positions, expected ", present);
}

Result<std::uint64_t> chunks_present(hid_t data_set, const std::string& object) {
  NMB_ASSIGN(const bool stores, has_storage(data_set, object));
  if (!stores) return std::uint64_t{0};
  NMB_ASSIGN(const Handle space, read_handle(H5Dget_space(data_set), object));
  hsize_t present = 0;
  NMB_TRY(check_read(H5Dget_num_chunks(data_set, space.get(), &present), object));
  return std::uint64_t{present};
}

Result<std::optional<MissingChunks>> missing_chunks(hid_t data_set, hid_t plist, const Space& space,
                                                    const Creation& creation,
                                                    const std::string& object) {
  const std::optional<MissingChunks> none;
  if (creation.fill_state != FillState::kUser || creation.fill_time == FillTime::kNever)
    return none;
  if (creation.chunk.size() != space.lengths.size() ||
      std::ranges::count(creation.chunk, std::uint64_t{0}) > 0)
    return damaged(object + ": found chunks without elements, or of another number of dimensions");
  MissingChunks out;
  NMB_ASSIGN(out.grid, ChunkGrid::make(space.lengths, creation.chunk, 1));
  if (out.grid.count() > kMostChunksOfDataSet)
    return failure(Code::kLimit, object, ": found more than ", kMostChunksOfDataSet, " chunks");
  NMB_ASSIGN(const std::uint64_t present, chunks_present(data_set, object));
  if (present >= out.grid.count()) return none;
  out.is_missing.resize(out.grid.count());
  std::uint64_t found = 0;
  for (std::uint64_t number = 0; number < out.grid.count(); ++number) {
    const ChunkGrid::Lengths first = out.grid.first_of(number);
    const std::vector<hsize_t> at(first.begin(), first.end());
    // This call fails for missing chunks.
    hsize_t length = 0;
    out.is_missing[number] =
        H5Dget_chunk_storage_size(data_set, at.data(), &length) < 0 || length == 0;
    found += !out.is_missing[number];
  }
  if (found < present && !has_misplaced_chunks(space))
    return chunks_elsewhere(object, found, present);
  out.plist = plist;
  return std::optional(std::move(out));
}

Result<std::vector<bool>> read_stored_chunks(const MissingChunks& missing, hid_t data_set,
                                             hid_t type, const Slab& slab, std::byte* to,
                                             const std::string& object) {
  const std::size_t rank = slab.start.size();
  const ChunkGrid::Lengths& chunk = missing.grid.chunk();
  ChunkGrid::Lengths low(rank), high(rank);  // in chunks
  for (std::size_t i = 0; i < rank; ++i) {
    low[i] = slab.start[i] / chunk[i];
    high[i] = chunks_along(slab.start[i] + slab.count[i], chunk[i]);
  }
  std::vector<bool> is_missing(slab.elements);
  NMB_ASSIGN(const Handle file_space, read_handle(H5Dget_space(data_set), object));
  NMB_ASSIGN(
      const Handle memory_space,
      read_handle(H5Screate_simple(static_cast<int>(rank), slab.count.data(), nullptr), object));
  NMB_TRY(for_each_index(low, high, [&](const ChunkGrid::Lengths& place) -> Status {
    // The part of the chunk that is in the slab. `from` and `end` count from the start of the slab.
    std::vector<hsize_t> start(rank), count(rank);
    ChunkGrid::Lengths from(rank), end(rank);
    for (std::size_t i = 0; i < rank; ++i) {
      start[i] = std::max<hsize_t>(place[i] * chunk[i], slab.start[i]);
      from[i] = start[i] - slab.start[i];
      end[i] = std::min<std::uint64_t>((place[i] + 1) * chunk[i] - slab.start[i], slab.count[i]);
      count[i] = end[i] - from[i];
    }
    if (missing.is_missing[missing.grid.number_at(place)])
      return for_each_index(from, end, [&](const ChunkGrid::Lengths& at) -> Status {
        is_missing[number_in(slab.count, at)] = true;
        return {};
      });
    NMB_TRY(select_box(file_space.get(), start, count, object));
    NMB_TRY(select_box(memory_space.get(), {from.begin(), from.end()}, count, object));
    return check_read(
        H5Dread(data_set, type, memory_space.get(), file_space.get(), H5P_DEFAULT, to), object);
  }));
  return is_missing;
}

}  // namespace nmb::hdf5
