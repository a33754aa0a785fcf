// OpenFile: an NMB file that a program has opened by netCDF-C. Blocks are groups, which get numbers
// when they are first used, because an ncid has 16 bits for them. The definitions of a group are
// loaded when they are needed. Numbers of dimensions and types count over the file, in the order
// in which groups are loaded; a group is loaded after the groups above it.
//
// As in netCDF-C, calls on one file come from one thread at a time. Files share nothing that
// changes but the list of open files, so several threads can read several files. A forked child
// opens the file again, because another thread of the parent may have held a lock.
#pragma once

#include <netcdf.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dump/type_names.h"
#include "memory_form.h"
#include "model/dataset.h"
#include "netcdf_library.h"
#include "nmb/reader.h"

namespace nmb::udf {

// Finds objects by their names. The names are put in order when the first is looked for.
class NameIndex {
 public:
  template <class Objects>
  std::optional<std::size_t> find(const Objects& objects, std::string_view name) {
    if (places_.size() != objects.size()) {
      places_.clear();
      for (std::size_t i = 0; i < objects.size(); ++i) places_.emplace(objects[i].name, i);
      if (places_.size() != objects.size()) return find_first(objects, name);
    }
    const auto found = places_.find(name);
    return found == places_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  template <class Objects>
  static std::optional<std::size_t> find_first(const Objects& objects, std::string_view name) {
    for (std::size_t i = 0; i < objects.size(); ++i)
      if (objects[i].name == name) return i;
    return std::nullopt;
  }
  std::map<std::string_view, std::size_t> places_;
};

struct FileDimension {
  std::string name;
  std::uint64_t length = 0;
  bool may_grow = false;
};

struct UserType {
  struct Field {
    std::string name;
    std::size_t offset = 0;
    nc_type type = NC_NAT;
    std::vector<int> lengths;
  };
  std::string name;
  nc_type id = NC_NAT;
  int type_class = 0;  // NC_COMPOUND, ...
  std::size_t size = 0;
  nc_type base = NC_NAT;
  std::vector<Field> fields;
  std::vector<Enumerator> members;
};

// Names of C end at the first NUL; those of the file may go on.
struct GroupAttribute {
  std::string name, stored_name;
  nc_type type = NC_NAT;
  std::size_t length = 0;
};

struct GroupVariable {
  std::string name;
  nc_type type = NC_NAT;
  std::vector<int> dimensions;
  std::vector<GroupAttribute> attributes;
  VarId id = 0;            // in the dataset
  std::size_t source = 0;  // index into Group::sources
  NameIndex attribute_names;
};

struct Group {
  // A block whose objects the group shows.
  struct Source {
    std::string block;
    std::shared_ptr<const Dataset> dataset;
    unsigned epoch = 0;
  };
  struct OwnDimension {
    std::string_view name;  // in OpenFile::dimensions()
    int id = 0;
  };

  int number = 0, parent = -1;
  std::string name, path;  // path: name of the block
  bool is_loaded = false, is_loading = false, is_listed = false;
  std::map<std::string, int, std::less<>> known;  // numbers of groups below, by name
  std::vector<int> children;                      // in order; if is_listed
  std::vector<Source> sources;                    // the first one is the group's block
  std::vector<OwnDimension> dimensions;
  std::vector<nc_type> types;
  std::map<Digest, nc_type> types_by_digest;
  std::vector<GroupVariable> variables;
  std::vector<GroupAttribute> attributes;
  NameIndex dimension_names, variable_names, attribute_names;
};

class OpenFile {
 public:
  // Opens a file under a netCDF ID. caller: an address in the netCDF library.
  static int open(const std::string& path, int mode, int format, int ncid, const void* caller);
  static int close(int ncid);
  // Returns nullptr for an ID that is not open here.
  static OpenFile* of(int ncid);

  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile();

  // In a forked child, opens the file again.
  int renew();

  int ncid(int group) const { return ncid_ | group; }
  int mode() const { return mode_; }
  int extended_format() const { return extended_format_; }
  // Returns NC_FORMAT_...: that of the only block if there are no others, so that programs show it
  // as they show its original.
  int format(int* out);
  const std::string& path() const { return path_; }
  const Reader& reader() const { return reader_; }

  // Returns nullptr for a number that no group has.
  Group* group(int number);
  int load(Group& group);
  // Numbers all groups directly below `group`.
  int list(Group& group);
  // Finds a group below; NC_ENOGRP if there is none.
  int find_child(Group& group, std::string_view name, int* number);
  int find_path(Group& group, std::string_view path, int* number);
  int find_dimension(Group& group, std::string_view name, int* id);

  const FileDimension* dimension(int id) const;
  const UserType* type(nc_type id) const;
  // Looks in the group, in the groups above it, and then in the whole file.
  int find_type(Group& group, std::string_view name, nc_type* id);
  std::size_t type_size(nc_type id) const;

  // Returns the dataset that has a variable or, for NC_GLOBAL, the attributes of the group.
  int dataset(Group& group, const GroupVariable* variable, std::shared_ptr<const Dataset>* out);

 private:
  friend class GroupLoader;
  OpenFile(std::string path, int mode, int format, int ncid)
      : path_(std::move(path)), mode_(mode), extended_format_(format), ncid_(ncid) {}
  int number_group(Group& parent, std::string name, int* number);
  int count_children(const Group& group, std::vector<std::string>* names) const;
  int add_type(UserType type, nc_type* id);
  int mirror_type(const UserType& type);
  int mirror_groups();
  int type_in_file(const Digest& digest, nc_type* id);

  std::string path_;
  int mode_, extended_format_, ncid_;
  unsigned epoch_ = 0;
  Reader reader_;
  std::deque<Group> groups_;  // references stay valid
  std::deque<FileDimension> dimensions_;
  std::deque<UserType> types_;
  std::optional<TypeNames> all_types_;
  NetcdfLibrary library_{};
  const void* caller_ = nullptr;
  std::size_t mirrored_groups_ = 0;  // 0: the library does not know the file
};

}  // namespace nmb::udf
