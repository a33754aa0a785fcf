// OutputOptions: the options of every function that writes a file.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "files/files.h"

namespace nmb {

struct OutputOptions {
  // --- what happens to the file ---
  bool overwrite = false;  // whether a new file may replace an existing file
  bool sync = true;        // whether to wait until the data is on the device

  // --- what changes the speed; the bytes are the same ---
  unsigned threads = 1;  // number of threads that move values

  // --- cancelling and callbacks ---
  // If set, work stops with kIo "interrupted" once *cancel is true, and the file does not change.
  // The flag has no effect after a new file has its name, or after the superblock of a new
  // generation is written. In a commit, only rank 0's flag counts.
  const std::atomic<bool>* cancel = nullptr;
  // Called while values are moved, with two numbers for this rank: the bytes moved so far, and the
  // total bytes. Any of the threads may call this function, but only one thread at a time.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress{};
  OutputLayer layer{};  // wraps the output file
};

}  // namespace nmb
