#include "put/puts.h"

#include <algorithm>
#include <utility>

#include "model/name_rules.h"
#include "put/waiting_values.h"
#include "ranks/interval_set.h"
#include "state/extents.h"
#include "state/stored_blocks.h"
#include "superblock/features.h"
#include "values/run_cursor.h"
#include "wire/checked.h"
#include "wire/joined_text.h"

namespace nmb {

Result<Put> Puts::check_variable(std::string_view operation, BlockId id, VarId variable,
                                 ConstArray values) {
  NMB_TRY(w_.failure);
  NMB_TRY(check_id(w_, id));
  NMB_TRY(check_not_from_hdf5(w_, id));
  if (w_.define_mode)
    return Status(
        Code::kUsage,
        joined_text(operation, " is not allowed in define mode; call end_define() first"));
  BlockState& block = w_.blocks[id];
  if (!block.values.takes_puts())
    return Status(
        Code::kUsage,
        joined_text(operation, " of block ", in_quotes(w_.blocks.name(id)),
                    " is not allowed before its values are committed; call sync() first"));
  NMB_TRY(check_unchanged_elsewhere(w_, id));
  NMB_TRY(load_definitions(w_, id));
  const Metadata& metadata = *block.metadata;
  if (variable >= metadata.variable_count())
    return Status(Code::kUsage, joined_text("invalid variable ID ", variable, ": the block has ",
                                            metadata.variable_count(), " variables"));
  const Type type = metadata.variable(variable).type;
  if ((type == Type::kChar) != (values.type() == MemoryType::kText))
    return Status(Code::kUsage, "variable " + in_quotes(metadata.variable(variable).name) +
                                    " and the values must both be text or both be numbers");
  NMB_ASSIGN(VariableShape shape, shape_of(metadata, block.layout, variable, block.next.records));
  Put put{id, variable, type, block.next.kind, std::move(shape), 0, values};
  put.empty = values.count() == 0;
  return put;
}

Result<Put> Puts::check(std::string_view operation, BlockId id, VarId variable,
                        const Hyperslab& slab, ConstArray values) {
  NMB_ASSIGN(Put put, check_variable(operation, id, variable, values));
  NMB_TRY(check_hyperslab(put.shape, slab, true));
  NMB_TRY(check_count(values.count(), element_count(slab)));
  NMB_TRY(check_not_null(values, "variable", w_.blocks[id].metadata->variable(variable).name));
  put.slab = slab;
  if (put.empty) return put;
  const BlockState& block = w_.blocks[id];
  NMB_TRY(check_linked(put));
  if (put.shape.record_size == 0) return put;
  const std::uint64_t stride = slab.stride.empty() ? 1 : slab.stride[0];
  std::uint64_t end;
  if (!checked_mul(slab.count[0] - 1, stride, &put.records) ||
      !checked_add(put.records, slab.start[0] + 1, &put.records) ||
      !checked_mul(put.records, put.shape.record_size, &end) ||
      !checked_add(end, block.layout.record_begin, &end) || end >> 62)
    return Status(Code::kLimit, "the records would end after 2^62 bytes");
  return put;
}

Result<std::vector<Put>> Puts::check(std::string_view operation, BlockId id, VarId variable,
                                     std::span<const NumberedRun> runs, ConstArray values) {
  NMB_ASSIGN(const Put put, check_variable(operation, id, variable, values));
  NMB_ASSIGN(const std::vector<PlacedRuns> parts, placed_runs(put.shape, runs));
  const std::size_t size = memory_type_size(values.type());
  std::vector<Put> puts;
  for (const PlacedRuns& part : parts) {
    Put one = put;
    one.selected = part.runs;
    one.records = part.records;
    one.values =
        ConstArray(values.type(), {values.data() + part.first * size, part.elements * size});
    NMB_TRY(check_linked(one));
    puts.push_back(std::move(one));
  }
  return puts;
}

// Checks that the put, with the puts before it, replaces each piece in another file that it touches
// as a whole: the writer opens no other files, so it cannot read the rest of such a piece.
Status Puts::check_linked(const Put& put) const {
  const BlockState& block = w_.blocks[put.block];
  if (!block.committed || (block.committed->needs & (kNeedExternal | kNeedOriginals)) == 0)
    return {};
  IntervalSet replaced;
  for (RunCursor run = put.runs(); !run.at_end(); run.skip(run.elements()))
    replaced.add(run.offset(), run.offset() + run.elements() * put.shape.element_size);
  const ExtentState* const extent = block.values.extent();
  if (extent)
    for (const Interval& waiting : extent->unplaced()) replaced.add(waiting.begin, waiting.end);
  const std::vector<Interval> all = replaced.all();
  return w_.committed.reader->for_each_piece(
      *block.committed, all.front().begin, all.back().end, [&](const Piece& piece) -> Status {
        const std::uint64_t end = piece.logical + piece.length;
        if (piece.hole || piece.file == 0 || !replaced.touches(piece.logical, end)) return {};
        for (const Interval& gap : replaced.gaps(piece.logical, end))
          if (!extent || !extent->is_fresh(gap.begin, gap.end))
            return Status(Code::kUnsupported,
                          "values of variable " +
                              in_quotes(block.metadata->variable(put.variable).name) +
                              " of block " + in_quotes(w_.blocks.name(put.block)) +
                              " are in another file or in an original, so they cannot be changed "
                              "in part; nmconvert --repack copies the values of a file into it");
        return {};
      });
}

// Requests space for the bytes of a put that have no space. For a record that was added since
// end_define() or the last commit, requests space for all variables of the record, because the
// program usually puts the others soon.
Status Puts::want_places(const Put& put) {
  const BlockState& block = w_.blocks[put.block];
  ExtentState& extent = *block.values.extent();
  const std::uint64_t size = put.shape.element_size;
  auto want = [&](std::uint64_t begin, std::uint64_t end) {
    if (!extent.is_fresh(begin, end)) extent.want_place(begin, end);
  };
  if (extent.is_fresh(0, extent.length())) return {};
  const std::uint64_t records_begin = block.layout.record_begin - block.layout.header_length;
  std::uint64_t wanted = 0;  // all before is wanted, if it must be
  for (RunCursor run = put.runs(); !run.at_end(); run.skip(run.elements())) {
    const std::uint64_t end = run.offset() + run.elements() * size;
    if (put.shape.record_size == 0) {
      want(run.offset(), end);
      continue;
    }
    // A run may have several records if the record has no other variable.
    for (std::uint64_t at = std::max(run.offset(), wanted); at < end;) {
      const std::uint64_t record = (at - records_begin) / put.shape.record_size;
      const std::uint64_t begin = records_begin + record * put.shape.record_size;
      const std::uint64_t behind = std::min(begin + put.shape.record_size, extent.length());
      if (behind <= at) break;
      if (begin < extent.first_new()) {
        want(at, std::min(end, behind));
        at = std::min(end, behind);
      } else {
        want(begin, behind);
        wanted = at = behind;
      }
    }
  }
  return {};
}

// If a single rank puts more than the stage can hold, assigns places to all waiting values and to
// the values of `puts`. Several ranks can assign places only together.
Status Puts::make_room(std::span<Put* const> puts) {
  if (!w_.ranks.is_alone()) return {};
  std::uint64_t bytes = w_.stage.size();
  for (const Put* put : puts) bytes += put->values.count() * put->shape.element_size;
  if (bytes <= Stage::kMost) return {};
  for (const Put* put : puts) {
    NMB_TRY(start_put(w_, put->block, put->records).status());
    NMB_TRY(want_places(*put));
  }
  return w_.keep(place_values(w_));
}

// Puts a run of `elements` values, from value `index` of the put to offset `offset` of the extent.
Status Puts::put_run(Put& put, ExtentState& extent, std::uint64_t offset, std::uint64_t index,
                     std::uint64_t elements, std::vector<std::byte>& buffer) {
  const std::size_t from_size = memory_type_size(put.values.type());
  const std::size_t to_size = type_size(put.type);
  constexpr std::uint64_t kConvertedAtOnce = 1 << 20;
  for (std::uint64_t done = 0; done < elements;) {
    // Each part ends at a window boundary of the extent, so that ExtentState::write() can compute
    // the sums of whole pieces.
    const std::uint64_t at = offset + done * to_size;
    const std::uint64_t window = kConvertedAtOnce - at % kConvertedAtOnce;
    const std::uint64_t count =
        std::min(elements - done, std::max<std::uint64_t>(1, window / to_size));
    buffer.resize(count * to_size);
    put.out_of_range +=
        convert_to_external(put.values.type(), put.values.data() + (index + done) * from_size,
                            count, put.type, buffer.data(), put.kind);
    NMB_TRY(extent.write(at, buffer, w_.buffer, w_.stage));
    done += count;
  }
  return {};
}

Status Puts::range_status(const Put& put) const {
  if (put.out_of_range == 0) return {};
  return Status(Code::kRange,
                joined_text("found ", put.out_of_range, " values of variable ",
                            in_quotes(w_.blocks[put.block].metadata->variable(put.variable).name),
                            " out of the range of ", type_name(put.type)));
}

Status Puts::put(BlockId id, VarId variable, const Hyperslab& slab, ConstArray values) {
  NMB_ASSIGN(Put put, check("put()", id, variable, slab, values));
  if (put.empty) return {};
  Put* const one = &put;
  NMB_TRY(make_room(std::span(&one, 1)));
  NMB_ASSIGN(ExtentState * extent, start_put(w_, id, put.records));
  std::vector<std::byte> buffer;
  NMB_TRY(w_.keep(for_each_run(
      put.shape, slab, [&](std::uint64_t offset, std::uint64_t index, std::uint64_t elements) {
        return put_run(put, *extent, offset, index, elements, buffer);
      })));
  return range_status(put);
}

// Handles blocks in the order of their positions in the file, and merges the runs of all puts to a
// block, so that adjacent bytes are written together.
Status Puts::put_all_of(std::span<Put*> puts) {
  NMB_TRY(make_room(puts));
  std::ranges::stable_sort(puts, {}, [&](const Put* put) {
    return std::pair(w_.blocks[put->block].run_position, put->block);
  });
  std::vector<std::byte> buffer;
  for (auto first = puts.begin(); first != puts.end();) {
    const BlockId id = (*first)->block;
    const auto end = std::find_if(first, puts.end(), [&](const Put* p) { return p->block != id; });
    const std::span<Put*> of_block(first, end);
    std::vector<RunCursor> cursors;
    std::uint64_t records = 0;
    for (const Put* put : of_block) {
      records = std::max(records, put->records);
      cursors.push_back(put->runs());
    }
    NMB_ASSIGN(ExtentState * extent, start_put(w_, id, records));
    NMB_TRY(w_.keep(merge_runs(cursors, [&](std::size_t i, std::uint64_t offset,
                                            std::uint64_t index, std::uint64_t elements) {
      return put_run(*of_block[i], *extent, offset, index, elements, buffer);
    })));
    first = end;
  }
  return {};
}

}  // namespace nmb
