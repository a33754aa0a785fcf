// See vectors.h.
#include "support/vectors.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace nmb::test {

std::filesystem::path vectors() {
  const char* folder = std::getenv("NMB_VECTORS");
  return folder ? std::filesystem::path(folder) : std::filesystem::path();
}

std::vector<VectorExpectation> vector_expectations() {
  using Sort = VectorExpectation::Sort;
  std::vector<VectorExpectation> out;
  std::ifstream in(vectors() / "manifest.tsv");
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    std::string name, file, sort, rule, offset;
    for (std::string* field : {&name, &file, &sort, &rule, &offset})
      std::getline(fields, *field, '\t');
    if (!fields) throw std::runtime_error("cannot read the manifest's line: " + line);
    out.push_back({name, file,
                   sort == "valid"         ? Sort::kValid
                   : sort == "remark"      ? Sort::kRemark
                   : sort == "unsupported" ? Sort::kUnsupported
                                           : Sort::kInvalid,
                   rule, offset == "-" ? kNoOffset : std::stoull(offset)});
  }
  if (out.empty()) throw std::runtime_error("no manifest in " + vectors().string());
  return out;
}

bool FindingList::has(Severity severity) const {
  return std::any_of(list.begin(), list.end(),
                     [&](const Finding& f) { return f.severity == severity; });
}

bool FindingList::has(Severity severity, const std::string& rule, std::uint64_t offset) const {
  return std::any_of(list.begin(), list.end(), [&](const Finding& f) {
    return f.severity == severity && f.rule == rule && f.offset == offset;
  });
}

std::string FindingList::text() const {
  std::string out;
  for (const Finding& finding : list)
    out += (finding.severity == Severity::kWarning ? "warning: " : "") + finding.text() + "\n";
  return out;
}

}  // namespace nmb::test
