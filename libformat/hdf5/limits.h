// Limits of this process, for files that are made to take all there is.
#pragma once

#include <string>

namespace nmb::hdf5 {

// CPU time and memory, by the size of the file.
void limit_resources(const std::string& path);

}  // namespace nmb::hdf5
