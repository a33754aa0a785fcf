// The vectors of spec/vectors, assembled by ctest into the folder that NMB_VECTORS names.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "wire/failure.h"

namespace nmb::test {

// A line of the manifest: what a checker must find in a file.
struct VectorExpectation {
  std::string name;
  std::filesystem::path file;
  enum class Sort { kValid, kInvalid, kUnsupported, kRemark } sort;
  std::string rule;  // "-" where valid
  std::uint64_t offset;
};

// The folder; empty where NMB_VECTORS is unset (tests then skip and say so).
std::filesystem::path vectors();
// All lines of the manifest; throws std::runtime_error where it cannot be read.
std::vector<VectorExpectation> vector_expectations();

// Keeps all findings.
class FindingList final : public Findings {
 public:
  void report(Finding finding) override { list.push_back(std::move(finding)); }
  bool has(Severity severity) const;
  bool has(Severity severity, const std::string& rule, std::uint64_t offset) const;
  // One line a finding.
  std::string text() const;
  std::vector<Finding> list;
};

}  // namespace nmb::test

#define NMB_NEEDS_VECTORS() \
  if (::nmb::test::vectors().empty()) GTEST_SKIP() << "NMB_VECTORS is not set"
