// Metadata: the dimensions, attributes and variables of one block, in compact arrays
// (spec/format.md, section 2). A classic header is decoded to a Metadata, and encoded from a
// Metadata.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string_view>

#include "model/extension.h"
#include "model/name_table.h"
#include "wire/block_entry.h"
#include "wire/failure.h"
#include "wire/grow_array.h"
#include "wire/kinds.h"

namespace nmb {

// Dimension, Attribute and Variable are views into a Metadata. A view is valid until the Metadata
// changes.
struct Dimension {
  std::string_view name;
  std::uint64_t length;  // kUnlimited for the record dimension
  bool is_record() const { return length == kUnlimited; }
};

struct Attribute {
  std::string_view name;
  Type type;
  std::uint64_t count;  // values
  // Values in external form: big-endian, count * type_size(type) bytes. If the type is one of the
  // block's own types, these are `count` values, followed by the bytes to which the values refer
  // (spec/extended.md, section 15).
  std::span<const std::byte> values;
};

struct Variable {
  std::string_view name;
  Type type;
  // Dimensions, slowest first; only the first can be the record dimension.
  std::span<const DimId> dimensions;
  std::uint64_t begin;  // offset of the first value, from the start of the header
};

// Concurrent reads are safe; changes are not thread-safe. Names are compared byte by byte (memcmp).
// Memory exhaustion throws std::bad_alloc.
class Metadata {
 public:
  // How names are checked. With kNew, names must follow the rules of spec/writer.md, section 5.6.
  // With kAsFound, names from a file are accepted unchanged, except for duplicates.
  enum class Names : std::uint8_t { kNew, kAsFound };

  // Value kFree: the caller knows that the name is legal and not taken.
  enum class Name : std::uint8_t { kUnknown, kFree };

  explicit Metadata(Names names = Names::kNew) : names_rule_(names) {}

  // Adds a dimension. IDs count from 0 in order of definition. Errors: kExists if the name is
  // taken; kUsage for an illegal name, a length above 2^63 - 1 that is not kUnlimited, or a second
  // record dimension. All functions that add objects return kLimit for more than 2^31 - 1 objects
  // of a kind, or for more than 4 GiB of names and attribute values. If there are more than 3,584
  // dimensions or variables, def_dim() and def_var() may accept a taken name. settle_names()
  // reports the name later. The Metadata is then unusable, and every call that adds an object fails
  // with kExists. To find a taken name at once, call check_names_at_once() first.
  NMB_EXPORT Result<DimId> def_dim(std::string_view name, std::uint64_t length,
                                   Name state = Name::kUnknown);
  // Adds a variable. Errors: kExists; kUsage if a dimension is unknown, or if the record dimension
  // is not the first dimension.
  NMB_EXPORT Result<VarId> def_var(std::string_view name, Type type,
                                   std::span<const DimId> dimensions, Name state = Name::kUnknown);
  // Checks the names that were not checked when their objects were added. Errors: kExists if the
  // name of a dimension or variable was taken; the message names the first such object. Before this
  // call, a lookup of a name is a linear search if the name comes after the first 3,584 dimensions
  // or variables.
  NMB_EXPORT Status settle_names();
  // Makes each later call check the name that it adds, and report a taken name. These checks make
  // calls slower if there are very many names.
  void check_names_at_once() { names_at_once_ = true; }
  // Sets the type of a variable. The function is for decoders, which read the attributes of a
  // variable before its type.
  void set_type(VarId id, Type type) { vars_[id].type = static_cast<std::uint16_t>(type); }
  // Adds an attribute, or replaces an attribute without changing the order of attributes. `values`
  // must be in external form. Errors: kUsage if the owner is unknown, or if the last value is
  // incomplete.
  NMB_EXPORT Status put_att(VarId owner, std::string_view name, Type type,
                            std::span<const std::byte> values);
  // Sets the extension of a body of kind 6 (model/extension.h); nullptr means none. Call this
  // function before the first definition that uses one of the block's own types.
  void set_extension(std::shared_ptr<const Extension> extension) {
    extension_ = std::move(extension);
  }
  const std::shared_ptr<const Extension>& extension() const { return extension_; }
  // Returns the number of bytes of a value of `type`, which is a classic type or one of the block's
  // own types.
  std::uint64_t value_size(Type type) const {
    return TypeTable::is_extended(type) ? extension_->types.value_size(type) : type_size(type);
  }
  // Adds an attribute with one of the block's own types, as def_att() does. `values` contains
  // `count` values, followed by the bytes to which the values refer.
  NMB_EXPORT Status def_extended_att(VarId owner, std::string_view name, Type type,
                                     std::uint64_t count, std::span<const std::byte> values);
  // Replaces the values of an attribute of any type by the same number of bytes. Errors: kNotFound;
  // kUsage if the number of bytes differs.
  NMB_EXPORT Status replace_values(VarId owner, std::string_view name,
                                   std::span<const std::byte> values);
  // Adds an attribute as put_att() does, but fails with kExists if the name is taken. The function
  // is for decoders.
  NMB_EXPORT Status def_att(VarId owner, std::string_view name, Type type,
                            std::span<const std::byte> values);

  std::uint32_t dimension_count() const { return dims_.size(); }
  std::uint32_t variable_count() const { return vars_.size(); }
  // Returns the number of attributes of the block and all its variables together.
  std::uint32_t attribute_count() const { return atts_.size(); }
  NMB_EXPORT std::uint32_t attribute_count(VarId owner) const;

  Dimension dimension(DimId id) const {
    const DimensionRecord& record = dims_[id];
    return {name_at(record.name, record.name_length), record.length};
  }
  Variable variable(VarId id) const {
    const VariableRecord& record = vars_[id];
    return {name_at(record.name, record.name_length),
            static_cast<Type>(record.type),
            {dim_ids_.data() + record.first_dim, record.rank},
            record.begin};
  }
  NMB_EXPORT std::optional<DimId> find_dimension(std::string_view name) const;
  NMB_EXPORT std::optional<VarId> find_variable(std::string_view name) const;
  NMB_EXPORT std::optional<Attribute> find_attribute(VarId owner, std::string_view name) const;
  // Calls visit(const Attribute&) for each attribute of `owner`, in order of definition.
  template <class Visit>
  void for_each_attribute(VarId owner, Visit visit) const {
    for (std::uint32_t i = first_attribute(owner); i != kNone; i = atts_[i].next)
      visit(attribute_at(i));
  }
  // Calls `visit` as for_each_attribute() does. If `visit` returns a failure, stops and returns
  // this failure.
  template <class Visit>
  Status try_each_attribute(VarId owner, Visit visit) const {
    for (std::uint32_t i = first_attribute(owner); i != kNone; i = atts_[i].next)
      NMB_TRY(visit(attribute_at(i)));
    return {};
  }
  std::optional<DimId> record_dimension() const {
    return record_dim_ == kNone ? std::nullopt : std::optional<DimId>(record_dim_);
  }
  // Returns the record count of a block whose header has `numrecs`. If there is a record dimension,
  // the record count is `numrecs`. If there is none, the record count is the length of the first
  // unlimited dimension, or 0 without an unlimited dimension.
  std::uint64_t record_count(std::uint64_t numrecs) const {
    if (record_dim_ != kNone) return numrecs;
    if (!extension_ || extension_->unlimited.empty()) return 0;
    return dims_[extension_->unlimited.front().dimension].length;
  }
  bool is_record_variable(VarId id) const {
    const VariableRecord& v = vars_[id];
    return v.rank > 0 && dim_ids_[v.first_dim] == record_dim_;
  }
  // Changes a dimension's length. Neither the old nor the new length may be kUnlimited.
  void set_length(DimId id, std::uint64_t length) { dims_[id].length = length; }
  void set_begin(VarId id, std::uint64_t begin) { vars_[id].begin = begin; }
  std::uint64_t begin(VarId id) const { return vars_[id].begin; }
  // Returns the number of bytes in one record of a record variable, or in all values of another
  // variable. The number does not include padding. If the values are not a plain array, returns the
  // number of bytes in the variable's region. Returns nullopt if the product of the lengths does
  // not fit in 64 bits.
  std::optional<std::uint64_t> slice_bytes(VarId id) const {
    if (extension_) [[unlikely]]
      if (const Storage* storage = extension_->storage_of(id)) return storage->region_length;
    return array_bytes(id);
  }
  // Returns the number that slice_bytes() would return if the values were stored as a plain array.
  std::optional<std::uint64_t> array_bytes(VarId id) const {
    const VariableRecord& record = vars_[id];
    std::uint64_t bytes = value_size(static_cast<Type>(record.type));
    for (std::uint32_t i = is_record_variable(id) ? 1 : 0; i < record.rank; ++i)
      if (__builtin_mul_overflow(bytes, dims_[dim_ids_[record.first_dim + i]].length, &bytes))
        return std::nullopt;
    return bytes;
  }

  // Reserves memory for `dimensions` more dimensions and `variables` more variables, and for some
  // of their names. May throw std::bad_alloc.
  void reserve(std::uint64_t dimensions, std::uint64_t variables) {
    constexpr std::uint64_t kNameBytes = 20, kMostBytes = 4096;
    dims_.reserve_more(dimensions);
    vars_.reserve_more(variables);
    heap_.reserve_more(std::min((dimensions + variables) * kNameBytes, kMostBytes));
  }
  // Reserves room in `memory` for everything in `other`; this Metadata must be empty, and `memory`
  // must outlive it. Copies of this Metadata use memory of their own. Definitions that do not fit
  // in the reserved room also use memory of their own.
  NMB_EXPORT void reserve_like(const Metadata& other, std::pmr::memory_resource& memory);
  // Reserves room as reserve_like() does, then copies `other`. `alike` may be an earlier copy in
  // the same memory. The new copy then shares equal names and attribute values with `alike`.
  NMB_EXPORT void copy_from(const Metadata& other, std::pmr::memory_resource& memory,
                            const Metadata* alike = nullptr);
  // Removes all definitions; keeps the memory.
  NMB_EXPORT void clear();
  // Frees memory that is reserved for more definitions.
  NMB_EXPORT void shrink();
  // Returns the number of bytes of memory in use.
  NMB_EXPORT std::size_t memory() const;

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct DimensionRecord {
    std::uint32_t name, name_length;
    std::uint64_t length;
  };
  struct VariableRecord {
    std::uint32_t name, name_length;
    std::uint32_t first_dim;  // in dim_ids_
    std::uint16_t rank, type;
    std::uint32_t first_att, last_att;  // indexes into atts_, or kNone
    std::uint64_t begin;
  };
  struct AttributeRecord {
    std::uint32_t name, name_length;
    std::uint32_t values, count;  // offset of the values in heap_, and number of values
    std::uint32_t bytes;          // bytes of the values
    std::uint32_t owner;
    std::uint32_t next;  // next attribute of the same owner, or kNone
    std::uint32_t type;
  };

  std::uint32_t first_attribute(VarId owner) const {
    return owner == kGlobal ? first_global_ : vars_[owner].first_att;
  }
  NMB_EXPORT Attribute attribute_at(std::uint32_t index) const;

  std::string_view name_at(std::uint32_t place, std::uint32_t length) const {
    return {heap_.data() + place, length};
  }
  // Names of equal length mostly differ in their first or last byte. Only the comparison of the
  // other bytes needs a function call.
  bool is_name(std::uint32_t place, std::uint32_t length, std::string_view name) const {
    return length == name.size() &&
           (length == 0 || (heap_[place + length - 1] == name.back() &&
                            heap_[place] == name.front() && name_at(place, length) == name));
  }
  struct AttributeSearch {
    std::uint32_t index;  // index of the attribute, or kNone
    bool in_table;        // whether att_table_ holds the owner's attributes from this one on
  };
  AttributeSearch search_attribute(VarId owner, std::string_view name) const;
  // Adds the names name_of(i) for i in [table.size(), count) to the table. Returns the index of the
  // first name that is taken, or kNone.
  template <class NameOf>
  static std::uint32_t settle(NameTable& table, std::uint32_t count, NameOf name_of);
  // Returns whether it is known that an object was added although its name was taken.
  bool has_clash() const { return clash_dim_ != kNone || clash_var_ != kNone; }
  Status clash() const;
  std::uint32_t search_dimension(std::string_view name, std::uint32_t tag) const;
  std::uint32_t search_variable(std::string_view name, std::uint32_t tag) const;
  Status check_attribute(VarId owner, std::string_view name, Type type,
                         std::span<const std::byte> values) const;
  void append_attribute(VarId owner, std::string_view name, Type type, std::uint64_t count,
                        std::span<const std::byte> values, bool in_table);

  GrowArray<DimensionRecord> dims_;
  GrowArray<VariableRecord> vars_;
  GrowArray<AttributeRecord> atts_;
  GrowArray<DimId> dim_ids_;
  GrowArray<char> heap_;  // names and attribute values
  // Tables to find names. dim_table_ and var_table_ are used if there are more than 32 dimensions
  // or variables. att_table_ holds an owner's attributes from the 33rd attribute on.
  NameTable dim_table_, var_table_, att_table_;
  std::uint32_t record_dim_ = kNone;
  std::uint32_t first_global_ = kNone, last_global_ = kNone;
  std::uint32_t clash_dim_ = kNone, clash_var_ = kNone;
  std::shared_ptr<const Extension> extension_;
  Names names_rule_;
  bool names_at_once_ = false;
};

}  // namespace nmb
