// PartitionKey: numbers for the events of several inputs, the same in all their tables. They are
// derived from each input's list of events (docs/merging.md, "Partition keys").
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

// Values of one input, without gaps, in external form.
struct KeyColumn {
  Source values;  // nullptr: there are none
  Type type = Type::kInt;
  std::uint64_t count = 0;
};

// An invalid value and the reason.
struct KeyProblem {
  std::string found, expected;
};

// Thread-safe once all inputs are added.
class PartitionKey {
 public:
  // Adds the list of events of an input after those of earlier inputs: each distinct value is one
  // event. nullopt: the list is valid. Errors: kIo, kDamaged.
  Result<std::optional<KeyProblem>> add(std::size_t input, KeyColumn events);
  // Returns whether the input's list was added and is valid.
  bool has(std::size_t input) const { return inputs_.contains(input); }
  // Checks that each value is an event of an input that has() is true for. Errors: kIo, kDamaged.
  Result<std::optional<KeyProblem>> check(std::size_t input, const KeyColumn& column) const;
  // Returns the numbers of a column's events, of type kInt64 in external form. Reading fails with
  // kDamaged for values that are not events; check() finds these.
  static Source numbers(std::shared_ptr<const PartitionKey> key, std::size_t input,
                        KeyColumn column);

  // What numbers() needs; nullopt: the source was not made by numbers().
  struct Input {
    KeyColumn events;
    std::uint64_t first;  // number of its first event
  };
  static std::optional<std::pair<Input, KeyColumn>> parts_of(const ByteSource& numbers);
  static Source numbers(Input input, KeyColumn column);

 private:
  using Events = std::shared_ptr<const std::vector<std::int64_t>>;
  class Numbers;

  // Ascending, each once.
  Result<Events> events_of(std::size_t input) const;

  std::map<std::size_t, Input> inputs_;
  std::uint64_t count_ = 0;
  // The most recently requested events.
  mutable std::mutex mutex_;
  mutable std::vector<std::pair<std::size_t, Events>> recent_;
};

}  // namespace nmb
