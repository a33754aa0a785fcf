// Hdf5Process is a running process of nmb-hdf5, the program that contains the HDF5 library. The
// process works on one file.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "server/hdf5_server.h"
#include "server/hdf5_stream.h"
#include "wire/failure.h"

namespace nmb::hdf5 {

class Hdf5Process {
 public:
  // Starts a process. `shared` is a file descriptor that the process gets as kShared, or -1.
  // Errors: kUnsupported if the program is not installed; kIo.
  static Result<std::unique_ptr<Hdf5Process>> start(const std::vector<std::string>& arguments,
                                                    int shared);
  // Ends the process if it is still running, and waits until it has ended.
  ~Hdf5Process();
  Hdf5Process(const Hdf5Process&) = delete;
  Hdf5Process& operator=(const Hdf5Process&) = delete;

  using TakeMessage = std::function<Status(std::vector<std::byte> content)>;
  // Receives the messages of the process (see hdf5_stream.h) up to the last one, and waits until
  // the process has ended. Passes each message kBlock to take(). Call this only once. `cancel` may
  // be nullptr. Errors: the failure that the process reports; the first failure of take(); kIo
  // "interrupted" if *cancel becomes true; kLimit if the process took too much time; kDamaged if it
  // was ended by a signal, ended without a last message, or sent a message of another kind; kIo.
  // After an error, the destructor ends the process.
  Status receive(const TakeMessage& take, const std::atomic<bool>* cancel = nullptr);

 private:
  struct Received {
    Message kind;
    std::vector<std::byte> content;
  };

  // Waits until bytes can be read or the process closes its output.
  Status wait_readable(const std::atomic<bool>& cancel);
  // Returns the next message. Allocates memory step by step while bytes arrive, because the length
  // in the message may be wrong.
  Result<Received> next();
  // Waits until the process has ended, and returns its exit code.
  Result<int> wait();
  // Reads until `bytes` is full or the process closes its output. Returns the number of bytes read.
  Result<std::size_t> read(std::span<std::byte> bytes);
  Status ended();
  Hdf5Process(std::unique_ptr<Hdf5Server> server, int pipe)
      : server_(std::move(server)), pipe_(pipe) {}
  std::unique_ptr<Hdf5Server> server_;  // nullptr after the process has ended
  int pipe_;
};

}  // namespace nmb::hdf5
