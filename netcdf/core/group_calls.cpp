#include <algorithm>

#include "calls.h"

namespace nmb::udf {

int inq_ncid(int ncid, const char* name, int* group) {
  return on_group(ncid, [&](OpenFile& file, Group& from) -> int {
    int number = 0;  // without a name, the root group
    if (name) NMB_NC_TRY(file.find_child(from, name, &number));
    give(group, file.ncid(number));
    return NC_NOERR;
  });
}

int inq_grps(int ncid, int* count, int* groups) {
  return on_group(ncid, [&](OpenFile& file, Group& group) -> int {
    NMB_NC_TRY(file.list(group));
    give(count, group.children.size());
    if (groups)
      std::ranges::transform(group.children, groups, [&](int number) { return file.ncid(number); });
    return NC_NOERR;
  });
}

int inq_grpname(int ncid, char* name) {
  return on_group(ncid, [&](OpenFile&, Group& group) {
    return give_name(name, group.parent < 0 ? "/" : std::string_view(group.name));
  });
}

int inq_grpname_full(int ncid, std::size_t* length, char* name) {
  return on_group(ncid, [&](OpenFile&, Group& group) {
    const std::string full = "/" + group.path;
    give(length, full.size());
    if (name) std::memcpy(name, full.c_str(), full.size() + 1);
    return NC_NOERR;
  });
}

int inq_grp_parent(int ncid, int* parent) {
  return on_group(ncid, [&](OpenFile& file, Group& group) -> int {
    if (group.parent < 0) return NC_ENOGRP;
    give(parent, file.ncid(group.parent));
    return NC_NOERR;
  });
}

int inq_grp_full_ncid(int ncid, const char* name, int* group) {
  if (!name) return NC_EINVAL;
  return on_group(ncid, [&](OpenFile& file, Group& from) -> int {
    int number = 0;
    NMB_NC_TRY(file.find_path(from, name, &number));
    give(group, file.ncid(number));
    return NC_NOERR;
  });
}

int inq_varids(int ncid, int* count, int* ids) {
  return on_loaded(ncid, [&](OpenFile&, Group& group) {
    const auto variables = static_cast<int>(group.variables.size());
    give(count, variables);
    for (int i = 0; ids && i < variables; ++i) ids[i] = i;
    return NC_NOERR;
  });
}

int inq_dimids(int ncid, int* count, int* ids, int with_parents) {
  return on_loaded(ncid, [&](OpenFile& file, Group& group) {
    std::vector<int> found;
    for (const Group* at = &group; at; at = with_parents ? file.group(at->parent) : nullptr)
      for (const Group::OwnDimension& own : at->dimensions) found.push_back(own.id);
    std::ranges::sort(found);
    give(count, found.size());
    if (ids) std::ranges::copy(found, ids);
    return NC_NOERR;
  });
}

int inq_typeids(int ncid, int* count, int* ids) {
  return on_loaded(ncid, [&](OpenFile&, Group& group) {
    give(count, group.types.size());
    if (ids) std::ranges::copy(group.types, ids);
    return NC_NOERR;
  });
}

int inq_unlimdims(int ncid, int* count, int* ids) {
  return on_loaded(ncid, [&](OpenFile& file, Group& group) {
    int found = 0;
    for (const Group::OwnDimension& own : group.dimensions) {
      if (!file.dimension(own.id)->may_grow) continue;
      if (ids) ids[found] = own.id;
      ++found;
    }
    give(count, found);
    return NC_NOERR;
  });
}

int inq_unlimdim(int ncid, int* id) {
  return on_loaded(ncid, [&](OpenFile& file, Group& group) {
    give(id, -1);
    for (const Group* at = &group; at; at = file.group(at->parent))
      for (const Group::OwnDimension& own : at->dimensions)
        if (file.dimension(own.id)->may_grow) {
          give(id, own.id);
          return NC_NOERR;
        }
    return NC_NOERR;
  });
}

int inq_dimid(int ncid, const char* name, int* id) {
  if (!name) return NC_EINVAL;
  return on_group(ncid, [&](OpenFile& file, Group& group) -> int {
    int found = 0;
    NMB_NC_TRY(file.find_dimension(group, name, &found));
    give(id, found);
    return NC_NOERR;
  });
}

int inq_dim(int ncid, int id, char* name, std::size_t* length) {
  return on_loaded(ncid, [&](OpenFile& file, Group&) -> int {
    const FileDimension* const dimension = file.dimension(id);
    if (!dimension) return NC_EBADDIM;
    give(length, dimension->length);
    return give_name(name, dimension->name);
  });
}

}  // namespace nmb::udf
