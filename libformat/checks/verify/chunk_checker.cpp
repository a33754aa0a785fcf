#include "verify/chunk_checker.h"

#include <algorithm>
#include <new>

#include "model/values.h"
#include "parallel/workers.h"
#include "sources/value_source.h"
#include "values/chunk_filters.h"
#include "wire/joined_text.h"
#include "wire/memory_budget.h"

namespace nmb {

namespace {

constexpr std::uint64_t kRowsAtOnce = 4096;
// All threads together decode at most this many bytes at a time; a single chunk may have more.
constexpr std::uint64_t kDecodedAtOnce = 32 << 20;
// Limits the decoded bytes: a few stored bytes may decode to a large chunk.
constexpr std::uint64_t kMostDecoded = 1 << 30, kMostTimes = 1100;

}  // namespace

void NotDecoded::note(const Storage& storage, std::uint64_t chunks) {
  if (chunks == 0 || storage.filters.empty()) return;
  const Filter* unknown = unknown_filter(storage.filters);
  // The HDF5 library crashed on a chunk, so others were not tried.
  if (!unknown) unknown = first_foreign(storage.filters);
  if (!unknown) return;
  FilterCounts& kept = by_filter_[filter_text(*unknown)];
  ++kept.variables;
  kept.chunks += chunks;
}

void NotDecoded::tell(
    const std::function<void(std::string found, std::string expected)>& warn) const {
  for (const auto& [filter, kept] : by_filter_)
    warn(joined_text("chunks that were not decoded (filter ", filter, "): ", kept.chunks,
                     ", variables: ", kept.variables),
         "filters that NMB or the HDF5 library decodes");
}

std::vector<std::string> NotDecoded::texts() const {
  std::vector<std::string> texts;
  tell([&](const std::string& found, const std::string& expected) {
    texts.push_back(joined_text("found ", found, ", expected ", expected,
                                "; damage in these chunks is not noticed"));
  });
  return texts;
}

Result<std::uint64_t> ChunkChecker::check(const Dataset& block, const Storage& storage,
                                          const Tell& tell, std::uint64_t* left_out) {
  const Variable variable = block.metadata.variable(storage.variable);
  const ChunkTable table(run_of(block.extent, variable.begin, storage.region_length), storage,
                         block.metadata.value_size(variable.type));
  std::uint64_t chunks = 1;
  for (std::size_t i = 0; i < storage.chunk.size(); ++i) {
    const std::uint64_t length = block.metadata.dimension(variable.dimensions[i]).length;
    chunks *= length / storage.chunk[i] + (length % storage.chunk[i] != 0);
  }
  std::uint64_t budget = kMostDecoded + kMostTimes * storage.region_length;
  if (budget / kMostTimes < storage.region_length) budget = ~std::uint64_t{0};
  std::uint64_t unchecked = 0;
  for (std::uint64_t first = 0; first < chunks; first += kRowsAtOnce) {
    NMB_ASSIGN(std::vector<ChunkRow> rows,
               table.rows(first, std::min(kRowsAtOnce, chunks - first)));
    for (ChunkRow& row : rows) {
      if (row.stored_length == 0) continue;
      if (table.chunk_bytes() <= budget) {
        budget -= table.chunk_bytes();
      } else {
        ++*left_out;
        row.stored_length = 0;
      }
    }
    const std::vector<Result<bool>> outcomes = check_all(table, first, rows);
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (!outcomes[i].ok())
        tell(rows[i], outcomes[i].status());
      else if (!*outcomes[i])
        ++unchecked;
  }
  return unchecked;
}

std::vector<Result<bool>> ChunkChecker::check_all(const ChunkTable& table, std::uint64_t first,
                                                  const std::vector<ChunkRow>& rows) const {
  std::vector<Result<bool>> outcomes(rows.size(), true);
  const std::uint64_t at_once =
      std::max<std::uint64_t>(1, memory_budget(kDecodedAtOnce) / table.chunk_bytes());
  const auto threads =
      static_cast<unsigned>(std::min<std::uint64_t>(std::max(threads_, 1u), at_once));
  for_each_on_threads(threads, rows.size(), [&] {
    return [&](std::size_t i) {
      if (rows[i].stored_length == 0) return;
      try {
        outcomes[i] = table.check(first + i, rows[i]);
      } catch (const std::bad_alloc&) {
        outcomes[i] = Status(Code::kLimit, "not enough memory to decode a chunk");
      }
    };
  });
  return outcomes;
}

Result<std::vector<hdf5::DamagedChunks>> find_damaged_chunks(const Dataset& block, unsigned threads,
                                                             const OnChunksLeftOut& on_left_out,
                                                             NotDecoded* not_decoded) {
  std::vector<hdf5::DamagedChunks> all;
  if (!block.metadata.extension() || !block.extent) return all;
  NMB_ASSIGN(const std::vector<hdf5::DamagedChunks> marked, hdf5::marked_chunks(block.metadata));
  for (const Storage& storage : block.metadata.extension()->storage) {
    if (storage.kind != StorageKind::kChunked) continue;
    hdf5::DamagedChunks found{storage.variable};
    std::uint64_t left_out = 0;
    Status failed;
    const auto tell = [&](const ChunkRow&, const Status& status) {
      if (status.code() == Code::kLimit) {
        ++left_out;
      } else if (status.code() != Code::kDamaged) {
        if (failed.ok()) failed = status;
      } else if (found.chunks++ == 0) {
        found.first = status.message();
      }
    };
    const Result<std::uint64_t> checked =
        ChunkChecker(threads).check(block, storage, tell, &left_out);
    NMB_TRY(failed);
    if (!checked.ok() && checked.status().code() != Code::kDamaged) return checked.status();
    if (!checked.ok()) found = {storage.variable, 1, checked.status().message()};
    if (left_out > 0) on_left_out(storage.variable, left_out);
    if (checked.ok()) not_decoded->note(storage, *checked);
    if (found.chunks > 0 ||
        std::ranges::find(marked, storage.variable, &hdf5::DamagedChunks::variable) != marked.end())
      all.push_back(std::move(found));
  }
  return all;
}

}  // namespace nmb
