// decode(encode(x)) == x for random definitions of each kind; other tools read the same
// definitions.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "support/header_bytes.h"

namespace nmb {
namespace {

using test::kClassicKinds;

TEST(ClassicRoundTrip, DecodesWhatItEncodes) {
  for (const Kind kind : kClassicKinds) {
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
      SCOPED_TRACE("kind " + std::to_string(static_cast<int>(kind)) + " seed " +
                   std::to_string(seed));
      std::mt19937_64 random(seed);
      Metadata metadata = test::random_metadata(kind, random);
      const auto layout = layout_classic(metadata, kind);
      ASSERT_TRUE(layout.ok()) << layout.status().text();
      const std::uint64_t records = random() % 4;
      const auto bytes = test::encode(metadata, kind, records);
      ASSERT_TRUE(bytes.ok()) << bytes.status().text();
      ASSERT_EQ(bytes->size(), layout->header_length);

      const MemorySource body(*bytes);
      const auto header = decode_classic_header(body, {.values_follow = false});
      ASSERT_TRUE(header.ok()) << header.status().text();
      EXPECT_EQ(test::difference(metadata, header->metadata), "");
      EXPECT_EQ(header->remark_count, 0u)
          << header->remarks[0].rule << " " << header->remarks[0].found;
      EXPECT_EQ(header->layout.fixed_end, layout->fixed_end);
      EXPECT_EQ(header->layout.record_begin, layout->record_begin);
      EXPECT_EQ(header->layout.record_size, layout->record_size);
      EXPECT_EQ(header->layout.records, records);
      EXPECT_EQ(test::reencoding_problem(*header, *bytes), "");

      // The same as a file, whole, with a byte more, and cut in the header.
      std::vector<std::byte> file = *bytes;
      file.resize(layout->end(records));
      const auto whole = decode_classic_header(MemorySource(file));
      ASSERT_TRUE(whole.ok()) << whole.status().text();
      EXPECT_EQ(whole->remark_count, 0u);
      file.push_back({});
      const auto longer = decode_classic_header(MemorySource(file));
      ASSERT_TRUE(longer.ok());
      ASSERT_EQ(longer->remark_count, 1u);
      EXPECT_EQ(longer->remarks[0].rule, "R-CH-23");
      EXPECT_EQ(longer->remarks[0].offset, file.size() - 1);
      const MemorySource cut{std::span(*bytes).first(random() % bytes->size())};
      EXPECT_FALSE(decode_classic_header(cut).ok());
    }
  }
}

// Each file with its values as zeros must pass PnetCDF's validator, where that is installed.
TEST(ClassicRoundTrip, OtherToolsAgree) {
  if (std::system("command -v ncvalidator >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "ncvalidator is not installed";
  const auto path = std::filesystem::path(testing::TempDir()) / "nmb_classic_round_trip.nc";
  for (const Kind kind : kClassicKinds) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      std::mt19937_64 random(seed);
      Metadata metadata = test::random_metadata(kind, random);
      const auto layout = layout_classic(metadata, kind);
      ASSERT_TRUE(layout.ok());
      const std::uint64_t records = layout->record_size > 0 ? 3 : 0;
      auto file = test::encode(metadata, kind, records);
      ASSERT_TRUE(file.ok());
      file->resize(layout->end(records));
      std::ofstream(path, std::ios::binary)
          .write(reinterpret_cast<const char*>(file->data()),
                 static_cast<std::streamsize>(file->size()));
      EXPECT_EQ(std::system(("ncvalidator -q '" + path.string() + "'").c_str()), 0)
          << "kind " << static_cast<int>(kind) << " seed " << seed;
    }
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace nmb
