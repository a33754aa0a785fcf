// The head, the index and the loading of blocks (spec/format.md, sections 5 to 8).
#include "reader/reader_core.h"

#include <algorithm>

#include "extent/extent_source.h"
#include "wire/checked.h"
#include "wire/hash.h"
#include "wire/zero.h"

namespace nmb {

ReaderCore::ReaderCore(const ByteSource& file, Head head)
    : file_(file),
      head_(std::move(head)),
      index_(file, head_.identity.file_id, head_.superblock),
      decompressor_(head_.dictionary()) {}

Result<StoredBlock> ReaderCore::load(const BlockEntry& entry, bool with_inline) const {
  FirstFinding first;
  NMB_ASSIGN(std::optional<StoredBlock> block, check(entry, with_inline, first));
  NMB_TRY(first.status(file_.name()));
  return std::move(*block);
}

Result<std::optional<StoredBlock>> ReaderCore::check(const BlockEntry& entry, bool with_inline,
                                                     Findings& findings) const {
  const std::string object = "block \"" + entry.name + "\"";
  const std::uint64_t at = entry.position;
  auto report = [&](const char* rule, std::uint64_t offset, std::string found,
                    std::string expected) {
    findings.report({rule, offset, object, std::move(found), std::move(expected)});
  };
  const Superblock& superblock = head_.superblock;
  std::uint64_t end;
  if (entry.stored_length >> 62 || at < kBodyStart || at % 8 != 0 ||
      !checked_add(at, block_length(entry.name.size(), entry.stored_length), &end) ||
      end > superblock.file_length) {
    report("R-FL-5", at, "a block at " + std::to_string(at),
           "one within the file, at a multiple of 8");
    return std::optional<StoredBlock>();
  }
  const std::uint64_t block_bytes = end - at;
  const bool inline_extent = with_inline && entry.extent_position == end &&
                             entry.extent_length <= superblock.inline_limit &&
                             entry.extent_length <= superblock.file_length - end;
  std::vector<std::byte> bytes(block_bytes + (inline_extent ? entry.extent_length : 0));
  NMB_TRY(file_.read_at(at, bytes));
  StoredBlock block;
  std::string_view name;
  if (!BlockHeader::decode(bytes, at, &block.header, &name, findings))
    return std::optional<StoredBlock>();
  const BlockHeader& header = block.header;
  bool same = true;
  auto expect = [&](std::uint64_t offset, std::uint64_t found, std::uint64_t expected,
                    const char* what) {
    if (found == expected) return;
    report("R-BK-3", at + offset, std::string(what) + " " + std::to_string(found),
           std::to_string(expected));
    same = false;
  };
  if (header.sum != entry.sum) {
    report("R-BK-2", at, "a header with another sum", "the one in the index");
    same = false;
  }
  expect(10, header.kind, entry.kind, "kind");
  expect(12, header.codec, entry.codec, "codec");
  if (header.file_id != head_.identity.file_id) {
    report("R-BK-3", at + 16, "another file id", "the file's");
    same = false;
  }
  expect(32, header.position, at, "own position");
  if (header.generation == 0 || header.generation > superblock.generation)
    expect(40, header.generation, superblock.generation, "generation");
  expect(48, header.stored_length, entry.stored_length, "stored length");
  expect(56, header.raw_length, entry.raw_length, "raw length");
  expect(104, header.samples, entry.samples, "samples");
  expect(112, header.order, entry.order, "order");
  if (header.digest != entry.digest) {
    report("R-BK-3", at + 120, "another digest", "the one in the index");
    same = false;
  }
  if (name != entry.name) {
    report("R-BK-3", at + kBlockHeaderSize, "another name", "the one in the index");
    same = false;
  }
  if (header.flags & ~kFlagHole) {
    report("R-BK-4", at + 14, "flags " + std::to_string(header.flags), "0 or hole");
    same = false;
  }
  if (header.codec > 2 || (header.kind != 1 && header.kind != 2 && header.kind != 5 &&
                           header.kind != 6)) {
    report("R-BK-7", at + (header.codec > 2 ? 12 : 10),
           "kind " + std::to_string(header.kind) + ", codec " + std::to_string(header.codec),
           "kind 1, 2, 5 or 6, codec 0, 1 or 2");
    same = false;
  }
  if (!same) return std::optional<StoredBlock>();
  const std::uint64_t body = at + block_body_offset(entry.name.size());
  auto stored = std::span(bytes).subspan(body - at, block_bytes - (body - at));
  if (sum_of(stored) != header.body_sum) {
    report("R-BK-6", body, "a body with a wrong sum", "the one in the header");
    return std::optional<StoredBlock>();
  }
  if (std::size_t bad = first_nonzero(stored.subspan(entry.stored_length)); bad != kAllZero)
    report("R-BK-5", body + entry.stored_length + bad, "padding that is not zero", "0");
  if (inline_extent) {
    block.inline_extent.emplace(bytes.begin() + static_cast<std::ptrdiff_t>(block_bytes), bytes.end());
    if (!entry.has_map() && sum_of(*block.inline_extent) != entry.extent_sum)
      report("R-EX-6", end, "values with a wrong sum", "the one in the index");
  }
  bytes.resize(body - at + entry.stored_length);
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(body - at));
  Result<std::vector<std::byte>> raw = decompressor_.decode(
      static_cast<BodyCodec>(entry.codec), std::move(bytes), entry.raw_length);
  if (!raw.ok()) {
    report(raw.status().rule().c_str(), body, raw.status().message(), "");
    return std::optional<StoredBlock>();
  }
  block.body = std::move(*raw);
  if (digest_of(block.body) != entry.digest) {
    report("R-BK-9", body, "a body with a wrong digest", "the one in the index");
    return std::optional<StoredBlock>();
  }
  return std::optional<StoredBlock>(std::move(block));
}

Result<ClassicHeader> decode_body(const BlockEntry& entry, std::span<const std::byte> body,
                                  const ByteSource& file) {
  const std::uint64_t at = entry.position + block_body_offset(entry.name.size());
  auto damaged = [&](const char* rule, const std::string& message) {
    return Status(Code::kDamaged, file.name(), at, rule,
                  "block \"" + entry.name + "\": " + message);
  };
  if (entry.kind == static_cast<std::uint16_t>(Kind::kExtended))
    return Status(Code::kUnsupported, file.name(), at, "",
                  "block \"" + entry.name + "\": an extended body (kind 6), which this version does not read");
  DecodeOptions options;
  options.values_follow = false;
  Result<ClassicHeader> header = decode_classic_header(MemorySource(body, file.name()), options);
  if (!header.ok()) {
    const Status status = header.status();
    if (status.code() != Code::kDamaged && status.code() != Code::kUnknownKind) return status;
    return damaged("R-BK-10", "at " + std::to_string(status.offset()) + " of the body: " +
                                  status.message() + " (" + status.rule() + ")");
  }
  if (static_cast<std::uint16_t>(header->layout.kind) != entry.kind)
    return damaged("R-BK-10", "found a body of kind " +
                                  std::to_string(static_cast<int>(header->layout.kind)) +
                                  ", expected " + std::to_string(entry.kind));
  const Metadata& metadata = header->metadata;
  if (metadata.dimension_count() != entry.dimensions ||
      metadata.variable_count() != entry.variables ||
      metadata.attribute_count() != entry.attributes)
    return damaged("R-BK-11", "found " + std::to_string(metadata.dimension_count()) +
                                  " dimensions, " + std::to_string(metadata.variable_count()) +
                                  " variables, " + std::to_string(metadata.attribute_count()) +
                                  " attributes, expected " + std::to_string(entry.dimensions) +
                                  ", " + std::to_string(entry.variables) + ", " +
                                  std::to_string(entry.attributes));
  if (!metadata.record_dimension() && entry.records != 0)
    return damaged("R-BK-12", "found " + std::to_string(entry.records) +
                                  " records, expected 0 without a record dimension");
  const ClassicLayout& layout = header->layout;
  std::uint64_t grown = 0, end = layout.fixed_end;
  if (layout.record_size != 0 &&
      (!checked_mul(entry.records, layout.record_size, &grown) ||
       !checked_add(grown, layout.record_begin, &grown)))
    grown = ~std::uint64_t{0};
  if (layout.record_size != 0 && entry.records != 0) end = std::max(end, grown);
  const std::uint64_t values = end > layout.header_length ? end - layout.header_length : 0;
  // The last value's padding may be missing.
  if (values > entry.extent_length && values - entry.extent_length > 3)
    return damaged("R-BK-12", "found an extent of " + std::to_string(entry.extent_length) +
                                  " bytes, expected at least " + std::to_string(values));
  return header;
}

namespace {

// Values of a block together with what they need to be read.
struct BlockExtent {
  std::shared_ptr<const void> keep_alive;
  std::unique_ptr<FillPattern> fill;
  std::unique_ptr<ExtentSource> source;
};

}  // namespace

Result<std::shared_ptr<const Block>> ReaderCore::decode(const BlockEntry& entry,
                                                        StoredBlock stored,
                                                        std::shared_ptr<const void> keep_alive,
                                                        bool verify_values) const {
  NMB_ASSIGN(ClassicHeader header, decode_body(entry, stored.body, file_));
  auto block = std::make_shared<Block>();
  block->name = entry.name;
  block->entry = entry;
  block->metadata = std::move(header.metadata);
  block->metadata.shrink();
  block->layout = header.layout;
  block->layout.records = entry.records;
  block->records = entry.records;
  auto extent = std::make_shared<BlockExtent>();
  extent->keep_alive = std::move(keep_alive);
  // The pattern refers to the block's own metadata, which lives as long as the block.
  extent->fill = std::make_unique<FillPattern>(block->metadata, block->layout);
  extent->source = std::make_unique<ExtentSource>(
      file_, head_.identity.file_id, head_.superblock.generation, head_.superblock.piece_size,
      entry, std::move(stored.inline_extent), *extent->fill, verify_values);
  const ByteSource* source = extent->source.get();
  block->extent = std::shared_ptr<const ByteSource>(std::move(extent), source);
  return std::shared_ptr<const Block>(std::move(block));
}

}  // namespace nmb
