// Sends each name to the rank that its digest chooses (see merge/storing/first_uses.h).
#include "merge/storing/first_uses.h"

#include <unordered_map>

#include "parallel/letters.h"
#include "wire/hash.h"

namespace nmb {

template <class Fields>
void fields(Fields& all, NameUse& use) {
  all(use.name, use.input, use.about);
}

Result<std::vector<NameUse>> first_uses(Communicator& ranks, std::span<const NameUse> uses) {
  const auto size = static_cast<std::uint64_t>(ranks.size());
  Letters letters;
  std::vector<std::vector<std::size_t>> asked(
      size);  // for each rank: the indexes in `uses` of the names that this rank sends to that rank
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const std::uint64_t owner = sum_of(std::as_bytes(std::span(uses[i].name))) % size;
    asked[owner].push_back(i);
    letters.to(static_cast<int>(owner))(uses[i]);
  }
  NMB_ASSIGN(const std::vector<Message> arrived, ranks.exchange(letters.take()));
  std::unordered_map<std::string, NameUse> first;
  for (const Message& message : arrived) {
    for (FieldsIn in(message.bytes()); !in.at_end();) {
      NameUse use = in.next<NameUse>();
      auto [known, is_new] = first.try_emplace(use.name, use);
      if (!is_new && use.input < known->second.input) known->second = std::move(use);
    }
  }
  // Answers arrive in the order of the requests.
  for (const Message& message : arrived) {
    for (FieldsIn in(message.bytes()); !in.at_end();) {
      const NameUse use = in.next<NameUse>();
      NameUse answer = first.at(use.name);
      if (answer.input == use.input) answer.about.clear();
      letters.to(message.from())(answer);
    }
  }
  NMB_ASSIGN(const std::vector<Message> answers, ranks.exchange(letters.take()));
  std::vector<NameUse> out(uses.size());
  for (const Message& message : answers) {
    FieldsIn in(message.bytes());
    for (std::size_t i : asked[static_cast<std::size_t>(message.from())]) in(out[i]);
  }
  return out;
}

}  // namespace nmb
