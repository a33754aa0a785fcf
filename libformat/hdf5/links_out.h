// Makes HDF5 links in the order that the hdf5 section of a block states.
#pragma once

#include <functional>
#include <string_view>

#include "object_maker.h"

namespace nmb::hdf5 {

// After this call HDF5 does not follow links to other files, so that the contents of a file cannot
// open or change another file.
Status forbid_leaving();

// Makes the link to an object that was made without one.
Status link_object(hid_t object, hid_t group, std::string_view name, CharacterSet character_set,
                   std::string_view what);

// Makes one link of the group of `source`. For kind variable it also calls `on_variable` with the
// open data set; if there is a name, it replaces that of the variable.
Status make_link(const Link& link, SourceBlock& source, hid_t group, ObjectMaker& maker,
                 const std::function<Status(VarId, hid_t)>& on_variable);

}  // namespace nmb::hdf5
