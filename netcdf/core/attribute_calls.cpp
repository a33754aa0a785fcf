#include "calls.h"
#include "special_attributes.h"
#include "values.h"

namespace nmb::udf {

namespace {

// Runs work(file, group, variable or null, attributes, index of their names).
template <class Work>
int on_owner(int ncid, int number, Work work) {
  if (number == NC_GLOBAL)
    return on_loaded(ncid, [&](OpenFile& file, Group& group) {
      return work(file, group, static_cast<GroupVariable*>(nullptr), group.attributes,
                  group.attribute_names);
    });
  return on_variable(ncid, number, [&](OpenFile& file, Group& group, GroupVariable& variable) {
    return work(file, group, &variable, variable.attributes, variable.attribute_names);
  });
}

}  // namespace

int inq_att(int ncid, int number, const char* name, nc_type* type, std::size_t* length) {
  if (!name) return NC_EBADNAME;
  return on_owner(ncid, number,
                  [&](OpenFile& file, Group& group, GroupVariable* variable,
                      const std::vector<GroupAttribute>& attributes, NameIndex& names) -> int {
                    if (const auto found = names.find(attributes, name)) {
                      give(type, attributes[*found].type);
                      give(length, attributes[*found].length);
                      return NC_NOERR;
                    }
                    SpecialAttribute special;
                    NMB_NC_TRY(find_special(file, group, variable, name, &special));
                    give(type, special.type);
                    give(length, special.count());
                    return NC_NOERR;
                  });
}

int inq_attid(int ncid, int number, const char* name, int* id) {
  if (!name) return NC_EBADNAME;
  return on_owner(ncid, number,
                  [&](OpenFile&, Group&, GroupVariable*,
                      const std::vector<GroupAttribute>& attributes, NameIndex& names) -> int {
                    const auto found = names.find(attributes, name);
                    if (!found) return NC_ENOTATT;
                    give(id, *found);
                    return NC_NOERR;
                  });
}

int inq_attname(int ncid, int number, int id, char* name) {
  return on_owner(ncid, number,
                  [&](OpenFile&, Group&, GroupVariable*,
                      const std::vector<GroupAttribute>& attributes, NameIndex&) -> int {
                    if (id < 0 || static_cast<std::size_t>(id) >= attributes.size())
                      return NC_ENOTATT;
                    return give_name(name, attributes[static_cast<std::size_t>(id)].name);
                  });
}

int get_att(int ncid, int number, const char* name, void* values, nc_type memory) {
  if (!name) return NC_EBADNAME;
  return on_owner(ncid, number,
                  [&](OpenFile& file, Group& group, GroupVariable* variable,
                      const std::vector<GroupAttribute>& attributes, NameIndex& names) -> int {
                    if (const auto found = names.find(attributes, name))
                      return values ? read_attribute(file, group, variable, attributes[*found],
                                                     memory, values)
                                    : NC_NOERR;
                    SpecialAttribute special;
                    NMB_NC_TRY(find_special(file, group, variable, name, &special));
                    return values ? special.read(memory, values) : NC_NOERR;
                  });
}

}  // namespace nmb::udf
