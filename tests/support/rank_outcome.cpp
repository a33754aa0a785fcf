// What a collective call came to (see support/rank_outcome.h).
#include "support/rank_outcome.h"

#include <algorithm>

#include "parallel/outbox.h"

namespace nmb::test {

Status expect_failure_of_all(Communicator& ranks, const Status& status, Code code,
                             std::string_view said) {
  Outbox<std::pair<Code, std::string>> mine;
  mine.add(0, {status.code(), status.text()});
  NMB_ASSIGN(const auto arrived, exchange(ranks, mine));
  std::string found;
  bool right = true;
  for (const auto& [rank, outcome] : arrived) {
    const auto& [of_rank, text] = outcome;
    right =
        right && of_rank == code && text == status.text() && text.find(said) != std::string::npos;
    found += "\n  rank " + std::to_string(rank) + ": " + text;
  }
  return ranks.agree(right ? Status()
                           : Status(Code::kUsage, "found" + found + "\nexpected the same on all: " +
                                                      std::string(said)));
}

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

}  // namespace nmb::test
