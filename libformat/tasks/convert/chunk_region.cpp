#include "convert/chunk_region.h"

#include <span>

#include "model/extension.h"
#include "sources/value_source.h"
#include "wire/endian.h"

namespace nmb {

namespace {

constexpr std::uint64_t kSmall = 1 << 20;  // bytes of chunks that are written together

}  // namespace

void ChunkRuns::add(const form::Spliced::SourceRun& run) {
  if (!runs_.empty() && runs_.back().from == run.from && runs_.back().end() == run.offset &&
      runs_.back().source + runs_.back().length == run.source)
    runs_.back().length += run.length;
  else
    runs_.push_back(run);
}

Result<std::uint64_t> store_chunks(const ChunksToCode& chunks, const FindStored& stored,
                                   const CodingRules& rules, SpoolFile& spool, std::uint64_t begin,
                                   ChunkRuns* runs) {
  const std::uint64_t table = spool.size();
  const std::uint64_t table_bytes = chunks.grid.count() * ChunkRow::kLength;
  if (table_bytes == 0) return std::uint64_t{0};
  runs->add({begin, table_bytes, table, runs->spool()});
  std::uint64_t spooled = table + table_bytes, end = table_bytes;
  std::vector<std::byte> rows, small;  // `small`: chunks that are written together
  const auto write_small = [&]() -> Status {
    NMB_TRY(spool.write_at(spooled - small.size(), small));
    small.clear();
    return {};
  };
  const auto take = [&](std::uint64_t first, std::span<const CodedChunk> coded) -> Status {
    rows.assign(coded.size() * ChunkRow::kLength, std::byte{0});
    for (std::size_t i = 0; i < coded.size(); ++i) {
      const auto kept = stored ? stored(first + i) : std::optional<StoredChunk>();
      const std::uint64_t length = kept ? kept->stored_length : coded[i].bytes.size();
      // A chunk of length 0 was never written in the source, so it is not written here.
      if (length == 0) continue;
      std::byte* const row = rows.data() + i * ChunkRow::kLength;
      store_le(row, end);
      store_le(row + 8, length);
      store_le(row + 16, kept ? kept->filter_mask : coded[i].mask);
      if (kept) {
        runs->add({begin + end, length, kept->offset, kept->source});
      } else {
        runs->add({begin + end, length, spooled, runs->spool()});
        if (small.size() + length > kSmall) NMB_TRY(write_small());
        if (length > kSmall)
          NMB_TRY(spool.write_at(spooled, coded[i].bytes));
        else
          small.insert(small.end(), coded[i].bytes.begin(), coded[i].bytes.end());
        spooled += length;
      }
      end += length;
    }
    NMB_TRY(spool.write_at(table + first * ChunkRow::kLength, rows));
    return write_small();
  };
  NMB_TRY(code_chunks(chunks, rules, take));
  return end;
}

}  // namespace nmb
