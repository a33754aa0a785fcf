// HDF5 refuses a mandatory filter that is not installed, and lets installed filters change their
// parameters. Therefore, if chunks are written in filtered form, each filter that is not HDF5's own
// is replaced by a stand-in, which has the number of the filter but does nothing. HDF5 passes only
// fill values through a stand-in, and only if it allocates space when it makes the data set. The
// chunks later replace these fill values.
#include "export/filters_out.h"

#include <list>
#include <map>
#include <string>

#include "hdf5_error.h"
#include "lzf_filter.h"
#include "values/chunk_filters.h"
#include "wire/joined_text.h"

namespace nmb::hdf5 {

namespace {

constexpr std::uint32_t kFirstForeign = 256;  // filters below this number are HDF5's own and cannot
                                              // be replaced

std::size_t keep(unsigned, std::size_t, const unsigned[], std::size_t bytes, std::size_t*, void**) {
  return bytes;
}

// Stand-ins are global, because HDF5's table of filters is global. HDF5 keeps pointers to the
// names, so the names are never freed.
std::map<std::uint32_t, std::string>& stand_ins() {
  static std::map<std::uint32_t, std::string> all;
  return all;
}
const char* lasting(const std::string& name) {
  static std::list<std::string> names;
  return names.emplace_back(name).c_str();
}

Status stand_in(const Filter& filter, hid_t file) {
  const auto there = stand_ins().find(filter.id);
  if (there != stand_ins().end() && there->second == filter.name) return {};
  NMB_ASSIGN(const std::string name, c_text(filter.name, "filter"));
  // Write all object headers to the file before the name of the filter changes: the new name may
  // have another length, but the length of an object header is fixed.
  NMB_TRY(check_hdf5(H5Fflush(file, H5F_SCOPE_LOCAL), "flush"));
  const H5Z_class2_t filter_class = {H5Z_CLASS_T_VERS,
                                     static_cast<H5Z_filter_t>(filter.id),
                                     1,
                                     1,
                                     lasting(name),
                                     nullptr,
                                     nullptr,
                                     keep};
  NMB_TRY(check_hdf5(H5Zregister(&filter_class), joined_text("filter ", filter.id)));
  stand_ins()[filter.id] = filter.name;
  return {};
}

Status use_installed(std::uint32_t id, hid_t file) {
  if (stand_ins().erase(id) == 0) return {};
  NMB_TRY(check_hdf5(H5Fflush(file, H5F_SCOPE_LOCAL), "flush"));
  if (id == kLzf) return register_lzf();
  return check_hdf5(H5Zunregister(static_cast<H5Z_filter_t>(id)), joined_text("filter ", id));
}

}  // namespace

Status use_filters(const std::vector<Filter>& filters, FilterUse use, hid_t file) {
  for (const Filter& filter : filters) {
    if (filter.id > H5Z_FILTER_MAX)
      return unsupported("found filter ", filter.id, ", expected at most ", H5Z_FILTER_MAX);
    if (filter.id < kFirstForeign) continue;
    NMB_TRY(use == FilterUse::kKeep ? stand_in(filter, file) : use_installed(filter.id, file));
  }
  return {};
}

Status add_filters(const std::vector<Filter>& filters, FilterUse use, hid_t file, hid_t dcpl) {
  NMB_TRY(use_filters(filters, use, file));
  for (const Filter& filter : filters)
    NMB_TRY(check_hdf5(H5Pset_filter(dcpl, static_cast<H5Z_filter_t>(filter.id), filter.flags,
                                     filter.parameters.size(), filter.parameters.data()),
                       joined_text("filter ", filter.id)));
  return {};
}

}  // namespace nmb::hdf5
