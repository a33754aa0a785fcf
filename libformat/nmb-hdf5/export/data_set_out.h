// Makes HDF5 data sets from variables, but not their links, attributes and values.
#pragma once

#include "export/heap_out.h"
#include "handle.h"
#include "import/export_source.h"
#include "wire/failure.h"

namespace nmb::hdf5 {

// Returns the properties with which a variable is stored as a data set. Properties that the block
// does not set have their defaults.
Creation creation_of(const ExportSource& source, VarId variable, const Space& space);

// Makes a data set without a link. If the fill value refers to objects, `find_object` returns these
// objects.
Result<Handle> make_data_set(ExportSource& source, VarId variable, hid_t file,
                             const FindObject& find_object);

// Sets the flags for the order of attributes in `list`, which is the creation property list of an
// object.
Status set_attribute_order(hid_t list, std::uint32_t flags);

}  // namespace nmb::hdf5
