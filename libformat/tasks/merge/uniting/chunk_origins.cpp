#include "merge/uniting/chunk_origins.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "merge/uniting/array_form.h"
#include "sources/value_source.h"
#include "values/chunk_coding.h"
#include "values/chunk_table.h"
#include "wire/bytes.h"

namespace nmb {

namespace {

using Lengths = ChunkGrid::Lengths;
using PartUse = ChunkOrigins::PartUse;

// Returns a part as a box of the united variable.
Result<BoxInChunks> box_of(const ChunkedPart& part, const Chunking& chunking, const ChunkGrid& grid,
                           const Source& extent, const std::shared_ptr<ChunkCache>& cache) {
  BoxInChunks box;
  box.first = part.box.first;
  box.part = part.stored;
  NMB_ASSIGN(box.grid,
             ChunkGrid::make(part.own && part.stored ? part.stored_lengths : part.box.count,
                             part.own ? part.own->chunk : grid.chunk(), grid.value_size()));
  if (!part.own) return box;
  const ArrayForm& own = part.own->type.form;
  const auto convert = [from = own, to = chunking.type.form,
                        maps_fill = part.box.maps_fill](std::vector<std::byte> values) {
    return converted(std::move(values), from, to, maps_fill);
  };
  box.fill = convert(part.own->type.fill);
  if (own != chunking.type.form) box.convert = convert;
  box.cache = cache;
  box.array = cache->add_array();
  Storage storage;
  storage.chunk = part.own->chunk;
  storage.filters = part.own->filters;
  box.table = std::make_shared<const ChunkTable>(
      run_of(extent, part.region_begin, part.region_length), storage, own.size());
  return box;
}

// Reads the rows of a chunk table in ascending order.
class RowReader {
 public:
  // `box` must outlive the object.
  explicit RowReader(const BoxInChunks& box) : box_(box) {}

  Result<ChunkRow> row(std::uint64_t number) {
    constexpr std::uint64_t kRowsAtOnce = 4096;
    if (number - first_ >= rows_.size()) {
      first_ = number;
      NMB_ASSIGN(rows_,
                 box_.table->rows(number, std::min(kRowsAtOnce, box_.grid.count() - number)));
    }
    const ChunkRow& row = rows_[number - first_];
    NMB_TRY(box_.table->check_place(number, row));
    return row;
  }

 private:
  const BoxInChunks& box_;
  std::vector<ChunkRow> rows_;
  std::uint64_t first_ = 0;
};

bool overlap(const BoxInChunks& a, const BoxInChunks& b) {
  for (std::size_t i = 0; i < a.first.size(); ++i)
    if (a.first[i] + a.count_at(i) <= b.first[i] || b.first[i] + b.count_at(i) <= a.first[i])
      return false;
  return true;
}

}  // namespace

std::span<const PartUse> ChunkOrigins::parts_of(std::uint64_t chunk, const ChunkGrid& grid) const {
  const auto from = std::ranges::lower_bound(uses, chunk, {}, &PartUse::chunk);
  const auto past = std::ranges::upper_bound(from, uses.end(), chunk, {}, &PartUse::chunk);
  const std::span<const PartUse> found(from, past);
  const Lengths first = grid.first_of(chunk), count = grid.count_of(first);
  std::uint64_t missing = 1;
  for (const std::uint64_t n : count) missing *= n;
  for (std::size_t u = 0; u < found.size(); ++u) {
    const BoxInChunks& box = boxes[found[u].part];
    if (!box.table) return {};
    for (const PartUse& other : found.first(u))
      if (overlap(box, boxes[other.part])) return {};
    std::uint64_t shared = 1;
    for (std::size_t i = 0; i < first.size(); ++i)
      shared *= std::min(first[i] + count[i], box.first[i] + box.count_at(i)) -
                std::max(first[i], box.first[i]);
    missing -= shared;
  }
  return missing == 0 ? found : std::span<const PartUse>();
}

Result<ChunkOrigins> find_origins(const UnitedVariable& variable, const Chunking& chunking,
                                  const ChunkGrid& grid, std::span<const Source> extents) {
  const Lengths& chunk = grid.chunk();
  const std::size_t rank = chunk.size();
  ChunkOrigins out;
  out.copied.resize(grid.count());
  out.boxes.reserve(variable.parts.size());
  std::vector<bool> is_used(grid.count());  // whether `uses` has the chunk
  const auto cache = std::make_shared<ChunkCache>(kCodedAtOnce);
  for (std::uint32_t p = 0; p < variable.parts.size(); ++p) {
    const ChunkedPart& part = variable.parts[p];
    NMB_ASSIGN(BoxInChunks made, box_of(part, chunking, grid, extents[part.box.member], cache));
    const BoxInChunks& box = out.boxes.emplace_back(std::move(made));
    const Lengths& count = part.box.count;
    if (std::ranges::count(count, std::uint64_t{0}) > 0) continue;
    // The chunks of the united array that have values of the part, as an index range.
    Lengths low(rank), high(rank);
    bool may_copy = part.is_alike;
    for (std::size_t i = 0; i < rank; ++i) {
      low[i] = box.first[i] / chunk[i];
      high[i] = chunks_along(box.first[i] + count[i], chunk[i]);
      may_copy = may_copy && box.first[i] % chunk[i] == 0 &&
                 box.stored_index(i, box.first[i]) % chunk[i] == 0;
    }
    RowReader rows(box);
    NMB_TRY(for_each_index(low, high, [&](const Lengths& at) -> Status {
      const std::uint64_t number = grid.number_at(at);
      // Where parts overlap, the values of the first part are used.
      if (out.copied[number]) return {};
      // The part must have all values of the chunk, except values beyond the end of the united
      // array. There, the stored chunk must not have values of the stored array: they would show
      // up if the united array grew.
      bool is_copied = may_copy && !is_used[number];
      for (std::size_t i = 0; is_copied && i < rank; ++i) {
        const std::uint64_t end = (at[i] + 1) * chunk[i], part_end = box.first[i] + count[i];
        is_copied = std::min(end, grid.lengths()[i]) <= part_end &&
                    (end <= part_end || box.stored_index(i, part_end) == box.grid.lengths()[i]);
      }
      if (is_copied) {
        Lengths own(rank);
        for (std::size_t i = 0; i < rank; ++i)
          own[i] = box.stored_index(i, at[i] * chunk[i]) / chunk[i];
        NMB_ASSIGN(const ChunkRow row, rows.row(box.grid.number_at(own)));
        out.copied[number] = {part.box.member, row.filter_mask, part.region_begin + row.offset,
                              row.stored_length};
      } else {
        out.uses.push_back({number, p});
        is_used[number] = true;
      }
      return {};
    }));
  }
  std::ranges::sort(out.uses);
  return out;
}

}  // namespace nmb
