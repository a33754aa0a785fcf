// Names of blocks from templates.
#include "merge/dividing/block_template.h"

#include <gtest/gtest.h>

namespace nmb {
namespace {

std::string expanded(std::string_view text, std::string_view path, std::size_t index = 0,
                     std::string_view group = "") {
  Result<BlockTemplate> names = BlockTemplate::parse(text);
  if (!names.ok()) return names.status().message();
  Result<std::string> name = names->expand(path, index, group);
  return name.ok() ? *name : name.status().message();
}

TEST(BlockTemplate, StemIsTheBaseNameWithoutItsLastEnding) {
  EXPECT_EQ(expanded("{stem}", "a/b/rank_0001.nc"), "rank_0001");
  EXPECT_EQ(expanded("{stem}", "rank"), "rank");
  EXPECT_EQ(expanded("{stem}", "out.nc.0003"), "out.nc");
  EXPECT_EQ(expanded("{stem}", "folder.d/rank"), "rank");
  EXPECT_EQ(expanded("{stem}", ".hidden"), ".hidden");
  EXPECT_EQ(expanded("{stem}", "a/line\nfeed \xFF.nc"), "line\nfeed \xFF");
}

TEST(BlockTemplate, PathIsAsGivenWithoutWhatStandsForNoFolder) {
  EXPECT_EQ(expanded("{path}", "/data//run/./a.nc"), "data/run/a.nc");
  EXPECT_EQ(expanded("{path}", "./a.nc"), "a.nc");
  EXPECT_EQ(expanded("{path}", "..a/b..nc"), "..a/b..nc");
  EXPECT_EQ(expanded("{path}", "a/../b.nc"),
            "found path \"a/../b.nc\" for {path}, expected one without \"..\"");
  EXPECT_EQ(expanded("{stem}", "../b.nc"), "b");
}

TEST(BlockTemplate, EmptyGroupDropsItsSlash) {
  EXPECT_EQ(expanded("{stem}/{group}", "a.nc", 0, "g/h"), "a/g/h");
  EXPECT_EQ(expanded("{stem}/{group}", "a.nc"), "a");
  EXPECT_EQ(expanded("{group}/{stem}", "a.nc"), "a");
  EXPECT_EQ(expanded("x/{group}/y", "a.nc"), "x/y");
  EXPECT_EQ(expanded("{group}", "a.nc"), "");
  EXPECT_EQ(expanded("{group}", "a.nc", 0, "g"), "g");
  EXPECT_EQ(expanded("{group}-{index}", "a.nc", 7), "-7");
}

TEST(BlockTemplate, FieldsAndTextMix) {
  EXPECT_EQ(expanded("run}/{index}_{stem}{index}", "a.nc", 12), "run}/12_a12");
  // A name with braces does not make a field.
  EXPECT_EQ(expanded("{stem}", "{group}.nc", 0, "g"), "{group}");
}

TEST(BlockTemplate, UnknownFieldsAreRefused) {
  EXPECT_EQ(expanded("{Stem}", "a.nc"),
            "found \"{Stem}\" in block name template \"{Stem}\", expected {stem}, {path}, {index} "
            "or {group}");
  EXPECT_EQ(expanded("a{stem", "a.nc"),
            "found \"{stem\" in block name template \"a{stem\", expected {stem}, {path}, {index} "
            "or {group}");
  EXPECT_FALSE(BlockTemplate::parse("{}").ok());
  EXPECT_FALSE(BlockTemplate::parse("{1}").ok());
}

TEST(BlockTemplate, TagsMayHaveCaptures) {
  const BlockTemplate value = *BlockTemplate::parse_tag("{2}/{stem}-{12}{2}");
  EXPECT_EQ(value.captures(), (std::vector<std::size_t>{2, 12, 2}));
  EXPECT_TRUE(value.has_input());
  std::vector<std::string_view> captures(12);
  captures[1] = "two";
  captures[11] = "{2}";
  EXPECT_EQ(*value.expand("a.nc", 0, "", captures), "two/a-{2}two");
  EXPECT_FALSE(BlockTemplate::parse_tag("{group}")->has_input());
  for (const char* text : {"{0}", "{-1}", "{1 }", "{65536}", "{1", "{x}", "{}"})
    EXPECT_EQ(BlockTemplate::parse_tag(text).status().code(), Code::kUsage) << text;
}

}  // namespace
}  // namespace nmb
