// Reads places of chunks (see chunk_tree_in.h).
#include "chunk_tree_in.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "wire/checked.h"
#include "wire/endian.h"

namespace nmb::hdf5 {

namespace {

class ChunkTree {
 public:
  ChunkTree(int descriptor, std::uint64_t size, ChunkShape shape, std::uint64_t count)
      : descriptor_(descriptor), size_(size), shape_(shape), count_(count), nodes_(count + 64) {}

  // Reads a node and all nodes below it. Returns false if a node has an unexpected form.
  // parent_level: level of the parent, or kMostLevel + 1 for the root.
  bool read(std::uint64_t address, unsigned parent_level) {
    constexpr std::size_t kHead = 24;
    // The number of nodes is limited, because every leaf has at least one chunk.
    if (nodes_-- == 0) return false;
    std::byte head[kHead];
    if (!read_bytes(address, head) || std::memcmp(head, "TREE\1", 5) != 0) return false;
    const auto level = std::to_integer<unsigned>(head[5]);
    const std::size_t entries = load_le<std::uint16_t>(head + 6);
    if (entries == 0 || level >= parent_level ||
        (parent_level <= kMostLevel && level + 1 != parent_level))
      return false;
    const std::size_t key = 8 + 8 * (shape_.chunk.size() + 1), entry = key + 8;
    std::vector<std::byte> node(entries * entry);
    if (!read_bytes(address + kHead, node)) return false;
    for (std::size_t i = 0; i < entries; ++i) {
      const std::byte* const from = node.data() + i * entry;
      if (level > 0 ? !read(load_le<std::uint64_t>(from + key), level) : !take(from, key))
        return false;
    }
    return true;
  }

  // Returns the places of all chunks. Returns nullopt if a chunk is missing or occurs twice.
  std::optional<std::vector<ChunkPlace>> finish() {
    if (places_.size() != count_) return std::nullopt;
    std::ranges::sort(places_, {}, &ChunkPlace::number);
    for (std::size_t i = 1; i < places_.size(); ++i)
      if (places_[i].number == places_[i - 1].number) return std::nullopt;
    return std::move(places_);
  }

  static constexpr unsigned kMostLevel = 16;

 private:
  bool read_bytes(std::uint64_t offset, std::span<std::byte> out) const {
    return offset <= size_ && out.size() <= size_ - offset &&
           pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset)) ==
               static_cast<ssize_t>(out.size());
  }

  // Adds a chunk. The chunk's entry consists of its length, the filter mask, the index of its first
  // element in each dimension, a zero, and its address.
  bool take(const std::byte* from, std::size_t key) {
    ChunkPlace place;
    place.length = load_le<std::uint32_t>(from);
    place.mask = load_le<std::uint32_t>(from + 4);
    place.offset = load_le<std::uint64_t>(from + key);
    const std::size_t rank = shape_.chunk.size();
    for (std::size_t i = 0; i < rank; ++i) {
      const auto index = load_le<std::uint64_t>(from + 8 + 8 * i);
      const std::uint64_t length = shape_.lengths[i], chunk = shape_.chunk[i];
      if (index >= length || index % chunk != 0) return false;
      const std::uint64_t chunks = length / chunk + (length % chunk != 0);
      if (!checked_mul(place.number, chunks, &place.number) ||
          !checked_add(place.number, index / chunk, &place.number))
        return false;
    }
    if (load_le<std::uint64_t>(from + 8 + 8 * rank) != 0 || place.length == 0 ||
        place.offset > size_ || place.length > size_ - place.offset || places_.size() == count_)
      return false;
    places_.push_back(place);
    return true;
  }

  const int descriptor_;
  const std::uint64_t size_;
  const ChunkShape shape_;
  const std::uint64_t count_;
  std::uint64_t nodes_;  // number of nodes that may still be read
  std::vector<ChunkPlace> places_;
};

}  // namespace

std::optional<std::vector<ChunkPlace>> read_chunk_tree(int descriptor, std::uint64_t size,
                                                       std::uint64_t tree, ChunkShape shape,
                                                       std::uint64_t count) {
  ChunkTree reader(descriptor, size, shape, count);
  if (!reader.read(tree, ChunkTree::kMostLevel + 1)) return std::nullopt;
  return reader.finish();
}

}  // namespace nmb::hdf5
