#include "merge/reading/held_values.h"

#include <algorithm>

#include "sources/value_source.h"

namespace nmb {

namespace {

// The largest numbers of bytes that are kept in memory for one variable and for one input.
constexpr std::uint64_t kMostOfVariable = 4096, kMostOfInput = 32768;
// The memory that a piece takes in addition to its bytes.
constexpr std::uint64_t kPieceRoom = 96;

bool is_coordinate(const Metadata& metadata, const Variable& variable) {
  return variable.dimensions.size() == 1 &&
         metadata.dimension(variable.dimensions.front()).name == variable.name;
}

}  // namespace

Result<Source> hold_small(const Dataset& dataset, Source values, std::uint64_t* budget) {
  const Metadata& metadata = dataset.metadata;
  form::Held::Pieces pieces;
  std::uint64_t left = std::min(kMostOfInput, *budget), taken = 0;
  for (VarId v = 0; v < metadata.variable_count(); ++v) {
    const bool is_record = metadata.is_record_variable(v);
    if (is_record && !is_coordinate(metadata, metadata.variable(v))) continue;
    const std::uint64_t count = is_record ? dataset.records : 1;
    const auto slice = metadata.slice_bytes(v);
    if (!slice || *slice == 0 || *slice > kMostOfVariable ||
        count > (left - taken) / (*slice + kPieceRoom))
      continue;
    const std::uint64_t begin = metadata.begin(v) - dataset.layout.header_length;
    for (std::uint64_t r = 0; r < count; ++r) {
      std::vector<std::byte> bytes(*slice);
      const std::uint64_t offset = begin + r * dataset.layout.record_size;
      NMB_TRY(dataset.extent->read_at(offset, bytes));
      pieces.emplace(offset, std::move(bytes));
    }
    taken += count * (*slice + kPieceRoom);
  }
  if (pieces.empty()) return values;
  *budget -= taken;
  return Source(source_of(form::Held{std::move(values), std::move(pieces)}));
}

}  // namespace nmb
