// write_variables: writes some variables of a temporary NMB file as a netCDF-4 file.
#pragma once

#include <span>
#include <string>

#include "convert/convert.h"
#include "reader/file_reader.h"
#include "wire/failure.h"
#include "wire/kinds.h"

namespace nmb {

// Writes some variables of the root block of `input` as the netCDF-4 file `path`. The root block
// must be a classic dataset. `reader` has the file `input` open; the file has values or links to
// values. `variables` must be ascending. Uses `options` as write_hdf5() does, but compares all
// values and attributes with the source if options.check is set. Several threads may call this
// function at the same time. Errors: those of write_hdf5() and of NamedBlocks::of_variables().
Status write_variables(const FileReader& reader, const std::string& input,
                       std::span<const VarId> variables, const std::string& path,
                       const ExtractOptions& options);

}  // namespace nmb
