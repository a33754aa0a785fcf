#include "import/virtual_sources.h"

#include <filesystem>
#include <optional>
#include <vector>

#include "hdf5_error.h"

namespace nmb::hdf5 {

namespace {

namespace fs = std::filesystem;

constexpr unsigned kMostLevels = 8;

// Returns the name of the file or of the data set of source `number`; `get` chooses which.
Result<std::string> name_of(ssize_t (*get)(hid_t, std::size_t, char*, std::size_t), hid_t plist,
                            std::size_t number, const std::string& object) {
  NMB_ASSIGN(const ssize_t length, read_value(get(plist, number, nullptr, 0), object));
  std::string name(static_cast<std::size_t>(length) + 1, '\0');
  NMB_TRY(check_read(get(plist, number, name.data(), name.size()), object));
  name.pop_back();
  return name;
}

// Returns the path of a source file, or nullopt if it does not exist. HDF5 looks for it first in
// the folder of the virtual data set's file.
std::optional<std::string> find_file(const std::string& source, const std::string& path) {
  std::error_code none;
  for (const fs::path& place : {fs::path(path).parent_path() / source, fs::path(source)})
    if (fs::exists(place, none)) return place.string();
  return std::nullopt;
}

// One source of a virtual data set.
struct Mapping {
  const std::string& data_set;  // path of the source
  hid_t selection;              // the elements of the source that are used
  hssize_t elements;            // number of elements of the virtual data set that they fill
};

class SourceChecker {
 public:
  explicit SourceChecker(const std::string& object) : object_(object) {}

  Status check(hid_t file, const std::string& path, hid_t plist, unsigned level) {
    if (H5Pget_layout(plist) != H5D_VIRTUAL) return {};
    if (level == kMostLevels)
      return unsupported(object_, ": found more than ", kMostLevels,
                         " levels of virtual data sets, expected at most ", kMostLevels);
    std::size_t count = 0;
    NMB_TRY(check_read(H5Pget_virtual_count(plist, &count), object_));
    Handle opened;  // the file of the previous source
    std::string opened_path;
    for (std::size_t i = 0; i < count; ++i) {
      NMB_ASSIGN(const std::string name, name_of(H5Pget_virtual_filename, plist, i, object_));
      NMB_ASSIGN(const std::string data_set, name_of(H5Pget_virtual_dsetname, plist, i, object_));
      NMB_TRY(check_name(name, "file"));
      NMB_TRY(check_name(data_set, "data set"));
      NMB_ASSIGN(const Handle selection, read_handle(H5Pget_virtual_srcspace(plist, i), object_));
      NMB_ASSIGN(const Handle target, read_handle(H5Pget_virtual_vspace(plist, i), object_));
      const Mapping mapping{data_set, selection.get(), H5Sget_select_npoints(target.get())};
      if (name == ".") {
        NMB_TRY(check_source(file, path, mapping, level));
        continue;
      }
      const std::optional<std::string> place = find_file(name, path);
      if (!place) return missing("the file " + name, "it does not exist");
      if (!opened.ok() || *place != opened_path) {
        NMB_ASSIGN(const Handle access, read_handle(H5Fget_access_plist(file), object_));
        opened = Handle(H5Fopen(place->c_str(), H5F_ACC_RDONLY, access.get()));
        if (!opened.ok()) return missing("the file " + name, "HDF5 cannot open it");
        opened_path = *place;
      }
      NMB_TRY(check_source(opened.get(), *place, mapping, level));
    }
    return {};
  }

 private:
  Status missing(const std::string& what, const std::string& why) const {
    return Status(Code::kNotFound,
                  object_ + ": values cannot be copied from " + what + ", because " + why);
  }

  Status check_name(const std::string& name, const std::string& what) const {
    if (name.find('%') == name.npos) return {};
    return unsupported(object_, ": the name of the source ", what, " is a pattern, ", name,
                       "; values can be copied only from single ", what, "s");
  }

  Status check_source(hid_t file, const std::string& path, const Mapping& mapping, unsigned level) {
    const std::string what = "the data set " + mapping.data_set + " in the file " + path;
    const Handle source(H5Dopen2(file, mapping.data_set.c_str(), H5P_DEFAULT));
    if (!source.ok()) return missing(what, "it does not exist");
    NMB_TRY(check_elements(what, source.get(), mapping));
    NMB_ASSIGN(const Handle plist, read_handle(H5Dget_create_plist(source.get()), object_));
    return check(file, path, plist.get(), level + 1);
  }

  Status check_elements(const std::string& what, hid_t source, const Mapping& mapping) {
    NMB_ASSIGN(const Handle space, read_handle(H5Dget_space(source), object_));
    // If all elements are selected, the selection does not state their number.
    if (H5Sget_select_type(mapping.selection) == H5S_SEL_ALL) {
      const hssize_t found = H5Sget_simple_extent_npoints(space.get());
      if (found == mapping.elements) return {};
      return missing(what, joined_text("it has ", found, " elements, expected ", mapping.elements));
    }
    NMB_ASSIGN(const int rank, read_value(H5Sget_simple_extent_ndims(space.get()), object_));
    NMB_ASSIGN(const int expected,
               read_value(H5Sget_simple_extent_ndims(mapping.selection), object_));
    if (rank != expected)
      return missing(what, joined_text("it has ", rank, " dimensions, expected ", expected));
    // An unlimited selection takes all elements that exist.
    const hssize_t selected = H5Sget_select_npoints(mapping.selection);
    if (rank == 0 || selected == 0 || selected == static_cast<hssize_t>(H5S_UNLIMITED)) return {};
    std::vector<hsize_t> lengths(static_cast<std::size_t>(rank)), first(lengths), last(lengths);
    NMB_TRY(check_read(H5Sget_simple_extent_dims(space.get(), lengths.data(), nullptr), object_));
    NMB_TRY(
        check_read(H5Sget_select_bounds(mapping.selection, first.data(), last.data()), object_));
    for (std::size_t d = 0; d < lengths.size(); ++d)
      if (last[d] >= lengths[d])
        return missing(what, joined_text("dimension ", d, " has length ", lengths[d],
                                         ", expected at least ", last[d] + 1));
    return {};
  }

  const std::string& object_;
};

}  // namespace

Status check_sources(const std::string& object, hid_t file, const std::string& path, hid_t plist) {
  return SourceChecker(object).check(file, path, plist, 0);
}

}  // namespace nmb::hdf5
