// The list of cases (see tests/support/rank_cases.h).
#include "support/rank_cases.h"

#include <algorithm>
#include <string>

namespace nmb {

namespace {

std::vector<RankCase>& registered() {
  static std::vector<RankCase> cases;
  return cases;
}

}  // namespace

RegisteredRankCase::RegisteredRankCase(const RankCase& rank_case) {
  std::vector<RankCase>& cases = registered();
  auto behind =
      std::upper_bound(cases.begin(), cases.end(), rank_case,
                       [](const RankCase& a, const RankCase& b) { return a.name < b.name; });
  cases.insert(behind, rank_case);
}

const std::vector<RankCase>& rank_cases() { return registered(); }

Status expect(bool holds, std::string_view what) {
  return holds ? Status() : Status(Code::kUsage, "found otherwise: " + std::string(what));
}

}  // namespace nmb
