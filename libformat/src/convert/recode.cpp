// Values in other chunks, through other filters (see convert/recode.h).
#include "convert/recode.h"

#include <algorithm>
#include <span>
#include <utility>

#include "nmb/classic_header.h"
#include "nmb/hdf5_section.h"
#include "parallel/workers.h"
#include "values/chunk_filters.h"
#include "values/chunk_table.h"
#include "values/open_array.h"
#include "wire/checked.h"
#include "wire/endian.h"
#include "wire/shared_range.h"
#include "wire/spliced_source.h"

namespace nmb {

namespace {

// Arrays of at most so many bytes stay one run.
constexpr std::uint64_t kSmallArray = 64 << 10;
// Of a chunk whose shape is chosen here, about; of all that are coded at a time.
constexpr std::uint64_t kUsualChunk = 1 << 20, kCodedAtOnce = 64 << 20;
constexpr std::uint64_t kMostChunk = (std::uint64_t{1} << 32) - 1;

std::uint64_t chunks_along(std::uint64_t length, std::uint64_t chunk) {
  return length / chunk + (length % chunk != 0);
}

// The chunk of a number of the array that `lengths` and `chunk` cut, as it is ahead of filters.
class ChunkCutter {
 public:
  ChunkCutter(const ByteSource& array, const std::vector<std::uint64_t>& lengths,
              const std::vector<std::uint64_t>& chunk, std::uint64_t value_size)
      : array_(array), lengths_(lengths), chunk_(chunk), value_size_(value_size) {
    // Dimensions from here on are whole in a chunk: what it has of them is one run.
    first_whole_ = lengths_.size();
    while (first_whole_ > 1 && chunk_[first_whole_ - 1] == lengths_[first_whole_ - 1])
      --first_whole_;
    chunk_bytes_ = value_size_;
    for (const std::uint64_t n : chunk_) chunk_bytes_ *= n;
  }

  // Zero past the array's ends.
  Status cut(std::uint64_t number, std::vector<std::byte>* out) const {
    out->assign(chunk_bytes_, std::byte{0});
    const std::size_t rank = lengths_.size();
    std::vector<std::uint64_t> first(rank), count(rank), at(rank, 0);
    for (std::size_t i = rank; i-- > 0;) {
      const std::uint64_t chunks = chunks_along(lengths_[i], chunk_[i]);
      first[i] = number % chunks * chunk_[i];
      number /= chunks;
      count[i] = std::min(chunk_[i], lengths_[i] - first[i]);
    }
    // Of the run's slowest dimension.
    const std::size_t last = first_whole_ - 1;
    std::uint64_t run = count[last] * value_size_;
    for (std::size_t i = first_whole_; i < rank; ++i) run *= lengths_[i];
    for (;;) {
      std::uint64_t from = 0, to = 0;
      for (std::size_t i = 0; i < rank; ++i) {
        from = from * lengths_[i] + first[i] + at[i];
        to = to * chunk_[i] + at[i];
      }
      NMB_TRY(array_.read_at(from * value_size_, std::span(*out).subspan(to * value_size_, run)));
      std::size_t i = last;
      while (i-- > 0) {
        if (++at[i] < count[i]) break;
        at[i] = 0;
      }
      if (i == static_cast<std::size_t>(-1)) return {};
    }
  }

 private:
  const ByteSource& array_;
  const std::vector<std::uint64_t>& lengths_;
  const std::vector<std::uint64_t>& chunk_;
  const std::uint64_t value_size_;
  std::size_t first_whole_;
  std::uint64_t chunk_bytes_;
};

class Recoder {
 public:
  Recoder(const Dataset& block, const RecodeOptions& options, std::shared_ptr<SpoolFile> spool,
          std::vector<std::string>* left, std::set<std::size_t>* used)
      : block_(block), options_(options), spool_(std::move(spool)), left_(*left), used_(*used) {}

  Result<std::optional<RecodedBlock>> recode() {
    const auto kAsItIs = std::optional<RecodedBlock>();
    Metadata metadata = block_.metadata;
    if (!metadata.extension()) return kAsItIs;
    // Records of several variables lie among each other.
    if (metadata.record_dimension()) {
      left_.push_back("found values in records; kept as they are");
      return kAsItIs;
    }
    Extension extension = *metadata.extension();
    NMB_ASSIGN(properties_, hdf5::decode_properties(extension.hdf5));
    extension.storage.clear();
    bool any = false;
    for (VarId v = 0; v < metadata.variable_count(); ++v) {
      const std::uint64_t begin = round_up(end_, 8);
      const Storage* const storage = block_.metadata.extension()->storage_of(v);
      NMB_ASSIGN(std::optional<Storage> coded, plan(v, storage));
      if (coded) {
        any = true;
        NMB_TRY(code(v, storage, &*coded, begin));
        extension.storage.push_back(std::move(*coded));
        metadata.set_begin(v, begin);
        continue;
      }
      if (storage) extension.storage.push_back(*storage);
      const std::uint64_t length = block_.metadata.slice_bytes(v).value_or(0);
      // Chunks begin at a multiple of 8, be there one or none.
      const bool is_empty = length == 0 && !(storage && storage->kind == StorageKind::kChunked);
      metadata.set_begin(v, is_empty ? end_ : begin);
      if (!is_empty) end_ = begin;
      if (length > 0) add_run({begin, length, block_.metadata.begin(v), 0});
    }
    if (!any) return kAsItIs;
    put_properties(&extension);
    metadata.set_extension(std::make_shared<const Extension>(std::move(extension)));
    RecodedBlock out;
    NMB_ASSIGN(out.body, encode_extended_body(metadata, 0));
    out.extent_length = end_;
    out.extent = std::make_shared<SplicedSource>(
        std::vector<std::shared_ptr<const ByteSource>>{block_.extent, spool_}, std::move(runs_),
        end_, block_.extent->name());
    return std::optional(std::move(out));
  }

 private:
  void add_run(const SplicedSource::Run& run) {
    runs_.push_back(run);
    end_ = run.end();
  }

  Status of_variable(VarId variable, const Status& status) const {
    return Status(status.code(), block_.extent->name(), status.offset(), status.rule(),
                  "variable " + std::string(block_.metadata.variable(variable).name) + ": " +
                      status.message());
  }

  // How a variable is to be stored; nullopt: as it is.
  Result<std::optional<Storage>> plan(VarId variable, const Storage* now) {
    const auto kAsItIs = std::optional<Storage>();
    const Variable v = block_.metadata.variable(variable);
    if (now && now->kind != StorageKind::kChunked) return kAsItIs;
    if (now)
      if (const Status known = check_filters(now->filters); !known.ok()) {
        left_.push_back("variable " + std::string(v.name) + ": " + known.message() +
                        "; kept as they are");
        return kAsItIs;
      }
    const std::uint64_t bytes = block_.metadata.array_bytes(variable).value_or(0);
    if (v.dimensions.empty() || bytes == 0) return kAsItIs;
    if (!now && bytes <= kSmallArray) return kAsItIs;
    Storage out;
    out.variable = variable;
    out.kind = StorageKind::kChunked;
    out.chunk = now ? now->chunk : usual_chunk(variable);
    bool asked_for = false;
    for (std::size_t i = 0; i < v.dimensions.size(); ++i)
      for (const Compression::ChunkLength& asked : options_.compression.chunk) {
        const Dimension dimension = block_.metadata.dimension(v.dimensions[i]);
        if (asked.dimension != dimension.name) continue;
        out.chunk[i] = std::min(asked.length, dimension.length);
        asked_for = true;
        used_.insert(static_cast<std::size_t>(&asked - options_.compression.chunk.data()));
      }
    const std::uint64_t size = block_.metadata.value_size(v.type);
    std::uint64_t chunk_bytes = size;
    for (const std::uint64_t n : out.chunk)
      if (!checked_mul(chunk_bytes, n, &chunk_bytes) || chunk_bytes > kMostChunk)
        return of_variable(variable,
                           Status(Code::kUsage, "found chunks of 4 GiB or more, expected less"));
    out.filters = filters(now, size);
    if (!asked_for && (now ? out.filters == now->filters : out.filters.empty())) return kAsItIs;
    return std::optional(std::move(out));
  }

  // Whole rows, of about kUsualChunk.
  std::vector<std::uint64_t> usual_chunk(VarId variable) const {
    std::vector<std::uint64_t> chunk;
    for (const DimId d : block_.metadata.variable(variable).dimensions)
      chunk.push_back(block_.metadata.dimension(d).length);
    std::uint64_t bytes = block_.metadata.array_bytes(variable).value_or(0);
    for (std::uint64_t& n : chunk) {
      if (bytes <= kUsualChunk) break;
      const std::uint64_t row = bytes / n;
      n = std::max<std::uint64_t>(1, kUsualChunk / row);
      bytes = row * n;
    }
    return chunk;
  }

  std::vector<Filter> filters(const Storage* now, std::uint64_t value_size) const {
    const Compression& wanted = options_.compression;
    bool shuffle = wanted.shuffle, sum = false;
    ValueCodec codec = wanted.codec;
    auto level = static_cast<std::uint32_t>(wanted.level);
    if (now) {
      for (const Filter& f : now->filters) {
        shuffle = shuffle || f.id == kShuffle;
        sum = sum || f.id == kFletcher32;
        if (wanted.codec != ValueCodec::kKeep || (f.id != kDeflate && f.id != kZstd)) continue;
        codec = f.id == kDeflate ? ValueCodec::kDeflate : ValueCodec::kZstd;
        level = std::clamp(f.parameters.empty() ? 1u : f.parameters.front(), 1u,
                           f.id == kDeflate ? 9u : 19u);
      }
    }
    std::vector<Filter> out;
    constexpr std::uint32_t kOptional = 1;
    const bool compressed = codec == ValueCodec::kDeflate || codec == ValueCodec::kZstd;
    if (shuffle && compressed && value_size > 1)
      out.push_back({kShuffle, kOptional, "shuffle", {static_cast<std::uint32_t>(value_size)}});
    if (codec == ValueCodec::kDeflate) out.push_back({kDeflate, kOptional, "deflate", {level}});
    if (codec == ValueCodec::kZstd) out.push_back({kZstd, kOptional, "zstd", {level}});
    if (sum) out.push_back({kFletcher32, 0, "fletcher32", {}});
    return out;
  }

  // Writes table and chunks to the end of the spool, a region from `begin` on.
  Status code(VarId variable, const Storage* now, Storage* storage, std::uint64_t begin) {
    const Status status = code_chunks(variable, now, storage, begin);
    return status.ok() || status.code() == Code::kNoSpace ? status : of_variable(variable, status);
  }

  Status code_chunks(VarId variable, const Storage* now, Storage* storage, std::uint64_t begin) {
    NMB_ASSIGN(const ValueArray array,
               stored_array(block_.metadata, block_.layout, block_.records, variable, block_.extent,
                            properties_, std::make_shared<ChunkCache>(kCodedAtOnce)));
    const std::uint64_t size = array.shape.element_size;
    std::uint64_t chunks = 1, chunk_bytes = size;
    for (std::size_t i = 0; i < storage->chunk.size(); ++i) {
      chunks *= chunks_along(array.shape.lengths[i], storage->chunk[i]);
      chunk_bytes *= storage->chunk[i];
    }
    // Chunks of the same shape need not be put together.
    std::optional<ChunkTable> same;
    if (now && now->chunk == storage->chunk)
      same.emplace(std::make_shared<SharedRange>(block_.extent, block_.metadata.begin(variable),
                                                 now->region_length),
                   *now, size);
    const SharedRange plain(array.source, array.shape.begin,
                            array.source->size() - array.shape.begin);
    const ChunkCutter cutter(plain, array.shape.lengths, storage->chunk, size);

    const std::uint64_t spooled = spool_->size(), table_bytes = chunks * ChunkRow::kLength;
    std::uint64_t end = table_bytes;
    const auto window = static_cast<std::size_t>(
        std::min(chunks, std::max<std::uint64_t>(options_.threads, kCodedAtOnce / chunk_bytes)));
    struct Coded {
      std::vector<std::byte> bytes;
      std::uint32_t mask = 0;
    };
    std::vector<Coded> coded(window);
    const auto code_one = [&](std::uint64_t number, Coded* out) -> Status {
      std::vector<std::byte> chunk;
      if (same) {
        NMB_ASSIGN(chunk, same->load(number));
      } else {
        NMB_TRY(cutter.cut(number, &chunk));
      }
      *out = {};
      // One that was never written stays so.
      if (!chunk.empty())
        out->bytes = encode_chunk(storage->filters, std::move(chunk), size, &out->mask);
      return {};
    };
    std::vector<std::byte> rows, stored;
    for (std::uint64_t first = 0; first < chunks; first += window) {
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(window, chunks - first));
      std::atomic<std::size_t> next{0};
      NMB_TRY(share_work(std::min<std::size_t>(options_.threads, count),
                         [&](const std::atomic<bool>& stop) -> Status {
                           for (std::size_t i; !stop && (i = next++) < count;) {
                             if (options_.cancel && options_.cancel->load())
                               return Status(Code::kIo, "interrupted");
                             NMB_TRY(code_one(first + i, &coded[i]));
                           }
                           return {};
                         }));
      rows.assign(count * ChunkRow::kLength, std::byte{0});
      stored.clear();
      for (std::size_t i = 0; i < count; ++i) {
        if (coded[i].bytes.empty()) continue;
        std::byte* const row = rows.data() + i * ChunkRow::kLength;
        store_le(row, end + stored.size());
        store_le(row + 8, std::uint64_t{coded[i].bytes.size()});
        store_le(row + 16, coded[i].mask);
        stored.insert(stored.end(), coded[i].bytes.begin(), coded[i].bytes.end());
      }
      NMB_TRY(spool_->write_at(spooled + first * ChunkRow::kLength, rows));
      NMB_TRY(spool_->write_at(spooled + end, stored));
      end += stored.size();
    }
    storage->region_length = end;
    add_run({begin, end, spooled, 1});
    return {};
  }

  // What was told of the layout of variables that have chunks now is no more so.
  void put_properties(Extension* extension) {
    extension->hdf5.clear();
    for (hdf5::Property& p : properties_) {
      const Storage* const storage = extension->storage_of(p.owner);
      if (p.number == hdf5::Property::Number::kCreation &&
          p.creation.layout != hdf5::Layout::kChunked && storage &&
          storage->kind == StorageKind::kChunked) {
        p.creation.layout = hdf5::Layout::kChunked;
        p.creation.allocation = hdf5::Allocation::kIncremental;
      }
      hdf5::append_property(p, &extension->hdf5);
    }
  }

  const Dataset& block_;
  const RecodeOptions& options_;
  const std::shared_ptr<SpoolFile> spool_;
  std::vector<std::string>& left_;
  std::set<std::size_t>& used_;
  std::vector<hdf5::Property> properties_;  // of the block
  std::uint64_t end_ = 0;                   // of the extent so far
  std::vector<SplicedSource::Run> runs_;
};

}  // namespace

Result<std::optional<RecodedBlock>> recode_values(const Dataset& block,
                                                  const RecodeOptions& options,
                                                  std::shared_ptr<SpoolFile> spool,
                                                  std::vector<std::string>* left,
                                                  std::set<std::size_t>* used) {
  return Recoder(block, options, std::move(spool), left, used).recode();
}

}  // namespace nmb
