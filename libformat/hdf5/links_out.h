// Makes HDF5 links in the order that is stored in the hdf5 section of a block.
#pragma once

#include <functional>
#include <string_view>

#include "object_maker.h"

namespace nmb::hdf5 {

// Prevents HDF5 from following links to other files. The content of a file then cannot make HDF5
// open or change another file.
Status forbid_leaving();

// Makes a link to an object that was made without a link.
Status link_object(hid_t object, hid_t group, std::string_view name, CharacterSet character_set,
                   std::string_view what);

// Makes one link in the group of `source`. For a link to a variable, also calls `on_variable` with
// the open data set; the link's name, if it has one, replaces the name of the variable.
Status make_link(const Link& link, SourceBlock& source, hid_t group, ObjectMaker& maker,
                 const std::function<Status(VarId, hid_t)>& on_variable);

}  // namespace nmb::hdf5
