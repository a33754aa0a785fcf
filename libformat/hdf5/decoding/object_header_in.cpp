#include "decoding/object_header_in.h"

#include <algorithm>
#include <cstring>

#include "encoding/lookup3.h"
#include "wire/endian.h"

namespace nmb::hdf5 {

namespace {

constexpr std::size_t kMostHeader = 64 << 10;  // maximum size of a header in bytes
constexpr std::size_t kMostChunks = 16;        // maximum number of chunks after the first chunk
// The limits if only the layout is read. Attributes may make such a header long.
constexpr std::size_t kMostHeaderOfLayout = 16 << 20, kMostChunksOfLayout = 4096;
constexpr std::size_t kFirstRead = 512;  // most headers are shorter

// Returns the bit that stands for a message in a set of messages.
constexpr unsigned message_bit(HeaderMessage message) {
  return 1u << static_cast<unsigned>(message);
}

constexpr unsigned kSharedMessage = 0x02;  // flag of a message
// Flags of a header of version 2.
constexpr unsigned kSizeOfLength = 0x03, kOrderTracked = 0x04, kPhaseChange = 0x10, kTimes = 0x20,
                   kReserved = 0xc0;

constexpr std::size_t padded(std::size_t length) { return (length + 7) & ~std::size_t{7}; }

}  // namespace

ObjectHeaderIn::Attribute ObjectHeaderIn::attribute(std::size_t number) const {
  const AttributeParts& parts = attributes_[number];
  return {{reinterpret_cast<const char*>(at(parts.name.begin)), parts.name.length},
          {at(parts.values.begin), parts.values.length}};
}

// Reads `length` bytes at `offset`, and appends them to bytes_.
bool ObjectHeaderIn::read_chunk(std::uint64_t offset, std::uint64_t length) {
  const std::size_t most = finds_layout_ ? kMostHeaderOfLayout : kMostHeader;
  if (!file_.has(offset, length) || length > most - bytes_.size()) return false;
  const std::size_t begin = bytes_.size();
  bytes_.resize(begin + length);
  return file_.read(offset, std::span(bytes_).subspan(begin));
}

void ObjectHeaderIn::clear() {
  bytes_.clear();
  next_.clear();
  pattern_.clear();
  attributes_.clear();
  messages_ = 0;
  seen_ = 0;
}

bool ObjectHeaderIn::read_messages(std::uint64_t address) {
  if (address >= file_.size() ||
      !read_chunk(address, std::min<std::uint64_t>(kFirstRead, file_.size() - address)) ||
      bytes_.size() < 16)
    return false;
  const bool is_version_2 = std::memcmp(bytes_.data(), "OHDR\2", 5) == 0;
  return is_version_2 ? read_version_2(address) : read_version_1(address);
}

bool ObjectHeaderIn::read(std::uint64_t address) {
  clear();
  finds_layout_ = false;
  if (!read_messages(address)) return false;
  constexpr unsigned kNeeded = message_bit(HeaderMessage::kDataspace) |
                               message_bit(HeaderMessage::kDatatype) |
                               message_bit(HeaderMessage::kLayout);
  return (seen_ & kNeeded) == kNeeded;
}

std::optional<LayoutMessage> ObjectHeaderIn::chunk_layout(std::uint64_t address) {
  clear();
  finds_layout_ = true;
  layout_.reset();
  return read_messages(address) ? layout_ : std::nullopt;
}

bool ObjectHeaderIn::take_chunk_layout(HeaderRange content) {
  if (layout_) return false;  // there may be only one layout
  layout_ = decode_layout_message({at(content.begin), content.length});
  return layout_.has_value();
}

bool ObjectHeaderIn::read_version_1(std::uint64_t address) {
  constexpr std::size_t kPrefix = 16, kMessageHead = 8;
  if (bytes_[0] != std::byte{1}) return false;
  const std::size_t count = load_le<std::uint16_t>(at(2));
  const std::uint64_t length = load_le<std::uint32_t>(at(8));
  pattern_.push_back(1);
  if (kPrefix + length > bytes_.size()) {
    const std::uint64_t rest = kPrefix + length - bytes_.size();
    if (!read_chunk(address + bytes_.size(), rest)) return false;
  }
  if (!take_messages({kPrefix, length}, kMessageHead, 0)) return false;
  for (std::size_t i = 0; i < next_.size(); ++i) {
    const std::size_t begin = bytes_.size();
    if (!read_chunk(next_[i].offset, next_[i].length) ||
        !take_messages({begin, next_[i].length}, kMessageHead, 0))
      return false;
  }
  return messages_ == count;
}

bool ObjectHeaderIn::has_sum(std::size_t begin) const {
  const std::size_t end = bytes_.size() - kSum;
  return lookup3({at(begin), end - begin}) == load_le<std::uint32_t>(at(end));
}

bool ObjectHeaderIn::read_version_2(std::uint64_t address) {
  const auto flags = std::to_integer<unsigned>(bytes_[5]);
  if ((flags & kReserved) != 0) return false;
  std::size_t begin = 6;
  if ((flags & kTimes) != 0) begin += 16;
  const HeaderRange phase_change{begin, (flags & kPhaseChange) != 0 ? 4u : 0u};
  begin += phase_change.length;
  const std::size_t width = std::size_t{1} << (flags & kSizeOfLength);
  if (begin + width > bytes_.size()) return false;
  const std::uint64_t length = load_le_bytes({at(begin), width});
  begin += width;
  pattern_.push_back(2);
  pattern_.push_back(static_cast<char>(flags));
  add_to_pattern(phase_change);
  if (length > kMostHeaderOfLayout) return false;
  const std::size_t end = begin + length + kSum;
  if (end > bytes_.size()) {
    if (!read_chunk(address + bytes_.size(), end - bytes_.size())) return false;
  } else {
    bytes_.resize(end);
  }
  const std::size_t head = (flags & kOrderTracked) != 0 ? 6 : 4;
  if (!has_sum(0) || !take_messages({begin, length}, head, flags)) return false;
  for (std::size_t i = 0; i < next_.size(); ++i) {
    const std::size_t chunk = bytes_.size();
    const std::uint64_t bytes = next_[i].length;
    if (bytes < 4 + kSum || !read_chunk(next_[i].offset, bytes) ||
        std::memcmp(at(chunk), "OCHK", 4) != 0 || !has_sum(chunk) ||
        !take_messages({chunk + 4, bytes - 4 - kSum}, head, flags))
      return false;
  }
  return true;
}

// `head` is the number of bytes before the content of a message; it is 8 in version 1.
bool ObjectHeaderIn::take_messages(HeaderRange chunk, std::size_t head, unsigned flags) {
  const bool is_version_1 = head == 8;
  std::size_t position = chunk.begin;
  const std::size_t end = chunk.begin + chunk.length;
  while (end - position >= head) {
    Message message;
    const std::byte* const from = at(position);
    std::size_t length;
    unsigned message_flags;
    if (is_version_1) {
      message.type = static_cast<HeaderMessage>(load_le<std::uint16_t>(from));
      length = load_le<std::uint16_t>(from + 2);
      message_flags = std::to_integer<unsigned>(from[4]);
      if (length != padded(length)) return false;
    } else {
      message.type = static_cast<HeaderMessage>(from[0]);
      length = load_le<std::uint16_t>(from + 1);
      message_flags = std::to_integer<unsigned>(from[3]);
    }
    if (length > end - position - head) return false;
    if ((message_flags & kSharedMessage) != 0 && !finds_layout_) return false;
    message.content = {position + head, length};
    ++messages_;
    if (message.type != HeaderMessage::kNil && message.type != HeaderMessage::kContinuation) {
      // Add the message's prefix to the pattern, without reserved bytes.
      const std::size_t order = (flags & kOrderTracked) != 0 ? 2 : 0;
      add_to_pattern({position, is_version_1 ? 5 : 4 + order});
    }
    if (!take(message)) return false;
    position += head + length;
  }
  // In version 2, the remaining bytes are a gap.
  return !is_version_1 || position == end;
}

bool ObjectHeaderIn::take(const Message& message) {
  const HeaderRange content = message.content;
  if (finds_layout_ && message.type != HeaderMessage::kContinuation)
    return message.type != HeaderMessage::kLayout || take_chunk_layout(content);
  switch (message.type) {
    case HeaderMessage::kNil:
    case HeaderMessage::kOldTime:
    case HeaderMessage::kTime:
      return true;
    case HeaderMessage::kContinuation:
      if (content.length < 16 ||
          next_.size() == (finds_layout_ ? kMostChunksOfLayout : kMostChunks))
        return false;
      next_.push_back({load_le<std::uint64_t>(at(content.begin)),
                       load_le<std::uint64_t>(at(content.begin + 8))});
      return true;
    case HeaderMessage::kAttribute:
      return take_attribute(content);
    case HeaderMessage::kDataspace:
    case HeaderMessage::kDatatype:
    case HeaderMessage::kOldFillValue:
    case HeaderMessage::kFillValue:
    case HeaderMessage::kLayout:
    case HeaderMessage::kAttributeInfo:
      break;
    default:
      return false;
  }
  if ((seen_ & message_bit(message.type)) != 0) return false;
  seen_ |= message_bit(message.type);
  if (message.type == HeaderMessage::kDataspace) return take_space(content);
  if (message.type == HeaderMessage::kLayout) return take_layout(content);
  if (message.type == HeaderMessage::kAttributeInfo) {
    // The content consists of the version, the flags, a number (only if the creation order is
    // tracked), and the address of densely stored attributes.
    if (content.length < 2) return false;
    const std::size_t heap = (bytes_[content.begin + 1] & std::byte{1}) != std::byte{0} ? 4 : 2;
    if (content.length < heap + 8 ||
        load_le<std::uint64_t>(at(content.begin + heap)) != kUndefinedAddress)
      return false;
  }
  add_to_pattern(content);
  return true;
}

bool ObjectHeaderIn::take_space(HeaderRange content) {
  constexpr unsigned kHasMaximum = 1;
  constexpr unsigned char kScalar = 0, kSimple = 1;
  if (content.length < 4) return false;
  const std::byte* const from = at(content.begin);
  const auto version = std::to_integer<unsigned>(from[0]);
  const auto rank = std::to_integer<std::size_t>(from[1]);
  const auto flags = std::to_integer<unsigned>(from[2]);
  const std::size_t head = version == 1 ? 8 : 4;
  const std::size_t lists = (flags & kHasMaximum) != 0 ? 2 : 1;
  const bool has_class = version == 2;
  if ((version != 1 && version != 2) || (flags & ~kHasMaximum) != 0 || rank > kMostRank ||
      content.length < head + 8 * rank * lists ||
      (has_class && from[3] != std::byte{rank == 0 ? kScalar : kSimple}))
    return false;
  add_to_pattern({content.begin, 4});
  space_.space_class = rank == 0 ? SpaceClass::kScalar : SpaceClass::kSimple;
  space_.lengths.resize(rank);
  space_.maximum.resize(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    space_.lengths[i] = load_le<std::uint64_t>(from + head + 8 * i);
    space_.maximum[i] = load_le<std::uint64_t>(from + head + 8 * (i + (lists - 1) * rank));
    if (space_.lengths[i] > space_.maximum[i]) return false;
  }
  return true;
}

bool ObjectHeaderIn::take_layout(HeaderRange content) {
  constexpr std::byte kContiguous{1};
  if (content.length < 18) return false;
  const std::byte* const from = at(content.begin);
  if ((from[0] != std::byte{3} && from[0] != std::byte{4}) || from[1] != kContiguous) return false;
  add_to_pattern({content.begin, 2});
  values_offset_ = file_.offset_of(load_le<std::uint64_t>(from + 2));
  values_length_ = load_le<std::uint64_t>(from + 10);
  return true;
}

bool ObjectHeaderIn::take_attribute(HeaderRange content) {
  if (content.length < 9) return false;
  const std::byte* const from = at(content.begin);
  const auto version = std::to_integer<unsigned>(from[0]);
  // The flags mark named datatypes and shared dataspaces.
  if (version < 1 || version > 3 || (version > 1 && from[1] != std::byte{0})) return false;
  const auto length = [&](std::size_t offset) {
    const std::size_t n = load_le<std::uint16_t>(from + offset);
    return version == 1 ? padded(n) : n;
  };
  const std::size_t head = version == 3 ? 9 : 8, name = load_le<std::uint16_t>(from + 2);
  const std::size_t values = head + length(2) + length(4) + length(6);
  // The length of the name includes its NUL.
  if (name < 2 || values > content.length || from[head + name - 1] != std::byte{0}) return false;
  add_to_pattern({content.begin, values});
  attributes_.push_back(
      {{content.begin + head, name - 1}, {content.begin + values, content.length - values}});
  return true;
}

void ObjectHeaderIn::add_to_pattern(HeaderRange part) {
  pattern_.append(reinterpret_cast<const char*>(at(part.begin)), part.length);
}

}  // namespace nmb::hdf5
