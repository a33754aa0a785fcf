// Options of pack() that do not go together: what the library says, and how the tools spell it.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "common/command_line/option_names.h"
#include "merge/reporting/merge.h"

namespace nmb {
namespace {

std::string refused(const std::function<void(PackOptions&)>& set) {
  PackOptions options;
  options.inputs = {"a.nc"};
  set(options);
  return check_options(options).text();
}

std::string refused_pack(const std::function<void(Pack&)>& set) {
  return refused([&](PackOptions& options) { set(std::get<Pack>(options.mode)); });
}

TEST(PackOptions, DoNotGoTogether) {
  EXPECT_EQ(refused([](PackOptions&) {}), "ok");
  EXPECT_EQ(refused([](PackOptions& o) { o.inputs.clear(); }),
            "no inputs; name PackOptions::inputs");
  EXPECT_EQ(refused([](PackOptions& o) { o.classic = Kind::kCdf2; }),
            "MergeOptions::mode pack needs an output of kind nc4, hdf5 or nmb, which can hold "
            "groups; MergeOptions::to is cdf2");
  const auto compresses = [](const char* text) {
    return refused([text](PackOptions& o) {
      o.mode = Join(), o.classic = Kind::kCdf5, o.compression.emplace();
      const std::string_view asked = text;
      const Status set = asked == "deflate"  ? o.compression->set_codec(asked)
                         : asked == "time:4" ? o.compression->set_chunk(asked)
                                             : Status();
      o.compression->shuffle = asked == "shuffle";
      EXPECT_TRUE(set.ok());
    });
  };
  const std::string needs =
      " needs an output of kind nc4, hdf5 or nmb, which can hold chunks; MergeOptions::to is "
      "cdf5; the ending .nc4 means nc4";
  EXPECT_EQ(compresses("deflate"), "MergeOptions::storing" + needs);
  EXPECT_EQ(compresses("time:4"), "Storing::chunk" + needs);
  EXPECT_EQ(compresses("shuffle"), "Storing::shuffle" + needs);
  EXPECT_EQ(refused([](PackOptions& o) {
              o.hdf5.emplace(), o.writer.statistics = StatisticsLevel::kBasic;
            }),
            "MergeOptions::statistics needs an output of kind nmb; MergeOptions::to is nc4");
  EXPECT_EQ(refused([](PackOptions& o) { o.hdf5.emplace(), o.writer.hdf5_view = Hdf5View::kOn; }),
            "Hdf5View::kOn needs an output of kind nmb; MergeOptions::to is nc4");
  EXPECT_EQ(refused([](PackOptions& o) { o.hdf5.emplace(), o.classic = Kind::kCdf5; }),
            "PackOptions::classic and FileKind::kHdf5 exclude each other");
  EXPECT_EQ(refused([](PackOptions& o) { o.mode = Join{.along = "a/b"}; }),
            "found dimension \"a/b\"; a path begins with /: \"/a/b\"");
}

TEST(PackOptions, OfModePackDoNotGoTogether) {
  EXPECT_EQ(refused_pack([](Pack& pack) { pack.replace = true; }),
            "Pack::replace needs Pack::append");
  EXPECT_EQ(refused([](PackOptions& o) {
              std::get<Pack>(o.mode).append = true, o.writer.overwrite = true;
            }),
            "Pack::append and MergeOptions::replace exclude each other");
  EXPECT_EQ(refused_pack([](Pack& pack) {
              pack.choice = {.shard = {3, 2}};
            }),
            "found shard 3 of 2, expected a number from 1 to 2");
  EXPECT_EQ(refused_pack([](Pack& pack) {
              pack.choice = {.shard = {2, 3, 3}};
            }),
            "found 3 of 3 shards from number 2, expected from 1 to 2");
  EXPECT_EQ(refused([](PackOptions& o) {
              std::get<Pack>(o.mode).choice = {.where = "a > 1"};
              o.block_by.by = BlockRule::By::kOne;
            }),
            "BlockChoice::where and MergeOptions::block_by exclude each other");
  EXPECT_EQ(refused([](PackOptions& o) {
              std::get<Pack>(o.mode).link = true, o.writer.hdf5_view = Hdf5View::kOn;
            }),
            "Pack::link and Hdf5View::kOn exclude each other: a view cannot show values in "
            "other files");
}

TEST(PackOptions, ChooseBlocksOfASingleInputInOtherModes) {
  const auto choose = [](PackOptions& o) {
    o.mode = Join{.choice = BlockChoice{.where = "a > 1"}};
  };
  EXPECT_EQ(refused([&](PackOptions& o) {
              choose(o), o.inputs = {"a.nmb", "b.nmb"};
            }),
            "BlockChoice::where needs a single input in modes other than pack, because the blocks "
            "of this input are merged; merge the inputs with MergeOptions::mode pack first");
  EXPECT_EQ(refused([](PackOptions& o) {
              o.mode = Tiles{.choice = BlockChoice{.shard = {1, 0}}};
            }),
            "found shard 1 of 0, expected a number from 1 to 0");
}

TEST(PackOptions, AreSpelledByTheTools) {
  const std::string text =
      refused([](PackOptions& o) { std::get<Pack>(o.mode).link = true, o.compression.emplace(); });
  EXPECT_EQ(text, "Pack::link and MergeOptions::storing exclude each other");
  EXPECT_EQ(tools::with_option_names(text), "--link and --compress exclude each other");
  EXPECT_EQ(tools::with_option_names("file a::b: at 7"), "file a::b: at 7");
}

}  // namespace
}  // namespace nmb
