// The HDF5 file that is being read, with the state that all readers share.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "decoding/file_bytes.h"
#include "import/values_in.h"
#include "wire/failure.h"

namespace nmb::hdf5 {

// A temporary file for values that the HDF5 file does not store in the form that a block needs. New
// values follow the values of earlier HDF5 files.
class Spool {
 public:
  // Opens the spool. New bytes will follow the bytes that the file already has. Errors: kIo.
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

// References to deleted objects. A block stores them as null references.
struct LostReferences {
  std::uint64_t count = 0;              // since the last GroupIn::name_lost()
  std::vector<std::string> attributes;  // names of the attributes with such references
};

class AlikeDataSets;

// The file that is being read, shared by all its blocks.
struct FileIn {
  hid_t file = -1;
  std::string path;
  std::uint64_t size = 0;
  // The bytes of the file. nullopt if only the HDF5 library can read the file's metadata.
  std::optional<FileBytes> bytes;
  std::uint64_t chunk_base = 0;  // number to add to the chunk positions that HDF5 returns
  Spool* spool = nullptr;
  LostReferences* lost = nullptr;
  bool materialise = false;  // whether values in other files are read
  References references;
  std::function<Result<std::string>(hid_t object)> path_of;  // path of the first link to an object
  // The path of the object to which a reference refers; nullopt if no link leads to the object.
  std::function<Result<std::optional<std::string>>(const void* reference)> target_of;
  // Name of the block that the root group becomes. Paths in references and links get this name as a
  // prefix.
  std::string place;
  std::string placed(const std::string& path_in_file) const;
  // Paths of the dimension scales that were read, by netCDF-4's dimension number. A scale without a
  // number gets next_scale, as in netCDF-C. The value of next_scale is one more than the highest
  // number that was read.
  std::map<std::int64_t, std::string> scales;
  std::int64_t next_scale = 0;
  // Reads data sets that are similar to earlier ones. nullptr if there are no `bytes`.
  AlikeDataSets* alike = nullptr;
};

}  // namespace nmb::hdf5
