// Verifies the headers and bodies of blocks (spec/format.md, section 8).
#include <algorithm>
#include <variant>

#include "block/block_header.h"
#include "hdf5_types/hdf5_section.h"
#include "model/find_above.h"
#include "sources/value_source.h"
#include "verify/nmb_verifier.h"
#include "verify/status_finding.h"
#include "wire/hash.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

// Reports only findings about the sums of a header. A later version may use the padding of the
// header, so findings about the padding are ignored.
class SumsAlone final : public Findings {
 public:
  explicit SumsAlone(Findings& findings) : findings_(findings) {}
  void report(Finding finding) override {
    if (finding.rule == "R-BK-1" || finding.rule == "R-BK-2") findings_.report(std::move(finding));
  }

 private:
  Findings& findings_;
};

// The body of a block that has been checked. A large body that is not compressed is removed from
// memory and read again from the file, because its metadata take as much memory as the body.
class BodyToDecode {
 public:
  BodyToDecode(const BlockEntry& entry, StoredBlock& stored, const ByteSource& file) {
    constexpr std::size_t kMostInMemory = std::size_t{16} << 20;
    if (static_cast<BodyCodec>(entry.codec) == BodyCodec::kNone &&
        stored.body.size() > kMostInMemory) {
      stored.body = std::vector<std::byte>();
      source_ = run_of(not_owned(file), entry.position + block_body_offset(entry.name.size()),
                       entry.stored_length);
    } else {
      source_ = std::make_shared<MemorySource>(stored.body, file.name());
    }
  }
  const ByteSource& source() const { return *source_; }

 private:
  Source source_;
};

}  // namespace

void NmbVerifier::check_block(const EntryRow& row) {
  const BlockEntry& e = row.entry;
  const std::string object = "block \"" + e.name + "\"";
  const std::uint64_t length =
      e.stored_length >> 62 ? e.stored_length : block_length(e.name.size(), e.stored_length);
  if (!claim(RegionKind::kMetadata, e.position, length, row.at(kPosition), object) ||
      !at_least(VerifyLevel::kBlocks))
    return;
  std::optional<BlockHeader> block_header;
  Result<std::optional<StoredBlock>> checked = core_->check(e, false, findings_, &block_header);
  if (!checked.ok()) return missed(checked.status());
  if (!block_header)
    all_walked_ = false;  // a violation of R-BK-1, R-BK-2, R-BK-3, R-BK-7 or R-BK-19 was reported
  if (block_header && !e.has_map() && !e.hole) {
    auto expect = [&](Column column, std::uint64_t found, std::uint64_t expected,
                      const char* what) {
      if (found != expected)
        report("R-IX-9", row.at(column), object, joined_text(what, " ", found),
               joined_text(expected, ", as in the block's header"));
    };
    expect(kExtentPosition, e.extent_position, block_header->extent_position, "extent position");
    expect(kExtentLength, e.extent_length, block_header->extent_length, "extent length");
    expect(kExtentSum, e.extent_sum, block_header->extent_sum, "extent sum");
  }
  if (!*checked) return;
  StoredBlock& stored = **checked;
  const std::uint64_t findings = summary_.findings;
  const BodyToDecode body(e, stored, file_);
  Result<std::optional<ClassicHeader>> header = check_body(
      e, stored.header.records, body.source(), [&](Column column) { return row.at(column); },
      findings_);
  if (header.status().code() == Code::kUnsupported) {
    block_->unsupported = true;
    findings_.report({"R-BK-10", e.position + block_body_offset(e.name.size()), object,
                      header.status().message(), "a body that this version can read",
                      Severity::kUnsupported});
    return;
  }
  if (!header.ok()) return missed(header.status());
  if (!*header) return;
  const auto& extension = (*header)->metadata.extension();
  const std::uint64_t body_at = e.position + block_body_offset(e.name.size());
  if (extension) check_properties((*header)->metadata, body_at, object);
  metadata_known_ = summary_.findings == findings;
  if (extension && at_least(VerifyLevel::kData) &&
      std::ranges::any_of(extension->storage, [](const Storage& storage) {
        return storage.kind == StorageKind::kChunked;
      }))
    block_->chunked = whole_;
  if (!grown_.empty())
    check_grown_length(stored.header.records, body.source(), (*header)->metadata);
  // A verbatim body that can be read may differ from the canonical form, so differences are only
  // warnings.
  for (const HeaderRemark& remark : (*header)->remarks)
    findings_.report({remark.rule, e.codec == 0 ? body_at + remark.offset : body_at,
                      object + (remark.object.empty() ? "" : ", " + remark.object), remark.found,
                      remark.expected, Severity::kWarning});
}

// Checks the hdf5 section of a body that begins at `body_at`.
void NmbVerifier::check_properties(const Metadata& metadata, std::uint64_t body_at,
                                   const std::string& object) {
  const auto properties = hdf5::decode_properties(metadata.extension()->hdf5);
  if (properties.ok()) {
    for (const hdf5::Property& p : *properties) {
      if (p.owner >= metadata.variable_count()) continue;
      const auto variable = [&] {
        return joined_text(object, ", variable ", metadata.variable(p.owner).name);
      };
      // At level data, the chunks are decoded, and each damaged chunk is a finding.
      if (p.number == hdf5::Property::Number::kDamagedChunks && !at_least(VerifyLevel::kData))
        findings_.report({"R-XC-1", body_at, variable(),
                          "a mark that some chunks cannot be decoded",
                          "chunks that can be decoded (VerifyLevel::kData lists those that cannot)",
                          Severity::kWarning});
      const bool is_lost = p.filter == 0;
      if (p.number == hdf5::Property::Number::kUndecoded &&
          (is_lost || !is_in_original(block_->entry)))
        findings_.report({"R-H5-2", body_at, variable(),
                          "values that " + hdf5::why_absent(*properties, p.owner),
                          is_lost ? "an undamaged copy of the source" : "an original that has them",
                          Severity::kWarning});
    }
    return;
  }
  const Status& status = properties.status();
  report("R-H5-1", body_at, object,
         joined_text("a damaged hdf5 section (byte ", status.offset(), ": ", status.message(), ")"),
         "a section as in spec/hdf5_section.md");
}

// Returns whether a block or a block above it was made from an original, as far as originals are
// known. The index lists a block before the blocks below it.
bool NmbVerifier::is_in_original(const BlockEntry& block) const {
  if (!files_ && !superblock().file_table.absent()) return true;
  return find_at_or_above(blocks_of_originals_, block.name, [&](const auto& original) {
           return original.second <= block.order;
         }) != blocks_of_originals_.end();
}

// Checks a block that has a need unknown to this version. Only the sums of such a block can be
// checked.
void NmbVerifier::check_unsupported_block(const EntryRow& row) {
  const BlockEntry& e = row.entry;
  const std::string object = "block \"" + e.name + "\"";
  block_->unsupported = true;
  all_walked_ = false;  // the block may have structures that are unknown
  findings_.report(
      {"R-IX-10", row.at(kNeeds), object,
       text_of_refused_needs(e.needs) + "; only the sums of header, body and data map are checked",
       "needs that this version can read", Severity::kUnsupported});
  const std::uint64_t length =
      e.stored_length >> 62 ? e.stored_length : block_length(e.name.size(), e.stored_length);
  if (claim(RegionKind::kMetadata, e.position, length, row.at(kPosition), object) &&
      at_least(VerifyLevel::kBlocks)) {
    std::vector<std::byte> bytes(length);
    if (Status status = file_.read_at(e.position, bytes); !status.ok()) return missed(status);
    BlockHeader header;
    std::string_view name;
    const std::uint64_t body = block_body_offset(e.name.size());
    SumsAlone sums(findings_);
    if (BlockHeader::decode(bytes, e.position, &header, &name, sums)) {
      if (header.sum != e.sum)
        report("R-BK-2", e.position, object, sum_text(header.sum), sum_text(e.sum));
      if (const std::uint64_t sum = sum_of(std::span(bytes).subspan(body)); sum != header.body_sum)
        report("R-BK-6", e.position + body, object, "a body with " + sum_text(sum),
               sum_text(header.body_sum));
    }
  }
  if (!at_least(VerifyLevel::kBlocks)) return;
  if (e.map.position != 0 && e.map.length != 0) {
    MapWalk walk;
    walk.object = "data map of " + object;
    walk.owner = e.position;
    walk.pages_only = true;
    walk_map(e.map, row.at(kMapPosition), &walk);
  }
}

// Checks the chunks of a block whose values have the right sums.
void NmbVerifier::check_chunks(const BlockEntry& entry) {
  const std::string object = "block \"" + entry.name + "\"";
  const auto open = [&]() -> Result<std::shared_ptr<const LoadedBlock>> {
    NMB_ASSIGN(StoredBlock stored, core_->load(entry, true));
    return core_->decode(entry, stored, nullptr);
  };
  const Result<std::shared_ptr<const LoadedBlock>> block = open();
  if (!block.ok()) {
    if (block.status().code() != Code::kDamaged) missed(block.status());
    return;  // already reported
  }
  for (const Storage& storage : (*block)->metadata.extension()->storage) {
    if (storage.kind != StorageKind::kChunked) continue;
    const std::string variable =
        joined_text(object, ", variable ", (*block)->metadata.variable(storage.variable).name);
    const auto tell = [&](const ChunkRow&, const Status& status) {
      if (status.code() != Code::kDamaged) return missed(status);
      Finding finding = finding_of(status);
      finding.offset = entry.position;
      finding.object = variable + (finding.object.empty() ? "" : ", " + finding.object);
      findings_.report(std::move(finding));
    };
    std::uint64_t left_out = 0;
    const Result<std::uint64_t> unchecked =
        ChunkChecker(options_.threads).check(**block, storage, tell, &left_out);
    if (!unchecked.ok()) tell({}, unchecked.status());
    if (unchecked.ok()) not_decoded_.note(storage, *unchecked);
    if (left_out > 0)
      findings_.report({"R-XC-1", entry.position, variable,
                        joined_text(left_out,
                                    " chunks that were not decoded, because the chunks of the "
                                    "variable decode to more than the limit"),
                        "at most 1 GiB plus 1100 times the stored bytes", Severity::kWarning});
  }
}

}  // namespace nmb
