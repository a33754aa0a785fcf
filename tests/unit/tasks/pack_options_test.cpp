// Options of pack() that do not go together: what the library says, and how the tools spell it.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

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
            "MergeOptions::mode pack needs an output of kind FileKind::kHdf5 or FileKind::kNmb, "
            "which can hold groups; MergeOptions::to is FileKind::kCdf2");
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
      " needs an output of kind FileKind::kHdf5 or FileKind::kNmb, which can hold chunks; "
      "MergeOptions::to is FileKind::kCdf5";
  EXPECT_EQ(compresses("deflate"), "MergeOptions::storing" + needs);
  EXPECT_EQ(compresses("time:4"), "Storing::chunk" + needs);
  EXPECT_EQ(compresses("shuffle"), "Storing::shuffle" + needs);
  EXPECT_EQ(refused([](PackOptions& o) {
              o.hdf5.emplace(), o.writer.statistics = StatisticsLevel::kBasic;
            }),
            "MergeOptions::statistics needs an output of kind FileKind::kNmb; MergeOptions::to is "
            "FileKind::kHdf5");
  EXPECT_EQ(refused([](PackOptions& o) {
              o.hdf5.emplace().plain = true, o.writer.hdf5_view = Hdf5View::kOn;
            }),
            "Hdf5View::kOn needs an output of kind FileKind::kNmb; MergeOptions::to is "
            "FileKind::kHdf5 with MergeOptions::netcdf = false");
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
  const auto refused_shard = [](BlockShard shard) {
    return refused_pack([&](Pack& pack) { pack.choice = BlockChoice{.shard = shard}; });
  };
  EXPECT_EQ(refused_shard({3, 2}),
            "BlockShard::first is 3, expected a number from 1 to 2, which is BlockShard::count");
  EXPECT_EQ(refused_shard({2, 3, 3}),
            "BlockShard::width is 3, expected a number from 1 to 2 for shards from number 2 of 3");
  EXPECT_EQ(refused_shard({2, 2, 2}),
            "BlockShard::width is 2, expected 1 for shards from number 2 of 2");
  EXPECT_EQ(refused_shard({.seed = 3}), "BlockShard::count is 0, expected 1 or more");
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

// Would catch: an option without effect that is accepted.
TEST(PackOptions, ThatHaveNoEffectAreRefused) {
  const auto refused_rule = [](BlockRule rule) {
    return refused([&](PackOptions& o) { o.block_by = std::move(rule); });
  };
  const auto refused_samples = [](SampleRule rule) {
    return refused([&](PackOptions& o) { o.samples = std::move(rule); });
  };
  using By = BlockRule::By;
  const std::string needs_kind =
      "BlockRule::name needs BlockRule::By::kPrefix, BlockRule::By::kDimension or "
      "BlockRule::By::kAttribute";
  EXPECT_EQ(refused_rule({.by = By::kOne, .name = "zzz"}), needs_kind);
  EXPECT_EQ(refused_rule({.by = By::kCount, .name = "x", .count = 2}), needs_kind);
  EXPECT_EQ(refused_rule({.by = By::kDimension}), "BlockRule::name is empty, expected a name");
  EXPECT_EQ(refused_rule({.by = By::kCount, .count = 0}),
            "BlockRule::count is 0, expected 1 or more");
  EXPECT_EQ(refused_rule({.count = 2}), "BlockRule::count needs BlockRule::By::kCount");
  EXPECT_EQ(refused_rule({.keep_unmatched = true}),
            "BlockRule::keep_unmatched needs BlockRule::By::kPrefix");
  EXPECT_EQ(refused_rule({.by = static_cast<By>(77)}),
            "found BlockRule::By 77, expected an enumerator");
  EXPECT_EQ(refused_rule({.by = By::kPrefix, .name = "(x)", .keep_unmatched = true}), "ok");
  EXPECT_EQ(refused_samples({.by = SampleRule::By::kGroup, .variables = 7, .dimension = "x"}),
            "SampleRule::variables needs SampleRule::By::kVariables");
  EXPECT_EQ(refused_samples({.by = SampleRule::By::kGroup, .dimension = "x"}),
            "SampleRule::dimension needs SampleRule::By::kDimension");
  EXPECT_EQ(refused_samples({.by = SampleRule::By::kDimension}),
            "SampleRule::dimension is empty, expected a name");
  EXPECT_EQ(refused([](PackOptions& o) { o.mode = Join{.on_mismatch = static_cast<Mismatch>(7)}; }),
            "found Mismatch 7, expected an enumerator");
  const auto compress = [](PackOptions& o, const char* codec) {
    EXPECT_TRUE(o.compression.emplace().set_codec(codec).ok());
  };
  EXPECT_EQ(refused([&](PackOptions& o) { compress(o, "none"), o.compression->shuffle = true; }),
            "Storing::shuffle and Storing::codec \"none\" exclude each other: shuffle has no "
            "effect without a codec");
  EXPECT_EQ(refused([](PackOptions& o) { o.writer.dry_run = true, o.check = true; }),
            "MergeOptions::dry_run and MergeOptions::check exclude each other: a dry run writes "
            "nothing");
}

TEST(PackOptions, OriginalsAndDigestsNeedWholeFiles) {
  using Set = std::function<void(PackOptions&)>;
  const auto link = [](PackOptions& o) { std::get<Pack>(o.mode).link = true; };
  const auto divide = [](PackOptions& o) { o.block_by.by = BlockRule::By::kOne; };
  const auto compress = [](PackOptions& o) { o.compression.emplace().shuffle = true; };
  const auto join = [](PackOptions& o) { o.mode = Join(); };
  const auto hdf5 = [](PackOptions& o) { o.hdf5.emplace(); };
  const auto digests = [](PackOptions& o) {
    std::get<Pack>(o.mode).digests = RecordedDigests::kSha256;
  };
  const std::string whole = " exclude each other: inputs are not stored whole then";
  const std::string nmb =
      " needs an output of kind FileKind::kNmb; MergeOptions::to is FileKind::kHdf5";
  const std::pair<Set, std::string> cases[] = {{link, " and Pack::link" + whole},
                                               {divide, " and MergeOptions::block_by" + whole},
                                               {compress, " and Storing::shuffle" + whole},
                                               {join, " needs MergeOptions::mode pack"},
                                               {hdf5, nmb}};
  for (const auto& one : cases) {
    const Set& set = one.first;
    const std::string& message = one.second;
    EXPECT_EQ(refused([&](PackOptions& o) { set(o), o.originals = Originals::kStore; }),
              "MergeOptions::originals" + message);
    EXPECT_EQ(refused([&](PackOptions& o) { set(o), o.originals = Originals::kStoreIfPossible; }),
              "ok");
    if (&set == &cases[3].first) continue;  // only mode pack has digests
    EXPECT_EQ(refused([&](PackOptions& o) {
                set(o), digests(o), o.originals = Originals::kStoreIfPossible;
              }),
              "Pack::digests" + message);
  }
  EXPECT_EQ(refused(digests),
            "Pack::digests needs MergeOptions::originals: the digests are those of files that are "
            "stored whole");
  EXPECT_EQ(refused([&](PackOptions& o) { digests(o), o.originals = Originals::kStore; }), "ok");
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
              o.mode = Tiles{.choice = BlockChoice{.shard = BlockShard{1, 0}}};
            }),
            "BlockShard::count is 0, expected 1 or more");
}

TEST(PackOptions, AreSpelledByTheTools) {
  const std::string text =
      refused([](PackOptions& o) { std::get<Pack>(o.mode).link = true, o.compression.emplace(); });
  EXPECT_EQ(text, "Pack::link and MergeOptions::storing exclude each other");
  EXPECT_EQ(tools::with_option_names(text), "--link and --compress exclude each other");
  EXPECT_EQ(tools::with_option_names("file a::b: at 7"), "file a::b: at 7");
  EXPECT_EQ(tools::with_option_names("Pack::append needs an output of kind FileKind::kNmb; "
                                     "MergeOptions::to is FileKind::kHdf5 with "
                                     "MergeOptions::netcdf = false"),
            "--append needs an output of kind nmb; OUT is hdf5");
}

}  // namespace
}  // namespace nmb
