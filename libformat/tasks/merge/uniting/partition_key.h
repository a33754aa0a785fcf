// PartitionKey: numbers the events of several inputs. An event has the same number in all tables.
// The numbers are derived from each input's list of events (docs/guides/join.md, "Join").
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nmb/status.h"
#include "nmb/types.h"
#include "values/array_source.h"

namespace nmb {

// A column: values of one input without gaps, in external form.
struct KeyColumn {
  Source values;  // nullptr if there are no values
  Type type = Type::kInt;
  std::uint64_t count = 0;
};

// An invalid value and the reason.
struct KeyProblem {
  std::string found, expected;
};

// Thread-safe after all inputs were added.
class PartitionKey {
 public:
  // Adds an input's list of events after the lists of earlier inputs. Each distinct value is one
  // event. Returns nullopt if the list is valid. Errors: kIo, kDamaged.
  Result<std::optional<KeyProblem>> add(std::size_t input, KeyColumn events);
  // Returns whether a valid list was added for the input.
  bool has(std::size_t input) const { return inputs_.contains(input); }
  // Checks that each value of a column is an event of the input. has(input) must be true. Returns
  // the first problem. Errors: kIo, kDamaged.
  Result<std::optional<KeyProblem>> check(std::size_t input, const KeyColumn& column) const;
  // Returns a source with the numbers of a column's events, as kInt64 in external form. If a value
  // is not an event, reading the source fails with kDamaged; check() finds such values earlier.
  static Source numbers(std::shared_ptr<const PartitionKey> key, std::size_t input,
                        KeyColumn column);

  // The data that numbers() needs. parts_of() returns nullopt if numbers() did not make the source.
  struct Input {
    KeyColumn events;
    std::uint64_t first;  // number of the input's first event
  };
  static std::optional<std::pair<Input, KeyColumn>> parts_of(const ByteSource& numbers);
  static Source numbers(Input input, KeyColumn column);

 private:
  using Events = std::shared_ptr<const std::vector<std::int64_t>>;
  class Numbers;

  // Returns the distinct events of an input in ascending order.
  Result<Events> events_of(std::size_t input) const;

  std::map<std::size_t, Input> inputs_;
  std::uint64_t count_ = 0;
  // The most recently requested events.
  mutable std::mutex mutex_;
  mutable std::vector<std::pair<std::size_t, Events>> recent_;
};

}  // namespace nmb
