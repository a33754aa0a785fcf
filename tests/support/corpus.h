// Files of a collection of real and damaged files outside the tree, found through NMB_CORPUS.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace nmb::test {

// The folder NMB_CORPUS names; empty where it is unset (tests then skip and say so).
std::filesystem::path corpus();

// Regular files below `folder` of the corpus, sorted.
std::vector<std::filesystem::path> corpus_files(const std::string& folder);

// All bytes of a file; throws std::runtime_error where it cannot be read.
std::vector<std::byte> read_file(const std::filesystem::path& path);

}  // namespace nmb::test

#define NMB_NEEDS_CORPUS() \
  if (::nmb::test::corpus().empty()) GTEST_SKIP() << "NMB_CORPUS is not set"
