// Definitions: dimensions, variables, attributes, fill modes.
#include <climits>
#include <cstring>
#include <string>
#include <string_view>

#include "calls.h"
#include "model/values.h"
#include "open_file.h"

namespace nmb::pnetcdf {

namespace {

// In data mode, a name or an attribute may only become shorter, because PnetCDF changes the header
// in place; programs that keep to this work alike.
bool keeps_length(const OpenFile& file, std::size_t now, std::size_t then) {
  return file.defining || then <= now;
}

int check_var_or_global(const OpenFile& file, int variable) {
  return variable == kGlobalVariable || file.header.has_var(variable) ? code::kOk : code::kNotVar;
}

// Checks the name of a dimension or variable to be defined.
int check_new(const OpenFile& file, const char* name, std::string_view* normal, std::string* kept) {
  if (!file.by_path) return check_name(name, normal, kept);
  const int failed = check_path(name, kept);
  *normal = *kept;
  return failed;
}

// After an independent creation, definitions do not change.
bool is_final(const OpenFile& file) { return file.by_path && !file.defining; }

// The text of a name for a comparison with that of rank 0.
std::string_view text_of(const char* name) {
  return name ? std::string_view(name) : std::string_view();
}

}  // namespace

int call_def_dim(int id, const char* name, MPI_Offset length, int* dim) {
  return guarded([&] {
    OpenFile* const file = find_file(id);
    if (file == nullptr) return code::kBadId;
    std::string_view normal;
    std::string kept;
    const auto check = [&] {
      if (!file->defining) return code::kNotInDefine;
      if (const int failed = check_new(*file, name, &normal, &kept)) return failed;
      if (length < 0 || (file->format != kFormatData && length > INT_MAX)) return code::kDimSize;
      // All blocks have the same record dimension.
      if (length == 0 && file->by_path && !path_of(normal).empty()) return code::kNotSupported;
      if (length == 0 && file->header.record_dim() >= 0) return code::kUnlimitedInUse;
      if (file->header.dims() == INT_MAX) return code::kMaxDims;
      return file->header.find_dim(normal) ? code::kNameInUse : code::kOk;
    };
    if (const int failed = file->agree(check(), {same(text_of(name), code::kDifferDimName),
                                                 same(length, code::kDifferDimSize)}))
      return failed;
    int made = 0;
    const int failed = file->header.def_dim(
        normal, length == 0 ? std::uint64_t{kUnlimited} : static_cast<std::uint64_t>(length),
        &made);
    if (failed == code::kOk && dim != nullptr) *dim = made;
    return failed;
  });
}

int call_def_var(int id, const char* name, int type, int dims, const int* dim_ids, int* var) {
  return guarded([&] {
    OpenFile* const file = find_file(id);
    if (file == nullptr) return code::kBadId;
    std::string_view normal;
    std::string kept;
    const auto check = [&] {
      if (!file->defining) return code::kNotInDefine;
      if (const int failed = check_new(*file, name, &normal, &kept)) return failed;
      if (type <= 0 || type > kLastType) return code::kBadType;
      if (type > kDoubleType && file->format != kFormatData) return code::kStrictCdf2;
      if (dims < 0) return code::kInvalid;
      if (file->header.vars() == INT_MAX) return code::kMaxVars;
      if (file->header.find_var(normal)) return code::kNameInUse;
      if (dims > 0 && dim_ids == nullptr) return code::kInvalid;
      for (int i = 0; i < dims; ++i)
        if (!file->header.has_dim(dim_ids[i])) return code::kBadDim;
      // A variable has dimensions of its own block, and perhaps the record dimension.
      for (int i = 0; file->by_path && i < dims; ++i) {
        const Dimension dim = file->header.all().dimension(static_cast<DimId>(dim_ids[i]));
        if (!dim.is_record() && path_of(dim.name) != path_of(normal)) return code::kBadDim;
      }
      return code::kOk;
    };
    const std::span<const int> ids(dim_ids,
                                   dim_ids && dims > 0 ? static_cast<std::size_t>(dims) : 0);
    if (const int failed = file->agree(
            check(),
            {same(text_of(name), code::kDifferVarName), same(type, code::kDifferVarType),
             same(dims, code::kDifferVarDims), Same{std::as_bytes(ids), code::kDifferVarDimIds}}))
      return failed;
    // PnetCDF checks this after the comparison.
    const auto check_shape = [&] {
      std::uint64_t bytes = type_size(static_cast<Type>(type));
      for (std::size_t i = 0; i < ids.size(); ++i) {
        const Dimension dim = file->header.all().dimension(static_cast<DimId>(ids[i]));
        if (dim.is_record()) {
          if (i != 0) return code::kUnlimitedPosition;
        } else if (__builtin_mul_overflow(bytes, dim.length, &bytes) || bytes > LLONG_MAX - 3) {
          return code::kVarSize;
        }
      }
      return code::kOk;
    };
    if (const int failed = file->agree(check_shape())) return failed;
    static_assert(sizeof(DimId) == sizeof(int));  // the IDs are not negative
    const std::span own(reinterpret_cast<const DimId*>(ids.data()), ids.size());
    int made = 0;
    const int failed =
        file->header.def_var(normal, static_cast<Type>(type), own, !file->fill, &made);
    if (failed == code::kOk && var != nullptr) *var = made;
    return failed;
  });
}

int call_rename_dim(int id, int dim, const char* name) {
  return guarded([&] {
    OpenFile* const file = find_file(id);
    if (file == nullptr) return code::kBadId;
    std::string normal;
    const auto check = [&] {
      if (file->read_only) return code::kReadOnly;
      if (file->by_path) return code::kNotSupported;
      if (const int failed = check_name(name, &normal)) return failed;
      if (!file->header.has_dim(dim)) return code::kBadDim;
      const std::string_view now = file->header.all().dimension(static_cast<DimId>(dim)).name;
      const std::optional<DimId> other = file->header.find_dim(normal);
      if (other && static_cast<int>(*other) != dim) return code::kNameInUse;
      if (!file->keeps_block(dim, -1, normal)) return code::kNotSupported;
      return keeps_length(*file, now.size(), normal.size()) ? code::kOk : code::kNotInDefine;
    };
    if (const int failed = file->agree(check(), {same(text_of(name), code::kDifferDimName),
                                                 same(dim, code::kDifferArguments)}))
      return failed;
    file->header_dirty = true;
    return file->header.rename_dim(dim, normal);
  });
}

int call_rename_var(int id, int var, const char* name) {
  return guarded([&] {
    OpenFile* const file = find_file(id);
    if (file == nullptr) return code::kBadId;
    std::string normal;
    const auto check = [&] {
      if (file->read_only) return code::kReadOnly;
      if (file->by_path) return code::kNotSupported;
      if (var == kGlobalVariable) return code::kGlobalId;
      if (!file->header.has_var(var)) return code::kNotVar;
      if (const int failed = check_name(name, &normal)) return failed;
      if (file->header.find_var(normal)) return code::kNameInUse;
      if (!file->keeps_block(-1, var, normal)) return code::kNotSupported;
      const std::string_view now = file->header.all().variable(static_cast<VarId>(var)).name;
      return keeps_length(*file, now.size(), normal.size()) ? code::kOk : code::kNotInDefine;
    };
    if (const int failed = file->agree(check(), {same(text_of(name), code::kDifferVarName),
                                                 same(var, code::kDifferArguments)}))
      return failed;
    file->header_dirty = true;
    return file->header.rename_var(var, normal);
  });
}

// --- attributes ---

namespace {

// Checks that an attribute may be put: that there is room for it if the file is in data mode.
int check_room(const OpenFile& file, int variable, const std::string& name, Type type,
               std::uint64_t count) {
  const std::optional<Attribute> now = file.header.att(variable, name);
  if (file.defining) return code::kOk;
  if (!now) return code::kNotInDefine;
  return stored_bytes(type, count) <= stored_bytes(now->type, now->count) ? code::kOk
                                                                          : code::kNotInDefine;
}

int check_fill_value(const OpenFile& file, int variable, const std::string& name, int type,
                     MPI_Offset count) {
  if (variable == kGlobalVariable || name != "_FillValue") return code::kOk;
  if (type != static_cast<int>(file.header.all().variable(static_cast<VarId>(variable)).type))
    return code::kBadType;
  if (count != 1) return code::kInvalid;
  // As in PnetCDF, data mode lets an attribute change that is there; check_room() sees to the rest.
  const bool is_old = file.defining && !file.is_new && variable < file.old_vars;
  return is_old ? code::kLateFill : code::kOk;
}

// Puts an attribute whose values are in memory. Returns kRange if some values do not fit its type.
int store_att(OpenFile& file, int variable, const std::string& name, Type type, std::uint64_t count,
              const void* values, const Element& element) {
  std::vector<std::byte> own(count * type_size(type));
  const auto* from = static_cast<const std::byte*>(values);
  int result = code::kOk;
  if (count > 0) {
    if (!needs_conversion(type, element.type, file.format)) {
      std::memcpy(own.data(), from, own.size());
    } else {
      std::byte fill[8]{};
      default_fill({native(type)}, fill);
      if (convert(element.type, from, count, native(type), own.data(), fill) != 0)
        result = code::kRange;
    }
  }
  if (const int failed = file.header.put_att(variable, name, type, count, own.data()))
    return failed;
  file.header_dirty = true;
  return result;
}

}  // namespace

int put_att(int id, int variable, const char* name, int xtype, MPI_Offset count, const void* values,
            MPI_Datatype memory) {
  OpenFile* const file = find_file(id);
  if (file == nullptr) return code::kBadId;
  std::string normal;
  Element element{};
  const auto check = [&] {
    if (file->read_only) return code::kReadOnly;
    if (is_final(*file)) return code::kNotSupported;
    if (const int failed = check_var_or_global(*file, variable)) return failed;
    if (const int failed = check_name(name, &normal)) return failed;
    if (xtype <= 0 || xtype > kLastType) return code::kBadType;
    if (xtype > kDoubleType && file->format != kFormatData) return code::kStrictCdf2;
    element = memory == MPI_DATATYPE_NULL ? Element{native(static_cast<Type>(xtype))}
                                          : element_of(memory).value_or(Element{});
    if ((xtype == kCharType) != (element.type == MemoryType::kText)) return code::kChar;
    if (count > 0 && values == nullptr) return code::kInvalid;
    if (count < 0 || (count > INT_MAX && file->format != kFormatData)) return code::kInvalid;
    if (const int failed = check_fill_value(*file, variable, normal, xtype, count)) return failed;
    return check_room(*file, variable, normal, static_cast<Type>(xtype),
                      static_cast<std::uint64_t>(count));
  };
  const int checked = check();
  const std::size_t bytes =
      checked == code::kOk && values ? static_cast<std::size_t>(count) * element.size() : 0;
  if (const int failed = file->agree(
          checked,
          {same(text_of(name), code::kDifferAttName), same(variable, code::kDifferArguments),
           same(xtype, code::kDifferAttType), same(count, code::kDifferAttLength),
           Same{std::span(static_cast<const std::byte*>(values), bytes), code::kDifferAttValue}}))
    return failed;
  return store_att(*file, variable, normal, static_cast<Type>(xtype),
                   static_cast<std::uint64_t>(count), values, element);
}

int get_att(int id, int variable, const char* name, void* values, MPI_Datatype memory) {
  OpenFile* const file = find_file(id);
  if (file == nullptr) return code::kBadId;
  if (const int failed = check_var_or_global(*file, variable)) return failed;
  std::string normal;
  if (const int failed = look_up_name(name, &normal)) return failed;
  const std::optional<Attribute> att = file->header.att(variable, normal);
  if (!att) return code::kNotAtt;
  if (att->count == 0) return code::kOk;
  const Element element = memory == MPI_DATATYPE_NULL ? Element{native(att->type)}
                                                      : element_of(memory).value_or(Element{});
  if ((att->type == Type::kChar) != (element.type == MemoryType::kText)) return code::kChar;
  if (values == nullptr) return code::kInvalid;
  std::vector<std::byte> own(att->count * type_size(att->type));
  convert_from_external(att->type, att->values.data(), att->count, native(att->type), own.data());
  if (!needs_conversion(att->type, element.type, file->format)) {
    std::memcpy(values, own.data(), own.size());
    return code::kOk;
  }
  std::byte fill[8]{};
  default_fill(element, fill);
  const std::uint64_t out_of_range = convert(native(att->type), own.data(), att->count,
                                             element.type, static_cast<std::byte*>(values), fill);
  return out_of_range != 0 ? code::kRange : code::kOk;
}

int call_rename_att(int id, int variable, const char* name, const char* to) {
  return guarded([&] {
    OpenFile* const file = find_file(id);
    if (file == nullptr) return code::kBadId;
    std::string normal, normal_to;
    const auto check = [&] {
      if (file->read_only) return code::kReadOnly;
      if (is_final(*file)) return code::kNotSupported;
      if (const int failed = check_var_or_global(*file, variable)) return failed;
      if (const int failed = look_up_name(name, &normal)) return failed;
      return check_name(to, &normal_to);
    };
    if (const int failed = file->agree(check(), {same(text_of(name), code::kDifferAttName),
                                                 same(text_of(to), code::kDifferAttName),
                                                 same(variable, code::kDifferArguments)}))
      return failed;
    const auto check_names = [&] {
      if (!file->header.att(variable, normal)) return code::kNotAtt;
      if (file->header.att(variable, normal_to)) return code::kNameInUse;
      return keeps_length(*file, normal.size(), normal_to.size()) ? code::kOk : code::kNotInDefine;
    };
    if (const int failed = file->agree(check_names())) return failed;
    file->header_dirty = true;
    return file->header.rename_att(variable, normal, normal_to);
  });
}

int call_del_att(int id, int variable, const char* name) {
  return guarded([&] {
    OpenFile* const file = find_file(id);
    if (file == nullptr) return code::kBadId;
    std::string normal;
    const auto check = [&] {
      if (file->read_only) return code::kReadOnly;
      if (!file->defining) return code::kNotInDefine;
      if (const int failed = check_var_or_global(*file, variable)) return failed;
      return look_up_name(name, &normal);
    };
    if (const int failed = file->agree(check(), {same(text_of(name), code::kDifferAttName),
                                                 same(variable, code::kDifferArguments)}))
      return failed;
    if (const int failed =
            file->agree(file->header.att(variable, normal) ? code::kOk : code::kNotAtt))
      return failed;
    file->header_dirty = true;
    return file->header.delete_att(variable, normal);
  });
}

namespace {

using InqAtt = int (*)(int, int, const char*, int*, MPI_Offset*);
using GetAtt = int (*)(int, int, const char*, void*);
using PutAtt = int (*)(int, int, const char*, int, MPI_Offset, const void*);

// Copies an attribute between a file of ours and one of PnetCDF.
int copy_between(int from, int variable, const char* name, int to, int other) {
  int type = 0;
  MPI_Offset count = 0;
  const bool from_ours = is_ours(from);
  const int known =
      from_ours ? call_inq_att(from, variable, name, &type, &count)
                : real_function<InqAtt>(kIndex_inq_att)(from, variable, name, &type, &count);
  if (known != code::kOk) return known;
  std::vector<std::byte> values(static_cast<std::size_t>(count) * 8 + 8);
  const int got = from_ours
                      ? get_att(from, variable, name, values.data(), MPI_DATATYPE_NULL)
                      : real_function<GetAtt>(kIndex_get_att)(from, variable, name, values.data());
  if (got != code::kOk) return got;
  return is_ours(to)
             ? put_att(to, other, name, type, count, values.data(), MPI_DATATYPE_NULL)
             : real_function<PutAtt>(kIndex_put_att)(to, other, name, type, count, values.data());
}

}  // namespace

int call_copy_att(int from, int variable, const char* name, int to, int other) {
  return guarded([&] {
    if (!is_ours(from) || !is_ours(to)) return copy_between(from, variable, name, to, other);
    OpenFile* const source = find_file(from);
    OpenFile* const target = find_file(to);
    if (source == nullptr || target == nullptr) return code::kBadId;
    std::string normal;
    const auto check = [&] {
      if (target->read_only) return code::kReadOnly;
      if (is_final(*target)) return code::kNotSupported;
      if (const int failed = check_var_or_global(*source, variable)) return failed;
      if (const int failed = check_var_or_global(*target, other)) return failed;
      return look_up_name(name, &normal);
    };
    if (const int failed = target->agree(
            check(), {same(text_of(name), code::kDifferAttName),
                      same(variable, code::kDifferArguments), same(other, code::kDifferArguments)}))
      return failed;
    const std::optional<Attribute> att = source->header.att(variable, normal);
    const bool to_itself = source == target && variable == other;
    const auto check_att = [&] {
      if (!att) return code::kNotAtt;
      if (static_cast<int>(att->type) > kDoubleType && target->format != kFormatData)
        return code::kStrictCdf2;
      return to_itself ? code::kOk : check_room(*target, other, normal, att->type, att->count);
    };
    if (const int failed = target->agree(check_att())) return failed;
    if (to_itself) return code::kOk;
    std::vector<std::byte> own(att->count * type_size(att->type));
    convert_from_external(att->type, att->values.data(), att->count, native(att->type), own.data());
    return store_att(*target, other, normal, att->type, att->count, own.data(),
                     {native(att->type)});
  });
}

// --- fill modes ---

int call_set_fill(int id, int mode, int* old_mode) {
  return guarded([&] {
    OpenFile* const file = find_file(id);
    if (file == nullptr) return code::kBadId;
    if (file->read_only) return code::kReadOnly;
    if (!file->defining) return code::kNotInDefine;
    if (const int failed = file->agree(code::kOk, {same(mode, code::kDifferFillMode)}))
      return failed;
    if (mode != kFill && mode != kNoFill) return code::kInvalid;
    if (old_mode != nullptr) *old_mode = file->fill ? kFill : kNoFill;
    file->fill = mode == kFill;
    for (int v = 0; v < file->header.vars(); ++v) file->header.set_no_fill(v, mode == kNoFill);
    return code::kOk;
  });
}

int call_def_var_fill(int id, int variable, int no_fill, const void* value) {
  return guarded([&] {
    OpenFile* const file = find_file(id);
    if (file == nullptr) return code::kBadId;
    const auto check = [&] {
      if (!file->defining) return code::kNotInDefine;
      if (variable == kGlobalVariable) return code::kGlobalId;
      return file->header.has_var(variable) ? code::kOk : code::kNotVar;
    };
    const int checked = check();
    const int has_value = value != nullptr ? 1 : 0;
    std::size_t size = 0;
    if (checked == code::kOk && value != nullptr)
      size = type_size(file->header.all().variable(static_cast<VarId>(variable)).type);
    if (const int failed = file->agree(
            checked,
            {same(variable, code::kDifferArguments), same(no_fill, code::kDifferArguments),
             same(has_value, code::kDifferArguments),
             Same{std::span(static_cast<const std::byte*>(value), size), code::kDifferFillValue}}))
      return failed;
    file->header.set_no_fill(variable, no_fill != 0);
    if (value == nullptr || no_fill != 0) return code::kOk;
    const Type type = file->header.all().variable(static_cast<VarId>(variable)).type;
    if (const int failed =
            check_fill_value(*file, variable, "_FillValue", static_cast<int>(type), 1))
      return failed;
    return store_att(*file, variable, "_FillValue", type, 1, value, {native(type)});
  });
}

}  // namespace nmb::pnetcdf
