// write_merged: writes the temporary NMB file of a merge as HDF5.
#pragma once

#include <string>

#include "convert/convert.h"
#include "reader/file_reader.h"
#include "wire/failure.h"

namespace nmb {

// Does the work of write_hdf5() for a file whose chunks were checked when its blocks were merged:
// chunks are not decoded, and Hdf5Losses::damaged is empty. Not collective. Errors: those of
// write_hdf5().
Status write_merged(const FileReader& reader, const std::string& input, const std::string& path,
                    const ExtractOptions& options);

}  // namespace nmb
