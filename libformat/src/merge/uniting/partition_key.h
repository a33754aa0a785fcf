// PartitionKey: numbers for the events of several inputs, the same in all their tables, from what
// each input's list of events has (docs/merging.md, "Partition keys").
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

// Values of one input, one behind the other in external form.
struct KeyColumn {
  Source values;  // nullptr: there are none
  Type type = Type::kInt;
  std::uint64_t count = 0;
};

// What is wrong with a value.
struct KeyProblem {
  std::string found, expected;
};

// Thread-safe once all inputs are added.
class PartitionKey {
 public:
  // The list of events of an input, behind those of the inputs before: each other value is an event
  // of its own. nullopt: it is sound. kIo, kDamaged.
  Result<std::optional<KeyProblem>> add(std::size_t input, KeyColumn events);
  // Whether its list was added, and sound.
  bool has(std::size_t input) const { return inputs_.contains(input); }
  // Whether each value is one of the events of an input that is there. kIo, kDamaged.
  Result<std::optional<KeyProblem>> check(std::size_t input, const KeyColumn& column) const;
  // The numbers of a column's events, of type kInt64 in external form. Values that are no events,
  // which check() finds, are kDamaged.
  static Source numbers(std::shared_ptr<const PartitionKey> key, std::size_t input,
                        KeyColumn column);

  // What numbers() are made of; nullopt: the source is another one.
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
  // Those that were asked for last.
  mutable std::mutex mutex_;
  mutable std::vector<std::pair<std::size_t, Events>> recent_;
};

}  // namespace nmb
