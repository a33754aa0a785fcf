// Encodes and decodes the attributes of a named datatype (spec/hdf5_section.md, property 5).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "model/classic.h"
#include "model/extension.h"
#include "wire/failure.h"

namespace nmb::hdf5 {

// Decodes `header`, the bytes of the property. The result has the attributes of the named datatype
// as block attributes. types: the types of the block. Errors: kDamaged.
NMB_EXPORT Result<ClassicHeader> decode_type_attributes(std::span<const std::byte> header,
                                                        const TypeTable& types);

// Returns the bytes of the property. `attributes` has the attributes of the named datatype as block
// attributes; their types must be in `types`.
NMB_EXPORT Result<std::vector<std::byte>> encode_type_attributes(Metadata attributes,
                                                                 const TypeTable& types);

}  // namespace nmb::hdf5
