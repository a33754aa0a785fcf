// Indexes of chunks, read from bytes of files that the HDF5 library wrote. The places are compared
// with those that the library returns.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "decoding/chunk_index_in.h"
#include "decoding/object_header_in.h"
#include "handle.h"
#include "hdf5_types/hdf5_section.h"
#include "support/programs.h"
#include "wire/endian.h"

namespace nmb::hdf5 {
namespace {

using Lengths = std::vector<hsize_t>;

struct FileForm {
  const char* name;
  H5F_libver_t oldest = H5F_LIBVER_EARLIEST, newest = H5F_LIBVER_LATEST;
  hsize_t user_block = 0;
  bool is_paged = false;
};

std::ostream& operator<<(std::ostream& out, const FileForm& form) { return out << form.name; }

struct Shape {
  Lengths lengths, maximum, chunk;
  bool has_filters = false;
  bool is_early = false;  // whether the library allocates all chunks at once
};

class ChunkIndexTest : public testing::TestWithParam<FileForm> {
 protected:
  ChunkIndexTest() {
    H5Pset_libver_bounds(access_.get(), GetParam().oldest, GetParam().newest);
    const Handle creation(H5Pcreate(H5P_FILE_CREATE));
    if (GetParam().user_block > 0) H5Pset_userblock(creation.get(), GetParam().user_block);
    if (GetParam().is_paged) {
      H5Pset_file_space_strategy(creation.get(), H5F_FSPACE_STRATEGY_PAGE, true, 1);
      H5Pset_file_space_page_size(creation.get(), 4096);
    }
    file_ = Handle(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, creation.get(), access_.get()));
    EXPECT_TRUE(file_.ok());
  }
  ~ChunkIndexTest() override {
    if (descriptor_ >= 0) close(descriptor_);
  }

  static Lengths counts_of(const Shape& shape) {
    Lengths counts;
    for (std::size_t i = 0; i < shape.chunk.size(); ++i)
      counts.push_back((shape.lengths[i] + shape.chunk[i] - 1) / shape.chunk[i]);
    return counts;
  }
  // Returns the index of the first element of a chunk.
  static Lengths first_of(const Shape& shape, std::uint64_t number) {
    const Lengths counts = counts_of(shape);
    Lengths first(counts.size());
    for (std::size_t i = counts.size(); i-- > 0; number /= counts[i])
      first[i] = number % counts[i] * shape.chunk[i];
    return first;
  }
  static std::uint64_t count_of(const Shape& shape) {
    const Lengths counts = counts_of(shape);
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{1}, std::multiplies<>());
  }
  // Returns the numbers of all chunks, in an order that is not sorted, without the multiples of
  // `missing`.
  static std::vector<std::uint64_t> numbers_of(const Shape& shape, std::uint64_t missing) {
    constexpr std::uint64_t kStep = 10007;
    const std::uint64_t count = count_of(shape);
    std::vector<std::uint64_t> numbers;
    for (std::uint64_t i = 0; i < count; ++i)
      if (const std::uint64_t n = i * kStep % count; missing == 0 || n % missing != 0)
        numbers.push_back(n);
    return numbers;
  }

  Handle create(const Shape& shape, const std::string& name) const {
    const auto rank = static_cast<int>(shape.lengths.size());
    const Handle space(H5Screate_simple(rank, shape.lengths.data(), shape.maximum.data()));
    const Handle plist(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_chunk(plist.get(), rank, shape.chunk.data());
    if (shape.has_filters) {
      H5Pset_shuffle(plist.get());
      H5Pset_deflate(plist.get(), 1);
    }
    if (shape.is_early) H5Pset_alloc_time(plist.get(), H5D_ALLOC_TIME_EARLY);
    return Handle(H5Dcreate2(file_.get(), name.c_str(), H5T_STD_I32LE, space.get(), H5P_DEFAULT,
                             plist.get(), H5P_DEFAULT));
  }

  // Closes and opens the file, and opens a data set.
  Handle reopen(const std::string& name) {
    file_ = Handle();
    file_ = Handle(H5Fopen(path_.c_str(), H5F_ACC_RDWR, access_.get()));
    return Handle(H5Dopen2(file_.get(), name.c_str(), H5P_DEFAULT));
  }

  // Writes chunks. The bytes of a chunk state its number. With filters, the lengths and the masks
  // of the chunks differ.
  static void write_chunks(hid_t data_set, const Shape& shape,
                           const std::vector<std::uint64_t>& numbers) {
    const std::uint64_t whole = std::accumulate(shape.chunk.begin(), shape.chunk.end(),
                                                std::uint64_t{4}, std::multiplies<>());
    for (const std::uint64_t number : numbers) {
      std::vector<std::byte> bytes(shape.has_filters ? whole + number % 5 : whole);
      store_le(bytes.data(), static_cast<std::uint32_t>(number + 1));
      const auto mask = static_cast<std::uint32_t>(shape.has_filters ? number % 4 : 0);
      ASSERT_GE(H5Dwrite_chunk(data_set, H5P_DEFAULT, mask, first_of(shape, number).data(),
                               bytes.size(), bytes.data()),
                0);
    }
  }

  // Reads the index of a data set.
  std::optional<std::vector<ChunkPlace>> read(hid_t data_set, const Shape& shape,
                                              std::uint64_t count, LayoutMessage* layout) {
    if (descriptor_ < 0) descriptor_ = open(path_.c_str(), O_RDWR | O_CLOEXEC);
    const FileBytes bytes(descriptor_, std::filesystem::file_size(path_), GetParam().user_block);
    H5O_info_t info{};
    EXPECT_GE(H5Oget_info2(data_set, &info, H5O_INFO_BASIC), 0);
    const auto found = ObjectHeaderIn(bytes).chunk_layout(info.addr);
    if (!found) return std::nullopt;
    *layout = *found;
    return read_places(bytes, *found, shape, count);
  }
  static std::optional<std::vector<ChunkPlace>> read_places(const FileBytes& bytes,
                                                            const LayoutMessage& layout,
                                                            const Shape& shape,
                                                            std::uint64_t count) {
    const std::vector<std::uint64_t> lengths(shape.lengths.begin(), shape.lengths.end()),
        maximum(shape.maximum.begin(), shape.maximum.end()),
        chunk(shape.chunk.begin(), shape.chunk.end());
    return read_chunk_index(bytes, layout, {lengths, maximum, chunk, shape.has_filters}, count);
  }

  // Compares places with those that the HDF5 library finds. The library misplaces chunks in some
  // calls if only a dimension after the first is unlimited, and it needs much time to find a place;
  // so it is asked for some chunks only.
  void compare(hid_t data_set, const Shape& shape, const std::vector<ChunkPlace>& places) {
    const bool is_misplaced = std::ranges::count(shape.maximum, H5S_UNLIMITED) == 1 &&
                              shape.maximum.front() != H5S_UNLIMITED;
    const std::size_t step = 1 + places.size() / 50;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const ChunkPlace& place = places[i];
      const Lengths first = first_of(shape, place.number);
      hsize_t length = 0;
      ASSERT_GE(H5Dget_chunk_storage_size(data_set, first.data(), &length), 0);
      ASSERT_EQ(place.length, length);
      std::vector<std::byte> wanted(length), stored(length);
      std::uint32_t mask = 0;
      ASSERT_GE(H5Dread_chunk(data_set, H5P_DEFAULT, first.data(), &mask, wanted.data()), 0);
      ASSERT_EQ(pread(descriptor_, stored.data(), length, static_cast<off_t>(place.offset)),
                static_cast<ssize_t>(length));
      ASSERT_EQ(stored, wanted) << place.number;
      ASSERT_EQ(place.mask, mask);
      if (is_misplaced || i % step != 0) continue;
      haddr_t offset = 0;
      ASSERT_GE(H5Dget_chunk_info_by_coord(data_set, first.data(), &mask, &offset, &length), 0);
      // Before 1.10.9, the offset does not include the user block.
      ASSERT_TRUE(offset == place.offset || offset + GetParam().user_block == place.offset);
      ASSERT_EQ(length, place.length);
      ASSERT_EQ(mask, place.mask);
    }
  }

  // Makes a data set, reads its index, and compares all places.
  void check(const Shape& shape, ChunkIndex newest, const std::vector<std::uint64_t>& numbers) {
    const std::string name = "v" + std::to_string(made_++);
    SCOPED_TRACE(name);
    write_chunks(create(shape, name).get(), shape, numbers);
    if (HasFatalFailure()) return;
    const Handle data_set = reopen(name);
    ASSERT_TRUE(data_set.ok());
    const std::uint64_t count = shape.is_early ? count_of(shape) : numbers.size();
    LayoutMessage layout;
    const auto places = read(data_set.get(), shape, count, &layout);
    ASSERT_TRUE(places);
    ASSERT_EQ(places->size(), count);
    EXPECT_EQ(layout.index, is_newest() ? newest : ChunkIndex::kTree1);
    compare(data_set.get(), shape, *places);
    LayoutMessage same;
    for (const std::uint64_t other : {count - 1, count + 1})
      EXPECT_FALSE(read(data_set.get(), shape, other, &same)) << other;
    Shape other = shape;
    other.chunk.back() += 1;
    EXPECT_FALSE(read(data_set.get(), other, count, &same));
  }
  void check(const Shape& shape, ChunkIndex newest) {
    check(shape, newest, numbers_of(shape, 0));
    if (!shape.is_early && count_of(shape) > 1) check(shape, newest, numbers_of(shape, 3));
  }
  bool is_newest() const { return GetParam().oldest == H5F_LIBVER_LATEST; }

  test::TemporaryFolder folder_;
  std::string path_ = (folder_.path() / "made.h5").string();
  Handle access_ = Handle(H5Pcreate(H5P_FILE_ACCESS));
  Handle file_;
  int descriptor_ = -1;
  int made_ = 0;
};

constexpr hsize_t kGrows = H5S_UNLIMITED;

TEST_P(ChunkIndexTest, SingleChunk) {
  for (const bool has_filters : {false, true})
    check({{30, 7}, {30, 7}, {30, 7}, has_filters}, ChunkIndex::kSingleChunk);
}

TEST_P(ChunkIndexTest, Implicit) {
  check({{30, 7}, {30, 7}, {4, 2}, false, true}, ChunkIndex::kImplicit);
  check({{30, 7}, {50, 20}, {4, 2}, false, true}, ChunkIndex::kImplicit);
}

// An array with more than 1,024 elements is divided into pages.
TEST_P(ChunkIndexTest, FixedArray) {
  for (const bool has_filters : {false, true}) {
    check({{30, 7}, {30, 7}, {4, 2}, has_filters}, ChunkIndex::kFixedArray);
    check({{30, 7}, {50, 20}, {4, 2}, has_filters}, ChunkIndex::kFixedArray);
    check({{130, 41}, {130, 41}, {2, 2}, has_filters}, ChunkIndex::kFixedArray);
    const Shape sparse{{5000, 3}, {5100, 3}, {1, 3}, has_filters};
    check(sparse, ChunkIndex::kFixedArray, {0, 1023, 2048, 4999});
    check(sparse, ChunkIndex::kFixedArray, {1024});
  }
}

TEST_P(ChunkIndexTest, ExtensibleArray) {
  for (const bool has_filters : {false, true}) {
    check({{7}, {kGrows}, {2}, has_filters}, ChunkIndex::kExtensibleArray);
    check({{130, 20}, {kGrows, 20}, {1, 3}, has_filters}, ChunkIndex::kExtensibleArray);
    check({{20, 130}, {20, kGrows}, {3, 1}, has_filters}, ChunkIndex::kExtensibleArray);
    check({{5, 30, 7}, {9, kGrows, 12}, {2, 2, 3}, has_filters}, ChunkIndex::kExtensibleArray);
    // The data blocks of later super blocks have 2 pages and more.
    const Shape sparse{{600000}, {kGrows}, {1}, has_filters};
    check(sparse, ChunkIndex::kExtensibleArray,
          {0, 3, 4, 19, 20, 243, 244, 131059, 131060, 133108, 262132, 400000, 599999});
    check(sparse, ChunkIndex::kExtensibleArray, {150000, 2000});
  }
}

TEST_P(ChunkIndexTest, Tree2) {
  for (const bool has_filters : {false, true}) {
    check({{3, 3}, {kGrows, kGrows}, {2, 2}, has_filters}, ChunkIndex::kTree2);
    check({{40, 30}, {kGrows, kGrows}, {1, 2}, has_filters}, ChunkIndex::kTree2);
    check({{16, 17, 18}, {kGrows, kGrows, kGrows}, {1, 1, 1}, has_filters}, ChunkIndex::kTree2);
    check({{5, 30, 7}, {kGrows, 50, kGrows}, {2, 2, 3}, has_filters}, ChunkIndex::kTree2);
  }
}

// Changes each byte of a file. The sums show each change of an index. Without sums, in version 1 of
// B-trees, all places are in the file.
TEST_P(ChunkIndexTest, Damage) {
  const std::vector<Shape> shapes = {
      {{30, 7}, {30, 7}, {4, 2}, true},
      {{7, 30}, {7, kGrows}, {2, 4}, true},
      {{30, 7}, {kGrows, kGrows}, {4, 2}, true},
  };
  for (const Shape& shape : shapes) {
    const std::string name = "v" + std::to_string(made_++);
    write_chunks(create(shape, name).get(), shape, numbers_of(shape, 3));
    if (HasFatalFailure()) return;
    const Handle data_set = reopen(name);
    const std::uint64_t count = numbers_of(shape, 3).size();
    LayoutMessage layout;
    const auto places = read(data_set.get(), shape, count, &layout);
    ASSERT_TRUE(places);
    const std::uint64_t size = std::filesystem::file_size(path_);
    const FileBytes bytes(descriptor_, size, GetParam().user_block);
    std::size_t refused = 0;
    for (std::uint64_t i = 0; i < size; ++i) {
      std::byte byte{};
      ASSERT_EQ(pread(descriptor_, &byte, 1, static_cast<off_t>(i)), 1);
      const std::byte other = byte ^ std::byte{static_cast<unsigned char>(1 + i % 255)};
      ASSERT_EQ(pwrite(descriptor_, &other, 1, static_cast<off_t>(i)), 1);
      const auto found = read_places(bytes, layout, shape, count);
      ASSERT_EQ(pwrite(descriptor_, &byte, 1, static_cast<off_t>(i)), 1);
      if (!found) {
        ++refused;
      } else if (layout.index != ChunkIndex::kTree1) {
        ASSERT_EQ(*found, *places) << i;
      } else {
        for (const ChunkPlace& place : *found)
          ASSERT_TRUE(place.offset <= size && place.length <= size - place.offset) << i;
      }
    }
    EXPECT_GE(refused, 100u);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Forms, ChunkIndexTest,
    testing::Values(FileForm{"Earliest"}, FileForm{"Latest", H5F_LIBVER_LATEST},
                    FileForm{"V108", H5F_LIBVER_V18, H5F_LIBVER_V18},
                    FileForm{"UserBlock", H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST, 512},
                    FileForm{"LatestUserBlock", H5F_LIBVER_LATEST, H5F_LIBVER_LATEST, 2048},
                    FileForm{"Paged", H5F_LIBVER_LATEST, H5F_LIBVER_LATEST, 0, true}),
    [](const auto& of) { return std::string(of.param.name); });

}  // namespace
}  // namespace nmb::hdf5
