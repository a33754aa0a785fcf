// DeferredChunks: copies the stored bytes of chunks to a new HDF5 file without passing them through
// the HDF5 library. The library only allocates the chunks; their bytes are copied on several
// threads.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "wire/bytes.h"
#include "wire/failure.h"

namespace nmb::hdf5 {

class DeferredChunks {
 public:
  // `path` is the file that HDF5 writes. The file must exist.
  DeferredChunks(std::string path, unsigned threads) : path_(std::move(path)), threads_(threads) {}
  ~DeferredChunks();
  DeferredChunks(const DeferredChunks&) = delete;
  DeferredChunks& operator=(const DeferredChunks&) = delete;

  // Sets the driver with which HDF5 writes the file. This object must outlive the open file.
  Status set_driver(hid_t fapl);

  // Writes a chunk with H5Dwrite_chunk. Its bytes are the `length` bytes of `source` at `offset`;
  // copy_all() or a later call of this function copies them.
  Status write(hid_t data_set, const hsize_t* start, std::uint32_t mask,
               std::shared_ptr<const ByteSource> source, std::uint64_t offset,
               std::uint64_t length);
  // Copies the bytes of all chunks that are not copied yet. Call this function after HDF5 has
  // closed the file.
  Status copy_all();

  // Called by the driver. Returns true if `buffer` belongs to the chunk that is being written; the
  // position of the chunk is then recorded, and the driver must write nothing.
  bool take(haddr_t position, std::size_t length, const void* buffer);

 private:
  struct Chunk {
    std::shared_ptr<const ByteSource> source;
    std::uint64_t offset = 0, length = 0;
    haddr_t position = HADDR_UNDEF;
  };
  Status copy(std::uint64_t number, std::vector<std::byte>* buffer) const;

  const std::string path_;
  const unsigned threads_;
  int file_ = -1;
  bool is_writing_ = false;  // whether the last chunk has no position yet
  std::vector<Chunk> chunks_;
  std::vector<std::uint64_t> parts_;  // for each chunk: the number of parts of all chunks before it
  std::uint64_t part_count_ = 0;
};

}  // namespace nmb::hdf5
