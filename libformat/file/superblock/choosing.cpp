#include "superblock/choosing.h"

#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "wire/joined_text.h"

namespace nmb {

namespace {

// Number of consecutive readings of the head that must give the same bytes. The pauses between them
// (kPause) give a writer time to finish a write of 4096 bytes.
constexpr int kAgreements = 20;
constexpr auto kPause = std::chrono::milliseconds(1);
constexpr int kReadings = 10000;
// A file that has changed each time that it is read is read at most this number of times.
constexpr int kChoices = 100;

// Reads the head until its state is settled, or until kAgreements readings give the same bytes. In
// the second case, something is damaged.
Result<HeadReading> read_until_sure(const ByteSource& file) {
  NMB_ASSIGN(HeadReading reading, HeadReading::take(file));
  int agreed = 0;
  for (int i = 0; i < kReadings && !reading.settled(); ++i) {
    file.forget();
    NMB_ASSIGN(HeadReading again, HeadReading::take(file));
    agreed = again.bytes == reading.bytes ? agreed + 1 : 0;
    reading = std::move(again);
    if (agreed == 0) continue;
    if (agreed == kAgreements || !file.has_writer()) return reading;
    std::this_thread::sleep_for(kPause);
  }
  if (reading.settled()) return reading;
  return Status(Code::kBusy, file.name(), kFirstSlot, "",
                "the superblocks changed each time that they were read; try again when no program "
                "writes to the file");
}

// Applies rules 1 to 4 of sections 5.4 and 5.7 to a state that is not settled.
Status choose_damaged(const ByteSource& file, Choice* choice) {
  const HeadReading& reading = choice->reading;
  const SlotReading* const g = reading.newest();
  TrailerSearch search(file, reading.size, reading.file_id);
  auto roll_forward = [&](FoundSuperblock found, bool by_search) {
    choice->newest = std::move(found);
    choice->rolled_forward = true;
    choice->found_by_search = by_search;
    return Status();
  };
  if (reading.mark && (!g || reading.mark->generation > g->superblock.fields.generation)) {
    const Mark& mark = *reading.mark;
    NMB_ASSIGN(std::optional<FoundSuperblock> named, search.ending_at(mark.file_length));
    if (named && named->sum() == mark.superblock_sum) return roll_forward(std::move(*named), false);
    choice->lost = Status(
        Code::kDamaged, file.name(), std::max(mark.file_length, kSlotUnit) - kSlotUnit, "R-SB-13",
        joined_text("generation ", mark.generation,
                    " is lost: found no superblock of it, neither in its slot nor at the end of "
                    "its ",
                    mark.file_length, " bytes"));
    return {};
  }
  if (g) {
    choice->newest = g->superblock;
    if (reading.mark) return {};
    NMB_ASSIGN(std::optional<FoundSuperblock> found,
               search.following(g->superblock, TrailerScope::kAll));
    if (found && !reading.other_slot_fits(g->superblock))
      return roll_forward(std::move(*found), true);
    if (!found) choice->stray = search.stray();
    choice->pending = std::move(found);
    return {};
  }
  NMB_ASSIGN(std::optional<FoundSuperblock> last, search.last());
  if (last) return roll_forward(std::move(*last), true);
  choice->lost = Status(Code::kDamaged, file.name(), kFirstSlot, "R-SB-16",
                        "no valid superblock: found neither a valid slot nor a trailer");
  return {};
}

// Returns whether the file differs from what a finished commit leaves.
bool is_unfinished(const Choice& choice) {
  return !choice.lost.ok() || !choice.reading.settled() || choice.pending || choice.stray ||
         choice.reading.size > choice.newest.fields.file_length || !choice.cover_fits();
}

// Chooses the newest generation from one reading of the file.
Result<Choice> choose_once(const ByteSource& file, TrailerScope scope) {
  Choice choice;
  NMB_ASSIGN(choice.reading, read_until_sure(file));
  const HeadReading& reading = choice.reading;
  if (reading.settled())
    choice.newest = reading.newest()->superblock;
  else
    NMB_TRY(choose_damaged(file, &choice));
  if (!choice.lost.ok()) return choice;
  const std::uint64_t length = choice.newest.fields.file_length;
  // Rule 3 has already searched all bytes after the generation, if it was applied and found no
  // superblock.
  const bool searched = !reading.settled() && !reading.mark && !choice.rolled_forward;
  if (!searched && reading.size > length && choice.newest.fields.usable_length()) {
    TrailerSearch search(file, reading.size, reading.file_id);
    const TrailerScope where = reading.settled() ? scope : TrailerScope::kAll;
    NMB_ASSIGN(choice.pending, search.following(choice.newest, where));
    if (!choice.pending && where == TrailerScope::kAll) choice.stray = search.stray();
  }
  if (choice.newest.fields.generation > 1 && is_unfinished(choice)) {
    const Place& before = choice.newest.fields.previous_trailer;
    TrailerSearch search(file, reading.size, reading.file_id);
    NMB_ASSIGN(choice.previous, search.ending_at(before.position + kSlotUnit));
    if (choice.previous && choice.previous->sum() != before.sum) choice.previous.reset();
  }
  return choice;
}

// Returns whether each byte equals the byte in `before` or in `after`.
bool is_mixture(std::span<const std::byte> bytes, std::span<const std::byte> before,
                std::span<const std::byte> after) {
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] != before[i] && bytes[i] != after[i]) return false;
  return true;
}

}  // namespace

Result<Choice> choose_newest(const ByteSource& file, TrailerScope scope) {
  NMB_ASSIGN(Choice choice, choose_once(file, scope));
  for (int i = 0; i < kChoices && is_unfinished(choice); ++i) {
    // If a writer had the lock before this call and has it no longer, it has changed the head or
    // the length of the file, or has died.
    if (file.has_writer()) break;
    file.forget();
    NMB_ASSIGN(const bool stays, is_unchanged(file, choice));
    if (stays) return choice;
    NMB_ASSIGN(choice, choose_once(file, scope));
  }
  choice.in_progress = is_unfinished(choice);
  return choice;
}

Result<bool> is_unchanged(const ByteSource& file, const Choice& choice) {
  NMB_ASSIGN(const HeadReading now, HeadReading::take(file));
  return now.bytes == choice.reading.bytes && now.size == choice.reading.size;
}

std::array<std::byte, kIdentitySize> Choice::cover_of(const FoundSuperblock& superblock) const {
  for (const std::uint64_t at : {kIdentityPosition, kCoverPosition}) {
    FirstFinding ignored;
    Identity identity;
    const auto bytes = std::span(reading.bytes).subspan(at, kIdentitySize);
    if (Identity::decode(bytes, at, &identity, ignored)) return superblock.fields.cover(bytes);
  }
  return superblock.fields.cover(Identity{superblock.fields.file_id, true}.encode());
}

bool Choice::cover_fits() const {
  return std::ranges::equal(std::span(reading.bytes).first(kIdentitySize), cover_of(newest));
}

bool Choice::slot_is_half_written() const {
  const std::uint64_t generation = newest.fields.generation;
  if (!pending || pending->fields.generation != generation + 1 || reading.other_slot_fits(newest))
    return false;
  static constexpr std::array<std::byte, kSlotUnit> kZeros{};
  if (generation > 1 && !previous) return false;
  return is_mixture(reading.slots[generation % 2].superblock.bytes,
                    generation > 1 ? std::span(previous->bytes) : std::span(kZeros),
                    pending->bytes);
}

bool Choice::mark_is_half_written() const {
  const Place& before = newest.fields.previous_trailer;
  const std::uint64_t generation = newest.fields.generation;
  if (generation == 1 || !reading.other_slot_fits(newest)) return false;
  const Mark old{generation - 1, before.position + kSlotUnit, before.sum, newest.fields.file_id};
  return is_mixture(std::span(reading.bytes).subspan(kMarkPosition, kMarkSize), old.encode(),
                    Superblock::mark_of(newest.bytes).encode());
}

bool Choice::cover_is_half_written() const {
  return previous && is_mixture(std::span(reading.bytes).first(kIdentitySize), cover_of(*previous),
                                cover_of(newest));
}

bool may_hide_a_generation(const Choice& choice) {
  const HeadReading& reading = choice.reading;
  return choice.lost.ok() && !choice.pending && reading.size > choice.newest.fields.file_length &&
         !(reading.mark && reading.mark_fits(choice.newest) &&
           reading.other_slot_fits(choice.newest));
}

Status check_not_cut(const ByteSource& file, const Choice& choice) {
  const std::uint64_t length = choice.newest.fields.file_length;
  if (choice.reading.size >= length) return {};
  std::byte last;
  const Status status = file.read_at(length - 1, {&last, 1});
  if (status.code() != Code::kDamaged) return status;
  return Status(Code::kDamaged, file.name(), choice.reading.size, "R-FL-1",
                joined_text("cut: found ", choice.reading.size, " bytes, expected ", length));
}

static void report_lost(const Choice& choice, Severity damage, Findings& findings) {
  bool all_zero = true;
  for (const SlotReading& slot : choice.reading.slots) {
    all_zero = all_zero && slot.zero;
    if (!slot.zero && !slot.valid)
      findings.report({"R-SB-1", slot.superblock.position, "superblock slot",
                       "neither zero nor valid", "a valid superblock", damage});
  }
  const Status& lost = choice.lost;
  if (lost.rule() == "R-SB-13" || all_zero)
    findings.report({lost.rule(), lost.offset(), "superblock", lost.message(),
                     "a superblock of the newest generation", damage});
}

void report_head(const Choice& choice, Severity damage, Findings& findings) {
  const HeadReading& reading = choice.reading;
  const FoundSuperblock& newest = choice.newest;
  auto report = [&](const char* rule, std::uint64_t offset, const char* object, std::string found,
                    std::string expected) {
    findings.report({rule, offset, object, std::move(found), std::move(expected), damage});
  };
  // Reports what an unfinished commit left.
  auto left = [&](const char* rule, std::uint64_t offset, const char* object, std::string found,
                  std::string expected) {
    if (!choice.in_progress)
      findings.report(
          {rule, offset, object, std::move(found), std::move(expected), Severity::kWarning});
  };
  class Damage final : public Findings {
   public:
    Damage(Findings& findings, Severity severity) : findings_(findings), severity_(severity) {}
    void report(Finding finding) override {
      finding.severity = severity_;
      findings_.report(std::move(finding));
    }

   private:
    Findings& findings_;
    const Severity severity_;
  } in_identity(findings, damage);
  Identity identity;
  (void)Identity::decode(std::span(reading.bytes).subspan(kIdentityPosition, kIdentitySize),
                         kIdentityPosition, &identity, in_identity);
  if (!choice.lost.ok()) return report_lost(choice, damage, findings);
  const std::uint64_t generation = newest.fields.generation;
  for (const SlotReading& slot : reading.slots) {
    const std::uint64_t at = slot.superblock.position;
    const bool own = at == Superblock::slot_position(generation);
    if (!own && choice.slot_is_half_written())
      left("R-SB-1", at, "superblock slot",
           joined_text("a slot that the commit of generation ", generation + 1,
                       " wrote only in part"),
           "a valid superblock");
    else if (!slot.zero && !slot.valid)
      report("R-SB-1", at, "superblock slot", "neither zero nor valid", "a valid superblock");
    else if (own ? slot.superblock.bytes != newest.bytes : !reading.other_slot_fits(newest))
      report("R-SB-3", at + in_superblock::kGeneration, "superblock slot",
             slot.zero
                 ? "zero"
                 : joined_text("a superblock of generation ", slot.superblock.fields.generation),
             own               ? joined_text("the superblock of generation ", generation)
             : generation == 1 ? "zero, because there is only generation 1"
                               : joined_text("the superblock of generation ", generation - 1));
  }
  if (!reading.mark && choice.mark_is_half_written())
    left("R-SB-12", kMarkPosition, "mark",
         joined_text("a mark that the commit of generation ", generation, " wrote only in part"),
         "a mark of this file");
  else if (!reading.mark)
    report("R-SB-12", kMarkPosition, "mark", "a wrong magic, sum or file id",
           "a mark of this file");
  else if (!reading.mark_fits(newest))
    report("R-SB-12", kMarkPosition, "mark",
           joined_text("a mark of generation ", reading.mark->generation,
                       ", or of another superblock"),
           joined_text("a mark of generation ", generation, " or of the generation before"));
  else if (!reading.mark->reserved_zero && newest.fields.all_known())
    report("R-SB-12", kMarkPosition, "mark", "a reserved byte that is not zero", "0");
  if (choice.pending)
    left("R-SB-13", choice.pending->position, "superblock",
         joined_text("generation ", choice.pending->fields.generation,
                     ", whose commit did not finish; the next writer adopts it if it is sound"),
         joined_text("nothing after generation ", generation));
  if (choice.stray)
    report("R-SB-13", choice.stray->position, "superblock",
           joined_text("generation ", choice.stray->fields.generation, " after generation ",
                       generation, ", without the generations between"),
           joined_text("nothing after generation ", generation));
  if (may_hide_a_generation(choice))
    left("R-SB-13", newest.fields.file_length, "superblock",
         joined_text("bytes but no superblock after generation ", generation,
                     ", and a damaged slot or mark: a later generation may be lost"),
         "a sound head, or a later superblock");
  if (reading.size > newest.fields.file_length)
    left("R-FL-2", newest.fields.file_length, "file",
         joined_text(reading.size - newest.fields.file_length,
                     " bytes that no generation has committed"),
         "none");
}

}  // namespace nmb
