#include "model/metadata.h"

#include <algorithm>
#include <string>

#include "model/name_rules.h"
#include "model/name_tag.h"
#include "wire/checked.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

constexpr std::uint32_t kMaxObjects = 0x7FFFFFFF;
constexpr std::uint32_t kMaxRank = 65535;
constexpr std::uint64_t kMaxLength = ~std::uint64_t{0} >> 1;

Status taken(std::string_view kind, std::string_view name) {
  return failure(Code::kExists, kind, " ", in_quotes(name), ": found twice");
}

// Offsets in the heap have 32 bits.
constexpr std::uint64_t kMaxHeap = ~std::uint32_t{0};

Status no_room(std::uint64_t objects) {
  if (objects >= kMaxObjects)
    return Status(Code::kLimit,
                  "found more than 2^31 - 1 dimensions, variables or attributes in a block");
  return Status(Code::kLimit, "found more than 4 GiB of names and attribute values in a block");
}

// heap: number of bytes in the heap, at most kMaxHeap.
Status check_room(std::uint64_t objects, std::uint64_t heap, std::uint64_t more) {
  if (objects < kMaxObjects && more <= kMaxHeap - heap) [[likely]]
    return {};
  return no_room(objects);
}

// Returns the index, below `count`, for which same(index) is true. Objects that are not in the
// table yet are compared one by one.
template <class Same>
std::uint32_t search(const NameTable& table, std::uint32_t count, std::uint32_t tag, Same same) {
  std::uint32_t found = table.find(tag, same);
  for (std::uint32_t i = table.size(); found == NameTable::kAbsent && i < count; ++i)
    if (same(i)) found = i;
  return found;
}

}  // namespace

std::uint32_t Metadata::search_dimension(std::string_view name, std::uint32_t tag) const {
  return search(dim_table_, dims_.size(), tag, [&](std::uint32_t i) {
    return is_name(dims_[i].name, dims_[i].name_length, name);
  });
}

std::uint32_t Metadata::search_variable(std::string_view name, std::uint32_t tag) const {
  return search(var_table_, vars_.size(), tag, [&](std::uint32_t i) {
    return is_name(vars_[i].name, vars_[i].name_length, name);
  });
}

Metadata::AttributeSearch Metadata::search_attribute(VarId owner, std::string_view name) const {
  const auto same = [&](std::uint32_t i) {
    return atts_[i].owner == owner && is_name(atts_[i].name, atts_[i].name_length, name);
  };
  std::uint32_t seen = 0;
  for (std::uint32_t index = first_attribute(owner); index != kNone; index = atts_[index].next) {
    if (seen == NameTable::kLinear) return {att_table_.find(tag_of(name, owner), same), true};
    ++seen;
    if (same(index)) return {index, false};
  }
  return {kNone, seen == NameTable::kLinear};
}

Status Metadata::clash() const {
  if (clash_dim_ != kNone) return taken("dimension", dimension(clash_dim_).name);
  if (clash_var_ != kNone) return taken("variable", variable(clash_var_).name);
  return {};
}

template <class NameOf>
std::uint32_t Metadata::settle(NameTable& table, std::uint32_t count, NameOf name_of) {
  const std::uint32_t first = table.size();
  if (count < NameTable::kLinear || first == count) return kNone;
  GrowArray<std::uint32_t> tags;
  tags.reserve_more(count - first);
  for (std::uint32_t i = first; i < count; ++i) tags.push_back(tag_of(name_of(i)));
  return table.insert_all(first, tags.span(), [&](std::uint32_t a, std::uint32_t b) {
    return name_of(a) == name_of(b);
  });
}

Status Metadata::settle_names() {
  NMB_TRY(clash());
  clash_dim_ = settle(dim_table_, dims_.size(), [&](DimId i) { return dimension(i).name; });
  clash_var_ = settle(var_table_, vars_.size(), [&](VarId i) { return variable(i).name; });
  return clash();
}

Result<DimId> Metadata::def_dim(std::string_view name, std::uint64_t length, Name state) {
  if (has_clash()) return clash();
  const bool known = state == Name::kFree;
  if (names_rule_ == Names::kNew && !known) NMB_TRY(check_new_name("dimension", name));
  if (length > kMaxLength && length != kUnlimited)
    return failure(Code::kUsage, "dimension ", in_quotes(name), ": found length ",
                   given_text(length), ", expected 1 to 2^63 - 1, or kUnlimited");
  if (length == kUnlimited && record_dim_ != kNone)
    return Status(Code::kUsage, "dimension " + in_quotes(name) +
                                    ": found a second record dimension, the first is " +
                                    in_quotes(dimension(record_dim_).name));
  NMB_TRY(check_room(dims_.size(), heap_.size(), name.size()));
  const std::uint32_t id = dims_.size();
  const bool later = dim_table_.is_far() && !names_at_once_;
  const bool in_table = !later && id >= NameTable::kLinear;
  if (in_table && dim_table_.size() < id) {
    clash_dim_ = settle(dim_table_, id, [&](DimId i) { return dimension(i).name; });
    NMB_TRY(clash());
  }
  const std::uint32_t tag = in_table ? tag_of(name) : 0;
  if (!later && !known && search_dimension(name, tag) != kNone) return taken("dimension", name);

  if (in_table) dim_table_.reserve_one();
  dims_.reserve_more(1);
  const std::uint32_t place = heap_.size();
  heap_.append(name.data(), name.size());
  dims_.push_back({place, static_cast<std::uint32_t>(name.size()), length});
  if (length == kUnlimited) record_dim_ = id;
  if (in_table) dim_table_.insert(tag, id);
  return id;
}

Result<VarId> Metadata::def_var(std::string_view name, Type type, std::span<const DimId> dimensions,
                                Name state) {
  if (has_clash()) return clash();
  const bool known = state == Name::kFree;
  if (names_rule_ == Names::kNew && !known) NMB_TRY(check_new_name("variable", name));
  if (dimensions.size() > kMaxRank)
    return failure(Code::kLimit, "variable ", in_quotes(name), ": found ", dimensions.size(),
                   " dimensions, expected at most 65535");
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    if (dimensions[i] >= dims_.size())
      return failure(Code::kUsage, "variable ", in_quotes(name), ": found dimension id ",
                     dimensions[i], ", expected less than ", dims_.size());
    if (i > 0 && dimensions[i] == record_dim_)
      return failure(Code::kUsage, "variable ", in_quotes(name),
                     ": found the record dimension in place ", i, ", expected it in place 0 only");
  }
  NMB_TRY(check_room(vars_.size(), heap_.size(), name.size()));
  if (dim_ids_.size() > ~std::uint32_t{0} - dimensions.size())
    return Status(Code::kLimit, "found more than 2^32 - 1 dimension ids in a block");
  const std::uint32_t id = vars_.size();
  const bool later = var_table_.is_far() && !names_at_once_;
  const bool in_table = !later && id >= NameTable::kLinear;
  if (in_table && var_table_.size() < id) {
    clash_var_ = settle(var_table_, id, [&](VarId i) { return variable(i).name; });
    NMB_TRY(clash());
  }
  const std::uint32_t tag = in_table ? tag_of(name) : 0;
  if (!later && !known && search_variable(name, tag) != kNone) return taken("variable", name);

  if (in_table) var_table_.reserve_one();
  vars_.reserve_more(1);
  const std::uint32_t first_dim = dim_ids_.size();
  dim_ids_.append(dimensions.data(), dimensions.size());
  const std::uint32_t place = heap_.size();
  heap_.append(name.data(), name.size());
  VariableRecord record;
  record.name = place;
  record.name_length = static_cast<std::uint32_t>(name.size());
  record.first_dim = first_dim;
  record.rank = static_cast<std::uint16_t>(dimensions.size());
  record.type = static_cast<std::uint16_t>(type);
  record.first_att = record.last_att = kNone;
  record.begin = 0;
  vars_.push_back(record);
  if (in_table) var_table_.insert(tag, id);
  return id;
}

Status Metadata::check_attribute(VarId owner, std::string_view name, Type type,
                                 std::span<const std::byte> values) const {
  if (names_rule_ == Names::kNew) NMB_TRY(check_new_name("attribute", name));
  if (owner != kGlobal && owner >= vars_.size())
    return failure(Code::kUsage, "attribute ", in_quotes(name), ": found variable id ", owner,
                   ", expected less than ", vars_.size());
  if (values.size() % type_size(type) != 0)
    return failure(Code::kUsage, "attribute ", in_quotes(name), ": found ", values.size(),
                   " bytes, expected whole values of type ", type_name(type));
  return check_room(atts_.size(), heap_.size(), std::uint64_t{name.size()} + values.size());
}

void Metadata::append_attribute(VarId owner, std::string_view name, Type type, std::uint64_t count,
                                std::span<const std::byte> values, bool in_table) {
  if (in_table) att_table_.reserve_one();
  const std::uint32_t tag = in_table ? tag_of(name, owner) : 0;
  atts_.reserve_more(1);
  const std::uint32_t index = atts_.size();
  AttributeRecord record;
  record.name = heap_.size();
  record.name_length = static_cast<std::uint32_t>(name.size());
  record.values = record.name + record.name_length;
  record.count = static_cast<std::uint32_t>(count);
  record.bytes = static_cast<std::uint32_t>(values.size());
  record.owner = owner;
  record.next = kNone;
  record.type = static_cast<std::uint32_t>(type);
  // Name and values are appended in one step, because either may be a view into the heap.
  heap_.append_two(name.data(), name.size(), reinterpret_cast<const char*>(values.data()),
                   values.size());
  atts_.push_back(record);
  if (in_table) att_table_.insert(tag, index);
  std::uint32_t& first = owner == kGlobal ? first_global_ : vars_[owner].first_att;
  std::uint32_t& last = owner == kGlobal ? last_global_ : vars_[owner].last_att;
  if (first == kNone)
    first = index;
  else
    atts_[last].next = index;
  last = index;
}

Status Metadata::def_att(VarId owner, std::string_view name, Type type,
                         std::span<const std::byte> values) {
  NMB_TRY(check_attribute(owner, name, type, values));
  const AttributeSearch search = search_attribute(owner, name);
  if (search.index != kNone) return taken("attribute", name);
  append_attribute(owner, name, type, values.size() / type_size(type), values, search.in_table);
  return {};
}

Status Metadata::def_extended_att(VarId owner, std::string_view name, Type type,
                                  std::uint64_t count, std::span<const std::byte> values) {
  NMB_TRY(check_attribute(owner, name, Type::kByte, values));
  const AttributeSearch search = search_attribute(owner, name);
  if (search.index != kNone) return taken("attribute", name);
  if (count > ~std::uint32_t{0})
    return failure(Code::kLimit, "attribute ", in_quotes(name), ": found ", count,
                   " values, expected at most 2^32 - 1");
  append_attribute(owner, name, type, count, values, search.in_table);
  return {};
}

Status Metadata::put_att(VarId owner, std::string_view name, Type type,
                         std::span<const std::byte> values) {
  NMB_TRY(check_attribute(owner, name, type, values));
  const AttributeSearch search = search_attribute(owner, name);
  if (search.index == kNone) {
    append_attribute(owner, name, type, values.size() / type_size(type), values, search.in_table);
    return {};
  }
  AttributeRecord& record = atts_[search.index];
  // Other blocks may share a borrowed heap.
  if (values.size() <= record.bytes && !heap_.is_borrowed()) {
    if (!values.empty()) std::memmove(heap_.data() + record.values, values.data(), values.size());
  } else {
    const std::uint32_t place = heap_.size();
    heap_.append(reinterpret_cast<const char*>(values.data()), values.size());
    record.values = place;
  }
  record.count = static_cast<std::uint32_t>(values.size() / type_size(type));
  record.bytes = static_cast<std::uint32_t>(values.size());
  record.type = static_cast<std::uint32_t>(type);
  return {};
}

Status Metadata::replace_values(VarId owner, std::string_view name,
                                std::span<const std::byte> values) {
  const AttributeSearch search = search_attribute(owner, name);
  if (search.index == kNone)
    return Status(Code::kNotFound, "found no attribute " + in_quotes(name));
  AttributeRecord& record = atts_[search.index];
  if (values.size() != record.bytes)
    return failure(Code::kUsage, "attribute ", in_quotes(name), ": found ", values.size(),
                   " bytes, expected ", record.bytes);
  if (values.empty()) return {};
  // Other blocks may share a borrowed heap.
  if (!heap_.is_borrowed()) {
    std::memmove(heap_.data() + record.values, values.data(), values.size());
    return {};
  }
  const std::uint32_t place = heap_.size();
  heap_.append(reinterpret_cast<const char*>(values.data()), values.size());
  record.values = place;
  return {};
}

std::uint32_t Metadata::attribute_count(VarId owner) const {
  std::uint32_t count = 0;
  for (std::uint32_t i = first_attribute(owner); i != kNone; i = atts_[i].next) ++count;
  return count;
}

Attribute Metadata::attribute_at(std::uint32_t index) const {
  const AttributeRecord& record = atts_[index];
  const Type type = static_cast<Type>(record.type);
  return {name_at(record.name, record.name_length), type, record.count,
          std::as_bytes(heap_.span().subspan(record.values, record.bytes))};
}

std::optional<DimId> Metadata::find_dimension(std::string_view name) const {
  const std::uint32_t found = search_dimension(name, dim_table_.empty() ? 0 : tag_of(name));
  return found == kNone ? std::nullopt : std::optional<DimId>(found);
}

std::optional<VarId> Metadata::find_variable(std::string_view name) const {
  const std::uint32_t found = search_variable(name, var_table_.empty() ? 0 : tag_of(name));
  return found == kNone ? std::nullopt : std::optional<VarId>(found);
}

std::optional<Attribute> Metadata::find_attribute(VarId owner, std::string_view name) const {
  const AttributeSearch search = search_attribute(owner, name);
  return search.index == kNone ? std::nullopt
                               : std::optional<Attribute>(attribute_at(search.index));
}

namespace {

template <class T>
void start_in(std::pmr::memory_resource& memory, GrowArray<T>& array, std::uint32_t count) {
  if (count > 0) array.start_in(memory.allocate(count * sizeof(T), alignof(T)), count);
}

template <class T>
void copy(GrowArray<T>& array, const GrowArray<T>& other, std::pmr::memory_resource& memory) {
  start_in(memory, array, other.size());
  array.append(other.data(), other.size());
}

// alike: metadata whose memory `array` may share, or nullptr.
template <class T>
void copy_or_share(GrowArray<T>& array, const GrowArray<T>& other, const GrowArray<T>* alike,
                   std::pmr::memory_resource& memory) {
  if (alike && alike->is_borrowed() && std::ranges::equal(alike->span(), other.span()))
    array.share(*alike);
  else
    copy(array, other, memory);
}

}  // namespace

void Metadata::reserve_like(const Metadata& other, std::pmr::memory_resource& memory) {
  start_in(memory, dims_, other.dims_.size());
  start_in(memory, vars_, other.vars_.size());
  start_in(memory, atts_, other.atts_.size());
  start_in(memory, dim_ids_, other.dim_ids_.size());
  start_in(memory, heap_, other.heap_.size());
}

void Metadata::copy_from(const Metadata& other, std::pmr::memory_resource& memory,
                         const Metadata* alike) {
  copy(dims_, other.dims_, memory);
  copy(vars_, other.vars_, memory);
  copy(atts_, other.atts_, memory);
  copy_or_share(dim_ids_, other.dim_ids_, alike ? &alike->dim_ids_ : nullptr, memory);
  copy_or_share(heap_, other.heap_, alike ? &alike->heap_ : nullptr, memory);
  dim_table_ = other.dim_table_;
  var_table_ = other.var_table_;
  att_table_ = other.att_table_;
  record_dim_ = other.record_dim_;
  first_global_ = other.first_global_;
  last_global_ = other.last_global_;
  clash_dim_ = other.clash_dim_;
  clash_var_ = other.clash_var_;
  names_rule_ = other.names_rule_;
  names_at_once_ = other.names_at_once_;
  extension_ = other.extension_;
}

void Metadata::clear() {
  dims_.clear();
  vars_.clear();
  atts_.clear();
  dim_ids_.clear();
  heap_.clear();
  dim_table_ = var_table_ = att_table_ = {};
  record_dim_ = first_global_ = last_global_ = clash_dim_ = clash_var_ = kNone;
  extension_.reset();
}

void Metadata::shrink() {
  dims_.shrink();
  vars_.shrink();
  atts_.shrink();
  dim_ids_.shrink();
  heap_.shrink();
}

std::size_t Metadata::memory() const {
  const std::size_t tables = dim_table_.memory() + var_table_.memory() + att_table_.memory();
  return sizeof *this + dims_.capacity() * sizeof(DimensionRecord) +
         vars_.capacity() * sizeof(VariableRecord) + atts_.capacity() * sizeof(AttributeRecord) +
         dim_ids_.capacity() * sizeof(DimId) + heap_.capacity() + tables;
}

}  // namespace nmb
