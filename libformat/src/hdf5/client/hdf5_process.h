// Hdf5Process: a running nmb-hdf5, the program that contains the HDF5 library, which works on one
// file.
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

  // shared: a descriptor that the process gets as kShared, or -1. Errors: kUnsupported if the
  // program is not installed; kIo.
  static Result<std::unique_ptr<Hdf5Process>> start(const std::vector<std::string>& arguments,
                                                    int shared);
  // Ends the process if it still runs.
  ~Hdf5Process();
  Hdf5Process(const Hdf5Process&) = delete;
  Hdf5Process& operator=(const Hdf5Process&) = delete;

  // Waits until there is something to read or the output ends. Errors: kIo if *cancel became true;
  // the destructor then ends the process.
  Status wait_readable(const std::atomic<bool>* cancel);
  // Returns the next message. Memory grows with the bytes that arrive, whatever length the message
  // states. Errors: kDamaged if the process ended without a last message, and those of wait(); kIo.
  Result<Received> next();
  // Waits until the process has ended, which it does after its last message was read. Returns its
  // exit code. Call it once. Errors: kLimit if it took too much time; kDamaged if a signal ended
  // it; kIo.
  Result<int> wait();

 private:
  // Reads until `bytes` is full or the output ends; returns the number of bytes.
  Result<std::size_t> read(std::span<std::byte> bytes);
  Status ended();
  Hdf5Process(std::unique_ptr<Hdf5Server> server, int pipe)
      : server_(std::move(server)), pipe_(pipe) {}
  std::unique_ptr<Hdf5Server> server_;  // nullptr: the process has ended
  int pipe_;
};

}  // namespace nmb::hdf5
