#include "server/hdf5_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "wire/joined_text.h"
#include "wire/system_error.h"

namespace nmb::hdf5 {

Result<std::unique_ptr<Hdf5Process>> Hdf5Process::start(const std::vector<std::string>& arguments,
                                                        int shared) {
  NMB_ASSIGN(std::unique_ptr<Hdf5Server> server, Hdf5Server::take());
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return system_error(errno, {}, "make a pipe");
  std::unique_ptr<Hdf5Process> process(new Hdf5Process(std::move(server), ends[0]));
  const Status asked = process->server_->ask(arguments, ends[1], shared);
  close(ends[1]);
  if (!asked.ok()) return asked;
  return process;
}

Hdf5Process::~Hdf5Process() {
  if (server_ && server_->is_ours()) {
    server_.reset();
    // The process may be creating a file. Its end of the pipe is closed only when the process is
    // gone, and only then can the caller remove all its files.
    std::byte rest[4096];
    for (ssize_t n = 1; n > 0 || (n < 0 && errno == EINTR);) n = ::read(pipe_, rest, sizeof rest);
  }
  close(pipe_);
}

Status Hdf5Process::receive(const TakeMessage& take, const std::atomic<bool>* cancel) {
  for (;;) {
    if (cancel) NMB_TRY(wait_readable(*cancel));
    NMB_ASSIGN(Received message, next());
    switch (message.kind) {
      case Message::kBlock:
        if (take) NMB_TRY(take(std::move(message.content)));
        break;
      case Message::kDone:
        return wait().status();
      case Message::kFailure:
        NMB_TRY(wait().status());
        return decode_failure(message.content);
      default:
        return failure(Code::kDamaged, "found a message of nmb-hdf5 with kind ",
                       static_cast<std::uint32_t>(message.kind));
    }
  }
}

Status Hdf5Process::wait_readable(const std::atomic<bool>& cancel) {
  constexpr int kLook = 50;  // milliseconds between two checks of `cancel`
  for (pollfd in{pipe_, POLLIN, 0};;) {
    if (cancel) return Status(Code::kIo, "interrupted");
    const int ready = poll(&in, 1, kLook);
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return system_error(errno, {}, "wait for nmb-hdf5");
  }
}

Result<std::size_t> Hdf5Process::read(std::span<std::byte> bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::read(pipe_, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error(errno, {}, "read from nmb-hdf5");
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  return done;
}

// Returns the failure of a process that ended without a last message.
Status Hdf5Process::ended() {
  NMB_ASSIGN(const int code, wait());
  return Hdf5Server::ended_early(
      Code::kDamaged,
      joined_text("found a file on which nmb-hdf5 ended with code ", code, ", without a message"));
}

Result<Hdf5Process::Received> Hdf5Process::next() {
  MessageHead head;
  NMB_ASSIGN(const std::size_t head_length, read(std::as_writable_bytes(std::span(&head, 1))));
  if (head_length < sizeof head) return ended();
  Received message{head.kind, {}};
  const std::uint64_t length = head.length;
  constexpr std::uint64_t kStep = 16 << 20;
  while (message.content.size() < length) {
    const std::size_t before = message.content.size();
    const std::size_t step = std::min(kStep, length - before);
    message.content.resize(before + step);
    NMB_ASSIGN(const std::size_t got, read(std::span(message.content).subspan(before)));
    if (got < step) return ended();
  }
  return message;
}

Result<int> Hdf5Process::wait() {
  std::unique_ptr<Hdf5Server> server = std::move(server_);
  NMB_ASSIGN(const int status, server->answer());
  Hdf5Server::give_back(std::move(server));
  NMB_TRY(Hdf5Server::ended_by_signal(status, "file"));
  return WEXITSTATUS(status);
}

}  // namespace nmb::hdf5
