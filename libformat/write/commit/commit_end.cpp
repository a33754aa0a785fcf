// Commits: writes the dead ranges, and then the superblock. With the superblock, the changes become
// the newest generation (spec/format.md, section 5).
#include <algorithm>
#include <utility>

#include "define/provenance.h"
#include "parallel/shared_output.h"
#include "state/commit_steps.h"
#include "wire/checked.h"
#include "wire/endian.h"
#include "wire/hash.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

// The message of each rank to rank 0: the rank's dead ranges with their sums, and its rows for the
// growth page. The message is short, because rank 0 receives one from each rank.
struct DeadAndGrown {
  std::vector<DeadRange> dead;
  NewGrowth growth;
};

template <class Fields>
void fields(Fields& all, DeadAndGrown& message) {
  all(message.dead, message.growth);
}

}  // namespace

Status write_dead_map(WriterCore& w, const std::vector<BlockCommit>& blocks, Status* status) {
  Superblock& next = w.next.superblock;
  if (w.committed.superblock.generation == 0) return {};
  auto sum_ranges = [&]() -> Status {
    for (DeadRange& range : w.next.dead) {
      // The bytes can be read from the file, because they are committed.
      if (range.sum_known) continue;
      NMB_ASSIGN(range.sum, sum_in_file(w.buffer, range.position, range.length));
      range.sum_known = true;
    }
    return {};
  };
  Outbox<DeadAndGrown> out;
  auto sum_up = [&]() -> Status {
    NMB_TRY(sum_ranges());
    out.add(0, {std::exchange(w.next.dead, {}), growth_of(w, blocks)});
    return {};
  };
  *status = sum_up();
  NMB_ASSIGN(const Inbox<DeadAndGrown> arrived, w.ranks.exchange(out));
  std::vector<DeadRange> dead;
  NewGrowth growth;
  for (const auto& [rank, message] : arrived) {
    dead.insert(dead.end(), message.dead.begin(), message.dead.end());
    growth.records += message.growth.records;
    growth.rows.insert(growth.rows.end(), message.growth.rows.begin(), message.growth.rows.end());
  }
  auto write = [&]() -> Status {
    NMB_TRY(write_growth(w, std::move(growth)));
    NMB_TRY(sum_ranges());
    dead.insert(dead.end(), w.next.dead.begin(), w.next.dead.end());
    if (dead.empty()) return {};
    std::ranges::sort(dead, {}, &DeadRange::position);
    PageBuilder page(PageUse::kDead, 0);
    if (!next.dead_map.absent()) {
      std::byte sum[8];
      NMB_TRY(w.buffer.read_at(next.dead_map.position + kPageSumOffset, sum));
      page.add_row();
      page.set(kState, 1);
      page.set(kPosition, next.dead_map.position);
      page.set(kStoredLength, next.dead_map.length);
      page.set(kSum, load_le<std::uint64_t>(sum));
    }
    for (const DeadRange& range : dead) {
      page.add_row();
      page.set(kState, range.abandoned ? kStateAbandoned : 0);
      page.set(kPosition, range.position);
      page.set(kStoredLength, range.length);
      page.set(kSum, range.sum);
    }
    std::vector<std::byte> bytes;
    NMB_ASSIGN(Place place, write_page(w.next, page, w.new_origin(), 0, &bytes));
    next.dead_map = {place.position, place.length, sum_of(bytes)};
    return {};
  };
  if (w.ranks.is_first() && status->ok()) *status = write();
  return {};
}

namespace {

// Checks the totals that programs determine (R-SB-8).
Status check_totals(const Totals& totals) {
  for (const auto& [count, what] :
       {std::pair(totals.records, "records"), std::pair(totals.samples, "samples")})
    if (count > kMostCount)
      return Status(Code::kLimit,
                    joined_text("the blocks have more than 2^63 - 1 ", what, " together"));
  return {};
}

// For a failure after the write of the slot has begun: adds to its message that the new generation
// may be in the file nevertheless. The status is the same on all ranks.
Status in_doubt(const WriterCore& w, const Status& status) {
  // A new file has no name yet and is removed after a failure. kBusy: another file has the name
  // now.
  if (status.ok() || w.committed.superblock.generation == 0 || status.code() == Code::kBusy)
    return status;
  return status.with(
      joined_text("generation ", w.new_generation(),
                  " may be in the file nevertheless: check the file with nminspect before "
                  "you write again"));
}

// Writes the cover and the mark in one write call.
Status write_cover_and_mark(WriterCore& w, const Superblock& of, std::span<const std::byte> bytes) {
  std::array<std::byte, kMarkPosition + kMarkSize> out;
  std::ranges::copy(of.cover(w.committed.identity), out.begin());
  std::ranges::copy(Superblock::mark_of(bytes).encode(), out.begin() + kMarkPosition);
  return w.file->write_at(kCoverPosition, out);
}

// Writes the trailer, the slot, the cover and the mark, and gives a new file its name.
Status publish(WriterCore& w) {
  Superblock& next = w.next.superblock;
  if (w.committed.superblock.generation > 0) NMB_TRY(w.file->check_held());
  const std::uint64_t trailer = round_up(w.next.cursor, kSlotUnit);
  next.file_length = trailer + kSlotUnit;
  if (w.next.view) next.hdf5 = w.next.view->superblock(next.file_length);
  if (w.committed.superblock.generation > 0) {
    next.previous_trailer = {w.committed.superblock.trailer_position(), kSlotUnit,
                             sum_of(w.committed.superblock_bytes)};
  }
  const auto bytes = next.encode();
  NMB_TRY(w.file->truncate(next.file_length));
  NMB_TRY(w.file->write_at(trailer, bytes));
  // No reader can open a new file, which has no name yet. For a new file, one sync() at the end is
  // enough.
  const bool waits_between = w.options.sync && w.committed.superblock.generation > 0;
  if (waits_between) NMB_TRY(w.file->sync());
  // After this check the commit cannot be cancelled any more: writing the slot commits the
  // generation.
  if (w.options.cancel && w.options.cancel->load())
    return Status(Code::kIo, w.file->name(), kNoOffset, "", "interrupted; nothing was committed");
  w.next.slot_begun = true;
  NMB_TRY(w.file->write_at(Superblock::slot_position(next.generation), bytes));
  if (waits_between) NMB_TRY(w.file->sync());
  NMB_TRY(write_cover_and_mark(w, next, bytes));
  if (w.options.sync) NMB_TRY(w.file->sync());
  w.committed.superblock_bytes = bytes;
  // Programs that respect the lock do not replace the file, but others may have done so.
  if (w.committed.superblock.generation > 0) return w.file->check_held();
  if (w.options.before_publish && keeps_metadata(w.options, w.ranks.communicator()))
    NMB_TRY(w.options.before_publish(*written(*w.file, next.file_length)));
  return w.file->publish();
}

}  // namespace

Status write_superblock(WriterCore& w, bool only_rank_0, Status status) {
  Superblock& next = w.next.superblock;
  const bool leads = w.ranks.is_first();
  auto begin = [&]() -> Status {
    NMB_TRY(check_totals(next.totals));
    NMB_TRY(write_sections(w));
    if (w.committed.superblock.generation > 0) return {};
    // Writes zeros to the slots too, so that the file has no unallocated ranges, and copying it
    // needs no search for them.
    std::vector<std::byte> head(w.committed.dictionary.empty() ? kBodyStart : kDictionaryPosition);
    w.committed.identity = Identity{w.committed.superblock.file_id, true}.encode();
    std::ranges::copy(w.committed.identity, head.begin() + kIdentityPosition);
    std::ranges::copy(kGuard, head.begin() + kGuardPosition);
    return w.stripes.write_at(0, head);
  };
  if (leads && status.ok()) status = begin();
  if (only_rank_0) {
    if (leads && status.ok()) status = w.stripes.write_alone();
  } else {
    const PhaseClock::Span metadata(w.clock, Phase::kMetadata);
    NMB_TRY(w.stripes.pass_on(status));
  }
  auto finish = [&]() -> Status {
    NMB_TRY(w.buffer.flush());
    if (w.options.before_commit) NMB_TRY(w.options.before_commit());
    // Rank 0 calls sync() later, in publish().
    const bool waits =
        w.options.sync && syncs_output(w.ranks.communicator()) && !w.ranks.is_first();
    return waits ? w.file->sync() : Status();
  };
  NMB_TRY(w.ranks.agree(status.ok() ? finish() : status));
  // The status is made here, because later there may be no memory to make it.
  const Status out_of_memory = std::exchange(w.out_of_memory, in_doubt(w, w.out_of_memory));
  std::vector<std::byte> published;  // empty after a failure
  if (leads) {
    status = publish(w);
    if (w.next.slot_begun) status = in_doubt(w, status);
    if (status.ok())
      published.assign(w.committed.superblock_bytes.begin(), w.committed.superblock_bytes.end());
  }
  NMB_TRY(w.ranks.bytes_from_first(&published));
  if (published.empty()) return w.ranks.agree(status);
  std::ranges::copy(published, w.committed.superblock_bytes.begin());
  w.out_of_memory = out_of_memory;
  FirstFinding wrong;
  Superblock::decode(w.committed.superblock_bytes, next.trailer_position(), &next, wrong);
  return wrong.status(w.file->name());
}

}  // namespace nmb
