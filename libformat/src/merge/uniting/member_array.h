// MemberArray: what a dataset of a union has of a variable, one value behind the other and of the
// united variable's type.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "netcdf/array_source.h"
#include "netcdf/type_widening.h"
#include "nmb/bytes.h"
#include "nmb/types.h"
#include "wire/shared_range.h"

namespace nmb {

// Where the values lie, and what they become.
struct MemberValues {
  Source values;            // of the dataset
  std::uint64_t begin = 0;  // of the variable in it
  std::uint64_t bytes = 0;  // of all values, or of those of a record
  std::uint64_t records = 0, record_size = 0;
  bool is_record = false;  // records do not follow one another at once
  Type type{}, to{};
  bool maps_fill = false;  // as widened_array() has it
};

class MemberArray final : public ByteSource {
 public:
  explicit MemberArray(MemberValues parts) : parts_(std::move(parts)), array_(array_of(parts_)) {}
  std::uint64_t size() const override { return array_->size(); }
  const std::string& name() const override { return array_->name(); }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    return array_->read_at(offset, out);
  }
  bool is_unallocated(std::uint64_t offset, std::uint64_t length) const override {
    return array_->is_unallocated(offset, length);
  }
  bool may_be_sparse() const override { return array_->may_be_sparse(); }
  const MemberValues& parts() const { return parts_; }

 private:
  static Source array_of(const MemberValues& parts) {
    VariableShape shape;
    shape.lengths = {parts.records};
    shape.begin = parts.begin;
    shape.record_size = parts.record_size;
    Source array = parts.is_record && parts.bytes > 0
                       ? record_array(parts.values, shape, parts.bytes)
                       : std::make_shared<SharedRange>(parts.values, parts.begin, parts.bytes);
    if (parts.type == parts.to) return array;
    return widened_array(std::move(array), parts.type, parts.to, parts.maps_fill);
  }

  const MemberValues parts_;
  const Source array_;
};

}  // namespace nmb
