// Limits of this process, against files that are made to exhaust resources.
#pragma once

#include <sys/resource.h>

#include <string>

namespace nmb::hdf5 {

// Limits CPU time and memory according to the size of the file.
void limit_resources(const std::string& path);

// From now on this process opens no files: virtual data sets would make HDF5 open any file that
// they name.
void refuse_opening();

// As long as one exists, files may be opened: the plug-ins of filters.
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
