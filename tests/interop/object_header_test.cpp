// Object headers and the global heap, read from bytes of files that the HDF5 library wrote.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "decoding/global_heap_in.h"
#include "decoding/object_header_in.h"
#include "handle.h"
#include "support/programs.h"
#include "wire/endian.h"

namespace nmb::hdf5 {
namespace {

constexpr const char* kUnits = "units";

class ObjectHeaderTest : public testing::TestWithParam<H5F_libver_t> {
 protected:
  ObjectHeaderTest() {
    const Handle access(H5Pcreate(H5P_FILE_ACCESS));
    H5Pset_libver_bounds(access.get(), GetParam(), H5F_LIBVER_LATEST);
    file_ = Handle(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()));
    EXPECT_TRUE(file_.ok());
  }
  ~ObjectHeaderTest() override {
    if (descriptor_ >= 0) close(descriptor_);
  }

  static void add_attribute(hid_t object, const std::string& name, int value) {
    const Handle scalar(H5Screate(H5S_SCALAR));
    const Handle attribute(
        H5Acreate2(object, name.c_str(), H5T_STD_I32LE, scalar.get(), H5P_DEFAULT, H5P_DEFAULT));
    EXPECT_GE(H5Awrite(attribute.get(), H5T_NATIVE_INT, &value), 0) << name;
  }
  static void add_text(hid_t object, const char* text) {
    const Handle scalar(H5Screate(H5S_SCALAR)), type(H5Tcopy(H5T_C_S1));
    H5Tset_size(type.get(), H5T_VARIABLE);
    const Handle attribute(
        H5Acreate2(object, kUnits, type.get(), scalar.get(), H5P_DEFAULT, H5P_DEFAULT));
    EXPECT_GE(H5Awrite(attribute.get(), type.get(), &text), 0) << text;
  }

  // A data set of integers, `rows` x 3, with its values. Returns its header's address.
  haddr_t add(const std::string& name, hsize_t rows,
              const std::function<void(hid_t plist)>& change_plist = {},
              const std::function<void(hid_t data_set)>& change = {}, hid_t type = H5T_STD_I32LE) {
    const hsize_t lengths[] = {rows, 3};
    const Handle space(H5Screate_simple(2, lengths, nullptr));
    const Handle plist(H5Pcreate(H5P_DATASET_CREATE));
    if (change_plist) change_plist(plist.get());
    const Handle data_set(H5Dcreate2(file_.get(), name.c_str(), type, space.get(), H5P_DEFAULT,
                                     plist.get(), H5P_DEFAULT));
    const std::vector<int> values(rows * 3, 7);
    EXPECT_GE(
        H5Dwrite(data_set.get(), H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0)
        << name;
    if (change) change(data_set.get());
    return header_of(data_set.get());
  }
  static haddr_t header_of(hid_t object) {
    H5O_info_t info{};
    EXPECT_GE(H5Oget_info2(object, &info, H5O_INFO_BASIC), 0);
    return info.addr;
  }

  haddr_t values_of(const std::string& name) const {
    return H5Dget_offset(Handle(H5Dopen2(file_.get(), name.c_str(), H5P_DEFAULT)).get());
  }

  // Of what is written so far.
  ObjectHeaderIn reader() {
    open_bytes();
    return ObjectHeaderIn({descriptor_, std::filesystem::file_size(path_)});
  }
  void open_bytes() {
    H5Fflush(file_.get(), H5F_SCOPE_GLOBAL);
    if (descriptor_ < 0) descriptor_ = open(path_.c_str(), O_RDWR | O_CLOEXEC);
  }
  std::byte byte_at(std::uint64_t offset) const {
    std::byte byte{};
    EXPECT_EQ(pread(descriptor_, &byte, 1, static_cast<off_t>(offset)), 1);
    return byte;
  }
  void set_byte(std::uint64_t offset, std::byte byte) const {
    ASSERT_EQ(pwrite(descriptor_, &byte, 1, static_cast<off_t>(offset)), 1);
  }
  bool is_newest() const { return GetParam() == H5F_LIBVER_LATEST; }

  test::TemporaryFolder folder_;
  std::string path_ = (folder_.path() / "made.h5").string();
  Handle file_;
  int descriptor_ = -1;
};

TEST_P(ObjectHeaderTest, TellsWhatTheLibraryTells) {
  std::vector<haddr_t> headers;
  for (int i = 0; i < 4; ++i)
    headers.push_back(add("v" + std::to_string(i), static_cast<hsize_t>(10 + i), {},
                          [&](hid_t data_set) { add_attribute(data_set, "n", i); }));
  ObjectHeaderIn header = reader();
  std::string pattern;
  for (std::size_t i = 0; i < headers.size(); ++i) {
    ASSERT_TRUE(header.read(headers[i])) << i;
    EXPECT_EQ(header.space().lengths, (std::vector<std::uint64_t>{10 + i, 3}));
    EXPECT_EQ(header.space().maximum, header.space().lengths);
    EXPECT_EQ(header.values_offset(), values_of("v" + std::to_string(i)));
    EXPECT_EQ(header.values_length(), (10 + i) * 3 * sizeof(int));
    ASSERT_EQ(header.attribute_count(), 1u);
    EXPECT_EQ(header.attribute(0).name, "n");
    ASSERT_GE(header.attribute(0).values.size(), sizeof(int));
    EXPECT_EQ(load_le<std::uint32_t>(header.attribute(0).values.data()), i);
    if (i > 0) {
      EXPECT_EQ(header.pattern(), pattern);
    }
    pattern = header.pattern();
  }
}

TEST_P(ObjectHeaderTest, ReadsHeadersOfSeveralChunks) {
  const haddr_t address = add("many", 2, {}, [&](hid_t data_set) {
    for (int i = 0; i < 8; ++i)
      add_attribute(data_set, std::string(90, 'a') + std::to_string(i), i);
  });
  ObjectHeaderIn header = reader();
  ASSERT_TRUE(header.read(address));
  EXPECT_EQ(header.attribute_count(), 8u);
}

TEST_P(ObjectHeaderTest, TellsKindsApart) {
  const haddr_t plain = add("plain", 2);
  const int fill = 5;
  const std::vector<haddr_t> others = {
      add("type", 2, {}, {}, H5T_STD_I32BE),
      add("fill", 2, [&](hid_t plist) { H5Pset_fill_value(plist, H5T_NATIVE_INT, &fill); }),
      add("early", 2, [](hid_t plist) { H5Pset_alloc_time(plist, H5D_ALLOC_TIME_EARLY); }),
      add("order", 2,
          [](hid_t plist) { H5Pset_attr_creation_order(plist, H5P_CRT_ORDER_TRACKED); }),
      add("attribute", 2, {}, [](hid_t data_set) { add_attribute(data_set, "n", 1); }),
      add("other", 2, {}, [](hid_t data_set) { add_attribute(data_set, "m", 1); }),
  };
  ObjectHeaderIn header = reader();
  std::vector<std::string> patterns;
  ASSERT_TRUE(header.read(plain));
  patterns.push_back(header.pattern());
  for (const haddr_t address : others) {
    ASSERT_TRUE(header.read(address));
    for (const std::string& pattern : patterns) EXPECT_NE(header.pattern(), pattern);
    patterns.push_back(header.pattern());
  }
}

TEST_P(ObjectHeaderTest, LeavesOtherObjectsToTheLibrary) {
  const Handle type(H5Tcopy(H5T_STD_I32LE));
  ASSERT_GE(H5Tcommit2(file_.get(), "named", type.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), 0);
  const auto chunked = [](hid_t plist) {
    const hsize_t chunk[] = {1, 3};
    H5Pset_chunk(plist, 2, chunk);
  };
  std::vector<haddr_t> others = {
      add("chunked", 2, chunked),
      add("compact", 2, [](hid_t plist) { H5Pset_layout(plist, H5D_COMPACT); }),
      add("elsewhere", 2,
          [&](hid_t plist) {
            H5Pset_external(plist, (folder_.path() / "values").c_str(), 0, H5F_UNLIMITED);
          }),
      add("comment", 2, {}, [](hid_t data_set) { H5Oset_comment(data_set, "said"); }),
      add("named type", 2, {}, {}, type.get()),
  };
  if (is_newest())
    others.push_back(add("dense", 2, {}, [](hid_t data_set) {
      for (int i = 0; i < 9; ++i) add_attribute(data_set, "a" + std::to_string(i), i);
    }));
  others.push_back(header_of(file_.get()));
  others.push_back(header_of(type.get()));
  ObjectHeaderIn header = reader();
  for (std::size_t i = 0; i < others.size(); ++i) EXPECT_FALSE(header.read(others[i])) << i;
  EXPECT_FALSE(header.read(std::filesystem::file_size(path_)));
  EXPECT_FALSE(header.read(HADDR_UNDEF));
}

// In version 2 the sum tells; in version 1 what is read stays within the file and its header.
TEST_P(ObjectHeaderTest, SurvivesDamage) {
  const haddr_t address = add("v", 2, {}, [](hid_t data_set) { add_attribute(data_set, "n", 1); });
  ObjectHeaderIn header = reader();
  ASSERT_TRUE(header.read(address));
  // With the gap of version 2, which the sum counts too.
  const std::size_t length = is_newest() ? 100 : 200;
  for (std::size_t i = 0; i < length; ++i) {
    const std::byte byte = byte_at(address + i);
    for (const unsigned flip : {0x01u, 0x80u, 0xffu}) {
      set_byte(address + i, byte ^ std::byte{static_cast<unsigned char>(flip)});
      const bool understood = header.read(address);
      if (is_newest()) {
        EXPECT_FALSE(understood) << i;
      }
      if (!understood) continue;
      for (std::size_t n = 0; n < header.attribute_count(); ++n)
        EXPECT_LE(header.attribute(n).name.size() + header.attribute(n).values.size(), 65536u);
    }
    set_byte(address + i, byte);
  }
  EXPECT_TRUE(header.read(address));
}

TEST_P(ObjectHeaderTest, FindsValuesInTheGlobalHeap) {
  const std::vector<std::string> texts = {"m", "kg", std::string(300, 'x')};
  std::vector<haddr_t> headers;
  for (std::size_t i = 0; i < texts.size(); ++i)
    headers.push_back(add("v" + std::to_string(i), 2, {},
                          [&](hid_t data_set) { add_text(data_set, texts[i].c_str()); }));
  ObjectHeaderIn header = reader();
  GlobalHeapIn heap({descriptor_, std::filesystem::file_size(path_)});
  std::uint64_t collection = 0;
  std::uint32_t index = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    ASSERT_TRUE(header.read(headers[i]));
    const std::byte* const id = header.attribute(0).values.data();
    collection = load_le<std::uint64_t>(id + 4);
    index = load_le<std::uint32_t>(id + 12);
    const auto object = heap.object(collection, index);
    ASSERT_TRUE(object);
    const std::string found(reinterpret_cast<const char*>(object->data()), object->size());
    EXPECT_EQ(found.substr(0, texts[i].size()), texts[i]);
  }
  EXPECT_FALSE(heap.object(collection, index + 1));
  EXPECT_FALSE(heap.object(collection, 0));
  EXPECT_FALSE(heap.object(collection + 8, index));
  EXPECT_FALSE(heap.object(std::filesystem::file_size(path_), index));
  // An object that goes on behind the collection.
  set_byte(collection + 16 + 8 + 2, std::byte{1});
  GlobalHeapIn damaged({descriptor_, std::filesystem::file_size(path_)});
  EXPECT_FALSE(damaged.object(collection, index));
}

// The layout of chunks is found, whatever else the header has.
TEST_P(ObjectHeaderTest, LayoutOfChunks) {
  const haddr_t address = add(
      "v", 1003,
      [](hid_t plist) {
        const hsize_t chunk[] = {4, 2};
        H5Pset_chunk(plist, 2, chunk);
        H5Pset_deflate(plist, 1);
      },
      [](hid_t data_set) {
        for (int i = 0; i < 300; ++i)
          add_attribute(data_set, std::string(250, 'a') + std::to_string(i), i);
      });
  const auto layout = reader().chunk_layout(address);
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->chunk, (std::vector<std::uint64_t>{4, 2}));
  EXPECT_EQ(layout->element, 4u);
  EXPECT_EQ(layout->index, is_newest() ? ChunkIndex::kFixedArray : ChunkIndex::kTree1);
  EXPECT_FALSE(reader().chunk_layout(add("contiguous", 4)));
}

INSTANTIATE_TEST_SUITE_P(Formats, ObjectHeaderTest,
                         testing::Values(H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST),
                         [](const auto& of) {
                           return of.param == H5F_LIBVER_LATEST ? "Latest" : "Earliest";
                         });

}  // namespace
}  // namespace nmb::hdf5
