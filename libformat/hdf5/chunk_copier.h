// ChunkCopier: copies stored chunks into a new HDF5 file on several threads. HDF5 decides where a
// chunk lies, but its own call copies the bytes on one thread. Therefore HDF5 gets a file driver
// that writes like HDF5's usual driver, except that a thread of the ChunkCopier writes the bytes of
// a chunk. The file has the same bytes as with HDF5's usual driver.
#pragma once

#include <hdf5.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "handle.h"
#include "nmb/bytes.h"
#include "nmb/status.h"

namespace nmb::hdf5 {

class ChunkCopier {
 public:
  // Sets the file driver in `fapl`. One file may be created with `fapl`. The object must outlive
  // this file. threads: at least 1.
  static Result<std::unique_ptr<ChunkCopier>> make(hid_t fapl, unsigned threads);
  // Waits for all copies.
  ~ChunkCopier();

  // Returns whether copy() can copy a chunk of this stored length.
  static bool fits(std::uint64_t length) { return length > 0 && length <= kMostChunk; }
  // Writes a chunk that is stored in `source`, which must be thread-safe. The arguments `start` and
  // `mask` are as for H5Dwrite_chunk(). The bytes are written later. Errors: those of HDF5; the
  // first error of an earlier copy.
  Status copy(hid_t data_set, std::uint32_t mask, const hsize_t* start,
              std::shared_ptr<const ByteSource> source, std::uint64_t offset, std::size_t length);
  // Waits for all copies. Errors: the first error of a copy.
  Status finish();

 private:
  struct Driver;  // the functions that HDF5 calls
  struct Job {
    std::shared_ptr<const ByteSource> source;
    std::uint64_t offset = 0;
    std::size_t length = 0;
    int file = -1;
    std::uint64_t position = 0;
  };
  static constexpr std::uint64_t kMostChunk = 64 << 20;
  static constexpr std::size_t kMostJobs = 256;  // number of jobs that wait

  ChunkCopier() = default;
  bool take(const void* bytes, int file, std::uint64_t position, std::size_t length);
  void work();
  static Status run(const Job& job, std::vector<std::byte>* buffer);

  Handle driver_;
  // An address range without memory. HDF5 gets it as the bytes of a chunk.
  void* placeholder_ = nullptr;
  std::optional<Job> next_;  // the chunk that HDF5 is writing now
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  std::size_t running_ = 0;
  bool ends_ = false;
  Status failure_;
  std::vector<std::jthread> threads_;
};

}  // namespace nmb::hdf5
