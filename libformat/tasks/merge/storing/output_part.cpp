#include "merge/storing/output_part.h"

namespace nmb {

std::vector<ValueRuns> runs_of(const OutputPart& block, const Metadata& metadata,
                               const ClassicLayout& layout) {
  std::vector<ValueRuns> runs;
  if (block.begins.empty()) {
    const std::uint64_t end = layout.records > 0 ? layout.end(layout.records) : layout.fixed_end;
    if (end > layout.header_length) runs.push_back({0, 0, 0, 0, end - layout.header_length, 1});
    return runs;
  }
  auto add = [&](std::uint64_t source, std::uint64_t begin, std::uint64_t length) {
    const std::uint64_t offset = begin - layout.header_length;
    if (length == 0) return;
    if (!runs.empty() && runs.back().extent_offset + runs.back().length == offset &&
        runs.back().source_offset + runs.back().length == source) {
      runs.back().length += length;
      return;
    }
    runs.push_back({source, 0, offset, 0, length, 1});
  };
  for (VarId v = 0; v < metadata.variable_count(); ++v)
    if (!metadata.is_record_variable(v))
      add(block.begins[v], metadata.begin(v), metadata.slice_bytes(v).value_or(0));
  for (std::uint64_t r = 0; r < layout.records; ++r)
    for (VarId v = 0; v < metadata.variable_count(); ++v)
      if (metadata.is_record_variable(v))
        add(block.begins[v] + r * block.record_size, metadata.begin(v) + r * layout.record_size,
            metadata.slice_bytes(v).value_or(0));
  return runs;
}

}  // namespace nmb
