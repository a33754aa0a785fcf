// nmverify on damaged files of other projects: exit codes.
#include <gtest/gtest.h>

#include <cstring>

#include "support/corpus.h"
#include "support/programs.h"

namespace nmb {
namespace {

int exit_code_of(const std::filesystem::path& file) {
  const std::filesystem::path tool = std::filesystem::path(NMB_TOOLS) / "nmverify";
  return test::run(test::shell_quoted(tool.string()) + " " + test::shell_quoted(file.string()))
      .exit_code;
}

TEST(NmverifyCorpus, ClassicFilesAreDamaged) {
  NMB_NEEDS_CORPUS();
  std::size_t files = 0;
  for (const char* folder : {"bad/pnetcdf-cdf_format", "bad/pnetcdf-ncvalidator", "bad/netcdf-c-pr",
                             "hostile/Unidata+netcdf-c"})
    for (const auto& path : test::corpus_files(folder)) {
      const auto bytes = test::read_file(path);
      if (bytes.size() < 3 || std::memcmp(bytes.data(), "CDF", 3) != 0) continue;
      ++files;
      EXPECT_EQ(exit_code_of(path), 1) << path;
    }
  EXPECT_EQ(files, 25u);
}

}  // namespace
}  // namespace nmb
