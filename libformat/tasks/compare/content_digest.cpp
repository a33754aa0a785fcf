// Computes digests of content (spec/digest.md, section 5; compare/compare.h).
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <deque>
#include <utility>

#include "compare/compare.h"
#include "compare/content_blocks.h"
#include "compare/content_values.h"
#include "compare/value_jobs.h"
#include "model/name_rules.h"
#include "wire/endian.h"
#include "wire/hash.h"
#include "wire/sha256.h"

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

// Computes the digests of successive windows.
class WindowDigests {
 public:
  // window: the number of elements in a window. to: where the digest of the first window is stored.
  WindowDigests(std::uint64_t window, std::vector<Digest>::iterator to)
      : window_(window), to_(to) {}
  // Adds elements of `size` bytes each.
  void add(std::span<const std::byte> elements, std::uint64_t size) {
    while (!elements.empty()) {
      const std::uint64_t bytes =
          std::min<std::uint64_t>(elements.size(), (window_ - here_) * size);
      stream_.add(elements.first(bytes));
      elements = elements.subspan(bytes);
      here_ += bytes / size;
      if (here_ == window_) finish();
    }
  }
  // Adds a part of an element. The last part must be followed by end_element().
  void add_part(std::span<const std::byte> bytes) { stream_.add(bytes); }
  void end_element() {
    if (++here_ == window_) finish();
  }
  // Ends a window that is not full.
  void finish() {
    if (here_ == 0) return;
    *to_++ = stream_.digest();
    stream_ = DigestStream();
    here_ = 0;
  }

 private:
  const std::uint64_t window_;
  std::vector<Digest>::iterator to_;
  DigestStream stream_;
  std::uint64_t here_ = 0;  // number of elements of the window that were added
};

// A block, and the sequence whose digest is the digest of the block. So far, the sequence has the
// first `done` variables.
struct DigestedContent {
  DatasetContent content;
  ContentStream stream{"nmb/digest/1 block"};
  std::size_t done = 0;
};

// The digest of the values is computed from the digests of the windows.
struct DigestedVariable {
  DigestedContent* block = nullptr;
  std::size_t number = 0;
  ContentValues::Extent extent;
  std::shared_ptr<const ContentValues> values;  // opened in advance if several jobs need it
  std::vector<Digest> windows;
};

// Computes digests of blocks. Reads the values of many variables together.
class ContentDigester {
 public:
  ContentDigester(std::uint64_t file_size, const ContentOptions& options,
                  const std::function<Status(const BlockDigest&)>& visit)
      : options_(options), visit_(visit), budget_(file_size), cache_(new_cache()) {}

  // Adds a block. Blocks must be added in the order in which their digests are visited.
  Status add(DatasetContent content) {
    DigestedContent& block = blocks_.emplace_back(DigestedContent{std::move(content)});
    const Status status = add_definitions(block.content, &block.stream);
    if (!status.ok()) return of_block(status, block.content);
    for (std::size_t number = 0; number < block.content.variable_count(); ++number) {
      const Status added = add_variable(block, number);
      if (!added.ok()) return of_block(added, block.content);
      if (variables_.size() >= kMostVariablesTogether) NMB_TRY(finish());
    }
    return blocks_.size() >= kMostBlocksTogether ? finish() : Status();
  }

  // Reads the values of all variables that were added, and passes on the digests of all complete
  // blocks.
  Status finish() {
    NMB_TRY(run_value_jobs(
        options_.threads, jobs_,
        [&] {
          return [&, buffer = std::vector<std::byte>()](const ValueJob& job) mutable {
            DigestedVariable& variable = variables_[job.item];
            return of_block(digest_windows(job, &variable, &buffer), variable.block->content);
          };
        },
        options_.cancel));
    for (const DigestedVariable& variable : variables_) {
      DigestedContent& block = *variable.block;
      const Status status = put_variable(variable, &block.content, &block.stream);
      if (!status.ok())
        return of_block(block.content.of_variable(status, variable.number), block.content);
      ++block.done;
    }
    variables_.clear();
    jobs_.clear();
    cache_ = new_cache();
    while (!blocks_.empty() && blocks_.front().done == blocks_.front().content.variable_count()) {
      const DigestedContent& block = blocks_.front();
      NMB_TRY(visit_({block.content.name(), block.stream.result(), block.content.is_empty()}));
      blocks_.pop_front();
    }
    return {};
  }

 private:
  std::shared_ptr<ChunkCache> new_cache() const {
    return std::make_shared<ChunkCache>(options_.chunk_cache);
  }

  Status add_variable(DigestedContent& block, std::size_t number) {
    DigestedVariable variable{&block, number, {}, nullptr, {}};
    NMB_ASSIGN(variable.extent,
               ContentValues::extent_of(block.content, number, read_budget(options_, 1)));
    NMB_TRY(budget_.take(variable.extent.bytes));
    variable.windows.resize(variable.extent.windows());
    if (add_value_jobs(variables_.size(), variable.extent, &jobs_))
      NMB_ASSIGN(variable.values, ContentValues::open(block.content, number, cache_));
    variables_.push_back(std::move(variable));
    return {};
  }

  Status digest_windows(const ValueJob& job, DigestedVariable* variable,
                        std::vector<std::byte>* buffer) const {
    std::shared_ptr<const ContentValues> values = variable->values;
    if (!values)
      NMB_ASSIGN(values, ContentValues::open(variable->block->content, variable->number, cache_));
    const ContentValues::Extent& extent = variable->extent;
    const std::uint64_t size = values->element_bytes();
    WindowDigests digests(extent.window,
                          variable->windows.begin() + static_cast<std::ptrdiff_t>(job.first));
    std::uint64_t first = job.first * extent.window;
    const std::uint64_t end = std::min(first + job.windows * extent.window, extent.elements);
    for (std::uint64_t count = 0; first < end; first += count) {
      count = std::min(extent.at_once, end - first);
      if (size > 0 && extent.window == 1) {
        for (std::uint64_t i = 0; i < count; ++i) {
          NMB_TRY(values->parts(first + i,
                                [&](std::span<const std::byte> part) { digests.add_part(part); }));
          digests.end_element();
        }
      } else if (size > 0) {
        NMB_TRY(values->read(first, count, buffer));
        digests.add(*buffer, size);
      } else {
        NMB_TRY(values->each(first, count, [&](std::span<const std::byte> element) {
          digests.add(element, element.size());
          return Status();
        }));
      }
    }
    digests.finish();
    return {};
  }

  // Adds everything in a block except its variables.
  static Status add_definitions(DatasetContent& block, ContentStream* stream) {
    stream->number(block.dimensions().size());
    for (const DimensionContent& dimension : block.dimensions()) {
      stream->text(dimension.name);
      stream->number(dimension.length);
      stream->number(dimension.is_unlimited ? 1 : 0);
    }
    NMB_ASSIGN(const std::vector<TypeContent> types, block.named_types());
    stream->number(types.size());
    for (const TypeContent& type : types) {
      stream->text(type.name);
      stream->text(type.type);
      stream->attributes(type.attributes);
      stream->text(type.comment);
    }
    stream->number(block.links().size());
    for (const LinkContent& link : block.links()) {
      stream->text(link.name);
      stream->text(link.kind);
      stream->number(link.number);
      stream->text(link.content);
    }
    NMB_ASSIGN(const std::vector<AttributeContent> attributes, block.attributes());
    stream->attributes(attributes);
    stream->text(block.comment());
    stream->number(block.variable_count());
    return {};
  }

  // Adds a variable. The digests of its windows must be complete.
  static Status put_variable(const DigestedVariable& variable, DatasetContent* block,
                             ContentStream* stream) {
    const std::size_t number = variable.number;
    stream->text(block->variable_name(number));
    NMB_ASSIGN(const std::string type, block->type_text(number));
    stream->text(type);
    stream->number(block->is_null(number) ? 1 : 0);
    NMB_ASSIGN(const std::vector<AxisContent> axes, block->axes(number));
    stream->number(axes.size());
    for (const AxisContent& axis : axes) {
      std::string name = axis.dimension;
      if (axis.other_scales) {
        name += '\0';
        for (const std::string& path : *axis.other_scales) name.append(path).push_back('\0');
      }
      stream->text(name);
      stream->number(axis.level);
      stream->number(axis.length);
      stream->number(axis.is_unlimited ? 1 : 0);
      stream->number(axis.maximum);
    }
    NMB_ASSIGN(const std::vector<AttributeContent> attributes, block->variable_attributes(number));
    stream->attributes(attributes);
    stream->text(block->variable_comment(number));
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
  std::deque<DigestedContent> blocks_;  // blocks whose digests are not complete yet
  std::vector<DigestedVariable> variables_;
  std::vector<ValueJob> jobs_;
  std::shared_ptr<ChunkCache> cache_;
};

}  // namespace

std::string digest_text(const Digest& digest) {
  char text[33];
  (void)std::snprintf(text, sizeof text, "%016" PRIx64 "%016" PRIx64, digest.high, digest.low);
  return text;
}

std::string digest_text(const Sha256& digest) {
  std::string text;
  for (const std::byte byte : digest) {
    text += "0123456789abcdef"[std::to_integer<std::size_t>(byte >> 4)];
    text += "0123456789abcdef"[std::to_integer<std::size_t>(byte & std::byte{15})];
  }
  return text;
}

Result<Sha256> sha256(
    std::uint64_t length,
    const std::function<Status(std::uint64_t offset, std::span<std::byte> out)>& read,
    const std::atomic<bool>* cancel) {
  constexpr std::uint64_t kPart = 1 << 20;
  Sha256Stream stream;
  std::vector<std::byte> buffer(static_cast<std::size_t>(std::min(length, kPart)));
  for (std::uint64_t at = 0; at < length; at += buffer.size()) {
    if (cancel && cancel->load()) return Status(Code::kIo, "interrupted");
    buffer.resize(static_cast<std::size_t>(std::min(length - at, kPart)));
    NMB_TRY(read(at, buffer));
    stream.add(buffer);
  }
  return stream.digest();
}

Result<Sha256> sha256(const ByteSource& source, const std::atomic<bool>* cancel) {
  return sha256(
      source.size(),
      [&](std::uint64_t at, std::span<std::byte> out) { return source.read_at(at, out); }, cancel);
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
  ContentDigester digester(file.size, options, add);
  NMB_TRY(file.blocks.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    NMB_ASSIGN(DatasetContent block, content_of(file, entry, lengths));
    NMB_TRY(digester.add(std::move(block)));
    return true;
  }));
  NMB_TRY(digester.finish());
  return stream.result();
}

Status digest_blocks(const ContentFile& file, const std::vector<BlockEntry>& chosen,
                     const ContentOptions& options,
                     const std::function<Status(const BlockDigest&)>& visit) {
  NMB_ASSIGN(const DimensionLengths lengths, dimension_lengths(file.blocks));
  ContentDigester digester(file.size, options, visit);
  for (const BlockEntry& entry : chosen) {
    NMB_ASSIGN(DatasetContent block, content_of(file, entry, lengths));
    NMB_TRY(digester.add(std::move(block)));
  }
  return digester.finish();
}

}  // namespace nmb
