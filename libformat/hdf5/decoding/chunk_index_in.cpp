#include "decoding/chunk_index_in.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "encoding/lookup3.h"
#include "hdf5_types/hdf5_section.h"
#include "wire/checked.h"
#include "wire/endian.h"

namespace nmb::hdf5 {

namespace {

using Bytes = std::span<const std::byte>;

// Every structure begins with a signature, its version and the kind of its elements. In a block of
// an array, the address of the array's header follows.
constexpr std::size_t kHead = 6, kBlockHead = kHead + 8;
constexpr unsigned kMostLevel = 16;  // maximum height of a B-tree

// Returns the number of bytes that HDF5 uses for numbers up to `most`.
std::size_t width_for(std::uint64_t most) { return (std::bit_width(most) + 7) / 8; }

// Returns whether a bit is set. Bit 0 is the highest bit of the first byte.
bool is_set(Bytes bits, std::uint64_t number) {
  return (bits[number / 8] & std::byte{0x80} >> (number % 8)) != std::byte{0};
}

// A chunk as an index describes it.
struct Stored {
  std::uint64_t address = 0, length = 0;
  std::uint32_t mask = 0;
};

// The functions that read return false if the index has an unexpected form.
class ChunkIndexReader {
 public:
  ChunkIndexReader(const FileBytes& file, const LayoutMessage& layout, const ChunkShape& shape,
                   std::uint64_t count)
      : file_(file), layout_(layout), shape_(shape), count_(count), budget_(file.size()) {}

  bool read() {
    if (count_ == 0 || !prepare()) return false;
    switch (layout_.index) {
      case ChunkIndex::kTree1:
        return read_tree_1(layout_.address, kMostLevel + 1);
      case ChunkIndex::kSingleChunk:
        return read_single_chunk();
      case ChunkIndex::kImplicit:
        return read_implicit();
      case ChunkIndex::kFixedArray:
        return read_fixed_array();
      case ChunkIndex::kExtensibleArray:
        return read_extensible_array();
      case ChunkIndex::kTree2:
        return read_tree_2();
    }
    return false;
  }

  // Returns the places of all chunks, or nullopt if a chunk is missing or occurs twice.
  std::optional<std::vector<ChunkPlace>> finish() {
    if (places_.size() != count_) return std::nullopt;
    if (!std::ranges::is_sorted(places_, {}, &ChunkPlace::number))
      std::ranges::sort(places_, {}, &ChunkPlace::number);
    for (std::size_t i = 1; i < places_.size(); ++i)
      if (places_[i].number == places_[i - 1].number) return std::nullopt;
    return std::move(places_);
  }

 private:
  struct Pages {
    std::uint64_t count = 0;     // 0 if the elements are not divided into pages
    std::uint64_t elements = 0;  // elements of a page; the last page may have fewer
  };
  // A super block of an extensible array: `blocks` data blocks of `elements` elements each.
  struct SuperBlock {
    std::uint64_t blocks = 0, elements = 0;
    std::uint64_t first = 0;        // elements in earlier super blocks
    std::uint64_t first_block = 0;  // data blocks in earlier super blocks
    Pages pages;
  };
  struct TreeLevel {
    std::uint64_t records = 0;  // maximum number of records in a node
    std::uint64_t all = 0;      // maximum number of records in a node and all nodes below it
    std::size_t pointer = 0;    // bytes of a pointer to a child
  };

  std::size_t rank() const { return shape_.chunk.size(); }

  // Checks that the layout and the shape agree.
  bool prepare() {
    if (rank() == 0 || layout_.chunk.size() != rank() || shape_.lengths.size() != rank() ||
        shape_.maximum.size() != rank() || !std::ranges::equal(layout_.chunk, shape_.chunk))
      return false;
    chunk_bytes_ = layout_.element;
    for (std::size_t i = 0; i < rank(); ++i) {
      const std::uint64_t chunk = shape_.chunk[i];
      if (chunk == 0 || shape_.lengths[i] == 0 || shape_.lengths[i] > shape_.maximum[i] ||
          !checked_mul(chunk_bytes_, chunk, &chunk_bytes_))
        return false;
      counts_.push_back(1 + (shape_.lengths[i] - 1) / chunk);
      most_counts_.push_back(1 + (shape_.maximum[i] - 1) / chunk);
      order_.push_back(i);
    }
    position_.resize(rank());
    return chunk_bytes_ > 0;
  }

  // Adds the chunk at position_.
  bool take(const Stored& chunk) {
    ChunkPlace place{0, file_.offset_of(chunk.address), chunk.length, chunk.mask};
    for (std::size_t i = 0; i < rank(); ++i)
      if (position_[i] >= counts_[i] || !checked_mul(place.number, counts_[i], &place.number) ||
          !checked_add(place.number, position_[i], &place.number))
        return false;
    if (chunk.length == 0 || !file_.has(chunk.address, chunk.length) || places_.size() == count_)
      return false;
    places_.push_back(place);
    return true;
  }

  // Reads bytes of the index. The parts of a valid index do not share bytes, so it has at most as
  // many bytes as the file; a malicious index could have more.
  bool read_bytes(std::uint64_t address, std::uint64_t length, std::vector<std::byte>* out) {
    if (length > budget_ || !file_.has(address, length)) return false;
    budget_ -= length;
    out->resize(length);
    return file_.read(address, *out);
  }

  // Like read_bytes(), but the last bytes are the checksum.
  bool read_summed(std::uint64_t address, std::uint64_t length, std::vector<std::byte>* out) {
    if (!read_bytes(address, length, out)) return false;
    const Bytes summed = Bytes(*out).first(length - kSum);
    return lookup3(summed) == load_le<std::uint32_t>(out->data() + summed.size());
  }

  bool read_structure(std::uint64_t address, std::uint64_t length, const char* signature,
                      std::vector<std::byte>* out) {
    constexpr std::byte kVersion{0};
    return read_summed(address, length, out) && std::memcmp(out->data(), signature, 4) == 0 &&
           (*out)[4] == kVersion && (*out)[5] == kind_;
  }

  bool read_block(std::uint64_t address, std::uint64_t length, const char* signature,
                  std::vector<std::byte>* out) {
    return read_structure(address, length, signature, out) &&
           load_le<std::uint64_t>(out->data() + kHead) == layout_.address;
  }

  // --- B-tree of version 1 ---

  // Reads a node and all nodes below it. parent_level: level of the parent, or kMostLevel + 1 for
  // the root.
  bool read_tree_1(std::uint64_t address, unsigned parent_level) {
    constexpr std::size_t kNodeHead = 24;
    std::vector<std::byte> head, node;
    if (!read_bytes(address, kNodeHead, &head) || std::memcmp(head.data(), "TREE\1", 5) != 0)
      return false;
    const auto level = std::to_integer<unsigned>(head[5]);
    const std::size_t entries = load_le<std::uint16_t>(head.data() + 6);
    if (entries == 0 || level >= parent_level ||
        (parent_level <= kMostLevel && level + 1 != parent_level))
      return false;
    const std::size_t key = 8 + 8 * (rank() + 1), entry = key + 8;
    if (!read_bytes(address + kNodeHead, entries * entry, &node)) return false;
    for (std::size_t i = 0; i < entries; ++i) {
      const std::byte* const from = node.data() + i * entry;
      if (level > 0 ? !read_tree_1(load_le<std::uint64_t>(from + key), level)
                    : !take_tree_1(from, key))
        return false;
    }
    return true;
  }

  // Adds a chunk. The chunk's entry consists of its length, the filter mask, the index of its first
  // element in each dimension, a zero, and its address.
  bool take_tree_1(const std::byte* from, std::size_t key) {
    for (std::size_t i = 0; i < rank(); ++i) {
      const auto index = load_le<std::uint64_t>(from + 8 + 8 * i);
      if (index % shape_.chunk[i] != 0) return false;
      position_[i] = index / shape_.chunk[i];
    }
    return load_le<std::uint64_t>(from + 8 + 8 * rank()) == 0 &&
           take({load_le<std::uint64_t>(from + key), load_le<std::uint32_t>(from),
                 load_le<std::uint32_t>(from + 4)});
  }

  // --- no index ---

  bool read_single_chunk() {
    if (layout_.is_filtered != shape_.has_filters) return false;
    return take({layout_.address, layout_.is_filtered ? layout_.length : chunk_bytes_,
                 layout_.is_filtered ? layout_.mask : 0});
  }

  // The file has a place for each chunk of the maximum shape, one after the other.
  bool read_implicit() {
    std::uint64_t chunks = 1;
    for (const std::uint64_t n : counts_)
      if (!checked_mul(chunks, n, &chunks)) return false;
    if (shape_.has_filters || chunks != count_ || !set_array(false)) return false;
    for (std::uint64_t number = 0; number < count_; ++number) {
      std::uint64_t rest = number, index = 0, address = 0;
      for (std::size_t i = rank(); i-- > 0; rest /= counts_[i]) position_[i] = rest % counts_[i];
      for (std::size_t i = 0; i < rank(); ++i)
        if (!checked_mul(index, most_counts_[i], &index) ||
            !checked_add(index, position_[i], &index))
          return false;
      if (!checked_mul(index, chunk_bytes_, &address) ||
          !checked_add(address, layout_.address, &address) || !take({address, chunk_bytes_, 0}))
        return false;
    }
    return true;
  }

  // --- arrays ---

  // Prepares for an array that is ordered by the positions of chunks. If a dimension is unlimited,
  // it is the slowest in an extensible array.
  bool set_array(bool is_extensible) {
    std::size_t unlimited = 0;
    for (std::size_t i = 0; i < rank(); ++i) {
      if (shape_.maximum[i] != kUnlimitedLength) continue;
      const auto first = order_.begin(), found = first + static_cast<std::ptrdiff_t>(i);
      std::rotate(first, found, found + 1);
      ++unlimited;
    }
    return unlimited == (is_extensible ? 1 : 0);
  }

  bool read_header(std::size_t contents, const char* signature, std::vector<std::byte>* out) {
    constexpr std::byte kPlain{0}, kFiltered{1};
    kind_ = shape_.has_filters ? kFiltered : kPlain;
    if (!read_structure(layout_.address, kHead + contents + kSum, signature, out)) return false;
    element_ = std::to_integer<std::size_t>((*out)[kHead]);
    return shape_.has_filters ? element_ > 12 && element_ <= 20 : element_ == 8;
  }

  // Adds the chunks of consecutive elements; `index` is the index of the first one.
  bool take_elements(std::uint64_t index, Bytes elements) {
    for (; !elements.empty(); elements = elements.subspan(element_), ++index) {
      const Bytes element = elements.first(element_);
      Stored chunk{load_le<std::uint64_t>(element.data()), chunk_bytes_, 0};
      if (chunk.address == kUndefinedAddress) continue;
      if (shape_.has_filters) {
        chunk.length = load_le_bytes(element.subspan(8, element_ - 12));
        chunk.mask = load_le<std::uint32_t>(element.data() + element_ - 4);
      }
      std::uint64_t rest = index;
      for (std::size_t i = rank(); i-- > 1; rest /= most_counts_[order_[i]])
        position_[order_[i]] = rest % most_counts_[order_[i]];
      position_[order_[0]] = rest;
      if (index >= used_ || !take(chunk)) return false;
    }
    return true;
  }

  // Reads the pages of a data block. Page n exists if bit `first_bit` + n is set.
  bool read_pages(std::uint64_t address, std::uint64_t index, std::uint64_t elements,
                  const Pages& pages, Bytes bits, std::uint64_t first_bit) {
    std::vector<std::byte> page;
    for (std::uint64_t i = 0; i < pages.count; ++i) {
      const std::uint64_t begin = i * pages.elements;
      const std::uint64_t length = std::min(pages.elements, elements - begin) * element_ + kSum;
      if (is_set(bits, first_bit + i) &&
          (!read_summed(address, length, &page) ||
           !take_elements(index + begin, Bytes(page).first(length - kSum))))
        return false;
      address += length;
    }
    return true;
  }

  // Divides a data block into pages. Returns false if the file cannot have so many elements.
  bool divide(std::uint64_t elements, unsigned page_bits, Pages* out) const {
    if (page_bits >= 32 || elements > file_.size() / 8) return false;
    const std::uint64_t page = std::uint64_t{1} << page_bits;
    if (elements > page) *out = {elements / page + (elements % page != 0), page};
    return true;
  }

  bool read_fixed_array() {
    std::vector<std::byte> header, block;
    if (!set_array(false) || !read_header(2 + 8 + 8, "FAHD", &header)) return false;
    const auto elements = load_le<std::uint64_t>(header.data() + 8);
    const auto address = load_le<std::uint64_t>(header.data() + 16);
    used_ = elements;
    Pages pages;
    if (!divide(elements, std::to_integer<unsigned>(header[7]), &pages)) return false;
    const std::uint64_t begin = kBlockHead + (pages.count + 7) / 8;
    const std::uint64_t values = pages.count > 0 ? 0 : elements * element_;
    if (!read_block(address, begin + values + kSum, "FADB", &block)) return false;
    if (pages.count == 0) return take_elements(0, Bytes(block).subspan(begin, values));
    return read_pages(address + begin + kSum, 0, elements, pages, Bytes(block).subspan(kBlockHead),
                      0);
  }

  bool read_extensible_array() {
    std::vector<std::byte> header, block;
    if (!set_array(true) || !read_header(6 + 6 * 8 + 8, "EAHD", &header)) return false;
    const auto number = [&](std::size_t at) { return std::to_integer<unsigned>(header[at]); };
    const unsigned bits = number(7), in_index = number(8), least = number(9), pointers = number(10);
    const unsigned page_bits = number(11);
    used_ = load_le<std::uint64_t>(header.data() + 44);
    if (!std::has_single_bit(least) || !std::has_single_bit(pointers) || bits > 48) return false;
    const unsigned log_least = static_cast<unsigned>(std::countr_zero(least));
    // The index block has the addresses of the data blocks of the first super blocks, and the
    // addresses of all other super blocks.
    const unsigned direct = 2 * static_cast<unsigned>(std::countr_zero(pointers));
    if (log_least > bits || direct > 1 + bits - log_least) return false;
    const unsigned super_blocks = 1 + bits - log_least;
    const std::size_t elements = in_index * element_;
    const std::size_t addresses = 2 * (pointers - 1) + super_blocks - direct;
    if (!read_block(load_le<std::uint64_t>(header.data() + 60),
                    kBlockHead + elements + 8 * addresses + kSum, "EAIB", &block) ||
        !take_elements(0, Bytes(block).subspan(kBlockHead, elements)))
      return false;
    offset_width_ = (bits + 7) / 8;
    first_ = in_index;
    SuperBlock next;
    const std::byte* at = block.data() + kBlockHead + elements;
    for (unsigned i = 0; i < super_blocks; ++i) {
      next.blocks = std::uint64_t{1} << (i / 2);
      next.elements = std::uint64_t{least} << ((i + 1) / 2);
      next.pages = {};
      const std::uint64_t inside = i < direct ? next.blocks : 1;
      for (std::uint64_t n = 0; n < inside; ++n, at += 8) {
        const auto address = load_le<std::uint64_t>(at);
        if (address == kUndefinedAddress) continue;
        if (!divide(next.elements, page_bits, &next.pages) ||
            (i < direct ? next.pages.count > 0 || !read_data_block(address, next, n, {})
                        : !read_super_block(address, next)))
          return false;
      }
      next.first += next.blocks * next.elements;
      next.first_block += next.blocks;
    }
    return true;
  }

  // Returns the number of elements that come before a block of an extensible array, as the block
  // states it.
  std::uint64_t stated_offset(Bytes block) const {
    return load_le_bytes(block.subspan(kBlockHead, offset_width_));
  }

  bool read_super_block(std::uint64_t address, const SuperBlock& super) {
    std::vector<std::byte> block;
    const std::size_t begin = kBlockHead + offset_width_;
    const std::uint64_t bits = super.blocks * ((super.pages.count + 7) / 8);
    if (!read_block(address, begin + bits + 8 * super.blocks + kSum, "EASB", &block) ||
        stated_offset(block) != super.first)
      return false;
    for (std::uint64_t i = 0; i < super.blocks; ++i) {
      const auto data = load_le<std::uint64_t>(block.data() + begin + bits + 8 * i);
      if (data != kUndefinedAddress &&
          !read_data_block(data, super, i, Bytes(block).subspan(begin, bits)))
        return false;
    }
    return true;
  }

  // Reads data block `number` of a super block. `bits` has a bit for each page of the super block.
  bool read_data_block(std::uint64_t address, const SuperBlock& super, std::uint64_t number,
                       Bytes bits) {
    std::vector<std::byte> block;
    const std::size_t begin = kBlockHead + offset_width_;
    const std::uint64_t values = super.pages.count > 0 ? 0 : super.elements * element_;
    const std::uint64_t before = super.first + number * super.elements;
    if (!read_block(address, begin + values + kSum, "EADB", &block)) return false;
    // For data blocks whose addresses are in the index block, the HDF5 library states a greater
    // offset: it uses the number of the data block in the whole array instead of that in the super
    // block.
    const std::uint64_t stated = stated_offset(block);
    if (stated != before && stated != before + super.first_block * super.elements) return false;
    if (super.pages.count == 0)
      return take_elements(first_ + before, Bytes(block).subspan(begin, values));
    return read_pages(address + begin + kSum, first_ + before, super.elements, super.pages, bits,
                      number * super.pages.count);
  }

  // --- B-tree of version 2 ---

  bool read_tree_2() {
    constexpr std::byte kPlain{10}, kFiltered{11};
    kind_ = shape_.has_filters ? kFiltered : kPlain;
    std::vector<std::byte> header;
    if (!read_structure(layout_.address, kHead + 28 + kSum, "BTHD", &header)) return false;
    const std::uint64_t node = load_le<std::uint32_t>(header.data() + 6);
    element_ = load_le<std::uint16_t>(header.data() + 10);
    const unsigned depth = load_le<std::uint16_t>(header.data() + 12);
    const std::size_t least = 8 * rank() + (shape_.has_filters ? 13 : 8);
    const std::size_t most = 8 * rank() + (shape_.has_filters ? 20 : 8);
    if (element_ < least || element_ > most || depth > kMostLevel || !set_levels(node, depth))
      return false;
    return read_node_2(load_le<std::uint64_t>(header.data() + 16),
                       load_le<std::uint16_t>(header.data() + 24), depth);
  }

  // Computes the levels from the size of a node. A node of level 0 is a leaf.
  bool set_levels(std::uint64_t node, unsigned depth) {
    constexpr std::size_t kAround = kHead + kSum;
    if (node < kAround + element_) return false;
    const std::uint64_t leaf = (node - kAround) / element_;
    levels_.assign(1, {leaf, leaf, 0});
    for (unsigned i = 1; i <= depth; ++i) {
      const TreeLevel& below = levels_.back();
      TreeLevel level;
      level.pointer = 8 + width_for(leaf) + (i > 1 ? width_for(below.all) : 0);
      if (node < kAround + 2 * level.pointer + element_) return false;
      level.records = (node - kAround - level.pointer) / (element_ + level.pointer);
      if (!checked_mul(level.records + 1, below.all, &level.all) ||
          !checked_add(level.all, level.records, &level.all))
        return false;
      levels_.push_back(level);
    }
    return true;
  }

  // Reads a node with `records` records, and all nodes below it.
  bool read_node_2(std::uint64_t address, std::uint64_t records, unsigned level) {
    const TreeLevel& about = levels_[level];
    if (records > about.records) return false;
    std::vector<std::byte> node;
    const std::size_t all = records * element_;
    const std::size_t pointers = level > 0 ? (records + 1) * about.pointer : 0;
    if (!read_structure(address, kHead + all + pointers + kSum, level > 0 ? "BTIN" : "BTLF", &node))
      return false;
    for (std::size_t i = 0; i < records; ++i)
      if (!take_tree_2(Bytes(node).subspan(kHead + i * element_, element_))) return false;
    for (std::size_t i = 0; level > 0 && i <= records; ++i) {
      const Bytes child = Bytes(node).subspan(kHead + all + i * about.pointer, about.pointer);
      const std::size_t width = width_for(levels_.front().records);
      if (!read_node_2(load_le<std::uint64_t>(child.data()), load_le_bytes(child.subspan(8, width)),
                       level - 1))
        return false;
    }
    return true;
  }

  // Adds a chunk. Its record has the chunk's address, then (only with filters) its length and
  // filter mask, and then its position.
  bool take_tree_2(Bytes record) {
    const std::size_t middle = element_ - 8 - 8 * rank();
    Stored chunk{load_le<std::uint64_t>(record.data()), chunk_bytes_, 0};
    if (shape_.has_filters) {
      chunk.length = load_le_bytes(record.subspan(8, middle - 4));
      chunk.mask = load_le<std::uint32_t>(record.data() + 8 + middle - 4);
    }
    for (std::size_t i = 0; i < rank(); ++i)
      position_[i] = load_le<std::uint64_t>(record.data() + 8 + middle + 8 * i);
    return take(chunk);
  }

  const FileBytes& file_;
  const LayoutMessage& layout_;
  const ChunkShape& shape_;
  const std::uint64_t count_;
  std::uint64_t budget_;                    // number of bytes that may still be read
  std::uint64_t chunk_bytes_ = 0;           // bytes of a chunk without filters
  std::vector<std::uint64_t> counts_;       // numbers of chunks along the dimensions
  std::vector<std::uint64_t> most_counts_;  // the same for the maximum lengths
  std::vector<std::size_t> order_;          // dimensions in the order of an array, slowest first
  std::vector<std::uint64_t> position_;     // position of the current chunk, in chunks
  std::byte kind_{};                        // the kind of the index's elements
  std::size_t element_ = 0;                 // bytes of an element of an array, or of a record
  std::uint64_t used_ = 0;                  // number of elements that an array may use
  std::uint64_t first_ = 0;                 // number of elements in the index block
  std::size_t offset_width_ = 0;  // bytes that state how many elements come before a block
  std::vector<TreeLevel> levels_;
  std::vector<ChunkPlace> places_;
};

}  // namespace

std::optional<std::vector<ChunkPlace>> read_chunk_index(const FileBytes& file,
                                                        const LayoutMessage& layout,
                                                        const ChunkShape& shape,
                                                        std::uint64_t count) {
  ChunkIndexReader reader(file, layout, shape, count);
  if (!reader.read()) return std::nullopt;
  return reader.finish();
}

}  // namespace nmb::hdf5
