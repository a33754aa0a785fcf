#include "reader/scatter_window.h"

#include <algorithm>
#include <cstring>

namespace nmb {

CopyBuffer& ScatterWindow::spare() {
  thread_local CopyBuffer kept;
  return kept;
}

ScatterWindow::~ScatterWindow() { spare() = std::move(buffer_); }

void ScatterWindow::fail(std::uint32_t target, const Status& why) {
  if (targets_[target].status.ok()) targets_[target].status = why;
}

void ScatterWindow::damage(std::uint64_t from, std::uint64_t to, const Status& why) {
  if (damages_.size() < kMaxDamages) {
    damages_.push_back({from, to, why});
  } else {
    damages_.back().from = std::min(damages_.back().from, from);
    damages_.back().to = std::max(damages_.back().to, to);
  }
}

// Converts a part of the window into the target's array. The window must have been read and
// checked.
void ScatterWindow::give(const ScatterElement& part) {
  for (const Damage& damage : damages_)
    if (part.place < damage.to && part.place + part.length > damage.from)
      fail(part.target, damage.why);
  if (targets_[part.target].status.ok())
    take(part.target, part.at, buffer(used_, begin_).subspan(part.place, part.length));
}

void ScatterWindow::add(const ExtentSource& source, std::uint32_t target, std::uint64_t offset,
                        std::uint64_t at, std::uint64_t length) {
  while (length > 0 && targets_[target].status.ok()) {
    if (last_source_ != &source || offset < range_.begin || offset >= range_.end) {
      const Result<ExtentSource::ContiguousRange> range = source.contiguous_at(offset);
      if (!range.ok()) return fail(target, range.status());
      range_ = *range;
      last_source_ = &source;
    }
    std::uint64_t part = std::min(length, range_.end - offset);
    const bool alone =
        range_.position == 0 || (source.verifies() && range_.end - range_.begin > kScatterWindow);
    part = alone ? read_alone(source, target, offset, at, part)
                 : join(source, target, offset, at, part);
    offset += part;
    at += part;
    length -= part;
  }
}

// Reads bytes that cannot share a window with other parts: values in memory, holes, and parts of
// checked pieces that are longer than a window.
std::uint64_t ScatterWindow::read_alone(const ExtentSource& source, std::uint32_t target,
                                        std::uint64_t offset, std::uint64_t at,
                                        std::uint64_t length) {
  // The first bytes of an element may still be in the window.
  if (at % type_size(targets_[target].type) != 0) flush();
  // This read overwrites the bytes in the buffer.
  read_ = 0;
  length = std::min(length, kScatterWindow);
  const std::span<std::byte> bytes = buffer(length, 0);
  if (const Status status = source.read_at(offset, bytes); status.ok())
    take(target, at, bytes);
  else
    fail(target, status);
  return bytes.size();
}

// Returns whether the current window can take the bytes at `position` of the file.
bool ScatterWindow::takes(const ExtentSource& source, std::uint64_t position) const {
  if (file_ != &source.file() || parts_.size() == kMaxParts || position < begin_ ||
      position > begin_ + used_ + kScatterGap || position - begin_ >= kScatterWindow)
    return false;
  const std::uint64_t length = range_.end - range_.begin;
  return length > kScatterWindow || range_.position + length - begin_ <= kScatterWindow;
}

// Returns whether the last request has read and checked the requested bytes, and they are still in
// the window.
bool ScatterWindow::holds(const ExtentSource& source, std::uint64_t from, std::uint64_t position,
                          std::uint64_t length) const {
  if (read_ == 0 || !parts_.empty()) return false;
  const Cover& last = covers_.back();
  return last.source == &source && from >= last.offset &&
         position - begin_ == last.place + (from - last.offset) &&
         from - last.offset + length <= last.length;
}

std::uint64_t ScatterWindow::join(const ExtentSource& source, std::uint32_t target,
                                  std::uint64_t offset, std::uint64_t at, std::uint64_t length) {
  const bool whole = source.verifies();
  const std::uint64_t from = whole ? range_.begin : offset;
  const std::uint64_t position = range_.position + (from - range_.begin);
  const std::uint64_t most = whole ? range_.end - range_.begin : length;
  if (!parts_.empty() && !takes(source, position)) flush();
  if (holds(source, from, position, most)) {
    give({static_cast<std::uint32_t>(position - begin_ + (offset - from)),
          static_cast<std::uint32_t>(length), target, at});
    return length;
  }
  if (parts_.empty()) {
    file_ = &source.file();
    begin_ = position;
    used_ = read_ = 0;
    covers_.clear();
    damages_.clear();
  }
  const std::uint64_t place = position - begin_;
  const std::uint64_t part = whole ? length : std::min(length, kScatterWindow - place);
  const std::uint64_t end = place + (whole ? most : part);
  used_ = std::max(used_, end);
  const std::uint64_t begin = place + (offset - from);
  if (!parts_.empty() && parts_.back().target == target &&
      parts_.back().place + parts_.back().length == begin &&
      parts_.back().at + parts_.back().length == at)
    parts_.back().length += static_cast<std::uint32_t>(part);
  else
    parts_.push_back(
        {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(part), target, at});
  const bool goes_on = !covers_.empty() && covers_.back().source == &source &&
                       covers_.back().offset <= from &&
                       from - covers_.back().offset == place - covers_.back().place;
  if (goes_on)
    covers_.back().length = std::max(covers_.back().length, end - covers_.back().place);
  else
    covers_.push_back({&source, from, place, end - place});
  return part;
}

void ScatterWindow::flush() {
  if (parts_.empty()) return;
  if (const Status status = file_->read_at(begin_, buffer(used_, begin_)); status.ok()) {
    read_ = used_;
    for (const Cover& cover : covers_) check(cover);
  } else {
    damage(0, used_, status);
  }
  for (const ScatterElement& part : parts_) give(part);
  parts_.clear();
}

void ScatterWindow::check(const Cover& cover) {
  const Status status = cover.source->check(
      cover.offset, begin_ + cover.place, buffer(used_, begin_).subspan(cover.place, cover.length),
      [&](const Piece& piece, const Status& why) {
        const std::uint64_t place = cover.place + (piece.logical - cover.offset);
        damage(place, place + piece.length, why);
      });
  if (!status.ok()) damage(cover.place, cover.place + cover.length, status);
}

void ScatterWindow::take(std::uint32_t number, std::uint64_t at, std::span<const std::byte> bytes) {
  GetTarget& target = targets_[number];
  const std::size_t size = type_size(target.type);
  auto convert = [&](std::uint64_t element, std::span<const std::byte> from) {
    target.out_of_range +=
        convert_from_external(target.type, from.data(), from.size() / size, target.memory,
                              target.out + element * memory_type_size(target.memory), target.kind);
  };
  if (const std::uint64_t known = at % size; known != 0) {
    const std::size_t more = std::min<std::size_t>(size - known, bytes.size());
    std::memcpy(target.divided.data() + known, bytes.data(), more);
    if (known + more < size) return;
    convert(at / size, std::span(target.divided).first(size));
    at += more;
    bytes = bytes.subspan(more);
  }
  const std::size_t rest = bytes.size() % size;
  convert(at / size, bytes.first(bytes.size() - rest));
  if (rest != 0) std::memcpy(target.divided.data(), bytes.data() + bytes.size() - rest, rest);
}

}  // namespace nmb
