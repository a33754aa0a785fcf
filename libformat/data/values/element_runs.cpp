#include "values/element_runs.h"

#include <algorithm>

#include "values/run_cursor.h"
#include "wire/checked.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

// Elements of a record, or of the variable if it has no records; lengths[0] counts records.
std::uint64_t elements_of_record(const VariableShape& shape) {
  std::uint64_t elements = 1;
  for (std::size_t d = 1; d < shape.lengths.size(); ++d) elements *= shape.lengths[d];
  return elements;
}

void add(std::uint64_t first, std::uint64_t elements, std::vector<NumberedRun>* runs) {
  if (!runs->empty() && runs->back().first + runs->back().elements == first)
    runs->back().elements += elements;
  else
    runs->push_back({first, elements});
}

}  // namespace

Result<std::vector<NumberedRun>> numbered_runs(const VariableShape& shape,
                                               const Hyperslabs& slabs) {
  const std::size_t rank = shape.lengths.size();
  if (rank == 0 || slabs.numbers.size() % (2 * rank) != 0)
    return failure(Code::kUsage, "found ", slabs.numbers.size(),
                   " numbers of selections, expected a multiple of ", 2 * rank);
  const std::uint64_t of_record = elements_of_record(shape);
  // Offsets in this shape are element numbers.
  VariableShape numbers{shape.lengths, 1, 0, shape.record_size > 0 ? of_record : 0};
  std::vector<NumberedRun> runs;
  Hyperslab slab;
  for (std::size_t at = 0; at < slabs.numbers.size(); at += 2 * rank) {
    const auto start = slabs.numbers.subspan(at, rank),
               count = slabs.numbers.subspan(at + rank, rank);
    bool is_run = true;  // in the last dimension
    bool fits = true;
    std::uint64_t first = 0;
    for (std::size_t d = 0; d < rank; ++d) {
      const std::uint64_t length =
          d == 0 && shape.record_size > 0 ? std::uint64_t{1} << 62 : shape.lengths[d];
      fits = fits && count[d] <= length && start[d] <= length - count[d];
      is_run = is_run && (d + 1 == rank || count[d] == 1);
    }
    std::uint64_t behind;
    const bool counts = checked_add(start[0], count[0], &behind) &&
                        checked_mul(behind, of_record, &behind) && behind >> 62 == 0;
    if (!fits || !is_run || !counts) {
      slab.start.assign(start.begin(), start.end());
      slab.count.assign(count.begin(), count.end());
      NMB_TRY(check_hyperslab(shape, slab, true));
      if (!counts) return failure(Code::kLimit, "the records would end after 2^62 elements");
      for (RunCursor run(numbers, slab); !run.at_end(); run.skip(run.elements()))
        add(run.offset(), run.elements(), &runs);
      continue;
    }
    if (count[rank - 1] == 0) continue;
    for (std::size_t d = 0; d < rank; ++d)
      first = d == 0 ? start[0] : first * shape.lengths[d] + start[d];
    add(first, count[rank - 1], &runs);
  }
  return runs;
}

Result<std::vector<PlacedRuns>> placed_runs(const VariableShape& shape,
                                            std::span<const NumberedRun> runs) {
  std::vector<PlacedRuns> out;
  std::vector<SelectedRun> ascending;
  const std::uint64_t of_record = elements_of_record(shape);
  std::uint64_t index = 0, part = 0, records = 0, behind = 0;
  const auto end_part = [&] {
    if (index > part)
      out.push_back({std::make_shared<const std::vector<SelectedRun>>(std::move(ascending)), part,
                     index - part, records});
    ascending.clear();
    part = index;
    records = behind = 0;
  };
  for (NumberedRun run : runs)
    while (run.elements > 0) {
      std::uint64_t offset = run.first * shape.element_size, elements = run.elements;
      if (shape.record_size > 0) {
        const std::uint64_t record = run.first / of_record, within = run.first % of_record;
        elements = std::min(elements, of_record - within);
        if (!checked_mul(record, shape.record_size, &offset) || offset >> 62)
          return failure(Code::kLimit, "the records would end after 2^62 bytes");
        offset += within * shape.element_size;
        if (shape.begin + offset < behind) end_part();
        records = std::max(records, record + 1);
      } else if (shape.begin + offset < behind) {
        end_part();
      }
      offset += shape.begin;
      ascending.push_back({offset, elements});
      behind = offset + elements * shape.element_size;
      index += elements;
      run.first += elements;
      run.elements -= elements;
    }
  end_part();
  return out;
}

}  // namespace nmb
