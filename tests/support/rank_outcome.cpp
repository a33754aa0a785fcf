// What a collective call came to (see support/rank_outcome.h).
#include "support/rank_outcome.h"

#include <algorithm>

#include "parallel/message_codec.h"

namespace nmb::test {

Status expect_failure_of_all(Communicator& ranks, const Status& status, Code code,
                             std::string_view said) {
  MessageWriter mine;
  mine.put(status.code());
  mine.put_text(status.text());
  std::vector<Communicator::Parcel> parcels;
  parcels.push_back({0, mine.take()});
  NMB_ASSIGN(const std::vector<Message> arrived, ranks.exchange(std::move(parcels)));
  std::string found;
  bool right = true;
  for (const Message& message : arrived) {
    MessageReader in(message.bytes());
    right = in.get<Code>() == code && right;
    const std::string_view text = in.get_text();
    right = right && text == status.text() && text.find(said) != std::string_view::npos;
    found += "\n  rank " + std::to_string(message.from()) + ": " + std::string(text);
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
