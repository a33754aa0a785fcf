// PartitionKey: numbers the events of several inputs, by the list of events of each input. An event
// has the same number in all tables (docs/guides/join.md, "Join").
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sources/value_source.h"
#include "wire/failure.h"
#include "wire/kinds.h"

namespace nmb {

// An invalid value and the reason.
struct KeyProblem {
  std::string found, expected;
};

// Thread-safe after all inputs were added.
class PartitionKey {
 public:
  struct Input {
    KeyColumn events;
    std::uint64_t first = 0;  // number of the input's first event
  };

  PartitionKey() = default;
  // Makes a key with one input, whose index is 0.
  explicit PartitionKey(Input input) { inputs_.emplace(0, std::move(input)); }
  const Input& input(std::size_t index) const { return inputs_.at(index); }

  // Adds an input's list of events after the lists of earlier inputs. Each distinct value is one
  // event. Returns nullopt if the list is valid. Errors: kIo, kDamaged.
  Result<std::optional<KeyProblem>> add(std::size_t input, KeyColumn events);
  // Returns whether a valid list was added for the input.
  bool has(std::size_t input) const { return inputs_.contains(input); }
  // Checks that each value of a column is an event of the input, for which has() must be true.
  // Returns the first problem. Errors: kIo, kDamaged.
  Result<std::optional<KeyProblem>> check(std::size_t input, const KeyColumn& column) const;
  // Reads form::Numbered. Fails with kDamaged if a value is not an event; check() finds such values
  // earlier.
  Status read_numbers(std::size_t input, const KeyColumn& column, std::uint64_t offset,
                      std::span<std::byte> out) const;

 private:
  using Events = std::shared_ptr<const std::vector<std::int64_t>>;

  // Returns the distinct events of an input in ascending order.
  Result<Events> events_of(std::size_t input) const;

  std::map<std::size_t, Input> inputs_;
  std::uint64_t count_ = 0;
  // The most recently requested events.
  mutable std::mutex mutex_;
  mutable std::vector<std::pair<std::size_t, Events>> recent_;
};

}  // namespace nmb
