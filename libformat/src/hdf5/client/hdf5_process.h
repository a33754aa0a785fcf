// Hdf5Process: a process of nmb-hdf5, the program that has the HDF5 library, at work on a file.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hdf5/client/hdf5_server.h"
#include "hdf5/client/hdf5_stream.h"
#include "nmb/status.h"

namespace nmb::hdf5 {

class Hdf5Process {
 public:
  // A message of hdf5_stream.h.
  struct Received {
    Message kind;
    std::vector<std::byte> content;
  };

  // shared: a descriptor that it has as kShared, or -1. kUnsupported: there is no such program;
  // kIo.
  static Result<std::unique_ptr<Hdf5Process>> start(const std::vector<std::string>& arguments,
                                                    int shared);
  // Ends it if it still runs.
  ~Hdf5Process();
  Hdf5Process(const Hdf5Process&) = delete;
  Hdf5Process& operator=(const Hdf5Process&) = delete;

  // Waits until there is something to read, or the end of it. kIo: *cancel became true; the process
  // is ended by the destructor.
  Status wait_readable(const std::atomic<bool>* cancel);
  // The next message. Memory grows as the content comes, not as its length promises. kDamaged: the
  // process ended without a last message, or as wait() says; kIo.
  Result<Received> next();
  // Waits until it has ended, which it does once its last message is read; returns its exit code.
  // kLimit: it took too much time; kDamaged: a signal ended it; kIo. Once.
  Result<int> wait();

 private:
  // Fills `bytes` up to the end of what it writes; returns how many there were.
  Result<std::size_t> read(std::span<std::byte> bytes);
  Status ended();
  Hdf5Process(std::unique_ptr<Hdf5Server> server, int pipe)
      : server_(std::move(server)), pipe_(pipe) {}
  std::unique_ptr<Hdf5Server> server_;  // nullptr: it has ended
  int pipe_;
};

}  // namespace nmb::hdf5
