// Computes digests of content (spec/digest.md, section 5; nmb/compare.h).
#include <cinttypes>
#include <cstdio>
#include <deque>
#include <utility>

#include "compare/block_batch.h"
#include "compare/content_values.h"
#include "compare/value_jobs.h"
#include "model/name_rules.h"
#include "nmb/compare.h"
#include "wire/endian.h"
#include "wire/hash.h"

namespace nmb {

namespace {

// Computes the digest of a sequence of numbers and texts.
class ContentStream {
 public:
  explicit ContentStream(std::string_view what) { text(what); }
  void number(std::uint64_t number) {
    std::byte bytes[8];
    store_be(bytes, number);
    stream_.add(bytes);
  }
  void text(std::string_view text) { text_bytes(std::as_bytes(std::span(text))); }
  void text_bytes(std::span<const std::byte> bytes) {
    number(bytes.size());
    stream_.add(bytes);
  }
  void digest(const Digest& digest) {
    number(digest.high);
    number(digest.low);
  }
  void attributes(const std::vector<AttributeContent>& attributes) {
    number(attributes.size());
    for (const AttributeContent& attribute : attributes) {
      text(attribute.name);
      text(attribute.type);
      number(attribute.shape.size());
      for (const std::uint64_t length : attribute.shape) number(length);
      number(attribute.count);
      text_bytes(attribute.values);
    }
  }
  Digest result() const { return stream_.digest(); }

 private:
  DigestStream stream_;
};

// The digest of a variable's values: the digest of the digests of its windows.
struct DigestedVariable {
  std::size_t block = 0, number = 0;
  ContentValues::Extent extent;
  std::shared_ptr<const ContentValues> values;  // opened before if several jobs need it
  std::vector<Digest> windows;
};

// Computes the digests of some blocks together.
class DigestBatch {
 public:
  DigestBatch(std::uint64_t file_size, const ContentOptions& options,
              const std::function<Status(const BlockDigest&)>& visit)
      : options_(options), visit_(visit), budget_(file_size) {}

  Status add(BlockContent block) {
    batch_.add(block);
    blocks_.push_back(std::move(block));
    return batch_.is_full() ? finish() : Status();
  }

  // Computes the digests of all blocks that were added, and forgets the blocks.
  Status finish() {
    std::vector<ValueJob> jobs;
    const auto cache = std::make_shared<ChunkCache>(options_.chunk_cache);
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const Status status = add_jobs(b, cache, &jobs);
      if (!status.ok()) return of_block(status, blocks_[b]);
    }
    NMB_TRY(run_value_jobs(options_.threads, jobs, [&] {
      return [&, buffer = std::vector<std::byte>()](const ValueJob& job) mutable {
        DigestedVariable& variable = variables_[job.item];
        const Status status = digest_windows(job, cache, &variable, &buffer);
        return of_block(status, blocks_[variable.block]);
      };
    }));
    std::size_t at = 0;
    for (BlockContent& block : blocks_) {
      Result<BlockDigest> digest = digest_of_block(block, &at);
      if (!digest.ok()) return of_block(digest.status(), block);
      NMB_TRY(visit_(*digest));
    }
    blocks_.clear();
    variables_.clear();
    batch_ = {};
    return {};
  }

 private:
  Status add_jobs(std::size_t b, const std::shared_ptr<ChunkCache>& cache,
                  std::vector<ValueJob>* jobs) {
    const BlockContent& block = blocks_[b];
    for (std::size_t number = 0; number < block.variable_count(); ++number) {
      DigestedVariable variable{b, number, {}, nullptr, {}};
      NMB_ASSIGN(variable.extent, ContentValues::extent_of(block, number, room_of(options_, 1)));
      NMB_TRY(budget_.take(variable.extent.bytes));
      const std::uint64_t windows = variable.extent.windows();
      variable.windows.resize(windows);
      if (add_value_jobs(variables_.size(), windows, variable.extent.windows_at_once, jobs))
        NMB_ASSIGN(variable.values, ContentValues::open(block, number, cache));
      variables_.push_back(std::move(variable));
    }
    return {};
  }

  Status digest_windows(const ValueJob& job, const std::shared_ptr<ChunkCache>& cache,
                        DigestedVariable* variable, std::vector<std::byte>* buffer) const {
    std::shared_ptr<const ContentValues> values = variable->values;
    if (!values)
      NMB_ASSIGN(values, ContentValues::open(blocks_[variable->block], variable->number, cache));
    const ContentValues::Extent& extent = variable->extent;
    const std::uint64_t end = job.first + job.windows;
    for (std::uint64_t window = job.first; window < end;) {
      const std::uint64_t windows = std::min(extent.windows_at_once, end - window);
      const std::uint64_t first = window * extent.window;
      const std::uint64_t count = std::min(windows * extent.window, extent.elements - first);
      if (const std::uint64_t size = values->element_bytes(); size > 0) {
        NMB_TRY(values->read(first, count, buffer));
        for (auto rest = std::span<const std::byte>(*buffer); !rest.empty(); ++window) {
          const std::size_t bytes = std::min<std::size_t>(rest.size(), extent.window * size);
          variable->windows[window] = nmb::digest_of(rest.first(bytes));
          rest = rest.subspan(bytes);
        }
      } else {
        DigestStream stream;
        NMB_TRY(values->each(first, count, [&](std::span<const std::byte> element) {
          stream.add(element);
          return Status();
        }));
        variable->windows[window++] = stream.digest();
      }
    }
    return {};
  }

  // Computes the digest of a block. *at is the number of its first variable in variables_.
  Result<BlockDigest> digest_of_block(BlockContent& block, std::size_t* at) const {
    ContentStream stream("nmb/digest/1 block");
    stream.number(block.dimensions().size());
    for (const DimensionContent& dimension : block.dimensions()) {
      stream.text(dimension.name);
      stream.number(dimension.length);
      stream.number(dimension.is_unlimited ? 1 : 0);
    }
    NMB_ASSIGN(const std::vector<TypeContent> types, block.named_types());
    stream.number(types.size());
    for (const TypeContent& type : types) {
      stream.text(type.name);
      stream.text(type.type);
      stream.attributes(type.attributes);
      stream.text(type.comment);
    }
    stream.number(block.links().size());
    for (const LinkContent& link : block.links()) {
      stream.text(link.name);
      stream.text(link.kind);
      stream.number(link.number);
      stream.text(link.content);
    }
    NMB_ASSIGN(const std::vector<AttributeContent> attributes, block.attributes());
    stream.attributes(attributes);
    stream.text(block.comment());
    stream.number(block.variable_count());
    for (std::size_t number = 0; number < block.variable_count(); ++number) {
      const Status status = add_variable(block, number, variables_[(*at)++], &stream);
      if (!status.ok())
        return status.of_object("variable " + in_quotes(block.variable_name(number)));
    }
    return BlockDigest{block.name(), stream.result(), block.is_empty()};
  }

  static Status add_variable(BlockContent& block, std::size_t number,
                             const DigestedVariable& variable, ContentStream* stream) {
    stream->text(block.variable_name(number));
    NMB_ASSIGN(const std::string type, block.type_text(number));
    stream->text(type);
    stream->number(block.is_null(number) ? 1 : 0);
    NMB_ASSIGN(const std::vector<AxisContent> axes, block.axes(number));
    stream->number(axes.size());
    for (const AxisContent& axis : axes) {
      stream->text(axis.dimension);
      stream->number(axis.level);
      stream->number(axis.length);
      stream->number(axis.is_unlimited ? 1 : 0);
      stream->number(axis.maximum);
    }
    NMB_ASSIGN(const std::vector<AttributeContent> attributes, block.variable_attributes(number));
    stream->attributes(attributes);
    stream->text(block.variable_comment(number));
    std::vector<std::byte> windows(variable.windows.size() * sizeof(Digest));
    for (std::size_t i = 0; i < variable.windows.size(); ++i) {
      store_be(windows.data() + i * sizeof(Digest), variable.windows[i].high);
      store_be(windows.data() + i * sizeof(Digest) + 8, variable.windows[i].low);
    }
    stream->digest(nmb::digest_of(windows));
    return {};
  }

  const ContentOptions& options_;
  const std::function<Status(const BlockDigest&)>& visit_;
  ValueBudget budget_;
  std::deque<BlockContent> blocks_;  // ContentValues refer to blocks
  std::vector<DigestedVariable> variables_;
  BlockBatch batch_;
};

}  // namespace

std::string digest_text(const Digest& digest) {
  char text[33];
  (void)std::snprintf(text, sizeof text, "%016" PRIx64 "%016" PRIx64, digest.high, digest.low);
  return text;
}

Result<Digest> digest_file(const ContentFile& file, const ContentOptions& options,
                           const std::function<Status(const BlockDigest&)>& visit) {
  NMB_ASSIGN(const DimensionLengths lengths, dimension_lengths(file.blocks));
  ContentStream stream("nmb/digest/1 file");
  const std::function<Status(const BlockDigest&)> add = [&](const BlockDigest& block) {
    if (!block.is_empty) {
      stream.text(block.block);
      stream.digest(block.digest);
    }
    return visit(block);
  };
  DigestBatch batch(file.size, options, add);
  NMB_TRY(file.blocks.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    NMB_ASSIGN(BlockContent block, content_of(file.blocks, entry, lengths));
    NMB_TRY(batch.add(std::move(block)));
    return true;
  }));
  NMB_TRY(batch.finish());
  return stream.result();
}

Status digest_blocks(const ContentFile& file, const std::vector<BlockEntry>& chosen,
                     const ContentOptions& options,
                     const std::function<Status(const BlockDigest&)>& visit) {
  NMB_ASSIGN(const DimensionLengths lengths, dimension_lengths(file.blocks));
  DigestBatch batch(file.size, options, visit);
  for (const BlockEntry& entry : chosen) {
    NMB_ASSIGN(BlockContent block, content_of(file.blocks, entry, lengths));
    NMB_TRY(batch.add(std::move(block)));
  }
  return batch.finish();
}

}  // namespace nmb
