#include "merge/uniting/first_values.h"

#include <algorithm>

#include "merge/reading/held_values.h"
#include "merge/uniting/decomposition.h"
#include "merge/uniting/union_input.h"
#include "merge/uniting/value_comparison.h"
#include "sources/value_source.h"

namespace nmb {

namespace {

// The largest number of variables whose first values are recorded. Each of these variables takes
// about 300 bytes of memory.
constexpr std::size_t kMostVariables = 1 << 16;

bool is_held(const DatasetUnion::Member& member, VarId variable, std::uint64_t length) {
  const auto* const held = form_of<form::Held>(member.values.get());
  if (!held || member.metadata.is_record_variable(variable)) return false;
  const auto piece = held->pieces.find(member.begins[variable]);
  return piece != held->pieces.end() && piece->second.size() == length;
}

}  // namespace

// Returns whether the values of a variable are compared. Values that are joined or widened are not
// compared. An unnecessary comparison does no harm.
bool FirstValues::is_compared(const DatasetUnion::Member& member, VarId variable) const {
  if (!member.values || options_.agreement().first_values ||
      options_.on_mismatch() == Mismatch::kWiden)
    return false;
  const Metadata& metadata = member.metadata;
  // Equal values of variable length may have different offsets.
  if (const auto* const own = member.own_of(variable); own && own->has_heap()) return false;
  const auto dimensions = metadata.variable(variable).dimensions;
  if (std::holds_alternative<Union>(options_.mode) || dimensions.empty()) return true;
  if (options_.has_tiles())
    return std::ranges::none_of(dimensions, [&](DimId d) {
      return decomposition_of(metadata, d, member.records).has_value();
    });
  if (options_.join().along.empty()) return !metadata.is_record_variable(variable);
  return !options_.join().along.starts_with("axis:") &&
         std::ranges::none_of(dimensions, [&](DimId d) {
           return metadata.dimension(d).name == along_name(options_);
         });
}

std::vector<std::uint64_t> FirstValues::same_as(const std::string& block, std::size_t input,
                                                const DatasetUnion::Member& member) {
  const Metadata& metadata = member.metadata;
  std::vector<std::uint64_t> same(metadata.variable_count(), kNone);
  for (VarId v = 0; v < metadata.variable_count(); ++v) {
    const auto length = metadata.slice_bytes(v);
    if (!length || *length == 0 || !is_compared(member, v) || is_held(member, v, *length)) continue;
    const Variable variable = metadata.variable(v);
    const bool is_record = metadata.is_record_variable(v);
    First now{input,         variable.type,    {},
              member.values, member.begins[v], is_record ? member.record_size : 0};
    for (const DimId d : variable.dimensions) {
      const Dimension dimension = metadata.dimension(d);
      now.shape.emplace_back(dimension.name,
                             dimension.is_record() ? member.records : dimension.length);
    }
    const auto key = std::pair(block, std::string(variable.name));
    const auto known = firsts_.find(key);
    if (known == firsts_.end()) {
      if (firsts_.size() < kMostVariables) firsts_.emplace(key, std::move(now));
      continue;
    }
    const First& first = known->second;
    if (first.type != now.type || first.shape != now.shape) continue;
    const auto differs = first_difference({now.values.get(), now.begin, now.step},
                                          {first.values.get(), first.begin, first.step}, now.type,
                                          is_record ? member.records : 1, *length);
    // If values cannot be read, rank 0 reports this when it unites the inputs.
    if (differs.ok() && !*differs) same[v] = first.input;
  }
  return same;
}

}  // namespace nmb
