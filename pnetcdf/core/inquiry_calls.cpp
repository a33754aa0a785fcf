// Inquiry: what is defined, without communication.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "calls.h"
#include "open_file.h"

namespace nmb::pnetcdf {

namespace {

template <class Call>
int with_file(int id, Call call) {
  return guarded([&] {
    const OpenFile* const file = find_file(id);
    return file == nullptr ? code::kBadId : call(*file);
  });
}

void give_name(std::string_view from, char* to) {
  if (to == nullptr) return;
  std::ranges::copy(from, to);
  to[from.size()] = '\0';
}

template <class T, class V>
void give(T* to, V value) {
  if (to != nullptr) *to = static_cast<T>(value);
}

int check_var(const OpenFile& file, int id) {
  if (id == kGlobalVariable) return code::kGlobalId;
  return file.header.has_var(id) ? code::kOk : code::kNotVar;
}

// Calls with a variable.
template <class Call>
int with_var(int id, int variable, Call call) {
  return with_file(id, [&](const OpenFile& file) {
    if (const int failed = check_var(file, variable)) return failed;
    return call(file, file.header.all().variable(static_cast<VarId>(variable)));
  });
}

void give_dims(const Variable& var, int* dim_ids) {
  if (dim_ids != nullptr)
    std::ranges::transform(var.dimensions, dim_ids, [](DimId id) { return static_cast<int>(id); });
}

}  // namespace

int call_inq(int id, int* dims, int* vars, int* atts, int* record_dim) {
  return with_file(id, [&](const OpenFile& file) {
    give(dims, file.header.dims());
    give(vars, file.header.vars());
    give(atts, file.header.all().attribute_count(kGlobal));
    give(record_dim, file.header.record_dim());
    return code::kOk;
  });
}

int call_inq_ndims(int id, int* number) { return call_inq(id, number, nullptr, nullptr, nullptr); }
int call_inq_nvars(int id, int* number) { return call_inq(id, nullptr, number, nullptr, nullptr); }
int call_inq_natts(int id, int* number) { return call_inq(id, nullptr, nullptr, number, nullptr); }
int call_inq_unlimdim(int id, int* dim) { return call_inq(id, nullptr, nullptr, nullptr, dim); }

int call_inq_format(int id, int* format) {
  return with_file(id, [&](const OpenFile& file) {
    give(format, file.format);
    return code::kOk;
  });
}

int call_inq_version(int id, int* mode) {
  return with_file(id, [&](const OpenFile& file) {
    give(mode, file.format == kFormatData     ? kModeData
               : file.format == kFormatOffset ? kModeOffset
                                              : kModeClassic);
    return code::kOk;
  });
}

int call_inq_path(int id, int* length, char* path) {
  return with_file(id, [&](const OpenFile& file) {
    give(length, file.path.size());
    give_name(file.path, path);
    return code::kOk;
  });
}

int call_inq_num_rec_vars(int id, int* number) {
  return with_file(id, [&](const OpenFile& file) {
    if (number != nullptr) *number = file.header.record_vars();
    return code::kOk;
  });
}

int call_inq_num_fix_vars(int id, int* number) {
  return with_file(id, [&](const OpenFile& file) {
    if (number != nullptr) *number = file.header.vars() - file.header.record_vars();
    return code::kOk;
  });
}

int call_inq_striping(int id, int* size, int* count) {
  return with_file(id, [&](const OpenFile& file) {
    const auto number = [&](const char* key) {
      char value[MPI_MAX_INFO_VAL + 1];
      int found = 0;
      if (file.info == MPI_INFO_NULL) return 0;
      MPI_Info_get(file.info, key, MPI_MAX_INFO_VAL, value, &found);
      return found != 0 ? static_cast<int>(std::strtol(value, nullptr, 10)) : 0;
    };
    give(size, number("striping_unit"));
    give(count, number("striping_factor"));
    return code::kOk;
  });
}

// --- dimensions ---

int call_inq_dimid(int id, const char* name, int* dim) {
  return with_file(id, [&](const OpenFile& file) {
    std::string normal;
    if (const int failed = look_up_name(name, &normal)) return failed;
    const std::optional<DimId> found = file.header.find_dim(normal);
    if (!found) return code::kBadDim;
    give(dim, *found);
    return code::kOk;
  });
}

int call_inq_dim(int id, int dim, char* name, MPI_Offset* length) {
  return with_file(id, [&](const OpenFile& file) {
    if (!file.header.has_dim(dim)) return code::kBadDim;
    const Dimension found = file.header.all().dimension(static_cast<DimId>(dim));
    give_name(found.name, name);
    give(length, found.is_record() ? file.records : found.length);
    return code::kOk;
  });
}

int call_inq_dimname(int id, int dim, char* name) { return call_inq_dim(id, dim, name, nullptr); }
int call_inq_dimlen(int id, int dim, MPI_Offset* length) {
  return call_inq_dim(id, dim, nullptr, length);
}

// --- variables ---

int call_inq_var(int id, int variable, char* name, int* type, int* dims, int* dim_ids, int* atts) {
  return with_file(id, [&](const OpenFile& file) {
    if (variable == kGlobalVariable) {
      if (name != nullptr || type != nullptr || dims != nullptr || dim_ids != nullptr)
        return code::kGlobalId;
      give(atts, file.header.all().attribute_count(kGlobal));
      return code::kOk;
    }
    if (!file.header.has_var(variable)) return code::kNotVar;
    const Variable var = file.header.all().variable(static_cast<VarId>(variable));
    give_name(var.name, name);
    give(type, static_cast<int>(var.type));
    give(dims, var.dimensions.size());
    give_dims(var, dim_ids);
    give(atts, file.header.all().attribute_count(static_cast<VarId>(variable)));
    return code::kOk;
  });
}

int call_inq_varid(int id, const char* name, int* variable) {
  return with_file(id, [&](const OpenFile& file) {
    std::string normal;
    if (const int failed = look_up_name(name, &normal)) return failed;
    const std::optional<VarId> found = file.header.find_var(normal);
    if (!found) return code::kNotVar;
    give(variable, *found);
    return code::kOk;
  });
}

int call_inq_varname(int id, int variable, char* name) {
  return with_var(id, variable, [&](const OpenFile&, const Variable& var) {
    give_name(var.name, name);
    return code::kOk;
  });
}

int call_inq_vartype(int id, int variable, int* type) {
  return with_var(id, variable, [&](const OpenFile&, const Variable& var) {
    give(type, static_cast<int>(var.type));
    return code::kOk;
  });
}

int call_inq_varndims(int id, int variable, int* dims) {
  return with_var(id, variable, [&](const OpenFile&, const Variable& var) {
    give(dims, var.dimensions.size());
    return code::kOk;
  });
}

int call_inq_vardimid(int id, int variable, int* dim_ids) {
  return with_var(id, variable, [&](const OpenFile&, const Variable& var) {
    give_dims(var, dim_ids);
    return code::kOk;
  });
}

int call_inq_varnatts(int id, int variable, int* atts) {
  return with_file(id, [&](const OpenFile& file) {
    if (variable != kGlobalVariable && !file.header.has_var(variable)) return code::kNotVar;
    give(atts, file.header.all().attribute_count(Header::owner(variable)));
    return code::kOk;
  });
}

int call_inq_varoffset(int id, int variable, MPI_Offset* offset) {
  return with_var(id, variable, [&](const OpenFile&, const Variable& var) {
    give(offset, var.begin);
    return code::kOk;
  });
}

int call_inq_var_fill(int id, int variable, int* no_fill, void* value) {
  return with_var(id, variable, [&](const OpenFile& file, const Variable& var) {
    give(no_fill, file.header.no_fill(variable) ? 1 : 0);
    if (value != nullptr) {
      std::byte fill[8]{};
      file.header.fill_value(variable, fill);
      std::memcpy(value, fill, type_size(var.type));
    }
    return code::kOk;
  });
}

// --- attributes ---

int call_inq_att(int id, int variable, const char* name, int* type, MPI_Offset* count) {
  return with_file(id, [&](const OpenFile& file) {
    if (variable != kGlobalVariable && !file.header.has_var(variable)) return code::kNotVar;
    std::string normal;
    if (const int failed = look_up_name(name, &normal)) return failed;
    const std::optional<Attribute> att = file.header.att(variable, normal);
    if (!att) return code::kNotAtt;
    give(type, static_cast<int>(att->type));
    give(count, att->count);
    return code::kOk;
  });
}

int call_inq_atttype(int id, int variable, const char* name, int* type) {
  return call_inq_att(id, variable, name, type, nullptr);
}
int call_inq_attlen(int id, int variable, const char* name, MPI_Offset* count) {
  return call_inq_att(id, variable, name, nullptr, count);
}

int call_inq_attid(int id, int variable, const char* name, int* att) {
  return with_file(id, [&](const OpenFile& file) {
    if (variable != kGlobalVariable && !file.header.has_var(variable)) return code::kNotVar;
    std::string normal;
    if (const int failed = look_up_name(name, &normal)) return failed;
    int at = 0, found = -1;
    file.header.all().for_each_attribute(Header::owner(variable), [&](const Attribute& one) {
      if (one.name == normal) found = at;
      ++at;
    });
    if (found < 0) return code::kNotAtt;
    give(att, found);
    return code::kOk;
  });
}

int call_inq_attname(int id, int variable, int att, char* name) {
  return with_file(id, [&](const OpenFile& file) {
    if (variable != kGlobalVariable && !file.header.has_var(variable)) return code::kNotVar;
    int at = 0;
    bool found = false;
    file.header.all().for_each_attribute(Header::owner(variable), [&](const Attribute& one) {
      if (at++ != att) return;
      found = true;
      give_name(one.name, name);
    });
    if (!found) return code::kNotAtt;
    return name == nullptr ? code::kInvalid : code::kOk;
  });
}

// --- sizes: those of the classic file that nmconvert writes ---

int call_inq_header_size(int id, MPI_Offset* size) {
  return with_file(id, [&](const OpenFile& file) {
    give(size, file.layout.header_length);
    return code::kOk;
  });
}

int call_inq_header_extent(int id, MPI_Offset* size) { return call_inq_header_size(id, size); }

int call_inq_recsize(int id, MPI_Offset* size) {
  return with_file(id, [&](const OpenFile& file) {
    give(size, file.layout.record_size);
    return code::kOk;
  });
}

int call_inq_put_size(int id, MPI_Offset* size) {
  return with_file(id, [&](const OpenFile& file) {
    give(size, file.put_bytes);
    return code::kOk;
  });
}

int call_inq_get_size(int id, MPI_Offset* size) {
  return with_file(id, [&](const OpenFile& file) {
    give(size, file.got_bytes);
    return code::kOk;
  });
}

int call_inq_file_info(int id, MPI_Info* info) {
  return with_file(id, [&](const OpenFile& file) {
    if (info == nullptr) return code::kOk;
    return MPI_Info_dup(file.info, info) == MPI_SUCCESS ? code::kOk : code::kMpi;
  });
}

int call_get_file_info(int id, MPI_Info* info) { return call_inq_file_info(id, info); }

int call_inq_files_opened(int* number, int* files) {
  return guarded([&] {
    const std::vector<int> ids = open_files();
    *number = static_cast<int>(ids.size());
    if (files != nullptr) std::ranges::copy(ids, files);
    return code::kOk;
  });
}

}  // namespace nmb::pnetcdf
