// Real and damaged classic files: every real one decodes, each damaged one breaks the rule it
// breaks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <ostream>

#include "model/classic.h"
#include "support/corpus.h"
#include "support/header_bytes.h"

namespace nmb {
namespace {

TEST(ClassicCorpus, EveryRealFileDecodes) {
  NMB_NEEDS_CORPUS();
  std::size_t files = 0;
  for (const char* folder : {"classic", "split"}) {
    for (const auto& path : test::corpus_files(folder)) {
      const auto bytes = test::read_file(path);
      const auto header = decode_classic_header(MemorySource(bytes, path.string()));
      if (!header.ok() && header.status().code() == Code::kUnknownKind) continue;
      ++files;
      ASSERT_TRUE(header.ok()) << header.status().text();
      EXPECT_EQ(test::reencoding_problem(*header, bytes), "") << path;
      const auto body = std::span(bytes).first(header->layout.header_length);
      EXPECT_TRUE(decode_classic_header(MemorySource(body), {.values_follow = false}).ok()) << path;
    }
  }
  EXPECT_GE(files, 80u);
}

struct DamagedFile {
  const char* path;
  Code code;  // kOk: only a remark
  const char* rule;
  std::uint64_t offset;
};

void PrintTo(const DamagedFile& file, std::ostream* out) { *out << file.path; }

class DamagedClassicFile : public testing::TestWithParam<DamagedFile> {};

TEST_P(DamagedClassicFile, BreaksItsRule) {
  NMB_NEEDS_CORPUS();
  const DamagedFile& file = GetParam();
  const auto bytes = test::read_file(test::corpus() / file.path);
  const auto header = decode_classic_header(MemorySource(bytes, file.path));
  EXPECT_EQ(header.status().code(), file.code) << header.status().text();
  if (!header.ok()) {
    EXPECT_EQ(header.status().rule(), file.rule);
    EXPECT_EQ(header.status().offset(), file.offset);
    EXPECT_EQ(header.status().file(), file.path);
    return;
  }
  ASSERT_EQ(header->remark_count, 1u);
  EXPECT_EQ(header->remarks[0].rule, file.rule);
  EXPECT_EQ(header->remarks[0].offset, file.offset);
}

#define PNETCDF "bad/pnetcdf-cdf_format/"
#define VALIDATOR "bad/pnetcdf-ncvalidator/"
INSTANTIATE_TEST_SUITE_P(
    ClassicCorpus, DamagedClassicFile,
    testing::Values(
        DamagedFile{PNETCDF "bad_begin.nc5", Code::kDamaged, "R-CH-16", 212},
        DamagedFile{PNETCDF "bad_dimid.nc2", Code::kDamaged, "R-CH-10", 92},
        DamagedFile{PNETCDF "bad_dimid.nc5", Code::kDamaged, "R-CH-10", 140},
        DamagedFile{PNETCDF "bad_nattrs.nc1", Code::kDamaged, "R-CH-4", 144},
        DamagedFile{PNETCDF "bad_nattrs.nc2", Code::kDamaged, "R-CH-4", 148},
        DamagedFile{PNETCDF "bad_ndims.nc2", Code::kDamaged, "R-CH-4", 12},
        DamagedFile{PNETCDF "bad_ndims.nc5", Code::kDamaged, "R-CH-4", 16},
        DamagedFile{PNETCDF "bad_xtype.nc1", Code::kDamaged, "R-CH-9", 52},
        DamagedFile{PNETCDF "bad_xtype.nc2", Code::kDamaged, "R-CH-9", 52},
        DamagedFile{PNETCDF "bad_xtype.nc5", Code::kDamaged, "R-CH-9", 80},
        DamagedFile{VALIDATOR "bad_large_rec_2_vars.nc2", Code::kDamaged, "R-CH-15", 104},
        DamagedFile{VALIDATOR "bad_nvars.nc1", Code::kDamaged, "R-CH-4", 28},
        DamagedFile{VALIDATOR "bad_padding_name_dim.nc5", Code::kOk, "R-CH-6", 39},
        DamagedFile{VALIDATOR "bad_padding_name_gattr.nc5", Code::kOk, "R-CH-6", 55},
        DamagedFile{VALIDATOR "bad_padding_name_var.nc5", Code::kDamaged, "R-CH-17", 104},
        DamagedFile{VALIDATOR "bad_padding_value_gattr.nc2", Code::kOk, "R-CH-6", 46},
        DamagedFile{VALIDATOR "bad_padding_value_vattr.nc5", Code::kDamaged, "R-CH-17", 132},
        DamagedFile{VALIDATOR "bad_tag_dimension.nc1", Code::kDamaged, "R-CH-3", 8},
        DamagedFile{VALIDATOR "bad_tag_gattr.nc1", Code::kDamaged, "R-CH-3", 16},
        DamagedFile{VALIDATOR "bad_tag_variable.nc2", Code::kDamaged, "R-CH-3", 24},
        DamagedFile{VALIDATOR "bad_tag_variable.nc5", Code::kDamaged, "R-CH-3", 36},
        DamagedFile{VALIDATOR "bad_tag_vattr.nc1", Code::kDamaged, "R-CH-3", 44},
        DamagedFile{VALIDATOR "bad_tag_vattr.nc2", Code::kDamaged, "R-CH-3", 44},
        DamagedFile{"bad/netcdf-c-pr/pr3377_193byte_4GBname.nc", Code::kDamaged, "R-CH-3", 8},
        DamagedFile{"hostile/Unidata+netcdf-c/bad_cdf5_begin.nc", Code::kDamaged, "R-CH-16", 212}),
    [](const auto& test_info) {
      std::string name = test_info.param.path;
      std::ranges::replace_if(
          name, [](unsigned char c) { return !std::isalnum(c); }, '_');
      return name;
    });

// Two of the files are cut as well: their headers alone show the padding.
TEST(ClassicCorpus, CutFilesKeepTheirRemarks) {
  NMB_NEEDS_CORPUS();
  const std::pair<const char*, std::uint64_t> files[] = {
      {VALIDATOR "bad_padding_name_var.nc5", 63}, {VALIDATOR "bad_padding_value_vattr.nc5", 110}};
  for (const auto& [path, offset] : files) {
    const auto bytes = test::read_file(test::corpus() / path);
    const auto header = decode_classic_header(MemorySource(bytes), {.values_follow = false});
    ASSERT_TRUE(header.ok()) << header.status().text();
    ASSERT_GE(header->remarks.size(), 1u);
    EXPECT_EQ(header->remarks[0].rule, "R-CH-6");
    EXPECT_EQ(header->remarks[0].offset, offset);
  }
}

}  // namespace
}  // namespace nmb
