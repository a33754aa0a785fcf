// Putting values (spec/format.md, section 10.1).
#include <algorithm>
#include <cassert>

#include "block/name_rules.h"
#include "wire/checked.h"
#include "writer/writer_impl.h"

namespace nmb {

Result<BlockState*> Writer::Impl::readable(BlockId id) {
  NMB_TRY(failure_);
  NMB_TRY(check_id(id));
  NMB_TRY(load_definitions(id));
  return &state(id);
}

ExtentState* Writer::Impl::extent_of(BlockId id) {
  BlockState& block = state(id);
  if (ExtentState* const extent = block.values.extent()) return extent;
  assert(block.values.takes_puts());
  block.values = ExtentOrigin(PutValues(new_extent(id)));
  ExtentState* const extent = block.values.extent();
  if (block.run_position != 0)
    extent->start_run(block.extent_length, block.run_position);
  else
    extent->start_committed(block.extent_length);
  return extent;
}

std::unique_ptr<ExtentState> Writer::Impl::new_extent(BlockId id) {
  return std::make_unique<ExtentState>(
      superblock_.piece_size, [this, id](std::uint64_t from, std::uint64_t to, const auto& visit) {
        const BlockState& block = state(id);
        return block.committed ? core_->for_each_piece(*block.committed, from, to, visit)
                               : Status();
      });
}

Status Writer::Impl::take_values(BlockId id, std::shared_ptr<const ByteSource> source,
                                 std::vector<ValueRuns> runs, std::string origin) {
  NMB_TRY(failure_);
  NMB_TRY(check_id(id));
  BlockState& block = state(id);
  if (define_mode_ || block.run_position == 0 || block.values.extent() ||
      !block.values.takes_puts())
    return Status(Code::kUsage, "found values to take for block " + in_quotes(names_.at(id)) +
                                    ", expected a new block after end_define() that has values but "
                                    "none put");
  if (block.sharing)
    return Status(Code::kUsage, "found values to take for block " + in_quotes(names_.at(id)) +
                                    ", which several ranks share, expected put()");
  std::uint64_t end = 0;
  for (const ValueRuns& run : runs) {
    std::uint64_t last, to;
    if (run.count == 0 || run.length == 0 || run.extent_offset < end ||
        (run.count > 1 && run.extent_stride < run.length) ||
        !checked_mul(run.count - 1, run.extent_stride, &last) ||
        !checked_add(run.extent_offset, last, &to) || !checked_add(to, run.length, &to) ||
        to > block.extent_length)
      return Status(Code::kUsage,
                    "found runs of values that do not ascend within the extent of block " +
                        in_quotes(names_.at(id)));
    end = to;
  }
  block.values = ExtentOrigin(MovedValues({.source = std::move(source),
                                           .origin = std::move(origin),
                                           .runs = std::move(runs),
                                           .length = block.extent_length,
                                           .position = block.run_position}));
  return {};
}

std::uint64_t Writer::Impl::pending_bytes() const {
  std::uint64_t bytes = 0;
  for (BlockId id = 0; id < blocks_.size(); ++id) bytes += blocks_[id]->values.moved_bytes();
  return bytes;
}

// What the records of a block make of its extent.
void Writer::Impl::set_records(BlockState& block, std::uint64_t records) {
  block.records = records;
  block.layout.records = records;
  block.extent_length = block.layout.end(records) - block.layout.header_length;
}

// More records. What lies behind the last record (trailing bytes of a packed file) gives way.
Status Writer::Impl::grow(BlockId id, std::uint64_t records) {
  BlockState& block = state(id);
  ExtentState* const extent = extent_of(id);
  const std::uint64_t before =
      std::max(block.layout.fixed_end,
               block.records == 0 ? block.layout.record_begin : block.layout.end(block.records)) -
      block.layout.header_length;
  if (extent->length() > before) NMB_TRY(extent->resize(before, buffer_, *this));
  set_records(block, records);
  return extent->resize(block.extent_length, buffer_, *this);
}

Status Writer::Impl::put_all(BlockId id, VarId variable, const Hyperslab& slab, MemoryType memory,
                             const void* values, std::uint64_t count) {
  std::vector<Put> puts;
  const Status status = together("put_all()", [&]() -> Status {
    auto check = [&]() -> Status {
      NMB_TRY(check_count(slab, count));
      if (count == 0) return {};
      NMB_ASSIGN(Put put, check_put("put_all()", id, variable, slab, memory, values));
      puts.push_back(std::move(put));
      return {};
    };
    const Status checked = check();
    return put_together(checked, puts);
  });
  if (!status.ok() || puts.empty()) return status;
  return range_status(puts[0]);
}

Result<Writer::Impl::Put> Writer::Impl::check_put(std::string_view operation, BlockId id,
                                                  VarId variable, const Hyperslab& slab,
                                                  MemoryType memory, const void* values) {
  NMB_TRY(failure_);
  NMB_TRY(check_id(id));
  if (define_mode_)
    return Status(Code::kUsage, "found " + std::string(operation) +
                                    " in define mode, expected end_define() before");
  BlockState& block = state(id);
  if (!block.values.takes_puts())
    return Status(Code::kUsage, "found " + std::string(operation) + " to block " +
                                    in_quotes(names_.at(id)) +
                                    " before its values were moved, expected sync() before");
  NMB_TRY(load_definitions(id));
  const Metadata& metadata = *block.metadata;
  if (variable >= metadata.variable_count())
    return Status(Code::kUsage, "found variable ID " + std::to_string(variable) + " of " +
                                    std::to_string(metadata.variable_count()) + " variables");
  const Type type = metadata.variable(variable).type;
  if ((type == Type::kChar) != (memory == MemoryType::kText))
    return Status(Code::kUsage, "found text and numbers mixed for variable " +
                                    in_quotes(metadata.variable(variable).name));
  NMB_ASSIGN(VariableShape shape, shape_of(metadata, block.layout, variable, block.records));
  NMB_TRY(check_hyperslab(shape, slab, true));
  Put put{id, variable, type, memory, block.kind, std::move(shape), 0, values};
  put.slab = slab;
  put.empty = element_count(slab) == 0;
  if (put.empty || put.shape.record_size == 0) return put;
  const std::uint64_t stride = slab.stride.empty() ? 1 : slab.stride[0];
  std::uint64_t end;
  if (!checked_mul(slab.count[0] - 1, stride, &put.records) ||
      !checked_add(put.records, slab.start[0] + 1, &put.records) ||
      !checked_mul(put.records, put.shape.record_size, &end) ||
      !checked_add(end, block.layout.record_begin, &end) || end >> 62)
    return Status(Code::kLimit, "found records that end behind 2^62 bytes");
  return put;
}

// The extent of a block to which values are put, with room for so many records.
Result<ExtentState*> Writer::Impl::start_put(BlockId id, std::uint64_t records) {
  ExtentState* const extent = extent_of(id);
  BlockState& block = state(id);
  if (records > block.records) NMB_TRY(keep(grow(id, records)));
  if (!block.dirty) dirty_.push_back(id);
  block.dirty = true;
  return extent;
}

// A run of a put: `elements` of its values from `index` on, to `offset` in the extent.
Status Writer::Impl::put_run(Put& put, ExtentState& extent, std::uint64_t offset,
                             std::uint64_t index, std::uint64_t elements,
                             std::vector<std::byte>& buffer) {
  const std::size_t from_size = memory_type_size(put.memory);
  const std::size_t to_size = type_size(put.type);
  constexpr std::uint64_t kConvertedAtOnce = 1 << 20;
  for (std::uint64_t done = 0; done < elements;) {
    // Parts end where windows of the extent do, so that whole pieces are summed in passing.
    const std::uint64_t at = offset + done * to_size;
    const std::uint64_t window = kConvertedAtOnce - at % kConvertedAtOnce;
    const std::uint64_t count =
        std::min(elements - done, std::max<std::uint64_t>(1, window / to_size));
    buffer.resize(count * to_size);
    put.out_of_range += convert_to_external(
        put.memory, static_cast<const std::byte*>(put.values) + (index + done) * from_size, count,
        put.type, buffer.data(), put.kind);
    NMB_TRY(extent.write(at, buffer, buffer_, stage_));
    done += count;
  }
  return {};
}

Status Writer::Impl::range_status(const Put& put) {
  if (put.out_of_range == 0) return {};
  return Status(Code::kRange,
                "found " + std::to_string(put.out_of_range) + " values of variable " +
                    in_quotes(state(put.block).metadata->variable(put.variable).name) +
                    " out of the range of " + std::string(type_name(put.type)));
}

Status Writer::Impl::put(BlockId id, VarId variable, const Hyperslab& slab, MemoryType memory,
                         const void* values) {
  NMB_ASSIGN(Put put, check_put("put()", id, variable, slab, memory, values));
  if (put.empty) return {};
  Put* const one = &put;
  NMB_TRY(make_room(std::span(&one, 1)));
  NMB_ASSIGN(ExtentState * extent, start_put(id, put.records));
  std::vector<std::byte> buffer;
  NMB_TRY(keep(for_each_run(put.shape, slab,
                            [&](std::uint64_t offset, std::uint64_t index, std::uint64_t elements) {
                              return put_run(put, *extent, offset, index, elements, buffer);
                            })));
  return range_status(put);
}

}  // namespace nmb
