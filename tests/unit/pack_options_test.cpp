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
  EXPECT_EQ(refused([](PackOptions& o) { o.inputs.clear(); }),
            "found no inputs, expected at least one");
  EXPECT_EQ(refused([](PackOptions& o) { o.key = "evt"; }),
            "found key, expected mode join with it");
  EXPECT_EQ(refused([](PackOptions& o) { o.classic = Kind::kCdf2; }),
            "found mode pack with an output of kind cdf2, expected nc4, hdf5 or nmb, which have "
            "groups");
  EXPECT_EQ(refused([](PackOptions& o) { o.hdf5.emplace(), o.writer.dry_run = true; }),
            "found dry_run with an output of kind nc4, expected nmb");
  EXPECT_EQ(refused([](PackOptions& o) { o.append = true, o.mode = MergeMode::kTiles; }),
            "found append with mode tiles, expected pack");
  EXPECT_EQ(refused([](PackOptions& o) { o.link = true, o.writer.hdf5_view = Hdf5View::kOn; }),
            "found link with hdf5_view on, expected one of them: a view cannot show values in "
            "other files");
}

TEST(PackOptions, AreNamedByTheCaller) {
  EXPECT_EQ(refused([](PackOptions& o) { o.link = true, o.compression.emplace(); },
                    {.compression = "--compress", .link = "--link"}),
            "found --link with --compress, expected one of them");
}

}  // namespace
}  // namespace nmb
