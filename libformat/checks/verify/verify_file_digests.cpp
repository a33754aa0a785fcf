// Verifies the digests of classic files that became blocks (spec/files.md, section 10.5).
#include <memory>
#include <utility>

#include "verify/nmb_verifier.h"
#include "wire/joined_text.h"

namespace nmb {

// Decides whether the digests in an entry are checked. Must be called after check_block().
void NmbVerifier::prepare_file_digests(const EntryRow& row) {
  const BlockEntry& e = row.entry;
  // Old values are not read, so the digests of their file cannot be computed.
  if (is_old(e.position) || (e.extent_position != 0 && is_old(e.extent_position)) ||
      (!e.map.absent() && is_old(e.map)))
    return;
  if (!row.entry.file_digests.has_xxh3() || !grown_.empty() || !checks_originals() ||
      !at_least(VerifyLevel::kData) || !metadata_known_ ||
      row.entry.kind == static_cast<std::uint16_t>(Kind::kExtended))
    return;
  block_->file.emplace(DigestedFile{row.entry, row.at(kFileDigest), row.at(kFileSha256)});
}

// Begins to compute the digests of the file: adds the block's body.
Result<std::unique_ptr<OriginalDigests>> NmbVerifier::begin_file(const BlockEntry& entry) const {
  NMB_ASSIGN(StoredBlock stored, core_->load(entry, true));
  NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> block, core_->decode(entry, stored, nullptr));
  auto digests = std::make_unique<OriginalDigests>(
      std::shared_ptr<const ByteSource>(block, block->extent.get()), superblock().piece_size,
      entry.file_digests.has_sha256());
  digests->begin_with(stored.body);
  return digests;
}

// Compares the digests of the file with the recorded digests. Called only if nothing else is
// reported about the block and its values.
void NmbVerifier::check_file_digests(DigestedFile& file) {
  const std::string object = joined_text("block \"", file.entry.name, "\"");
  bool has_holes = file.entry.hole;
  const Status walked = core_->for_each_piece(file.entry, [&](const Piece& piece) -> Status {
    has_holes = has_holes || piece.hole;
    return {};
  });
  if (!walked.ok()) return missed(walked);
  if (has_holes)
    return report("R-OD-5", file.xxh3_at, object, "digests of a classic file, and holes",
                  "an extent without holes");
  if (!file.digests) {
    Result<std::unique_ptr<OriginalDigests>> begun = begin_file(file.entry);
    if (!begun.ok()) return missed(begun.status());
    file.digests = std::move(*begun);
  }
  file.digests->read_to(file.entry.extent_length);
  if (!file.digests->status().ok()) return missed(file.digests->status());
  const FileDigests found = file.digests->digests();
  file.digests.reset();
  const FileDigests& recorded = file.entry.file_digests;
  if (found.xxh3 != recorded.xxh3)
    report("R-OD-1", file.xxh3_at, object, "a file with another digest", "the recorded digest");
  if (recorded.has_sha256() && found.sha256 != recorded.sha256)
    report("R-OD-3", file.sha256_at, object, "a file with another SHA-256", "the recorded SHA-256");
}

}  // namespace nmb
