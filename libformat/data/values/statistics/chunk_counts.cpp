// Counts values in chunks (see values/statistics/extent_counter.h; spec/extended.md, section 15.2).
#include <algorithm>
#include <atomic>
#include <string>

#include "parallel/workers.h"
#include "sources/value_source.h"
#include "values/chunk_filters.h"
#include "values/chunk_table.h"
#include "values/statistics/extent_counter.h"
#include "wire/checked.h"
#include "wire/memory_budget.h"

namespace nmb {

namespace {

constexpr std::uint64_t kRowsAtOnce = 4096;
// The most bytes that all threads together decode at a time, unless a single chunk has more.
constexpr std::uint64_t kDecodedAtOnce = 32 << 20;
// The number of decoded bytes is limited, because a few stored bytes may decode to a large chunk.
constexpr std::uint64_t kMostDecoded = 1 << 30, kMostTimes = 1100;

std::uint64_t chunk_count(const std::vector<std::uint64_t>& lengths,
                          const std::vector<std::uint64_t>& chunk) {
  std::uint64_t chunks = 1;
  for (std::size_t i = 0; i < chunk.size(); ++i) chunks *= (lengths[i] - 1) / chunk[i] + 1;
  return chunks;
}

// The position of a chunk, and the part of it that lies within the array.
class ChunkShape {
 public:
  ChunkShape(const std::vector<std::uint64_t>& lengths, const std::vector<std::uint64_t>& chunk)
      : lengths_(lengths), chunk_(chunk), inside_(chunk.size()) {}
  void set(std::uint64_t number) {
    for (std::size_t i = chunk_.size(); i-- > 0;) {
      const std::uint64_t across = (lengths_[i] - 1) / chunk_[i] + 1;
      inside_[i] = std::min(chunk_[i], lengths_[i] - number % across * chunk_[i]);
      number /= across;
    }
  }
  std::uint64_t elements() const {
    std::uint64_t all = 1;
    for (const std::uint64_t n : inside_) all *= n;
    return all;
  }
  // Calls visit(first element in the chunk, number of elements) for each run inside the array.
  template <class Visit>
  void for_each_run(Visit visit) const {
    std::size_t last = inside_.size();
    std::uint64_t run = 1, pitch = 1;
    // Rows that lie completely inside the array are adjacent and form one run.
    while (last > 0 && run == pitch) {
      --last;
      run *= inside_[last];
      pitch *= chunk_[last];
    }
    const std::uint64_t rows = elements() / std::max<std::uint64_t>(run, 1);
    for (std::uint64_t row = 0; row < rows; ++row) {
      std::uint64_t left = row, at = 0, step = pitch;
      for (std::size_t i = last; i-- > 0;) {
        at += left % inside_[i] * step;
        left /= inside_[i];
        step *= chunk_[i];
      }
      visit(at, run);
    }
  }

 private:
  const std::vector<std::uint64_t>& lengths_;
  const std::vector<std::uint64_t>& chunk_;
  std::vector<std::uint64_t> inside_;
};

}  // namespace

void ExtentCounter::take_stored(const Metadata& metadata, const Storage& storage,
                                std::span<const hdf5::Property> properties, Slot slot) {
  const VarId v = slot.variable;
  const std::uint64_t size = slot.form.size();
  const auto bytes = metadata.array_bytes(v);
  if (!bytes || !has_counted_values(storage, v, properties)) return;
  slot.form.hole = {};
  std::ranges::copy(hdf5::fill_value_set(properties, v, size), slot.form.hole.begin());
  const bool in_chunks = storage.kind == StorageKind::kChunked && *bytes > 0;
  if (in_chunks && unknown_filter(storage.filters)) return;
  const std::uint64_t elements = *bytes / size;
  if (in_chunks) {
    std::vector<std::uint64_t> lengths;
    for (const DimId d : metadata.variable(v).dimensions)
      lengths.push_back(metadata.dimension(d).length);
    note(&slot, elements, PartDivision::of_units(chunk_count(lengths, storage.chunk)));
    chunked_.push_back({slot, std::move(lengths), storage, metadata.begin(v)});
    return;
  }
  note(&slot, elements, PartDivision::of_elements(elements));
  ValueTally tally;
  begin(slot, &tally);
  count_elements(slot, 0, elements, &tally,
                 [&](std::uint64_t, std::uint64_t n) { count_holes(slot.form, n, &tally); });
  keep(slot, tally);
}

Status ExtentCounter::count_chunks(const std::shared_ptr<const ByteSource>& extent,
                                   unsigned threads) {
  for (const Chunked& chunked : chunked_)
    NMB_TRY(count_chunks_of(chunked, extent, threads)
                .of_object("variable " + names_[chunked.slot.variable]));
  return {};
}

Status ExtentCounter::count_chunks_of(const Chunked& chunked,
                                      const std::shared_ptr<const ByteSource>& extent,
                                      unsigned threads) {
  const Storage& storage = chunked.storage;
  const Slot& slot = chunked.slot;
  const std::uint64_t region = storage.region_length;
  if (chunked.begin > extent->size() || region > extent->size() - chunked.begin)
    return Status(Code::kDamaged, "found chunks outside of the extent, expected them inside");
  const ChunkTable table(run_of(extent, chunked.begin, region), storage, slot.form.size());
  const std::uint64_t chunks = chunk_count(chunked.lengths, storage.chunk);
  std::uint64_t budget = kMostDecoded + kMostTimes * region;
  if (budget / kMostTimes < region) budget = ~std::uint64_t{0};
  const auto at_once = static_cast<unsigned>(std::min<std::uint64_t>(
      threads, std::max<std::uint64_t>(1, memory_budget(kDecodedAtOnce) / table.chunk_bytes())));
  const auto wants_chunk = [&](std::uint64_t chunk) {
    return slot.division.parts() == 0 || wants(slot.division.part_of(chunk));
  };
  ValueTally all;
  begin(slot, &all);
  for (std::uint64_t first = 0; first < chunks; first += kRowsAtOnce) {
    NMB_ASSIGN(const std::vector<ChunkRow> rows,
               table.rows(first, std::min(kRowsAtOnce, chunks - first)));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].stored_length == 0 || !wants_chunk(first + i)) continue;
      if (table.chunk_bytes() > budget) {
        variables_[slot.variable] = {};
        return {};
      }
      budget -= table.chunk_bytes();
    }
    std::atomic<std::size_t> next{0};
    NMB_TRY(share_work(
        std::min<std::size_t>(at_once, rows.size()), [&](const std::atomic<bool>& stop) -> Status {
          ValueTally tally;
          begin(slot, &tally);
          ChunkShape shape(chunked.lengths, storage.chunk);
          for (std::size_t i; !stop && (i = next++) < rows.size();) {
            if (!wants_chunk(first + i)) continue;
            shape.set(first + i);
            std::vector<std::byte> values;
            if (rows[i].stored_length > 0) {
              NMB_ASSIGN(values, table.load(first + i, rows[i]));
            }
            const auto count_chunk = [&] {
              if (values.empty()) return count_holes(slot.form, shape.elements(), &tally);
              shape.for_each_run([&](std::uint64_t at, std::uint64_t count) {
                count_values(slot.form, values.data() + at * slot.form.size(), count, &tally);
              });
            };
            if (slot.division.parts() == 0)
              count_chunk();
            else
              count_part(slot, slot.division.part_of(first + i), &tally, count_chunk);
          }
          std::lock_guard lock(mutex_);
          all.counts.add(tally.counts);
          if (tally.histogram) all.histogram->merge(tally.histogram->take());
          if (tally.sums) all.sums->add(*tally.sums);
          for (std::size_t f = 0; f < tally.functions.size(); ++f)
            all.functions[f]->merge(*tally.functions[f]);
          return {};
        }));
  }
  if (!request_.wanted.empty()) variables_[slot.variable].elements = all.counts.elements;
  keep(slot, all);
  return {};
}

}  // namespace nmb
