#include "sources/partition_key.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "model/values.h"
#include "sources/value_source.h"
#include "wire/endian.h"

namespace nmb {

namespace {

constexpr std::uint64_t kKeysAtOnce = 32768;  // number of values
constexpr std::size_t kRecent = 4;            // number of event lists in memory

bool is_integer(Type type) {
  return type != Type::kChar && type != Type::kFloat && type != Type::kDouble;
}

// Calls visit(first, values) for consecutive parts of [from, from + count) until visit returns
// false.
Status visit_values(
    const KeyColumn& column, std::uint64_t from, std::uint64_t count,
    const std::function<bool(std::uint64_t, const std::vector<std::int64_t>&)>& visit) {
  const std::size_t size = type_size(column.type);
  std::vector<std::byte> bytes;
  std::vector<std::int64_t> values;
  for (const std::uint64_t end = from + count; from < end; from += values.size()) {
    values.resize(std::min(kKeysAtOnce, end - from));
    bytes.resize(values.size() * size);
    NMB_TRY(column.values->read_at(from * size, bytes));
    // Values of uint64 above the largest int64 become negative.
    convert_from_external(column.type, bytes.data(), values.size(), MemoryType::kInt64,
                          values.data());
    if (!visit(from, values)) break;
  }
  return {};
}

}  // namespace

Result<std::optional<KeyProblem>> PartitionKey::add(std::size_t input, KeyColumn events) {
  if (!is_integer(events.type))
    return std::optional(KeyProblem{std::string(type_name(events.type)), "integers"});
  std::optional<KeyProblem> problem;
  std::optional<std::int64_t> last;
  std::uint64_t distinct = 0;
  NMB_TRY(visit_values(events, 0, events.count, [&](std::uint64_t first, const auto& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] < 0 && events.type == Type::kUInt64) {
        problem = {"a value past 2^63 - 1", "a smaller value"};
        return false;
      }
      if (last && values[i] < *last) {
        problem = {std::to_string(values[i]) + " at [" + std::to_string(first + i) + "] after " +
                       std::to_string(*last),
                   "values that do not decrease"};
        return false;
      }
      distinct += !last || values[i] != *last;
      last = values[i];
    }
    return true;
  }));
  if (problem) return problem;
  inputs_[input] = {std::move(events), count_};
  count_ += distinct;
  return problem;
}

Result<PartitionKey::Events> PartitionKey::events_of(std::size_t input) const {
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& [known, events] : recent_)
      if (known == input) return events;
  }
  auto events = std::make_shared<std::vector<std::int64_t>>();
  if (const auto found = inputs_.find(input); found != inputs_.end())
    NMB_TRY(visit_values(found->second.events, 0, found->second.events.count,
                         [&](std::uint64_t, const auto& values) {
                           for (const std::int64_t value : values)
                             if (events->empty() || events->back() != value)
                               events->push_back(value);
                           return true;
                         }));
  const std::scoped_lock lock(mutex_);
  if (recent_.size() == kRecent) recent_.erase(recent_.begin());
  recent_.emplace_back(input, events);
  return Events(events);
}

Result<std::optional<KeyProblem>> PartitionKey::check(std::size_t input,
                                                      const KeyColumn& column) const {
  if (!is_integer(column.type))
    return std::optional(KeyProblem{std::string(type_name(column.type)), "integers"});
  std::optional<KeyProblem> problem;
  if (column.count == 0) return problem;
  NMB_ASSIGN(const Events events, events_of(input));
  NMB_TRY(visit_values(column, 0, column.count, [&](std::uint64_t first, const auto& values) {
    for (std::size_t i = 0; i < values.size() && !problem; ++i)
      if (!std::ranges::binary_search(*events, values[i]))
        problem = {std::to_string(values[i]) + " at [" + std::to_string(first + i) + "]",
                   "one of the " + std::to_string(events->size()) + " events of its file"};
    return !problem;
  }));
  return problem;
}

Status PartitionKey::read_numbers(std::size_t input, const KeyColumn& column, std::uint64_t offset,
                                  std::span<std::byte> out) const {
  if (out.empty()) return {};
  NMB_ASSIGN(const Events events, events_of(input));
  const std::uint64_t number = inputs_.at(input).first;
  bool is_there = true;
  const std::uint64_t first = offset / 8, end = (offset + out.size() + 7) / 8;
  NMB_TRY(visit_values(
      column, first, end - first, [&](std::uint64_t from, const std::vector<std::int64_t>& values) {
        for (const std::int64_t value : values) {
          const auto place = std::ranges::lower_bound(*events, value);
          is_there &= place != events->end() && *place == value;
          std::byte bytes[8];
          store_be(bytes, number + static_cast<std::uint64_t>(place - events->begin()));
          // Clips the first and last value to the requested range.
          const std::uint64_t at = from++ * 8;
          const std::uint64_t begin = std::max(at, offset);
          const std::uint64_t until = std::min(at + 8, offset + out.size());
          std::copy(bytes + (begin - at), bytes + (until - at),
                    out.begin() + static_cast<std::ptrdiff_t>(begin - offset));
        }
        return true;
      }));
  if (is_there) return {};
  return Status(Code::kDamaged, column.values->name(), kNoOffset, "",
                "an event is not in the list of events that was read before; the file changed");
}

}  // namespace nmb
