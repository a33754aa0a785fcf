#include "commit/open_head.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "define/provenance.h"
#include "superblock/settled_head.h"
#include "superblock/view_header.h"
#include "verify/sound_generation.h"
#include "wire/checked.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

using Tell = std::function<void(const std::string&)>;

std::string generation_at(const FoundSuperblock& found) {
  return joined_text("generation ", found.fields.generation, " (superblock at ", found.position,
                     ")");
}

// Accepts a pending generation if it is sound. Fails if the newest generation was found only by a
// search and is not sound.
Status choose_sound(const ByteSource& file, Choice* choice, const Tell& tell) {
  if (choice->found_by_search) {
    NMB_ASSIGN(const bool sound, is_sound(file, choice->reading, choice->newest));
    if (!sound)
      return Status(Code::kDamaged, file.name(), choice->newest.position, "R-SB-13",
                    joined_text("slots and mark are damaged, and generation ",
                                choice->newest.fields.generation,
                                " found in the file is not sound; check the file with nmverify"));
    tell("slots and mark are damaged; continues from " + generation_at(choice->newest) +
         ", which is sound");
  }
  if (!choice->pending) return {};
  NMB_ASSIGN(const bool sound, is_sound(file, choice->reading, *choice->pending));
  if (sound) {
    tell(generation_at(*choice->pending) +
         " was complete but not committed; it is sound and was accepted");
    choice->newest = *choice->pending;
    choice->rolled_forward = true;
  } else {
    tell(generation_at(*choice->pending) +
         " was complete but not committed; it is not sound and was not accepted");
  }
  choice->pending.reset();
  return {};
}

// Reports how many bytes follow the newest generation.
void report_bytes_behind(const Choice& choice, const Tell& tell) {
  const Superblock& newest = choice.newest.fields;
  const std::uint64_t size = choice.reading.size;
  if (size <= newest.file_length) return;
  tell(joined_text(size - newest.file_length, " bytes after generation ", newest.generation,
                   may_hide_a_generation(choice)
                       ? "; a slot or the mark is damaged, so a later generation may be lost, but "
                         "none was found; the bytes stay as an abandoned range"
                       : " belong to no generation and stay as an abandoned range; nmconvert "
                         "--repack removes them"));
}

// Fails if the trailer at the end of the newest generation may belong to another file, whose bytes
// the writer must not overwrite. For example, two files with the same definitions have the same
// file id. If only the head of one was copied over the other, the bytes after the head still belong
// to the other.
Status check_no_other_trailer(const ByteSource& file, const HeadReading& reading,
                              const FoundSuperblock& newest) {
  const std::uint64_t trailer = newest.fields.trailer_position();
  TrailerSearch search(file, reading.size, std::nullopt);
  NMB_ASSIGN(const std::optional<FoundSuperblock> found,
             search.ending_at(newest.fields.file_length));
  if (!found || found->bytes == newest.bytes) return {};
  NMB_ASSIGN(const bool sound, is_sound(file, reading, newest));
  if (sound) return {};
  return Status(
      Code::kDamaged, file.name(), trailer, "R-SB-2",
      joined_text("the trailer differs from the superblock in the slot of generation ",
                  newest.fields.generation,
                  ", and this generation is not sound: head and end may come from two files; "
                  "check the file with nmverify"));
}

}  // namespace

namespace {

// Checks that this version can read and change all growth pages. A commit may add rows to growth
// pages, or move their rows into data maps.
Status check_growth_chain(WriterCore& w) {
  w.committed.growth_pages = w.committed.growth_rows = 0;
  const Growth& growth = w.committed.reader->index().growth();
  if (growth.absent()) return {};
  NMB_ASSIGN(const std::span<const std::shared_ptr<const Page>> pages, growth.pages());
  for (const auto& page : pages) {
    NMB_TRY(check_may_change(*page, *w.committed.source));
    w.committed.growth_rows += page->rows();
  }
  w.committed.growth_pages = pages.size();
  return {};
}

// Checks that this version can read and extend all existing pages to which a commit may add rows.
Status check_continued_pages(WriterCore& w) {
  const ByteSource& source = *w.committed.source;
  NMB_TRY(check_growth_chain(w));
  NMB_ASSIGN(const auto files, w.committed.reader->external().table());
  for (const auto& page : files->pages()) NMB_TRY(check_may_change(*page, source));
  const Place& newest = w.committed.superblock.dead_map;
  if (newest.absent() || newest.length > ~std::uint32_t{0}) return {};
  PageExpectation expect = w.committed.superblock.expectation(PageUse::kDead);
  expect.position = newest.position;
  expect.length = static_cast<std::uint32_t>(newest.length);
  NMB_ASSIGN(const auto dead, read_page(source, expect));
  return check_may_change(*dead, source);
}

// Chooses the generation from which the writer continues, and repairs the head. Must be called
// before anything else is written. Called only on rank 0.
Result<Head> settle_head(WriterCore& w) {
  NMB_ASSIGN(Choice choice, choose_newest(*w.committed.source, TrailerScope::kAll));
  NMB_TRY(choice.lost);
  const Tell tell = [&w](const std::string& text) {
    if (w.options.on_repair) w.options.on_repair(text);
  };
  NMB_TRY(choose_sound(*w.committed.source, &choice, tell));
  NMB_ASSIGN(const std::vector<std::byte> settled,
             settled_head(*w.committed.source, choice.reading, choice.newest));
  NMB_TRY(check_no_other_trailer(*w.committed.source, choice.reading, choice.newest));
  report_bytes_behind(choice, tell);
  const std::vector<std::byte> found = choice.reading.bytes;
  FirstFinding ignored;
  NMB_ASSIGN(Head head, head_of(*w.committed.source, std::move(choice), ignored));
  const Superblock& superblock = head.superblock;
  if (superblock.readonly_compatible & ~kWrittenReadonly)
    return Status(Code::kUnsupported, w.file->name(),
                  head.position + in_superblock::kReadonlyCompatible, "R-SB-6",
                  "the file has features that only a newer version can write");
  NMB_TRY(check_sections(w, superblock));
  auto sync = [&] { return w.options.sync ? w.file->sync() : Status(); };
  std::array<std::byte, kSlotUnit> trailer;
  NMB_TRY(w.file->read_at(superblock.trailer_position(), trailer));
  const auto differs = [&](std::size_t from, std::size_t to) {
    return !std::equal(settled.begin() + static_cast<std::ptrdiff_t>(from),
                       settled.begin() + static_cast<std::ptrdiff_t>(to),
                       found.begin() + static_cast<std::ptrdiff_t>(from));
  };
  std::string restored;
  auto restores = [&](const std::string& what) {
    restored += (restored.empty() ? "" : ", ") + what;
  };
  if (trailer != head.superblock_bytes) {
    restores(joined_text("the trailer at ", superblock.trailer_position()));
    NMB_TRY(w.file->write_at(superblock.trailer_position(), head.superblock_bytes));
  }
  // The trailer, and what an adopted generation has, must be on the device before the head names
  // them: a killed program may have left them in memory.
  if (!restored.empty() || differs(0, kDictionaryPosition)) NMB_TRY(sync());
  for (const std::size_t at : {kFirstSlot, kFirstSlot + kSlotUnit}) {
    if (!differs(at, at + kSlotUnit)) continue;
    restores(joined_text("the slot at ", at));
    NMB_TRY(w.file->write_at(at, std::span(settled).subspan(at, kSlotUnit)));
  }
  if (!restored.empty()) NMB_TRY(sync());
  if (differs(0, kFirstSlot)) {
    constexpr std::size_t kMarkEnd = kMarkPosition + kMarkSize;
    constexpr std::size_t kIdentityEnd = kIdentityPosition + kIdentitySize;
    if (differs(0, kMarkPosition)) restores("the cover");
    if (differs(kMarkPosition, kMarkEnd)) restores("the mark");
    if (differs(kIdentityPosition, kIdentityEnd)) restores("the identity");
    if (differs(kMarkEnd, kIdentityPosition) || differs(kIdentityEnd, kFirstSlot))
      restores("the guard and the zeros of the head");
    NMB_TRY(w.file->write_at(0, std::span(settled).first(kFirstSlot)));
    NMB_TRY(sync());
  }
  if (!restored.empty())
    tell(joined_text("the head did not match generation ", superblock.generation, ": restored ",
                     restored));
  std::ranges::copy(settled, head.bytes.begin());
  return head;
}

// The head and the length of the file, which rank 0 sends to the ranks that do not read the file.
// These ranks decode the superblock again.
struct SentHead {
  Head head;
  std::uint64_t size = 0;
};

template <class Fields>
void fields(Fields& all, SentHead& sent) {
  Head& head = sent.head;
  all(sent.size, head.position, head.superblock_bytes, head.bytes, head.dictionary);
}

Status decode_superblock(const std::string& file, Head* head) {
  FirstFinding wrong;
  Superblock::decode(head->superblock_bytes, head->position, &head->superblock, wrong);
  return wrong.status(file);
}

Status take_head(WriterCore& w, Head head, std::uint64_t size) {
  CommittedState& committed = w.committed;
  committed.superblock = head.superblock;
  committed.superblock_bytes = head.superblock_bytes;
  std::copy_n(head.bytes.begin() + kIdentityPosition, kIdentitySize, committed.identity.begin());
  committed.kept_length = size;
  w.next.cursor = round_up(size, 8);
  const std::uint64_t length = committed.superblock.file_length;
  if (w.ranks.is_first() && size > length)
    w.next.dead.push_back({length, w.next.cursor - length, 0, false, true});
  committed.has_file_id = true;
  w.next.order = committed.superblock.next_order;
  if (!committed.superblock.dictionary.absent() && head.dictionary.empty())
    return Status(Code::kDamaged, w.file->name(), kDictionaryPosition, "R-SB-9",
                  "no copy of the dictionary has the sum that the superblock states");
  committed.dictionary = head.dictionary;
  committed.source = written(*w.file, length);
  committed.reader = std::make_unique<ReaderCore>(*committed.source, std::move(head));
  return w.ranks.is_first() ? check_continued_pages(w) : Status();
}

}  // namespace

// The other ranks receive the head from rank 0 and need not open the file.
Status load_committed(WriterCore& w) {
  SentHead sent;
  NMB_TRY(w.ranks.first([&]() -> Status {
    NMB_ASSIGN(sent.size, w.file->size());
    w.committed.source = written(*w.file, sent.size);
    NMB_ASSIGN(sent.head, settle_head(w));
    return {};
  }));
  NMB_TRY(broadcast_fields(w.ranks.communicator(), 0, &sent));
  return w.ranks.each([&]() -> Status {
    if (!w.ranks.is_first()) NMB_TRY(decode_superblock(w.file->name(), &sent.head));
    return take_head(w, std::move(sent.head), sent.size);
  });
}

}  // namespace nmb
