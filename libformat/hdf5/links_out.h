// Links of HDF5, in the order that the hdf5 section of a block gives.
#pragma once

#include <functional>
#include <string_view>

#include "object_maker.h"

namespace nmb::hdf5 {

// No link leads out of the file that is being written from now on, so that nothing that a file says
// opens or changes another.
Status forbid_leaving();

// The link to an object that was made without one.
Status link_object(hid_t object, hid_t group, std::string_view name, CharacterSet character_set,
                   std::string_view what);

// Makes one link of the group of `source` (of kind variable: also `on_variable` with the data set,
// as long as that is open; a name stands for the variable's).
Status make_link(const Link& link, SourceBlock& source, hid_t group, ObjectMaker& maker,
                 const std::function<Status(VarId, hid_t)>& on_variable);

}  // namespace nmb::hdf5
