// Reads HDF5 object headers and collections of a global heap from any bytes.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>

#include "decoding/global_heap_in.h"
#include "decoding/object_header_in.h"
#include "encoding/lookup3.h"
#include "fuzz/fuzz_target.h"
#include "wire/items.h"

using namespace nmb;

static void require(bool true_, const char* problem) {
  if (true_) return;
  std::fprintf(stderr, "%s\n", problem);
  std::abort();
}

// Adds up all bytes, for the sanitizers to see that they are there.
static unsigned sum_of(std::span<const std::byte> bytes) {
  unsigned sum = 0;
  for (const std::byte b : bytes) sum += std::to_integer<unsigned>(b);
  return sum;
}

static void check_header(int file, std::uint64_t size) {
  hdf5::ObjectHeaderIn header({file, size});
  if (!header.read(0)) return;
  unsigned sum = sum_of(std::as_bytes(std::span(header.pattern())));
  require(header.space().lengths.size() == header.space().maximum.size(), "a rank of two kinds");
  for (std::size_t i = 0; i < header.attribute_count(); ++i) {
    const auto attribute = header.attribute(i);
    require(!attribute.name.empty(), "an attribute without a name");
    sum += sum_of(std::as_bytes(std::span(attribute.name))) + sum_of(attribute.values);
  }
  require(header.read(0) && sum != 1u << 31, "another result the second time");
}

static void check_heap(int file, std::uint64_t size) {
  hdf5::GlobalHeapIn heap({file, size});
  unsigned sum = 0;
  for (const std::uint32_t index : {0u, 1u, 2u, 300u, 70000u})
    if (const auto object = heap.object(0, index)) sum += sum_of(*object);
  require(sum != 1u << 31 && !heap.object(size, 1), "an object behind the file");
}

static void check_layout(int file, std::uint64_t size) {
  hdf5::ObjectHeaderIn header({file, size});
  const auto layout = header.chunk_layout(0);
  require(header.chunk_layout(0) == layout, "another layout the second time");
  require(!layout || !layout->chunk.empty(), "chunks without dimensions");
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const int file = memfd_create("fuzz", MFD_CLOEXEC);
  require(ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == static_cast<ssize_t>(size),
          "cannot write the file");
  check_header(file, size);
  check_heap(file, size);
  check_layout(file, size);
  return 0;
}

namespace {

std::vector<std::byte> bytes_of(std::initializer_list<unsigned> values) {
  std::vector<std::byte> bytes;
  for (const unsigned value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

struct HeaderMessage {
  unsigned type;
  std::vector<std::byte> content;
};

std::vector<std::byte> space() {
  std::vector<std::byte> out = bytes_of({1, 2, 0, 0, 0, 0, 0, 0});
  ItemsOut items(&out);
  items.put(std::uint64_t{4});
  items.put(std::uint64_t{3});
  return out;
}

std::vector<std::byte> layout() {
  std::vector<std::byte> out = bytes_of({3, 1});
  ItemsOut items(&out);
  items.put(std::uint64_t{2048});
  items.put(std::uint64_t{48});
  return out;
}

const auto kInteger = bytes_of({0x10, 8, 0, 0, 4, 0, 0, 0, 0, 0, 32, 0});

std::vector<std::byte> attribute() {
  std::vector<std::byte> out = bytes_of({1, 0, 2, 0, 12, 0, 8, 0, 'n', 0, 0, 0, 0, 0, 0, 0});
  ItemsOut items(&out);
  items.put(std::span<const std::byte>(kInteger));
  items.pad();
  items.put(std::uint64_t{1});  // a scalar dataspace of version 1
  items.put(std::uint64_t{7});
  return out;
}

// The layout of a data set in chunks, whose B-tree begins at `tree`.
std::vector<std::byte> chunked_layout(std::uint64_t tree) {
  std::vector<std::byte> out = bytes_of({3, 2, 3});
  ItemsOut items(&out);
  items.put(tree);
  for (const std::uint32_t length : {4u, 2u, 8u}) items.put(length);
  return out;
}

// tree: the address of the B-tree of chunks, or 0 for contiguous values.
std::vector<HeaderMessage> messages(std::uint64_t tree = 0) {
  return {{0x01, space()},
          {0x03, kInteger},
          {0x08, tree != 0 ? chunked_layout(tree) : layout()},
          {0x0c, attribute()},
          {0x00, {}}};
}

std::vector<std::byte> version_1(bool in_two_chunks, std::uint64_t tree = 0) {
  std::vector<std::byte> body;
  ItemsOut items(&body);
  auto put = [&](unsigned type, const std::vector<std::byte>& content) {
    items.put(static_cast<std::uint16_t>(type));
    items.put(static_cast<std::uint16_t>((content.size() + 7) / 8 * 8));
    items.put(std::uint32_t{0});
    items.put(std::span<const std::byte>(content));
    items.pad();
  };
  std::size_t first = 0;
  for (const HeaderMessage& message : messages(tree)) {
    if (in_two_chunks && first == 0 && body.size() > 60) {
      std::vector<std::byte> place;
      ItemsOut at(&place);
      first = body.size() + 8 + 16;
      at.put(std::uint64_t{16 + first});
      at.put(std::uint64_t{0});
      put(0x10, place);
    }
    put(message.type, message.content);
  }
  if (first != 0) store_le<std::uint64_t>(body.data() + first - 8, body.size() - first);
  std::vector<std::byte> out = bytes_of({1, 0, first != 0 ? 6u : 5u, 0, 1, 0, 0, 0});
  ItemsOut head(&out);
  head.put(static_cast<std::uint32_t>(first != 0 ? first : body.size()));
  head.put(std::uint32_t{0});
  head.put(std::span<const std::byte>(body));
  return out;
}

std::vector<std::byte> version_2(std::uint64_t tree = 0) {
  std::vector<std::byte> body;
  ItemsOut items(&body);
  for (const HeaderMessage& message : messages(tree)) {
    items.put(static_cast<std::uint8_t>(message.type));
    items.put(static_cast<std::uint16_t>(message.content.size()));
    items.put(std::uint8_t{0});
    items.put(std::span<const std::byte>(message.content));
  }
  std::vector<std::byte> out = bytes_of({'O', 'H', 'D', 'R', 2, 1});
  ItemsOut head(&out);
  head.put(static_cast<std::uint16_t>(body.size()));
  head.put(std::span<const std::byte>(body));
  head.put(lookup3(out));
  return out;
}

std::vector<std::byte> collection() {
  std::vector<std::byte> out = bytes_of({'G', 'C', 'O', 'L', 1, 0, 0, 0});
  ItemsOut items(&out);
  items.put(std::uint64_t{80});
  for (const std::uint64_t index : {1u, 2u}) {
    items.put(index | 1u << 16);
    items.put(std::uint64_t{5});
    items.put(std::string_view("text!"));
    items.pad();
  }
  items.put(std::uint64_t{0});
  items.put(std::uint64_t{16});
  return out;
}

}  // namespace

std::vector<std::vector<std::byte>> nmb::test::fuzz_seeds() {
  return {version_1(false), version_1(true),       version_2(),
          collection(),     version_1(false, 512), version_2(512)};
}
