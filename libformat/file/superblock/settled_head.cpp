#include "superblock/settled_head.h"

#include <algorithm>
#include <utility>

#include "sources/value_source.h"

namespace nmb {

Result<std::vector<std::byte>> settled_head(const ByteSource& file, const HeadReading& reading,
                                            const FoundSuperblock& newest) {
  const Superblock& fields = newest.fields;
  std::vector<std::byte> head(kDictionaryPosition);
  auto put = [&](std::uint64_t at, std::span<const std::byte> bytes) {
    std::ranges::copy(bytes, head.begin() + static_cast<std::ptrdiff_t>(at));
  };
  put(kMarkPosition, Superblock::mark_of(newest.bytes).encode());
  // A sound identity is kept, because a later version may have written more fields into it.
  FirstFinding damage;
  Identity identity;
  const auto found = std::span(reading.bytes).subspan(kIdentityPosition, kIdentitySize);
  if (Identity::decode(found, kIdentityPosition, &identity, damage))
    put(kIdentityPosition, found);
  else
    put(kIdentityPosition, Identity{fields.file_id, true}.encode());
  put(kCoverPosition, fields.cover(std::span(head).subspan(kIdentityPosition, kIdentitySize)));
  put(kGuardPosition, kGuard);
  put(Superblock::slot_position(fields.generation), newest.bytes);
  if (fields.generation == 1) return head;
  const FoundSuperblock& other = reading.slots[fields.generation % 2].superblock;
  put(other.position, other.bytes);
  if (reading.other_slot_fits(newest)) return head;
  const Place& before = fields.previous_trailer;
  TrailerSearch search(file, reading.size, fields.file_id);
  NMB_ASSIGN(const std::optional<FoundSuperblock> previous,
             search.ending_at(before.position + kSlotUnit));
  if (previous && previous->sum() == before.sum) put(other.position, previous->bytes);
  return head;
}

Source patched(Source file, std::uint64_t tail_begin, std::vector<std::byte> head,
               std::vector<std::byte> tail) {
  const std::uint64_t from = head.size(), bytes = tail.size();
  const std::uint64_t until = std::max(from, std::min(file->size(), tail_begin));
  const std::string name = file->name();
  form::Spliced out{
      {owned_bytes(std::move(head), name), std::move(file), owned_bytes(std::move(tail), name)},
      {{0, from, 0, 0}, {from, until - from, from, 1}, {tail_begin, bytes, 0, 2}},
      tail_begin + bytes,
      name};
  std::erase_if(out.runs, [](const form::Spliced::SourceRun& run) { return run.length == 0; });
  return source_of(std::move(out));
}

Result<std::shared_ptr<const ByteSource>> as_committed(std::shared_ptr<const ByteSource> file,
                                                       const HeadReading& reading,
                                                       const FoundSuperblock& newest) {
  NMB_ASSIGN(std::vector<std::byte> head, settled_head(*file, reading, newest));
  return patched(std::move(file), newest.fields.file_length - kSlotUnit, std::move(head),
                 {newest.bytes.begin(), newest.bytes.end()});
}

}  // namespace nmb
