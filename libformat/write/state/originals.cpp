#include "state/originals.h"

#include <algorithm>
#include <cassert>

#include "model/name_rules.h"
#include "origins/placement.h"
#include "state/commit_steps.h"
#include "state/file_space.h"
#include "state/stored_blocks.h"
#include "superblock/features.h"
#include "wire/checked.h"

namespace nmb {

Result<std::uint32_t> add_original(WriterCore& w, NewOriginal original) {
  NMB_TRY(w.failure);
  NMB_TRY(check_id(w, original.block));
  if (!w.define_mode) return Status(Code::kUsage, "add_original() needs define mode");
  const std::uint64_t size = original.file->size();
  StoredOriginal added;
  added.digest =
      std::make_unique<OrderedDigest>(size, original.records_sha256 || original.sha256.has_value());
  if (size == 0) NMB_TRY(added.digest->add_nothing());
  added.move.source = std::move(original.file);
  added.what = std::move(original);
  added.move.length = size;
  if (size > 0) added.move.runs = {{0, 0, 0, 0, size, 1}};
  added.move.digest = added.digest.get();
  w.next.originals.push_back(std::move(added));
  return static_cast<std::uint32_t>(w.next.originals.size() - 1);
}

// The data map of an original lies before its bytes, so that a file that was cut off still has the
// map for the remaining bytes.
Status place_originals(WriterCore& w) {
  const Superblock& superblock = w.committed.superblock;
  const auto map_space = [&](const StoredOriginal& original) {
    return data_map_bound(original.forecast(superblock.piece_size), original.size(),
                          superblock.piece_size, superblock.map_rows, Placement::kLimit);
  };
  const auto alignment = [&](const StoredOriginal& original) {
    return extent_alignment(original.size(), w.options.alignment);
  };
  const auto is_new = [](const StoredOriginal& original) {
    return original.move.position == 0 && original.size() > 0;
  };
  Placement own;
  for (const StoredOriginal& original : w.next.originals)
    if (is_new(original))
      own = own.then(Placement::of(map_space(original), 8))
                .then(Placement::of(original.size(), alignment(original)));
  NMB_ASSIGN(std::uint64_t at, take_space(w, own));
  for (StoredOriginal& original : w.next.originals) {
    if (!is_new(original)) continue;
    original.map_position = at;
    original.map_space = map_space(original);
    at += original.map_space;
    if (at >= Placement::kLimit || original.size() >= Placement::kLimit - at)
      return Status(Code::kLimit, "original " + in_quotes(original.what.path) +
                                      " would end after byte 2^62 of the file");
    original.move.position = round_up(at, alignment(original));
    at = round_up(original.move.position + original.size(), 8);
  }
  return {};
}

void finish_originals(WriterCore& w) {
  const std::uint64_t piece_size = w.committed.superblock.piece_size;
  for (StoredOriginal& original : w.next.originals) {
    original.pieces.clear();
    for (std::uint64_t at = 0; at < original.size(); at += piece_size)
      original.pieces.push_back({at, std::min(piece_size, original.size() - at), false,
                                 original.move.position + at, original.move.sums[at / piece_size]});
  }
}

Status write_original_maps(WriterCore& w) {
  return w.stripes.in_rounds(w.next.originals.size(), [&](std::size_t i) -> Status {
    StoredOriginal& original = w.next.originals[i];
    if (original.pieces.empty()) return {};
    PagesInMemory pages(original.map_position);
    NMB_ASSIGN(original.map,
               write_data_map(original.pieces, nullptr, w.committed.superblock.map_rows, pages,
                              w.new_origin(), owner_of_original(original.number)));
    assert(pages.bytes.size() <= original.map_space);
    pages.bytes.resize(original.map_space);
    return w.stripes.write_at(original.map_position, pages.bytes);
  });
}

namespace {

// A message to the first rank: a row of the file table.
struct OriginalRow {
  std::uint32_t number;
  Place map;
  Digest digest;
  std::uint64_t order;
  bool has_sha256;
  Sha256 sha256;
};

Status check_digests(const StoredOriginal& original, const OriginalRow& row) {
  const NewOriginal& wanted = original.what;
  const bool same = !wanted.digest || *wanted.digest == row.digest;
  if (same && (!wanted.sha256 || *wanted.sha256 == row.sha256)) return {};
  return Status(Code::kDamaged, original.move.source->name(), kNoOffset,
                same ? "R-FT-15" : "R-FT-7",
                "original " + in_quotes(wanted.path) + " does not have the recorded " +
                    (same ? "SHA-256" : "digest"));
}

}  // namespace

Status send_originals(WriterCore& w) {
  Outbox<OriginalRow> own;
  const auto collect = [&]() -> Status {
    for (StoredOriginal& original : w.next.originals) {
      OriginalRow row{
          original.number, original.map, {}, w.blocks[original.what.block].next.order, false, {}};
      row.has_sha256 = original.digest->has_sha256();
      if (!w.options.dry_run) {
        row.digest = original.digest->digests().xxh3;
        row.sha256 = original.digest->digests().sha256;
        NMB_TRY(check_digests(original, row));
      }
      own.add(0, row);
    }
    return {};
  };
  NMB_TRY(w.ranks.agree(collect()));
  NMB_ASSIGN(const Inbox<OriginalRow> arrived, w.ranks.exchange(own));
  for (const auto& [rank, row] : arrived) {
    ExternalFile& file = w.next.files[row.number - 1];
    file.digest = row.digest;
    file.order = row.order;
    if (row.has_sha256) file.sha256 = row.sha256;
    w.next.original_maps[row.number - 1] = row.map;
  }
  NMB_ASSIGN(const bool any, w.ranks.any(!w.next.originals.empty()));
  if (any) w.next.superblock.compatible |= kFeatureOriginals;
  return {};
}

}  // namespace nmb
