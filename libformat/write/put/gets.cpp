#include "put/gets.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "model/name_rules.h"
#include "put/value_exchange.h"
#include "sources/value_source.h"
#include "state/extents.h"
#include "state/stored_blocks.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

// The fill values of one variable. Bytes of other variables become zero.
class VariableFill {
 public:
  VariableFill(const VariableShape& shape, std::vector<std::byte> value)
      : begin_(shape.begin), record_size_(shape.record_size), value_(std::move(value)) {
    length_ = value_.size();
    for (std::size_t i = shape.record_size != 0 ? 1 : 0; i < shape.lengths.size(); ++i)
      length_ *= shape.lengths[i];
  }

  void fill(std::uint64_t offset, std::span<std::byte> out) const {
    const std::uint64_t end = offset + out.size();
    std::ranges::fill(out, std::byte{0});
    std::uint64_t at = begin_;
    if (record_size_ != 0 && offset > begin_) at += (offset - begin_) / record_size_ * record_size_;
    for (; at < end; at += record_size_) {
      const std::uint64_t from = std::max(at, offset), to = std::min(at + length_, end);
      for (std::uint64_t i = from; i < to; ++i) out[i - offset] = value_[(i - at) % value_.size()];
      if (record_size_ == 0) return;
    }
  }

 private:
  std::uint64_t begin_, record_size_, length_;
  std::vector<std::byte> value_;
};

}  // namespace

Status Gets::get_one(std::string_view operation, const Get& get) {
  NMB_TRY(check_id(w_, get.block));
  NMB_TRY(
      check_not_from_hdf5(w_, get.block, "its values cannot be read before they are committed"));
  if (w_.define_mode)
    return Status(
        Code::kUsage,
        joined_text(operation, " is not allowed in define mode; call end_define() first"));
  BlockState& block = w_.blocks[get.block];
  if (!block.values.takes_puts())
    return Status(
        Code::kUsage,
        joined_text(operation, " of block ", in_quotes(w_.blocks.name(get.block)),
                    " is not allowed before its values are committed; call sync() first"));
  NMB_TRY(check_unchanged_elsewhere(w_, get.block, "read its values"));
  NMB_TRY(load_definitions(w_, get.block));
  const Metadata& metadata = *block.metadata;
  if (get.variable >= metadata.variable_count())
    return Status(Code::kUsage,
                  joined_text("invalid variable ID ", get.variable, ": the block has ",
                              metadata.variable_count(), " variables"));
  NMB_ASSIGN(const VariableShape shape,
             shape_of(metadata, block.layout, get.variable, block.next.records));
  NMB_TRY(check_hyperslab(shape, get.slab));
  NMB_TRY(check_count(get.out.count(), element_count(get.slab)));
  const VariableFill fill(shape, fill_value(metadata, get.variable));
  note_own_puts(w_);
  // The extent as this rank sees it.
  ExtentState& extent = *extent_of(w_, get.block);
  const Source values = source_of(form::Called{
      extent.length(), w_.file->name(), [&](std::uint64_t offset, std::span<std::byte> out) {
        return extent.get(
            offset, out, w_.buffer, w_.stage,
            [&](std::uint64_t at, std::span<std::byte> part) { fill.fill(at, part); });
      }});
  return read_hyperslab(metadata, shape, get.variable, *values, get.slab, get.out, block.next.kind);
}

Status Gets::check_statuses(std::size_t gets, std::size_t statuses) const {
  if (statuses == 0 || statuses == gets) return {};
  return Status(Code::kUsage,
                joined_text("found an array for ", statuses, " statuses, expected 0 or ", gets));
}

Status Gets::get_each(std::string_view operation, std::span<const Get> gets,
                      std::span<Status> statuses) {
  Status first;
  for (std::size_t i = 0; i < gets.size(); ++i) {
    const Status status = get_one(operation, gets[i]);
    if (first.ok()) first = status;
    if (!statuses.empty()) statuses[i] = status;
  }
  return first;
}

Status Gets::get(std::span<const Get> gets, std::span<Status> statuses) {
  NMB_TRY(w_.failure);
  NMB_TRY(check_statuses(gets.size(), statuses.size()));
  return get_each("get()", gets, statuses);
}

Status Gets::get_all(std::span<const Get> gets, std::span<Status> statuses,
                     const Status& arguments) {
  const auto check = [&]() -> Status {
    NMB_TRY(arguments);
    if (w_.define_mode)
      return Status(Code::kUsage,
                    "get_all() is not allowed in define mode; call end_define() first");
    return check_statuses(gets.size(), statuses.size());
  };
  NMB_TRY(w_.together("get_all()", check, [&] { return exchange_values(w_); }));
  return w_.ranks.agree(get_each("get_all()", gets, statuses));
}

Status Gets::flush() {
  const auto check = [&]() -> Status {
    if (w_.define_mode)
      return Status(Code::kUsage, "flush() is not allowed in define mode; call end_define() first");
    return {};
  };
  return w_.together("flush()", check, [&] { return exchange_values(w_); });
}

}  // namespace nmb
