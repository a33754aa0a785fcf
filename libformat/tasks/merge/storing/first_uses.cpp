// Sends each name to the rank that its digest chooses (see merge/storing/first_uses.h).
#include "merge/storing/first_uses.h"

#include <string_view>
#include <unordered_map>

#include "parallel/outbox.h"
#include "wire/hash.h"

namespace nmb {

template <class Fields>
void fields(Fields& all, NameUse& use) {
  all(use.name, use.input, use.about);
}

Result<std::vector<NameUse>> first_uses(Communicator& ranks, std::span<const NameUse> uses) {
  const auto size = static_cast<std::uint64_t>(ranks.size());
  Outbox<NameUse> questions;
  std::vector<std::vector<std::size_t>> asked(
      size);  // for each rank: the indexes in `uses` of the names that this rank sends to that rank
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const std::uint64_t owner = sum_of(std::as_bytes(std::span(uses[i].name))) % size;
    asked[owner].push_back(i);
    questions.add(static_cast<int>(owner), uses[i]);
  }
  NMB_ASSIGN(const Inbox<NameUse> arrived, exchange(ranks, questions));
  std::unordered_map<std::string_view, const NameUse*> first;
  for (const auto& [rank, use] : arrived) {
    const NameUse*& known = first.try_emplace(use.name, &use).first->second;
    if (use.input < known->input) known = &use;
  }
  // Answers arrive in the order of the requests.
  Outbox<NameUse> sent;
  for (const auto& [rank, use] : arrived) {
    NameUse answer = *first.at(use.name);
    if (answer.input == use.input) answer.about.clear();
    sent.add(rank, answer);
  }
  NMB_ASSIGN(Inbox<NameUse> answers, exchange(ranks, sent));
  std::vector<NameUse> out(uses.size());
  std::vector<std::size_t> taken(size);  // for each rank: how many of its answers were taken
  for (auto& [rank, answer] : answers) {
    const auto owner = static_cast<std::size_t>(rank);
    out[asked[owner].at(taken[owner]++)] = std::move(answer);
  }
  return out;
}

}  // namespace nmb
