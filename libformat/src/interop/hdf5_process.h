// Hdf5Process: a running nmb-hdf5, the program that has the HDF5 library.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "nmb/status.h"

namespace nmb::hdf5 {

class Hdf5Process {
 public:
  // Where it tells what is read here.
  enum class Tells { kOnOutput, kOnError };
  // The number under which it has the descriptor that it is given.
  static constexpr int kShared = 3;

  // shared: a descriptor for it, or -1. kUnsupported: there is no such program; kIo.
  static Result<std::unique_ptr<Hdf5Process>> start(const std::vector<std::string>& arguments,
                                                    Tells tells, int shared);
  // Ends it if it still runs.
  ~Hdf5Process();
  Hdf5Process(const Hdf5Process&) = delete;
  Hdf5Process& operator=(const Hdf5Process&) = delete;

  // Fills `bytes` up to the end of what is told; returns how many there were. kIo.
  Result<std::size_t> read(std::span<std::byte> bytes);
  // Waits until it has ended; returns its exit code. kLimit: it took too much time; kDamaged: a
  // signal ended it. Once.
  Result<int> wait();

 private:
  explicit Hdf5Process(int pipe) : pipe_(pipe) {}
  int pipe_;
  pid_t id_ = 0;  // 0: not running
};

}  // namespace nmb::hdf5
