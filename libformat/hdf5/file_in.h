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

// A temporary file for values that the HDF5 file does not store in the form of a block. New values
// are appended to the values of earlier HDF5 files.
class Spool {
 public:
  // Opens the spool. New bytes are appended to the bytes that the file already has. Errors: kIo.
  Status open(int descriptor);
  // Sets the maximum number of bytes that may be appended.
  void set_most(std::uint64_t bytes) { most_ = bytes; }
  // Appends bytes and returns their offset. Errors: kLimit, kNoSpace, kIo.
  Result<std::uint64_t> append(std::span<const std::byte> bytes, const std::string& object);
  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  // Reserves bytes and returns their offset. Reserved bytes read as zero until they are written.
  // Errors: kLimit.
  Result<std::uint64_t> reserve(std::uint64_t bytes, const std::string& object);

 private:
  int descriptor_ = -1;
  std::uint64_t begin_ = 0;
  std::uint64_t size_ = 0;  // number of bytes that were appended
  std::uint64_t most_ = 0;
};

class AlikeDataSets;

// The file that is being read, shared by all its blocks.
struct FileIn {
  hid_t file = -1;
  int descriptor = -1;  // the same file, for direct reads
  std::string path;
  std::uint64_t size = 0;
  std::uint64_t chunk_base = 0;  // added to the chunk positions that HDF5 returns
  Spool* spool = nullptr;
  bool materialise = false;  // whether values in other files are read
  References references;
  std::function<Result<std::string>(hid_t object)> path_of;  // the first path of an object
  // The path of the object to which a reference refers.
  std::function<Result<std::string>(const void* reference)> target_of;
  // Name of the block that the root group becomes. The name is put before the paths that references
  // and links contain.
  std::string place;
  std::string placed(const std::string& path_in_file) const;
  // Paths of the dimension scales that were read, by netCDF-4's dimension number. A scale without a
  // number gets next_scale, as in netCDF-C. The value of next_scale is one more than the highest
  // number that was read.
  std::map<std::int64_t, std::string> scales;
  std::int64_t next_scale = 0;
  // Reader of similar data sets. If it is nullptr, the HDF5 library reads every data set.
  AlikeDataSets* alike = nullptr;
};

}  // namespace nmb::hdf5
