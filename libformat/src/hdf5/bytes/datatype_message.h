// Writes datatypes of a block as datatype messages of HDF5 (spec/hdf5_view.md, "Datatypes").
#pragma once

#include "hdf5/bytes/hdf5_bytes.h"
#include "nmb/extension.h"
#include "nmb/status.h"

namespace nmb {

// Appends the datatype of values of `type` in an HDF5 file. Errors: kUnsupported, with the reason,
// for a type that an HDF5 message cannot describe, or whose message would have more than 65,535
// bytes.
Status put_datatype(const TypeTable& types, Type type, Hdf5Bytes& out);

}  // namespace nmb
