#include "header.h"

#include <malloc.h>

#include <algorithm>
#include <cstring>

#include "model/name_rules.h"
#include "model/values.h"
#include "normal_form.h"
#include "wire/bytes.h"

namespace nmb::pnetcdf {

namespace {

int code_of(const Status& status) {
  switch (status.code()) {
    case Code::kOk:
      return code::kOk;
    case Code::kExists:
      return code::kNameInUse;
    case Code::kLimit:
      return code::kNoMemory;
    default:
      return code::kInvalid;
  }
}

}  // namespace

namespace {

int normalize(const char* text, std::string_view* normal, std::string* kept) {
  if (text == nullptr || *text == '\0') return code::kBadName;
  *normal = std::string_view(text, ::strnlen(text, kLongestName + 1));
  if (normal->size() > kLongestName) return code::kMaxName;
  if (std::ranges::all_of(*normal, [](char c) { return static_cast<unsigned char>(c) < 0x80; }))
    return code::kOk;
  if (!is_utf8(*normal)) return code::kBadName;
  *kept = normal_form(*normal);
  *normal = *kept;
  return code::kOk;
}

}  // namespace

int look_up_name(const char* text, std::string* normal) {
  std::string_view found;
  std::string kept;
  if (const int failed = normalize(text, &found, &kept)) return failed;
  normal->assign(found);
  return code::kOk;
}

int check_name(const char* text, std::string_view* normal, std::string* kept) {
  if (const int failed = normalize(text, normal, kept)) return failed;
  const std::string_view name(text);
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '/' || byte < 0x20 || byte == 0x7f) return code::kBadName;
  }
  const char first = name[0];
  const bool letter = (first >= 'A' && first <= 'Z') || (first >= 'a' && first <= 'z');
  const bool digit = first >= '0' && first <= '9';
  if (static_cast<unsigned char>(first) < 0x80 && !letter && !digit && first != '_')
    return code::kBadName;
  return name.back() == ' ' ? code::kBadName : code::kOk;
}

int check_path(const char* text, std::string* normal) {
  if (const int failed = look_up_name(text, normal); failed != code::kOk) return failed;
  std::string_view rest = *normal;
  for (;;) {
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    std::string part;
    if (const int failed = check_name(std::string(rest.substr(0, slash)).c_str(), &part))
      return failed;
    if (slash == rest.size()) return code::kOk;
    rest.remove_prefix(slash + 1);
  }
}

int check_name(const char* text, std::string* normal) {
  std::string_view found;
  std::string kept;
  if (const int failed = check_name(text, &found, &kept)) return failed;
  normal->assign(found);
  return code::kOk;
}

std::uint64_t stored_bytes(Type type, std::uint64_t count) {
  return (count * type_size(type) + 3) / 4 * 4;
}

namespace {

// A header that has this many objects of a kind gets room for very many of them at once. malloc()
// maps so large an array by itself: it grows without a copy, and room that is not used needs no
// memory.
constexpr std::uint32_t kMany = 1 << 17, kRoomForDims = 1 << 21, kRoomForVars = 1 << 20;

// Arrays that grew by a copy, such as that of all names, have left free memory in the middle of the
// heap.
void release_free_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace

Metadata& Header::own() {
  if (all_.use_count() > 1) all_ = std::make_shared<Metadata>(*all_);
  return *all_;
}

std::shared_ptr<Metadata> Header::share() {
  dim_index_.clear();
  var_index_.clear();
  if (all_.use_count() == 1) all_->shrink();
  return all_;
}

int Header::record_vars() const {
  int count = 0;
  for (VarId v = 0; v < all_->variable_count(); ++v) count += all_->is_record_variable(v) ? 1 : 0;
  return count;
}

int Header::def_dim(std::string_view name, std::uint64_t length, int* id) {
  if (all_->dimension_count() == kMany) own().reserve(kRoomForDims, 0);
  const Result<DimId> made = own().def_dim(name, length, Metadata::Name::kFree);
  if (!made.ok()) return code_of(made.status());
  *id = static_cast<int>(*made);
  return code::kOk;
}

int Header::def_var(std::string_view name, Type type, std::span<const DimId> dims, bool no_fill,
                    int* id) {
  if (all_->variable_count() == kMany) own().reserve(0, kRoomForVars);
  const Result<VarId> made = own().def_var(name, type, dims, Metadata::Name::kFree);
  if (!made.ok()) return code_of(made.status());
  no_fill_.push_back(no_fill);
  if (*made > 0 && *made % kMany == 0) release_free_memory();
  *id = static_cast<int>(*made);
  return code::kOk;
}

int Header::put_att(int variable, const std::string& name, Type type, std::uint64_t count,
                    const std::byte* values) {
  std::vector<std::byte> external(count * type_size(type));
  if (count > 0) convert_to_external(native(type), values, count, type, external.data());
  return code_of(own().put_att(owner(variable), name, type, external));
}

int Header::rename_dim(int id, const std::string& name) {
  return rebuild({.dim = id, .name = name});
}

int Header::rename_var(int id, const std::string& name) {
  return rebuild({.var = id, .name = name});
}

int Header::rename_att(int variable, const std::string& name, const std::string& to) {
  return rebuild({.owner = owner(variable), .att = name, .name = to});
}

int Header::delete_att(int variable, const std::string& name) {
  return rebuild({.owner = owner(variable), .att = name});
}

int Header::rebuild(const Change& change) {
  Metadata made(Metadata::Names::kAsFound);
  made.reserve(all_->dimension_count(), all_->variable_count());
  constexpr auto kFree = Metadata::Name::kFree;
  const auto atts = [&](VarId of) {
    return all_->try_each_attribute(of, [&](const Attribute& att) -> Status {
      const bool meant = change.owner && *change.owner == of && att.name == change.att;
      if (meant && change.name.empty()) return {};
      return made.put_att(of, meant ? std::string_view(change.name) : att.name, att.type,
                          att.values);
    });
  };
  const auto all = [&]() -> Status {
    for (DimId d = 0; d < all_->dimension_count(); ++d) {
      const Dimension dim = all_->dimension(d);
      const bool meant = change.dim == static_cast<int>(d);
      NMB_TRY(made.def_dim(meant ? std::string_view(change.name) : dim.name, dim.length, kFree)
                  .status());
    }
    NMB_TRY(atts(kGlobal));
    for (VarId v = 0; v < all_->variable_count(); ++v) {
      const Variable var = all_->variable(v);
      const bool meant = change.var == static_cast<int>(v);
      NMB_TRY(made.def_var(meant ? std::string_view(change.name) : var.name, var.type,
                           var.dimensions, kFree)
                  .status());
      made.set_begin(v, var.begin);
      NMB_TRY(atts(v));
    }
    return {};
  };
  if (const Status status = all(); !status.ok()) return code_of(status);
  *this = Header(std::move(made), std::move(no_fill_));
  return code::kOk;
}

void Header::fill_value(int variable, std::byte* out) const {
  const Type type = all_->variable(static_cast<VarId>(variable)).type;
  const std::vector<std::byte> external = nmb::fill_value(*all_, static_cast<VarId>(variable));
  convert_from_external(type, external.data(), 1, native(type), out);
}

int Header::check_sizes(int format) const {
  const std::uint64_t most = format == kFormatData     ? (std::uint64_t{1} << 63) - 4
                             : format == kFormatOffset ? std::uint64_t{4294967295U} - 3
                                                       : std::uint64_t{2147483647U} - 3;
  // One variable may be larger if nothing follows it: the last fixed-size variable of a file
  // without record variables, or the last record variable.
  int large_fixed = 0, large_record = 0, records = 0;
  bool last_fixed_is_large = false, last_record_is_large = false;
  for (VarId v = 0; v < all_->variable_count(); ++v) {
    const std::optional<std::uint64_t> bytes = all_->array_bytes(v);
    const bool large = !bytes || *bytes > most;
    if (large && format == kFormatData) return code::kVarSize;
    if (all_->is_record_variable(v)) {
      ++records;
      large_record += large ? 1 : 0;
      last_record_is_large = large;
    } else {
      large_fixed += large ? 1 : 0;
      last_fixed_is_large = large;
    }
  }
  if (large_fixed > 1 || (large_fixed == 1 && !last_fixed_is_large)) return code::kVarSize;
  if (records == 0) return code::kOk;
  if (large_fixed == 1 || large_record > 1) return code::kVarSize;
  return large_record == 1 && !last_record_is_large ? code::kVarSize : code::kOk;
}

Result<std::vector<std::byte>> Header::encoded(int format) const {
  std::vector<std::byte> bytes;
  NMB_TRY(encode_classic_header(*all_, kind_of_format(format), 0,
                                [&](std::span<const std::byte> part) -> Status {
                                  bytes.insert(bytes.end(), part.begin(), part.end());
                                  return {};
                                }));
  return bytes;
}

int Header::decode(std::span<const std::byte> bytes) {
  Result<ClassicHeader> header = decode_classic_header(
      MemorySource(std::vector<std::byte>(bytes.begin(), bytes.end())), {.values_follow = false});
  if (!header.ok()) return code::kNotNetcdf;
  no_fill_.resize(header->metadata.variable_count(), true);
  *this = Header(std::move(header->metadata), std::move(no_fill_));
  return code::kOk;
}

}  // namespace nmb::pnetcdf
