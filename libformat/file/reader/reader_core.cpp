#include "reader/reader_core.h"

#include <algorithm>

#include "extent/extent_source.h"
#include "hdf5_types/netcdf_marks.h"
#include "model/name_rules.h"
#include "wire/checked.h"
#include "wire/hash.h"
#include "wire/joined_text.h"
#include "wire/zero.h"

namespace nmb {

ReaderCore::ReaderCore(const ByteSource& file, Head head, ExternalPaths external,
                       Unverified unverified, const FarSource* far)
    : file_(file),
      head_(std::move(head)),
      index_(file, head_.superblock, far),
      external_(file, head_.superblock, external, unverified),
      statistics_(file, head_.superblock, PageUse::kStatistics, far),
      tags_(file, head_.superblock, PageUse::kTags, far),
      decompressor_(head_.dictionary) {}

DataMap ReaderCore::map_of(const BlockEntry& entry) const {
  return {file_, &external_, head_.superblock, entry.position, entry.map, entry.settled_length()};
}

Status ReaderCore::for_each_piece(const BlockEntry& entry,
                                  const std::function<Status(const Piece&)>& visit) const {
  return for_each_piece(entry, 0, entry.extent_length, visit);
}

Status ReaderCore::for_each_piece(const BlockEntry& entry, std::uint64_t from, std::uint64_t to,
                                  const std::function<Status(const Piece&)>& visit) const {
  NMB_TRY(check_needs(entry));
  NMB_ASSIGN(const std::span<const GrowthRow> growth, index_.growth().rows_of(entry));
  return PieceFinder(file_, &external_, head_.superblock, entry, growth).for_each(from, to, visit);
}

Status ReaderCore::check_needs(const BlockEntry& entry) const {
  const std::uint64_t refused = entry.needs & ~kKnownNeeds;
  if (refused == 0) return {};
  return Status(Code::kUnsupported, file_.name(), kNoOffset, "R-IX-10",
                "block " + in_quotes(entry.name) + " " + text_of_refused_needs(refused));
}

Result<StoredBlock> ReaderCore::load(const BlockEntry& entry, bool with_inline) const {
  NMB_TRY(check_needs(entry));
  FirstFinding first;
  NMB_ASSIGN(std::optional<StoredBlock> block, check(entry, with_inline, first));
  NMB_TRY(first.status(file_.name()));
  return std::move(*block);
}

namespace {

// Compares a block's header with its entry (R-BK-3), and checks the fields of the header (R-BK-4,
// R-BK-7, R-BK-14 to R-BK-19). Returns whether the body can be read.
template <class Report>
bool is_header_of(const BlockEntry& entry, const BlockHeader& header, std::string_view name,
                  const Superblock& superblock, const Report& report) {
  const std::uint64_t at = entry.position;
  auto expect = [&](std::uint64_t offset, std::uint64_t found, std::uint64_t expected,
                    const char* what, const char* rule = "R-BK-3") {
    if (found == expected) return true;
    report(rule, at + offset, joined_text(what, " ", found), std::to_string(expected));
    return false;
  };
  bool same = expect(in_block_header::kKind, header.kind, entry.kind, "kind");
  same &= expect(in_block_header::kCodec, header.codec, entry.codec, "codec");
  if (header.origin.file_id != superblock.file_id)
    report("R-BK-14", at + in_block_header::kFileId, "another file id", "the id of this file");
  expect(in_block_header::kPosition, header.position, at, "own position", "R-BK-15");
  const std::uint64_t generation = header.origin.generation;
  if (generation == 0 || generation > superblock.generation)
    report("R-BK-16", at + in_block_header::kGeneration, joined_text("generation ", generation),
           joined_text("1 to ", superblock.generation));
  if (generation == superblock.generation)
    expect(in_block_header::kStamp, header.origin.stamp, superblock.stamp, "stamp", "R-BK-17");
  same &= expect(in_block_header::kStoredLength, header.stored_length, entry.stored_length,
                 "stored length");
  same &= expect(in_block_header::kRawLength, header.raw_length, entry.raw_length, "raw length");
  expect(in_block_header::kSamples, header.samples, entry.samples, "samples");
  expect(in_block_header::kOrder, header.order, entry.order, "order");
  if (header.digest != entry.digest) {
    report("R-BK-3", at + in_block_header::kDigest, "another digest", "the digest in the index");
    same = false;
  }
  if (name.size() != entry.name.size()) {
    report("R-BK-3", at + in_block_header::kNameLength,
           joined_text("a name of ", name.size(), " bytes"), std::to_string(entry.name.size()));
    same = false;
  } else if (name != entry.name) {
    report("R-BK-3", at + kBlockHeaderSize, "another name", "the name in the index");
  }
  if (header.flags & ~(kFlagHole | kFlagTombstone | kFlagMap) && superblock.all_known())
    report("R-BK-4", at + in_block_header::kFlags, joined_text("flags ", header.flags),
           "0, hole or data map");
  if (header.flags & kFlagTombstone)
    report("R-BK-18", at + in_block_header::kFlags, "a tombstone", "a block");
  const std::uint16_t codecs = superblock.dictionary.absent() ? 1 : 2;
  if (header.codec > codecs) {
    report("R-BK-19", at + in_block_header::kCodec, joined_text("codec ", header.codec),
           codecs == 1 ? "0 or 1 without a dictionary" : "0, 1 or 2");
    same = false;
  }
  if (header.kind != 1 && header.kind != 2 && header.kind != 5 && header.kind != 6) {
    report("R-BK-7", at + in_block_header::kKind, joined_text("kind ", header.kind),
           "1, 2, 5 or 6");
    same = false;
  }
  return same;
}

}  // namespace

Result<std::optional<StoredBlock>> ReaderCore::check(
    const BlockEntry& entry, bool with_inline, Findings& findings,
    std::optional<BlockHeader>* header_read) const {
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
    report("R-FL-5", at, joined_text("a block at ", at),
           "a block within the file, at a multiple of 8");
    return std::optional<StoredBlock>();
  }
  const std::uint64_t block_bytes = end - at;
  // With a data map, the extent has no checksum as a whole, only one for each piece.
  const bool inline_extent = with_inline && entry.growth == 0 && !entry.has_map() &&
                             entry.extent_position == end &&
                             entry.extent_length <= superblock.inline_limit &&
                             entry.extent_length <= superblock.file_length - end;
  std::vector<std::byte> bytes(block_bytes + (inline_extent ? entry.extent_length : 0));
  NMB_TRY(file_.read_at(at, bytes));
  StoredBlock block;
  std::string_view name;
  if (!BlockHeader::decode(bytes, at, &block.header, &name, findings))
    return std::optional<StoredBlock>();
  const BlockHeader& header = block.header;
  if (header.sum != entry.sum) {
    report("R-BK-2", at, sum_text(header.sum), sum_text(entry.sum));
    return std::optional<StoredBlock>();
  }
  if (!is_header_of(entry, header, name, superblock, report)) return std::optional<StoredBlock>();
  if (header_read) *header_read = header;
  const std::uint64_t body = at + block_body_offset(entry.name.size());
  auto stored = std::span(bytes).subspan(body - at, block_bytes - (body - at));
  if (const std::uint64_t sum = sum_of(stored); sum != header.body_sum) {
    report("R-BK-6", body, "a body with " + sum_text(sum), sum_text(header.body_sum));
    return std::optional<StoredBlock>();
  }
  if (std::size_t bad = first_nonzero(stored.subspan(entry.stored_length)); bad != kAllZero)
    report("R-BK-5", body + entry.stored_length + bad, "padding that is not zero", "0");
  if (inline_extent) {
    block.inline_extent.emplace(bytes.begin() + static_cast<std::ptrdiff_t>(block_bytes),
                                bytes.end());
    if (const std::uint64_t sum = sum_of(*block.inline_extent); sum != entry.extent_sum)
      report("R-EX-6", end, "values with " + sum_text(sum), sum_text(entry.extent_sum));
  }
  bytes.resize(body - at + entry.stored_length);
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(body - at));
  Result<std::vector<std::byte>> raw =
      decompressor_.decode(static_cast<BodyCodec>(entry.codec), std::move(bytes), entry.raw_length);
  if (!raw.ok()) {
    if (raw.status().code() != Code::kDamaged) return raw.status().in_file(file_.name());
    report("R-BK-8", body, joined_text(entry.stored_length, " bytes of codec ", entry.codec),
           joined_text("bytes that decode to ", entry.raw_length, " bytes, which may be at most ",
                       kMaxExpansion, " times the stored length"));
    return std::optional<StoredBlock>();
  }
  block.body = std::move(*raw);
  if (digest_of(block.body) != entry.digest) {
    report("R-BK-9", body, "a body with a wrong digest", "the digest in the index");
    return std::optional<StoredBlock>();
  }
  return std::optional<StoredBlock>(std::move(block));
}

std::uint64_t values_end(const ClassicHeader& header, std::uint64_t records) {
  std::uint64_t end = header.layout.header_length, before_last = 0;
  if (records != 0 && !checked_mul(records - 1, header.layout.record_size, &before_last))
    return ~std::uint64_t{0};
  for (VarId id = 0; id < header.metadata.variable_count(); ++id) {
    const Variable variable = header.metadata.variable(id);
    const bool is_record = !variable.dimensions.empty() &&
                           variable.dimensions[0] == header.metadata.record_dimension();
    if (is_record && records == 0) continue;
    std::uint64_t variable_end = variable.begin;
    const auto slice = header.metadata.slice_bytes(id);
    if (!slice || !checked_add(variable_end, *slice, &variable_end) ||
        (is_record && !checked_add(variable_end, before_last, &variable_end)))
      return ~std::uint64_t{0};
    end = std::max(end, variable_end);
  }
  return end;
}

Result<std::optional<ClassicHeader>> check_body(const BlockEntry& entry,
                                                std::uint64_t header_records,
                                                const ByteSource& body,
                                                const ValueOffset& value_offset,
                                                Findings& findings) {
  const std::string object = "block \"" + entry.name + "\"";
  const std::uint64_t at = entry.position + block_body_offset(entry.name.size());
  auto report = [&](const char* rule, std::uint64_t offset, std::string found,
                    std::string expected) {
    findings.report({rule, offset, object, std::move(found), std::move(expected)});
  };
  DecodeOptions options;
  options.values_follow = false;
  Result<ClassicHeader> decoded = decode_classic_header(body, options);
  if (!decoded.ok()) {
    const Status status = decoded.status();
    if (status.code() != Code::kDamaged && status.code() != Code::kUnknownKind) return status;
    report("R-BK-10", at,
           joined_text("a body that breaks ", status.rule(), " at its byte ", status.offset(), " (",
                       status.message(), ")"),
           joined_text("a header of kind ", entry.kind));
    return std::optional<ClassicHeader>();
  }
  ClassicHeader& header = *decoded;
  const ClassicLayout& layout = header.layout;
  if (static_cast<std::uint16_t>(layout.kind) != entry.kind) {
    report("R-BK-10", at,
           joined_text("a body that breaks R-CH-1 at its byte 3 (kind ",
                       static_cast<int>(layout.kind), ")"),
           joined_text("a header of kind ", entry.kind));
    return std::optional<ClassicHeader>();
  }
  auto expect = [&](const char* rule, Column column, std::uint64_t found, std::uint64_t expected,
                    const char* what, Severity severity = Severity::kFinding) {
    if (found != expected)
      findings.report({rule, value_offset(column), object, joined_text(found, what),
                       std::to_string(expected), severity});
  };
  const Metadata& metadata = header.metadata;
  BlockCounts counts;
  count_objects(metadata, &counts);
  expect("R-BK-11", kDimensions, entry.dimensions, counts.dimensions, " dimensions",
         Severity::kWarning);
  expect("R-BK-11", kVariables, entry.variables, counts.variables, " variables",
         Severity::kWarning);
  expect("R-BK-11", kAttributes, entry.attributes, counts.attributes, " attributes",
         Severity::kWarning);
  if (!metadata.record_dimension()) {
    const std::uint64_t records = metadata.record_count(0);
    expect("R-BK-12", kRecords, entry.records, records, " records without a record dimension");
    if (entry.records != records) return std::optional<ClassicHeader>(std::move(header));
  }
  if (entry.records > header_records && layout.record_size != 0) {
    std::uint64_t end = 0;
    if (!checked_mul(entry.records, layout.record_size, &end) ||
        !checked_add(end, layout.record_begin - layout.header_length, &end))
      end = ~std::uint64_t{0};
    expect("R-BK-21", kExtentLength, entry.extent_length, end,
           " bytes of values in a block whose records grew");
  } else if (const std::uint64_t values = values_end(header, entry.records) - layout.header_length;
             entry.extent_length < values) {
    report("R-BK-20", value_offset(kExtentLength),
           joined_text(entry.extent_length, " bytes of values"), joined_text("at least ", values));
  }
  return std::optional<ClassicHeader>(std::move(header));
}

Result<ClassicHeader> decode_body(const BlockEntry& entry, std::uint64_t header_records,
                                  std::span<const std::byte> body, const ByteSource& file) {
  FirstFinding first;
  NMB_ASSIGN(std::optional<ClassicHeader> header,
             check_body(
                 entry, header_records, MemorySource(body, file.name()),
                 [](Column) { return kNoOffset; }, first));
  NMB_TRY(first.status(file.name()));
  return std::move(*header);
}

namespace {

// The values of a block, and all objects that are needed to read them.
struct LoadedExtent {
  std::shared_ptr<const void> keep_alive;
  std::unique_ptr<FillPattern> fill;
  std::unique_ptr<ExtentSource> source;
};

}  // namespace

Result<std::unique_ptr<ExtentSource>> ReaderCore::values_of(
    const BlockEntry& entry, const FillPattern& fill,
    std::optional<std::vector<std::byte>> inline_extent) const {
  NMB_ASSIGN(const std::span<const GrowthRow> growth, index_.growth().rows_of(entry));
  return std::make_unique<ExtentSource>(file_, &external_, head_.superblock, entry, growth,
                                        std::move(inline_extent), fill, pieces_,
                                        external_.unverified());
}

Result<std::shared_ptr<const LoadedBlock>> ReaderCore::decode(
    const BlockEntry& entry, StoredBlock& stored, std::shared_ptr<const void> keep_alive) const {
  NMB_ASSIGN(ClassicHeader header, decode_body(entry, stored.header.records, stored.body, file_));
  auto block = std::make_shared<LoadedBlock>();
  block->name = entry.name;
  block->entry = entry;
  block->metadata = std::move(header.metadata);
  block->metadata.shrink();
  block->layout = header.layout;
  block->layout.records = entry.records;
  block->records = entry.records;
  auto extent = std::make_shared<LoadedExtent>();
  extent->keep_alive = std::move(keep_alive);
  // The pattern refers to the block's own metadata, which exists as long as the block.
  extent->fill = std::make_unique<FillPattern>(block->metadata, block->layout);
  NMB_ASSIGN(extent->source, values_of(entry, *extent->fill, std::move(stored.inline_extent)));
  const ByteSource* source = extent->source.get();
  block->extent = std::shared_ptr<const ByteSource>(std::move(extent), source);
  return std::shared_ptr<const LoadedBlock>(std::move(block));
}

}  // namespace nmb
