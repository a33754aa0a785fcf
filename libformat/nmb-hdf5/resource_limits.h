// Limits the resources of this process, because a malicious file may try to exhaust them.
#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <string>

namespace nmb::hdf5 {

// Limits CPU time and memory according to the size of the file.
void limit_resources(const std::string& path);

// Limits the CPU time and memory that this process may use from now on, for a chunk of `stored`
// bytes that decodes to at most `decoded` bytes. Later calls replace the limits.
void limit_work(std::uint64_t stored, std::uint64_t decoded);

// Prevents this process from opening files from now on. Without this function, a virtual data set
// could make HDF5 open any file that the data set names.
void refuse_opening();

// Allows this process to open files as long as the object exists, so that HDF5 can load plug-ins
// for filters.
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
