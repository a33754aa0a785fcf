#include "commit/statistics_counting.h"

#include <utility>

#include "sources/value_source.h"
#include "state/extents.h"
#include "state/stored_blocks.h"

namespace nmb {

Result<std::unique_ptr<ExtentCounter>> counter_of(WriterCore& w, BlockId id) {
  const BlockState& block = w.blocks[id];
  CountRequest request;
  request.level = w.options.statistics;
  request.functions = w.options.functions;
  if (block.metadata && !block.partial)
    return ExtentCounter::make(*block.metadata, block.layout, block.next.records, request);
  NMB_ASSIGN(const ClassicHeader header, stored_header(w, id));
  return ExtentCounter::make(header.metadata, header.layout, block.next.records, request);
}

namespace {

// Returns a source that reads those values of a block which are in the file. Only one thread may
// use this source.
Source extent_source(WriterCore& w, BlockId id) {
  struct Values {
    Metadata none{};
    FillPattern pattern{none, {}};
    std::unique_ptr<ExtentState> nothing{};
    ExtentState* extent = nullptr;
  };
  const std::uint64_t size = w.blocks[id].next.extent_length;
  const auto values = std::make_shared<Values>();
  if (w.blocks[id].values.takes_puts()) {
    values->extent = extent_of(w, id);
  } else {
    values->nothing = new_extent(w, id);
    values->nothing->start_committed(size);
    values->extent = values->nothing.get();
  }
  return source_of(form::Called{
      size, w.file->name(), [&w, values](std::uint64_t offset, std::span<std::byte> out) {
        return values->extent->read(offset, out, w.buffer, values->pattern);
      }});
}

}  // namespace

Result<NamedStatistics> count_block(WriterCore& w, BlockId id) {
  BlockState& block = w.blocks[id];
  NMB_ASSIGN(Counting counting,
             block.values.count({block.next.extent_length, w.options.threads, w.buffer,
                                 [&w, id] { return counter_of(w, id); },
                                 [&w, id] { return extent_of(w, id); }}));
  if (!counting.counter) return std::move(counting.counted);
  ExtentCounter* const counter = counting.counter.get();
  if (counter->has_chunks()) {
    const bool is_packed = block.packed() && block.packed()->extent;
    NMB_TRY(counter->count_chunks(is_packed ? block.packed()->extent : extent_source(w, id),
                                  is_packed ? w.options.threads : 1));
  }
  NMB_ASSIGN(BlockStatistics statistics, counter->finish());
  return NamedStatistics{std::move(statistics), counter->take_names()};
}

}  // namespace nmb
