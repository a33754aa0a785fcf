// Computes the statistics of a block's values (see commit/statistics_counting.h).
#include "commit/statistics_counting.h"

#include <utility>

#include "state/extents.h"
#include "state/stored_blocks.h"

namespace nmb {

Result<std::unique_ptr<BlockCounter>> counter_of(WriterCore& w, BlockId id) {
  const BlockState& block = w.blocks[id];
  CountRequest request;
  request.level = w.options.statistics;
  request.functions = w.options.functions;
  if (block.metadata && !block.partial)
    return BlockCounter::make(*block.metadata, block.layout, block.next.records, request);
  NMB_ASSIGN(const ClassicHeader header, stored_header(w, id));
  return BlockCounter::make(header.metadata, header.layout, block.next.records, request);
}

namespace {

// Returns a source that reads those values of a block which are in the file. Only one thread may
// use this source.
std::shared_ptr<const ByteSource> extent_source(WriterCore& w, BlockId id) {
  class Values final : public ByteSource {
   public:
    Values(WriterCore& writer, BlockId id)
        : writer_(writer), size_(writer.blocks[id].next.extent_length), pattern_(none_, {}) {
      if (writer.blocks[id].values.takes_puts()) {
        extent_ = extent_of(writer, id);
      } else {
        nothing_ = new_extent(writer, id);
        nothing_->start_committed(size_);
        extent_ = nothing_.get();
      }
    }
    std::uint64_t size() const override { return size_; }
    const std::string& name() const override { return writer_.file->name(); }
    Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
      return extent_->read(offset, out, writer_.buffer, pattern_);
    }

   private:
    WriterCore& writer_;
    const std::uint64_t size_;
    std::unique_ptr<ExtentState> nothing_;
    ExtentState* extent_;
    const Metadata none_;
    const FillPattern pattern_;
  };
  return std::make_shared<Values>(w, id);
}

}  // namespace

Result<CountedBlock> count_block(WriterCore& w, BlockId id) {
  BlockState& block = w.blocks[id];
  NMB_ASSIGN(Counting counting,
             block.values.count({block.next.extent_length, w.options.threads, w.buffer,
                                 [&w, id] { return counter_of(w, id); },
                                 [&w, id] { return extent_of(w, id); }}));
  if (!counting.counter) return std::move(counting.counted);
  BlockCounter* const counter = counting.counter.get();
  if (counter->has_chunks()) {
    const bool is_packed = block.packed() && block.packed()->extent;
    NMB_TRY(counter->count_chunks(is_packed ? block.packed()->extent : extent_source(w, id),
                                  is_packed ? w.options.threads : 1));
  }
  NMB_ASSIGN(BlockStatistics statistics, counter->finish());
  return CountedBlock{std::move(statistics), counter->take_names()};
}

}  // namespace nmb
