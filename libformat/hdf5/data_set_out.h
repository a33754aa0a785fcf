// Data sets of HDF5 from variables: everything but links, attributes and values.
#pragma once

#include "handle.h"
#include "heap_out.h"
#include "nmb/status.h"
#include "source_block.h"

namespace nmb::hdf5 {

// How a variable is stored as a data set, what is not said filled in.
Creation creation_of(const SourceBlock& source, VarId variable, const Space& space);

// A data set without a link. Its fill value may lead to objects, which find_object has.
Result<Handle> make_data_set(SourceBlock& source, VarId variable, hid_t file,
                             const FindObject& find_object);

// The flags of the order of an object's attributes. Of a creation property list.
Status set_attribute_order(hid_t list, std::uint32_t flags);

}  // namespace nmb::hdf5
