// Limits of this process, for files that are made to take all there is.
#pragma once

#include <sys/resource.h>

#include <string>

namespace nmb::hdf5 {

// CPU time and memory, by the size of the file.
void limit_resources(const std::string& path);

// From now on this process opens no file: virtual data sets make HDF5 open whatever files they
// name.
void refuse_opening();

// While one lives, files may be opened: the plug-ins of filters.
class OpeningAllowed {
 public:
  OpeningAllowed();
  ~OpeningAllowed();
  OpeningAllowed(const OpeningAllowed&) = delete;
  OpeningAllowed& operator=(const OpeningAllowed&) = delete;

 private:
  const rlim_t before_;
};

}  // namespace nmb::hdf5
