// Every rule of the specification is checked somewhere in the library, and the library knows no
// other.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

namespace nmb {
namespace {

namespace fs = std::filesystem;

const fs::path kProject = NMB_PROJECT_FOLDER;

std::set<std::string> matches(const fs::path& file, const std::regex& pattern) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  const std::string all = text.str();
  std::set<std::string> out;
  for (std::sregex_iterator i(all.begin(), all.end(), pattern), end; i != end; ++i)
    out.insert((*i)[1]);
  return out;
}

TEST(VerifyRules, AllAreChecked) {
  std::set<std::string> specified, checked;
  for (const auto& entry : fs::directory_iterator(kProject / "spec"))
    if (entry.path().extension() == ".md")
      specified.merge(matches(entry.path(), std::regex(R"(\| (R-[A-Z]+-[0-9]+) \|)")));
  for (const auto& entry : fs::recursive_directory_iterator(kProject / "libformat"))
    if (entry.path().extension() == ".cpp" || entry.path().extension() == ".h")
      checked.merge(matches(entry.path(), std::regex("\"(R-[A-Z]+-[0-9]+)\"")));
  EXPECT_GT(specified.size(), 80u);
  for (const std::string& rule : specified) EXPECT_TRUE(checked.contains(rule)) << rule;
  for (const std::string& rule : checked) EXPECT_TRUE(specified.contains(rule)) << rule;
}

}  // namespace
}  // namespace nmb
