// Makes the settled head of a generation (see format/superblock/settled_head.h).
#include "format/superblock/settled_head.h"

#include <algorithm>
#include <cstring>

#include "wire/joined_text.h"

namespace nmb {

namespace {

// A source that reads another source with a new head and a new trailer. The source ends with the
// trailer.
class Settled final : public ByteSource {
 public:
  Settled(const ByteSource& base, std::vector<std::byte> head, const FoundSuperblock& newest)
      : base_(base),
        head_(std::move(head)),
        trailer_(newest.bytes),
        size_(newest.fields.file_length) {}
  std::uint64_t size() const override { return size_; }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (offset > size_ || out.size() > size_ - offset)
      return Status(Code::kDamaged, name(), size_, "R-FL-1",
                    joined_text("cut: found ", size_, " bytes, expected ", out.size(),
                                " bytes at offset ", offset));
    const std::uint64_t trailer = size_ - kSlotUnit;
    const std::size_t from_head = part_before(head_.size(), offset, out.size());
    const std::size_t from_file = part_before(trailer, offset, out.size()) - from_head;
    if (from_head != 0) std::memcpy(out.data(), head_.data() + offset, from_head);
    if (from_file != 0)
      NMB_TRY(base_.read_at(offset + from_head, out.subspan(from_head, from_file)));
    const auto rest = out.subspan(from_head + from_file);
    if (!rest.empty())
      std::memcpy(rest.data(), trailer_.data() + (offset + from_head + from_file - trailer),
                  rest.size());
    return {};
  }
  const std::string& name() const override { return base_.name(); }
  const std::string* path() const override { return base_.path(); }
  bool is_unallocated(std::uint64_t offset, std::uint64_t length) const override {
    return offset >= head_.size() &&
           length <= size_ - kSlotUnit - std::min(offset, size_ - kSlotUnit) &&
           base_.is_unallocated(offset, length);
  }
  bool may_be_sparse() const override { return base_.may_be_sparse(); }

 private:
  // Returns the number of bytes of the range (`offset`, `length`) that lie before `end`.
  static std::size_t part_before(std::uint64_t end, std::uint64_t offset, std::size_t length) {
    return offset < end ? std::min<std::uint64_t>(length, end - offset) : 0;
  }

  const ByteSource& base_;
  const std::vector<std::byte> head_;
  const std::array<std::byte, kSlotUnit> trailer_;
  const std::uint64_t size_;
};

}  // namespace

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

Result<std::unique_ptr<const ByteSource>> as_committed(const ByteSource& file,
                                                       const HeadReading& reading,
                                                       const FoundSuperblock& newest) {
  NMB_ASSIGN(std::vector<std::byte> head, settled_head(file, reading, newest));
  return std::unique_ptr<const ByteSource>(
      std::make_unique<Settled>(file, std::move(head), newest));
}

}  // namespace nmb
