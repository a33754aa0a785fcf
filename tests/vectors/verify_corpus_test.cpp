// Damaged files of other projects: for each classic file, the rule and offset are reported.
#include <gtest/gtest.h>

#include "files/files.h"
#include "support/corpus.h"
#include "support/vectors.h"
#include "verify/verify.h"

namespace nmb {
namespace {

struct DamagedClassic {
  const char* path;
  const char* rule;
  std::uint64_t offset;
};

constexpr DamagedClassic kDamaged[] = {
    {"bad/pnetcdf-cdf_format/bad_begin.nc5", "R-CH-16", 212},
    {"bad/pnetcdf-cdf_format/bad_dimid.nc2", "R-CH-10", 92},
    {"bad/pnetcdf-cdf_format/bad_dimid.nc5", "R-CH-10", 140},
    {"bad/pnetcdf-cdf_format/bad_nattrs.nc1", "R-CH-4", 144},
    {"bad/pnetcdf-cdf_format/bad_nattrs.nc2", "R-CH-4", 148},
    {"bad/pnetcdf-cdf_format/bad_ndims.nc2", "R-CH-4", 12},
    {"bad/pnetcdf-cdf_format/bad_ndims.nc5", "R-CH-4", 16},
    {"bad/pnetcdf-cdf_format/bad_xtype.nc1", "R-CH-9", 52},
    {"bad/pnetcdf-cdf_format/bad_xtype.nc2", "R-CH-9", 52},
    {"bad/pnetcdf-cdf_format/bad_xtype.nc5", "R-CH-9", 80},
    {"bad/pnetcdf-ncvalidator/bad_large_rec_2_vars.nc2", "R-CH-15", 104},
    {"bad/pnetcdf-ncvalidator/bad_nvars.nc1", "R-CH-4", 28},
    {"bad/pnetcdf-ncvalidator/bad_padding_name_dim.nc5", "R-CH-6", 39},
    {"bad/pnetcdf-ncvalidator/bad_padding_name_gattr.nc5", "R-CH-6", 55},
    {"bad/pnetcdf-ncvalidator/bad_padding_name_var.nc5", "R-CH-6", 63},
    {"bad/pnetcdf-ncvalidator/bad_padding_name_var.nc5", "R-CH-17", 104},
    {"bad/pnetcdf-ncvalidator/bad_padding_value_gattr.nc2", "R-CH-6", 46},
    {"bad/pnetcdf-ncvalidator/bad_padding_value_vattr.nc5", "R-CH-6", 110},
    {"bad/pnetcdf-ncvalidator/bad_padding_value_vattr.nc5", "R-CH-17", 132},
    {"bad/pnetcdf-ncvalidator/bad_tag_dimension.nc1", "R-CH-3", 8},
    {"bad/pnetcdf-ncvalidator/bad_tag_gattr.nc1", "R-CH-3", 16},
    {"bad/pnetcdf-ncvalidator/bad_tag_variable.nc2", "R-CH-3", 24},
    {"bad/pnetcdf-ncvalidator/bad_tag_variable.nc5", "R-CH-3", 36},
    {"bad/pnetcdf-ncvalidator/bad_tag_vattr.nc1", "R-CH-3", 44},
    {"bad/pnetcdf-ncvalidator/bad_tag_vattr.nc2", "R-CH-3", 44},
    {"bad/netcdf-c-pr/pr3377_193byte_4GBname.nc", "R-CH-3", 8},
    {"hostile/Unidata+netcdf-c/bad_cdf5_begin.nc", "R-CH-16", 212}};

TEST(VerifyCorpus, DamagedClassicFilesBreakTheirRules) {
  NMB_NEEDS_CORPUS();
  for (const DamagedClassic& damaged : kDamaged) {
    SCOPED_TRACE(damaged.path);
    const auto file = FileSource::open((test::corpus() / damaged.path).string());
    ASSERT_TRUE(file.ok()) << file.status().text();
    test::FindingList findings;
    const auto summary = verify(**file, {}, findings);
    ASSERT_TRUE(summary.ok()) << summary.status().text();
    EXPECT_TRUE(findings.has(Severity::kFinding, damaged.rule, damaged.offset)) << findings.text();
    EXPECT_GE(summary->findings, 1u);
    for (const Finding& finding : findings.list) {
      EXPECT_EQ(finding.found.find("found"), std::string::npos) << finding.text();
    }
  }
}

TEST(VerifyCorpus, RealClassicFilesAreSound) {
  NMB_NEEDS_CORPUS();
  std::size_t files = 0;
  for (const char* folder : {"classic", "split"}) {
    for (const auto& path : test::corpus_files(folder)) {
      const auto file = FileSource::open(path.string());
      ASSERT_TRUE(file.ok()) << file.status().text();
      test::FindingList findings;
      const auto summary = verify(**file, {}, findings);
      if (!summary.ok() && summary.status().code() == Code::kUnknownKind) continue;
      ++files;
      ASSERT_TRUE(summary.ok()) << summary.status().text();
      EXPECT_EQ(summary->findings, 0u) << path << "\n" << findings.text();
    }
  }
  EXPECT_GE(files, 80u);
}

}  // namespace
}  // namespace nmb
