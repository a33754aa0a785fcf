#include <bit>

#include "calls.h"
#include "memory_form.h"

namespace nmb::udf {

namespace {

template <class Work>
int on_type(int ncid, nc_type type, Work work) {
  return on_group(ncid, [&](OpenFile& file, Group&) -> int {
    const UserType* const found = file.type(type);
    return found ? work(*found) : NC_EBADTYPE;
  });
}

bool are_equal(const OpenFile& file, nc_type type, const OpenFile& other_file, nc_type other) {
  if (type <= NC_MAX_ATOMIC_TYPE || other <= NC_MAX_ATOMIC_TYPE) return type == other;
  const UserType* const a = file.type(type);
  const UserType* const b = other_file.type(other);
  if (!a || !b || a->type_class != b->type_class || a->size != b->size || a->name != b->name ||
      a->members != b->members || a->fields.size() != b->fields.size())
    return false;
  if (a->base != NC_NAT && !are_equal(file, a->base, other_file, b->base)) return false;
  for (std::size_t i = 0; i < a->fields.size(); ++i) {
    const UserType::Field &x = a->fields[i], &y = b->fields[i];
    if (x.name != y.name || x.offset != y.offset || x.lengths != y.lengths ||
        !are_equal(file, x.type, other_file, y.type))
      return false;
  }
  return true;
}

}  // namespace

int inq_type(int ncid, nc_type type, char* name, std::size_t* size) {
  if (type >= NC_NAT && type <= NC_MAX_ATOMIC_TYPE) {
    give(size, atomic_size(type));
    return give_name(name, atomic_name(type));
  }
  return on_type(ncid, type, [&](const UserType& found) {
    give(size, found.size);
    return give_name(name, found.name);
  });
}

int inq_type_equal(int ncid, nc_type type, int other_ncid, nc_type other, int* equal) {
  return on_group(ncid, [&](OpenFile& file, Group&) -> int {
    // Types of files of other formats are compared by those: here only atomic types can be equal.
    OpenFile* const other_file = OpenFile::of(other_ncid);
    if (type <= NC_NAT || other <= NC_NAT) return NC_EINVAL;
    give(equal, other_file ? are_equal(file, type, *other_file, other)
                           : type <= NC_MAX_ATOMIC_TYPE && type == other);
    return NC_NOERR;
  });
}

int inq_user_type(int ncid, nc_type type, char* name, std::size_t* size, nc_type* base,
                  std::size_t* fields, int* type_class) {
  return on_type(ncid, type, [&](const UserType& found) {
    give(size, found.size);
    give(base, found.base);
    give(fields, found.type_class == NC_ENUM ? found.members.size() : found.fields.size());
    give(type_class, found.type_class);
    return give_name(name, found.name);
  });
}

int inq_typeid(int ncid, const char* name, nc_type* type) {
  if (!name) return NC_EINVAL;
  for (nc_type atomic = NC_BYTE; atomic <= NC_MAX_ATOMIC_TYPE; ++atomic)
    if (std::strcmp(name, atomic_name(atomic)) == 0) {
      give(type, atomic);
      return NC_NOERR;
    }
  return on_group(ncid, [&](OpenFile& file, Group& group) -> int {
    nc_type found = NC_NAT;
    NMB_NC_TRY(file.find_type(group, name, &found));
    give(type, found);
    return NC_NOERR;
  });
}

int inq_compound_field(int ncid, nc_type type, int number, char* name, std::size_t* offset,
                       nc_type* field_type, int* rank, int* lengths) {
  return on_type(ncid, type, [&](const UserType& found) -> int {
    if (number < 0 || static_cast<std::size_t>(number) >= found.fields.size()) return NC_EBADFIELD;
    const UserType::Field& field = found.fields[static_cast<std::size_t>(number)];
    give(offset, field.offset);
    give(field_type, field.type);
    give(rank, field.lengths.size());
    for (std::size_t d = 0; lengths && d < field.lengths.size(); ++d) lengths[d] = field.lengths[d];
    return give_name(name, field.name);
  });
}

int inq_compound_fieldindex(int ncid, nc_type type, const char* name, int* number) {
  if (!name) return NC_EINVAL;
  return on_type(ncid, type, [&](const UserType& found) -> int {
    if (found.type_class != NC_COMPOUND) return NC_EBADTYPE;
    for (std::size_t i = 0; i < found.fields.size(); ++i)
      if (found.fields[i].name == name) {
        give(number, i);
        return NC_NOERR;
      }
    return NC_EBADFIELD;
  });
}

int inq_enum_member(int ncid, nc_type type, int number, char* name, void* value) {
  return on_type(ncid, type, [&](const UserType& found) -> int {
    if (found.type_class != NC_ENUM) return NC_EBADTYPE;
    if (number < 0 || static_cast<std::size_t>(number) >= found.members.size()) return NC_EINVAL;
    const Enumerator& member = found.members[static_cast<std::size_t>(number)];
    // The low bytes of a little-endian number come first.
    static_assert(std::endian::native == std::endian::little);
    if (value) std::memcpy(value, &member.value, found.size);
    return give_name(name, member.name);
  });
}

int inq_enum_ident(int ncid, nc_type type, long long value, char* name) {
  return on_type(ncid, type, [&](const UserType& found) -> int {
    if (found.type_class != NC_ENUM) return NC_EBADTYPE;
    for (const Enumerator& member : found.members)
      if (member.value == value) return give_name(name, member.name);
    return NC_EINVAL;
  });
}

int get_vlen_element(int ncid, int type, const void* element, std::size_t* length, void* data) {
  return on_group(ncid, [&](OpenFile& file, Group&) -> int {
    const UserType* const found = file.type(type);
    if (!found || found->type_class != NC_VLEN) return NC_EBADTYPE;
    nc_vlen_t value;
    std::memcpy(&value, element, sizeof value);
    give(length, value.len);
    if (data && value.len > 0) std::memcpy(data, value.p, value.len * file.type_size(found->base));
    return NC_NOERR;
  });
}

}  // namespace nmb::udf
