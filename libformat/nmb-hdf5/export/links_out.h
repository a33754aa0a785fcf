// Makes HDF5 links in the order in which the hdf5 section of a block lists the links.
#pragma once

#include <functional>
#include <string_view>

#include "export/object_maker.h"

namespace nmb::hdf5 {

// Prevents HDF5 from following links to other files. After this call, the content of a file cannot
// make HDF5 open or change another file.
Status forbid_leaving();

// Makes a link to an object that was made without a link.
Status link_object(hid_t object, hid_t group, std::string_view name, CharacterSet character_set,
                   std::string_view what);

// Makes one link in the group of `source`. If the link leads to a variable, also calls
// `on_variable` with the open data set; such a link without a name of its own gets the name of the
// variable.
Status make_link(const Link& link, ExportSource& source, hid_t group, ObjectMaker& maker,
                 const std::function<Status(VarId, hid_t)>& on_variable);

}  // namespace nmb::hdf5
