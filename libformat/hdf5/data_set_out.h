// Makes HDF5 data sets from variables, but not their links, attributes and values.
#pragma once

#include "handle.h"
#include "heap_out.h"
#include "nmb/status.h"
#include "source_block.h"

namespace nmb::hdf5 {

// Returns how a variable is stored as a data set, with defaults for properties that are not set.
Creation creation_of(const SourceBlock& source, VarId variable, const Space& space);

// Makes a data set without a link. Its fill value may refer to objects, which find_object returns.
Result<Handle> make_data_set(SourceBlock& source, VarId variable, hid_t file,
                             const FindObject& find_object);

// Sets the flags for the order of an object's attributes in a creation property list.
Status set_attribute_order(hid_t list, std::uint32_t flags);

}  // namespace nmb::hdf5
