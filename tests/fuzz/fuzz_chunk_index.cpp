// Reads indexes of chunks from any bytes. Each place that is found must lie within the file, and no
// chunk is found twice. The sums of all structures are made right, so that changed bytes are not
// refused because of their sum.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>

#include "decoding/chunk_index_in.h"
#include "encoding/lookup3.h"
#include "fuzz/fuzz_target.h"
#include "hdf5_types/hdf5_section.h"
#include "wire/items.h"

using namespace nmb;
using hdf5::ChunkIndex, hdf5::kUnlimitedLength;
using Bytes = std::vector<std::byte>;

static void require(bool true_, const char* problem) {
  if (true_) return;
  std::fprintf(stderr, "%s\n", problem);
  std::abort();
}

namespace {

// The first bytes of an input. An input goes on with a layout message and the structures of the
// file; each of these has its length in front (2 bytes).
struct Head {
  bool has_filters = false;
  bool has_two_dimensions = false;
  bool grows = false;        // whether the last dimension is unlimited
  std::uint8_t chunks = 13;  // number of chunks that are read

  static constexpr std::size_t kLength = 4;
};

struct Input {
  Head head;
  Bytes layout, file;
};

Input input_of(std::span<const std::byte> bytes) {
  Input out;
  if (bytes.size() < Head::kLength) return out;
  const auto flag = [&](std::size_t i) { return (bytes[i] & std::byte{1}) != std::byte{0}; };
  out.head = {flag(0), flag(1), flag(2), std::to_integer<std::uint8_t>(bytes[3])};
  bytes = bytes.subspan(Head::kLength);
  for (bool is_first = true; bytes.size() >= 2; is_first = false) {
    const auto length =
        std::min<std::size_t>(load_le<std::uint16_t>(bytes.data()), bytes.size() - 2);
    const auto piece = bytes.subspan(2, length);
    bytes = bytes.subspan(2 + length);
    if (is_first) {
      out.layout.assign(piece.begin(), piece.end());
      continue;
    }
    ItemsOut items(&out.file);
    items.put(piece);
    items.put(lookup3(piece));
  }
  return out;
}

constexpr std::uint64_t kLengths[] = {10, 13}, kMaximum[] = {12, 20}, kChunk[] = {4, 1};
constexpr std::uint64_t kMostChunks = 39;

// Returns whether the index is read.
bool is_read(std::span<const std::byte> bytes) {
  static const int descriptor = memfd_create("fuzz", MFD_CLOEXEC);
  const Input input = input_of(bytes);
  const std::size_t size = input.file.size();
  require(ftruncate(descriptor, 0) == 0 &&
              pwrite(descriptor, input.file.data(), size, 0) == static_cast<ssize_t>(size),
          "cannot write the file");
  const auto layout = hdf5::decode_layout_message(input.layout);
  if (!layout) return false;
  const hdf5::FileBytes file(descriptor, size);
  const std::size_t first = input.head.has_two_dimensions ? 0 : 1;
  const std::uint64_t maximum[] = {kMaximum[0], input.head.grows ? kUnlimitedLength : kMaximum[1]};
  const hdf5::ChunkShape shape{std::span(kLengths).subspan(first),
                               std::span(maximum).subspan(first), std::span(kChunk).subspan(first),
                               input.head.has_filters};
  const auto places = hdf5::read_chunk_index(file, *layout, shape, input.head.chunks);
  if (!places) return false;
  require(places->size() == input.head.chunks, "another number of chunks");
  std::uint64_t least = 0;
  for (const hdf5::ChunkPlace& place : *places) {
    require(file.has(place.offset, place.length), "a chunk outside");
    require(place.number >= least && place.number < kMostChunks, "a chunk of another shape");
    least = place.number + 1;
  }
  return true;
}

// --- seeds ---

// Collects the structures of a file.
class Maker {
 public:
  Maker(Head head, ChunkIndex index, Bytes parameters)
      : head_(head), index_(index), parameters_(std::move(parameters)) {}

  // Returns the address of the next structure.
  std::uint64_t next() const { return size_; }
  void add(const Bytes& piece) {
    pieces_.push_back(piece);
    size_ += piece.size() + 4;
  }
  // An element of an array: a chunk of 4 bytes at the begin of the file.
  void put_element(ItemsOut& to) const {
    to.put(std::uint64_t{chunk_++ % 8});
    if (head_.has_filters) to.put(std::uint8_t{4}, std::uint32_t{0});
  }
  void put_elements(ItemsOut& to, std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i) put_element(to);
  }
  std::uint8_t element_bytes() const { return head_.has_filters ? 13 : 8; }
  std::uint8_t kind() const { return head_.has_filters ? 1 : 0; }

  // Returns the input; the index begins at `address`.
  Bytes finish(std::uint64_t address) const {
    Bytes layout;
    ItemsOut message(&layout);
    if (index_ == ChunkIndex::kTree1) {
      message.put(std::uint8_t{3}, std::uint8_t{2}, count(), address);
      put_lengths<std::uint32_t>(message);
    } else {
      const bool is_filtered_chunk = index_ == ChunkIndex::kSingleChunk && head_.has_filters;
      message.put(std::uint8_t{4}, std::uint8_t{2}, std::uint8_t(is_filtered_chunk ? 2 : 0),
                  count(), std::uint8_t{1});
      put_lengths<std::uint8_t>(message);
      message.put(index_);
      message.put(std::span<const std::byte>(parameters_));
      message.put(address);
    }
    Bytes out;
    ItemsOut items(&out);
    for (const bool flag : {head_.has_filters, head_.has_two_dimensions, head_.grows})
      items.put(std::uint8_t{flag});
    items.put(head_.chunks);
    put_piece(items, layout);
    for (const Bytes& piece : pieces_) put_piece(items, piece);
    return out;
  }

 private:
  std::uint8_t count() const { return head_.has_two_dimensions ? 3 : 2; }
  template <class T>
  void put_lengths(ItemsOut& to) const {
    for (std::size_t i = head_.has_two_dimensions ? 0 : 1; i < 2; ++i)
      to.put(static_cast<T>(kChunk[i]));
    to.put(T{1});
  }
  static void put_piece(ItemsOut& to, const Bytes& piece) {
    to.put(static_cast<std::uint16_t>(piece.size()));
    to.put(std::span<const std::byte>(piece));
  }

  const Head head_;
  const ChunkIndex index_;
  const Bytes parameters_;
  std::vector<Bytes> pieces_;
  std::uint64_t size_ = 0;
  mutable std::uint64_t chunk_ = 0;
};

Bytes structure(std::string_view signature, std::uint8_t kind) {
  Bytes out;
  ItemsOut(&out).put(signature);
  ItemsOut(&out).put(std::uint8_t{0}, kind);
  return out;
}

Bytes fixed_array(Head head, std::uint8_t page_bits) {
  Maker make(head, ChunkIndex::kFixedArray, Bytes(1));
  const std::uint64_t elements = head.has_two_dimensions ? 60 : 20;
  Bytes header = structure("FAHD", make.kind());
  ItemsOut(&header).put(make.element_bytes(), page_bits, elements, std::uint64_t{28});
  make.add(header);
  Bytes block = structure("FADB", make.kind());
  ItemsOut to(&block);
  to.put(std::uint64_t{0});
  const std::uint64_t page = std::uint64_t{1} << page_bits;
  if (elements <= page) {
    make.put_elements(to, head.chunks);
    for (std::uint64_t i = head.chunks; i < elements; ++i) {
      to.put(~std::uint64_t{0});
      if (head.has_filters) to.put(std::uint8_t{0}, std::uint32_t{0});
    }
    make.add(block);
    return make.finish(0);
  }
  const std::uint64_t pages = (elements + page - 1) / page;
  to.put(std::uint8_t{0xe0});  // three pages of four elements
  for (std::uint64_t i = 8; i < pages; i += 8) to.put(std::uint8_t{0});
  make.add(block);
  for (std::uint64_t i = 0; i < pages; ++i) {
    Bytes bytes;
    ItemsOut elements_of(&bytes);
    make.put_elements(elements_of, std::min(page, elements - i * page));
    make.add(bytes);
  }
  return make.finish(0);
}

// The index block has 1 element and the addresses of the first 2 data blocks, of 1 and 2 elements.
// The next super blocks have 2 data blocks of 2 elements, 2 of 4 and 4 of 4. Pages have 2 elements.
Bytes extensible_array(Head head) {
  Maker make(head, ChunkIndex::kExtensibleArray, Bytes(5));
  constexpr std::uint8_t kBits = 4;
  constexpr std::uint64_t kHeaderBytes = 72, kUsed = 13, kNone = ~std::uint64_t{0};
  const auto block = [&](std::string_view signature) {
    Bytes out = structure(signature, make.kind());
    ItemsOut(&out).put(std::uint64_t{0});
    return out;
  };
  Bytes header = structure("EAHD", make.kind());
  ItemsOut about(&header);
  about.put(make.element_bytes(), kBits, std::uint8_t{1}, std::uint8_t{1}, std::uint8_t{2},
            std::uint8_t{1});
  for (int i = 0; i < 4; ++i) about.put(std::uint64_t{0});
  about.put(kUsed, std::uint64_t{0}, kHeaderBytes);
  make.add(header);
  Bytes index = block("EAIB");
  ItemsOut to(&index);
  make.put_element(to);
  // Data blocks and super blocks follow the index block.
  const std::uint64_t element = make.element_bytes(), data = 14 + 1 + 4;
  const std::uint64_t first = kHeaderBytes + index.size() + 5 * 8 + 4;
  const std::uint64_t second = first + data + element, third = second + data + 2 * element;
  const std::uint64_t super = 14 + 1 + 2 * 8 + 4, fourth = third + super + 2 * (data + 2 * element);
  to.put(first, second, third, fourth, kNone);
  make.add(index);
  const auto add_data = [&](std::uint8_t before, std::size_t elements) {
    Bytes out = block("EADB");
    ItemsOut(&out).put(before);
    ItemsOut values(&out);
    make.put_elements(values, elements);
    make.add(out);
  };
  add_data(0, 1);
  add_data(3, 2);  // as the library states it
  Bytes blocks = block("EASB");
  ItemsOut(&blocks).put(std::uint8_t{3}, third + super, third + super + data + 2 * element);
  make.add(blocks);
  add_data(3, 2);
  add_data(5, 2);
  Bytes paged = block("EASB");
  ItemsOut(&paged).put(std::uint8_t{7}, std::uint8_t{0xe0}, std::uint8_t{0}, fourth + super + 2,
                       fourth + super + 2 + data + 2 * (2 * element + 4));
  make.add(paged);
  for (const bool is_last : {false, true}) {
    add_data(is_last ? 11 : 7, 0);
    for (int i = 0; i < 2; ++i) {
      Bytes page;
      ItemsOut values(&page);
      // One more element than is used has no address.
      make.put_elements(values, is_last ? 1 : 2);
      if (is_last) {
        values.put(kNone);
        if (head.has_filters) values.put(std::uint8_t{0}, std::uint32_t{0});
      }
      make.add(page);
    }
  }
  return make.finish(0);
}

// A root with one record and two leaves of two records. A node has 128 bytes.
Bytes tree_2(Head head) {
  Maker make(head, ChunkIndex::kTree2, Bytes(6));
  const std::uint8_t kind = head.has_filters ? 11 : 10;
  const std::uint64_t rank = head.has_two_dimensions ? 2 : 1;
  const std::uint64_t record = make.element_bytes() + 8 * rank;
  const auto put_record = [&](ItemsOut& to, std::uint64_t column) {
    make.put_element(to);
    if (rank == 2) to.put(std::uint64_t{1});
    to.put(column);
  };
  constexpr std::uint64_t kHeaderBytes = 38;
  Bytes header = structure("BTHD", kind);
  ItemsOut(&header).put(std::uint32_t{128}, static_cast<std::uint16_t>(record), std::uint16_t{1},
                        std::uint8_t{100}, std::uint8_t{40}, kHeaderBytes, std::uint16_t{1},
                        std::uint64_t{5});
  make.add(header);
  Bytes root = structure("BTIN", kind);
  ItemsOut to(&root);
  put_record(to, 2);
  const std::uint64_t leaf = kHeaderBytes + root.size() + 2 * 9 + 4;
  to.put(leaf, std::uint8_t{2}, leaf + 6 + 2 * record + 4, std::uint8_t{2});
  make.add(root);
  for (const std::uint64_t first : {0u, 3u}) {
    Bytes bytes = structure("BTLF", kind);
    ItemsOut records(&bytes);
    put_record(records, first);
    put_record(records, first + 1);
    make.add(bytes);
  }
  return make.finish(0);
}

// A root with two leaves of two chunks.
Bytes tree_1(Head head) {
  Maker make(head, ChunkIndex::kTree1, {});
  const std::uint64_t rank = head.has_two_dimensions ? 2 : 1;
  const auto node = [](std::uint8_t level, std::uint16_t entries) {
    Bytes out;
    ItemsOut(&out).put(std::string_view("TREE\1"));
    ItemsOut(&out).put(level, entries, ~std::uint64_t{0}, ~std::uint64_t{0});
    return out;
  };
  const auto put_key = [&](ItemsOut& to, std::uint64_t column) {
    to.put(std::uint32_t{4}, std::uint32_t{0});
    if (rank == 2) to.put(std::uint64_t{4});
    to.put(column, std::uint64_t{0});
  };
  const std::uint64_t bytes = 24 + 2 * (8 + 8 * (rank + 1) + 8) + 4;
  Bytes root = node(1, 2);
  ItemsOut to(&root);
  for (const std::uint64_t i : {0u, 1u}) {
    put_key(to, 2 * i);
    to.put((i + 1) * bytes);
  }
  make.add(root);
  for (const std::uint64_t first : {0u, 2u}) {
    Bytes leaf = node(0, 2);
    ItemsOut entries(&leaf);
    for (const std::uint64_t column : {first, first + 1}) {
      put_key(entries, column);
      entries.put(column);
    }
    make.add(leaf);
  }
  return make.finish(0);
}

// The chunks are stored one after the other.
Bytes implicit(Head head) {
  Maker make(head, ChunkIndex::kImplicit, {});
  make.add(Bytes(240));
  return make.finish(2);
}

Bytes single_chunk(Head head) {
  Bytes parameters;
  if (head.has_filters) ItemsOut(&parameters).put(std::uint64_t{3}, std::uint32_t{1});
  Maker make(head, ChunkIndex::kSingleChunk, parameters);
  make.add(Bytes(4));
  return make.finish(1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  is_read(std::as_bytes(std::span(data, size)));
  return 0;
}

std::vector<Bytes> nmb::test::fuzz_seeds() {
  std::vector<Bytes> seeds;
  for (const bool has_filters : {false, true}) {
    for (const bool has_two_dimensions : {false, true}) {
      const Head fixed{has_filters, has_two_dimensions, false};
      const auto with = [&](bool grows, std::uint8_t chunks) {
        return Head{has_filters, has_two_dimensions, grows, chunks};
      };
      seeds.push_back(fixed_array(fixed, 10));
      seeds.push_back(fixed_array(with(false, 12), 2));
      seeds.push_back(extensible_array(with(true, 13)));
      seeds.push_back(tree_2(with(true, 5)));
      seeds.push_back(tree_1(with(false, 4)));
      seeds.push_back(single_chunk(with(false, 1)));
      if (!has_filters) seeds.push_back(implicit(with(false, has_two_dimensions ? 39 : 13)));
    }
  }
  for (const Bytes& seed : seeds) require(is_read(seed), "a seed that cannot be read");
  return seeds;
}
