#include "decoding/layout_message_in.h"

#include "decoding/file_bytes.h"

namespace nmb::hdf5 {

namespace {

// Takes numbers from the front of a message. After the end of the message, `ok` is false, and all
// numbers are 0.
struct MessageNumbers {
  std::span<const std::byte> rest;
  bool ok = true;

  std::uint64_t take(std::size_t width) {
    ok = ok && width <= rest.size();
    if (!ok) return 0;
    const std::uint64_t value = load_le_bytes(rest.first(width));
    rest = rest.subspan(width);
    return value;
  }
};

// Takes the lengths of a chunk and the size of an element, together `count` numbers.
void take_lengths(MessageNumbers& from, std::uint64_t count, std::size_t width,
                  LayoutMessage* out) {
  from.ok = from.ok && count >= 2 && count <= kMostRank + 1 && width >= 1 && width <= 8;
  for (std::uint64_t i = 1; from.ok && i < count; ++i) out->chunk.push_back(from.take(width));
  out->element = from.take(width);
}

// Takes the kind of an index and the parameters of a single chunk. Skips the parameters of other
// indexes, because these indexes repeat them.
void take_index(MessageNumbers& from, bool is_filtered, LayoutMessage* out) {
  const std::uint64_t index = from.take(1);
  out->index = static_cast<ChunkIndex>(index);
  switch (out->index) {
    case ChunkIndex::kSingleChunk:
      out->is_filtered = is_filtered;
      if (is_filtered) {
        out->length = from.take(8);
        out->mask = static_cast<std::uint32_t>(from.take(4));
      }
      return;
    case ChunkIndex::kImplicit:
      return;
    case ChunkIndex::kFixedArray:
      from.take(1);
      return;
    case ChunkIndex::kExtensibleArray:
      from.take(5);
      return;
    case ChunkIndex::kTree2:
      from.take(6);
      return;
    case ChunkIndex::kTree1:
      break;
  }
  from.ok = false;
}

}  // namespace

std::optional<LayoutMessage> decode_layout_message(std::span<const std::byte> message) {
  constexpr std::uint64_t kChunked = 2, kFilteredChunk = 2, kMostFlags = 3;
  MessageNumbers from{message};
  LayoutMessage out;
  const std::uint64_t version = from.take(1);
  if (version == 1 || version == 2) {
    const std::uint64_t count = from.take(1);
    if (from.take(1) != kChunked) return std::nullopt;
    from.take(5);
    out.address = from.take(8);
    take_lengths(from, count, 4, &out);
  } else if (version == 3) {
    if (from.take(1) != kChunked) return std::nullopt;
    const std::uint64_t count = from.take(1);
    out.address = from.take(8);
    take_lengths(from, count, 4, &out);
  } else if (version == 4) {
    if (from.take(1) != kChunked) return std::nullopt;
    const std::uint64_t flags = from.take(1), count = from.take(1), width = from.take(1);
    if (flags > kMostFlags) return std::nullopt;
    take_lengths(from, count, width, &out);
    take_index(from, (flags & kFilteredChunk) != 0, &out);
    out.address = from.take(8);
  } else {
    return std::nullopt;
  }
  if (!from.ok) return std::nullopt;
  return out;
}

}  // namespace nmb::hdf5
