// Options of pack() that do not go together, in the library's words and in those of a caller.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "nmb/merge.h"

namespace nmb {
namespace {

std::string refused(const std::function<void(PackOptions&)>& set,
                    const PackOptionNames& names = {}) {
  PackOptions options;
  options.inputs = {"a.nc"};
  set(options);
  return check_options(options, names).text();
}

TEST(PackOptions, DoNotGoTogether) {
  EXPECT_EQ(refused([](PackOptions&) {}), "ok");
  EXPECT_EQ(refused([](PackOptions& o) { o.inputs.clear(); }), "no inputs; name at least one");
  EXPECT_EQ(refused([](PackOptions& o) { o.key = "evt"; }), "key needs mode join");
  EXPECT_EQ(
      refused([](PackOptions& o) { o.classic = Kind::kCdf2; }),
      "mode pack needs an output of kind nc4, hdf5 or nmb, which can hold groups; the output is "
      "cdf2");
  const auto compresses = [](const char* text) {
    return refused([text](PackOptions& o) {
      o.mode = MergeMode::kJoin, o.classic = Kind::kCdf5, o.compression.emplace();
      const std::string_view asked = text;
      const Status set = asked == "deflate"  ? o.compression->set_codec(asked)
                         : asked == "time:4" ? o.compression->set_chunk(asked)
                                             : Status();
      o.compression->shuffle = asked == "shuffle";
      EXPECT_TRUE(set.ok());
    });
  };
  const std::string needs =
      " needs an output of kind nc4, hdf5 or nmb, which can hold chunks; the output is cdf5; the "
      "ending .nc4 means nc4";
  EXPECT_EQ(compresses("deflate"), "compression" + needs);
  EXPECT_EQ(compresses("time:4"), "chunk" + needs);
  EXPECT_EQ(compresses("shuffle"), "shuffle" + needs);
  EXPECT_EQ(refused([](PackOptions& o) {
              o.hdf5.emplace(), o.writer.statistics = StatisticsLevel::kBasic;
            }),
            "statistics needs an output of kind nmb; the output is nc4");
  EXPECT_EQ(refused([](PackOptions& o) { o.hdf5.emplace(), o.writer.hdf5_view = Hdf5View::kOn; }),
            "hdf5_view on needs an output of kind nmb; the output is nc4");
  EXPECT_EQ(refused([](PackOptions& o) { o.append = true, o.mode = MergeMode::kTiles; }),
            "append needs mode pack; the mode is tiles");
  EXPECT_EQ(refused([](PackOptions& o) { o.link = true, o.writer.hdf5_view = Hdf5View::kOn; }),
            "link and hdf5_view on exclude each other: a view cannot show values in other files");
}

TEST(PackOptions, AreNamedByTheCaller) {
  EXPECT_EQ(refused([](PackOptions& o) { o.link = true, o.compression.emplace(); },
                    {.compression = "--compress", .link = "--link"}),
            "--link and --compress exclude each other");
}

}  // namespace
}  // namespace nmb
