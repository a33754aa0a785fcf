// The HDF5 file that is being read, with the state that all readers share.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>

#include "nmb/status.h"
#include "values_in.h"

namespace nmb::hdf5 {

// Bytes of values that the file does not store in the same form, appended to those of earlier
// files.
class Spool {
 public:
  // Bytes go behind those that the file has. kIo.
  Status open(int descriptor);
  // The most bytes it may have.
  void set_most(std::uint64_t bytes) { most_ = bytes; }
  // Returns where they are. kLimit, kNoSpace, kIo.
  Result<std::uint64_t> append(std::span<const std::byte> bytes, const std::string& object);
  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  // Sets bytes apart, which read as zero until they are written. kLimit.
  Result<std::uint64_t> reserve(std::uint64_t bytes, const std::string& object);

 private:
  int descriptor_ = -1;
  std::uint64_t begin_ = 0;
  std::uint64_t size_ = 0;  // length after these bytes
  std::uint64_t most_ = 0;
};

class AlikeDataSets;

// The file that is being read, shared by all its blocks.
struct FileIn {
  hid_t file = -1;
  int descriptor = -1;  // the same file, for direct reads
  std::string path;
  std::uint64_t size = 0;
  std::uint64_t chunk_base = 0;  // is added to the places of chunks that HDF5 states
  Spool* spool = nullptr;
  bool materialise = false;  // values in other files are read
  References references;
  std::function<Result<std::string>(hid_t object)> path_of;             // an object's first path
  std::function<Result<std::string>(const void* reference)> target_of;  // of one to an object
  // The block that the root group becomes: what a path begins with that others follow.
  std::string place;
  std::string placed(const std::string& path_in_file) const;
  // netCDF-4's numbers of dimensions, with the paths of their scales, as far as they were read. A
  // scale without a number gets next_scale, like in netCDF-C: the next number above all that were
  // read.
  std::map<std::int64_t, std::string> scales;
  std::int64_t next_scale = 0;
  // nullptr: the HDF5 library reads every data set.
  AlikeDataSets* alike = nullptr;
};

}  // namespace nmb::hdf5
