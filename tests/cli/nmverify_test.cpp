// nmverify as it is called: exit codes, output, lists of files.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "support/corpus.h"
#include "support/programs.h"
#include "support/vectors.h"

namespace nmb {
namespace {

namespace fs = std::filesystem;

struct Output {
  int exit_code;
  std::string out, err;
};

class Nmverify : public testing::Test {
 protected:
  void SetUp() override {
    NMB_NEEDS_VECTORS();
  }
  static std::string vector(const std::string& name) {
    return test::shell_quoted((test::vectors() / name).string());
  }
  // `prefix`: shell words before the tool, as "printf x |".
  Output nmverify(const std::string& arguments, const std::string& prefix = "") const {
    const auto out = folder_.path() / "out", err = folder_.path() / "err";
    const fs::path tool = fs::path(NMB_TOOLS) / "nmverify";
    const int exit_code =
        test::run(prefix + " " + test::shell_quoted(tool.string()) + " " + arguments + " >" +
                  test::shell_quoted(out.string()) + " 2>" + test::shell_quoted(err.string()))
            .exit_code;
    return {exit_code, text_of(out), text_of(err)};
  }
  static std::string text_of(const fs::path& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  const fs::path& folder() const { return folder_.path(); }

 private:
  test::TemporaryFolder folder_;
};

TEST_F(Nmverify, SoundFile) {
  const Output output = nmverify(vector("simplest_file.nmb"));
  EXPECT_EQ(output.exit_code, 0);
  EXPECT_EQ(output.err, "");
  EXPECT_NE(output.out.find("sound, NMB, 1 of 1 blocks sound, 0 findings"), std::string::npos)
      << output.out;
  EXPECT_EQ(nmverify("-q " + vector("simplest_file.nmb")).out, "");
}

TEST_F(Nmverify, DamagedFile) {
  const Output output = nmverify(vector("R-EX-6_sum_of_an_extent.nmb"));
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_NE(output.out.find("values of block \"b\": found bytes with another sum, expected"),
            std::string::npos)
      << output.out;
  EXPECT_NE(output.out.find("(R-EX-6)\n"), std::string::npos);
  EXPECT_NE(output.out.find("block \"b\" is not sound"), std::string::npos);
  EXPECT_EQ(nmverify("--level blocks " + vector("R-EX-6_sum_of_an_extent.nmb")).exit_code, 0);
  EXPECT_EQ(nmverify("--level index " + vector("R-BK-6_body_sum.nmb")).exit_code, 0);
  EXPECT_EQ(nmverify("--level blocks " + vector("R-BK-6_body_sum.nmb")).exit_code, 1);
}

TEST_F(Nmverify, CannotRun) {
  EXPECT_EQ(nmverify("").exit_code, 2);
  EXPECT_EQ(nmverify("--level all " + vector("simplest_file.nmb")).exit_code, 2);
  EXPECT_EQ(nmverify("-j 0 " + vector("simplest_file.nmb")).exit_code, 2);
  EXPECT_EQ(nmverify("--rate fast " + vector("simplest_file.nmb")).exit_code, 2);
  const Output missing = nmverify("missing.nmb");
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_EQ(missing.err.rfind("nmverify: missing.nmb: ", 0), 0u) << missing.err;
  EXPECT_EQ(nmverify(test::shell_quoted(folder().string())).exit_code, 2);
  for (const std::string text : {"", "\x89NMB\r\n\x1a", "CDF\x01", "what is this?"}) {
    test::write_file(folder() / "other", text);
    EXPECT_EQ(nmverify(test::shell_quoted((folder() / "other").string())).exit_code, 2) << text;
  }
  test::write_file(folder() / "other", "\x89HDF\r\n\x1a\n and more");
  const Output hdf5 = nmverify(test::shell_quoted((folder() / "other").string()));
  EXPECT_EQ(hdf5.exit_code, 2);
  EXPECT_NE(hdf5.err.find("not supported yet"), std::string::npos) << hdf5.err;
}

TEST_F(Nmverify, WorstExitCodeOfManyFiles) {
  const std::string sound = vector("simplest_file.nmb"), damaged = vector("R-BK-6_body_sum.nmb");
  EXPECT_EQ(nmverify(sound + " " + damaged).exit_code, 1);
  EXPECT_EQ(nmverify(damaged + " " + sound).exit_code, 1);
  const Output output = nmverify("missing.nmb " + damaged + " " + sound);
  EXPECT_EQ(output.exit_code, 2);
  EXPECT_NE(output.out.find("3 files: 1 sound, 1 damaged, 1 not verified"), std::string::npos)
      << output.out;
}

TEST_F(Nmverify, ListsOfFiles) {
  const std::string sound = (test::vectors() / "simplest_file.nmb").string();
  test::write_file(folder() / "list", sound + "\n" + sound + "\n");
  const std::string list = test::shell_quoted((folder() / "list").string());
  EXPECT_NE(nmverify("--files-from " + list).out.find("2 files: 2 sound"), std::string::npos);
  const Output output =
      nmverify("--files-from - -0", "printf '%s\\0' " + test::shell_quoted(sound) + " " +
                                        test::shell_quoted(sound) + " |");
  EXPECT_EQ(output.exit_code, 0) << output.err;
  EXPECT_NE(output.out.find("2 files: 2 sound"), std::string::npos);
  EXPECT_EQ(nmverify("--files-from missing.txt").exit_code, 2);
}

TEST_F(Nmverify, WarningsAndStrict) {
  const std::string file = vector("packed_cdf2_streaming.nmb");
  const Output output = nmverify(file);
  EXPECT_EQ(output.exit_code, 0);
  EXPECT_NE(output.out.find("warning: "), std::string::npos) << output.out;
  EXPECT_EQ(nmverify("-q " + file).out, "");
  EXPECT_EQ(nmverify("--strict " + file).exit_code, 1);
}

TEST_F(Nmverify, Json) {
  const Output output =
      nmverify("--json " + vector("R-EX-6_sum_of_an_extent.nmb") + " missing.nmb");
  EXPECT_EQ(output.exit_code, 2);
  for (const char* part : {"\"schema\": \"nmb/verify/1\"", "\"level\": \"data\"",
                           "\"rule\":\"R-EX-6\"", "\"severity\":\"finding\"",
                           "\"damaged_blocks\": [\"b\"]", "\"sound\": false", "\"not_verified\":1"})
    EXPECT_NE(output.out.find(part), std::string::npos) << part << "\n" << output.out;
  if (test::is_installed("python3")) {
    test::write_file(folder() / "json", output.out);
    const std::string command =
        "python3 -m json.tool " + test::shell_quoted((folder() / "json").string()) + " >/dev/null";
    EXPECT_EQ(test::run(command).exit_code, 0) << output.out;
  }
}

TEST_F(Nmverify, FailedAndClosedOutput) {
  const std::string many = vector("simplest_file.nmb");
  EXPECT_EQ(nmverify(many + " | true;").exit_code, 0);
  const fs::path tool = fs::path(NMB_TOOLS) / "nmverify";
  if (fs::exists("/dev/full")) {
    EXPECT_EQ(test::run(test::shell_quoted(tool.string()) + " " + many + " >/dev/full").exit_code,
              2);
  }
}

TEST_F(Nmverify, Corpus) {
  NMB_NEEDS_CORPUS();
  for (const char* folder_name : {"bad/pnetcdf-cdf_format", "bad/pnetcdf-ncvalidator",
                                  "bad/netcdf-c-pr", "hostile/Unidata+netcdf-c"})
    for (const auto& path : test::corpus_files(folder_name)) {
      const std::string ending = path.extension().string();
      if (ending.rfind(".nc", 0) != 0) continue;
      EXPECT_EQ(nmverify(test::shell_quoted(path.string())).exit_code, 1) << path;
    }
  for (const char* folder_name : {"bad/cve_hdf5", "bad/hdf5-1.10.8"})
    for (const auto& path : test::corpus_files(folder_name)) {
      const Output output = nmverify(test::shell_quoted(path.string()));
      EXPECT_EQ(output.exit_code, 2) << path;
      EXPECT_EQ(output.out, "") << path;
    }
}

}  // namespace
}  // namespace nmb
