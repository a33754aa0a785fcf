// Writes datatypes of a block as datatype messages of HDF5 (spec/hdf5_view.md, "Datatypes").
#pragma once

#include "encoding/hdf5_bytes.h"
#include "model/extension.h"
#include "wire/failure.h"

namespace nmb {

// Appends the datatype message for values of `type`, as an HDF5 file stores them. Errors:
// kUnsupported, with the reason, if no HDF5 message can describe the type or the message would have
// more than 65,535 bytes.
Status put_datatype(const TypeTable& types, Type type, Hdf5Bytes& out);

}  // namespace nmb
