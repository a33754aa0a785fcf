#include "server/hdf5_filters.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "server/hdf5_server.h"
#include "server/hdf5_stream.h"
#include "wire/joined_text.h"
#include "wire/system_error.h"

namespace nmb::hdf5 {

namespace {

// A running process `nmb-hdf5 decode`. It handles one request after another, and ends when the
// socket is closed. Not thread-safe.
class FilterProcess {
 public:
  static Result<std::unique_ptr<FilterProcess>> start() {
    NMB_ASSIGN(std::unique_ptr<Hdf5Server> server, Hdf5Server::take());
    const int memory = memfd_create("nmb-chunk", MFD_CLOEXEC);
    if (memory < 0) return system_error(errno, {}, "make a file in memory");
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
      const int error = errno;
      close(memory);
      return system_error(error, {}, "make a pair of sockets");
    }
    std::unique_ptr<FilterProcess> process(new FilterProcess(std::move(server), ends[0], memory));
    // The process reads requests from its output, which is a socket.
    const Status asked = process->server_->ask({"decode"}, ends[1], memory);
    close(ends[1]);
    if (!asked.ok()) return asked;
    return process;
  }
  ~FilterProcess() {
    close(socket_);
    close(memory_);
  }
  FilterProcess(const FilterProcess&) = delete;
  FilterProcess& operator=(const FilterProcess&) = delete;

  // Returns whether this process started it, and nobody has ended it.
  bool is_waiting() const { return server_ && server_->is_ours() && !has_closed(socket_); }

  // Sends a request and returns the content of the answer. *ended: as for undo_filter(). After an
  // error that does not come from the process itself, the process is no longer usable.
  Result<std::vector<std::byte>> ask(FilterRequest request, std::span<const std::byte> bytes,
                                     bool* ended) {
    request.length = bytes.size();
    const std::vector<std::byte> asked = bytes_of_fields(request);
    const MessageHead head{Message::kUndo, 0, asked.size()};
    NMB_TRY(store(bytes));
    if (!send_all(std::as_bytes(std::span(&head, 1))) || !send_all(asked)) return has_ended(ended);
    MessageHead answer;
    if (!receive(std::as_writable_bytes(std::span(&answer, 1)))) return has_ended(ended);
    constexpr std::uint64_t kMostText = 1 << 20;
    if (answer.length > kMostText)
      return is_unusable(failure(Code::kDamaged, "found an answer of nmb-hdf5 with ", answer.length,
                                 " bytes, expected at most ", kMostText));
    std::vector<std::byte> content(answer.length);
    if (!receive(content)) return has_ended(ended);
    if (answer.kind == Message::kFailure) return decode_failure(content);
    std::uint64_t length = 0;
    if (answer.kind != Message::kBlock || !take_fields(content, &length).ok() ||
        length > request.most)
      return is_unusable(Status(Code::kDamaged, "found an answer of nmb-hdf5 without a result"));
    return load(length);
  }
  bool is_usable() const { return is_usable_; }

 private:
  FilterProcess(std::unique_ptr<Hdf5Server> server, int socket, int memory)
      : server_(std::move(server)), socket_(socket), memory_(memory) {}

  Status store(std::span<const std::byte> bytes) {
    for (off_t at = 0; !bytes.empty();) {
      const ssize_t n = pwrite(memory_, bytes.data(), bytes.size(), at);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return is_unusable(system_error(errno, {}, "write to a file in memory"));
      bytes = bytes.subspan(static_cast<std::size_t>(n));
      at += n;
    }
    return {};
  }
  Result<std::vector<std::byte>> load(std::uint64_t length) {
    std::vector<std::byte> out(length);
    for (std::size_t done = 0; done < length;) {
      const ssize_t n = pread(memory_, out.data() + done, length - done, static_cast<off_t>(done));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0)
        return is_unusable(Status(Code::kDamaged, "found a result of nmb-hdf5 that is too short"));
      done += static_cast<std::size_t>(n);
    }
    // A waiting process should not keep much memory.
    constexpr std::uint64_t kMostKept = 16 << 20;
    if (length > kMostKept && ftruncate(memory_, 0) != 0) is_usable_ = false;
    return out;
  }

  bool send_all(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t n = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
    return true;
  }
  bool receive(std::span<std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t n = recv(socket_, bytes.data(), bytes.size(), 0);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
    return true;
  }

  Status is_unusable(Status status) {
    is_usable_ = false;
    return status;
  }
  // Returns the failure of a process that ended.
  Status has_ended(bool* ended) {
    is_usable_ = false;
    *ended = true;
    std::unique_ptr<Hdf5Server> server = std::move(server_);
    NMB_ASSIGN(const int status, server->answer());
    Hdf5Server::give_back(std::move(server));
    // The limit of time ends the process with SIGXCPU, damage with the signal of a crash.
    for (const int signal : {SIGKILL, SIGTERM, SIGINT, SIGHUP})
      if (WIFSIGNALED(status) && WTERMSIG(status) == signal)
        return failure(Code::kIo, "nmb-hdf5 was ended by signal ", signal,
                       " while it decoded a chunk");
    const Status why = Hdf5Server::ended_by_signal(status, "chunk");
    if (why.ok()) return Status(Code::kDamaged, "found a chunk on which nmb-hdf5 ended");
    return Status(Code::kDamaged, why.message());
  }

  std::unique_ptr<Hdf5Server> server_;  // nullptr after the process has ended
  const int socket_, memory_;
  bool is_usable_ = true;
};

// The processes that wait for requests, and what is known about filters.
struct FilterProcesses {
  std::mutex mutex;
  std::vector<std::unique_ptr<FilterProcess>> idle;
  std::map<std::uint32_t, Status> known;
};

// The number of processes that wait is limited, because each needs memory.
constexpr std::size_t kMostIdle = 16;

// A process that another thread of its parent forked can lock the mutex too.
FilterProcesses& filter_processes() {
  static FilterProcesses* const all = [] {
    static FilterProcesses made;
    pthread_atfork([] { filter_processes().mutex.lock(); },
                   [] { filter_processes().mutex.unlock(); },
                   [] { filter_processes().mutex.unlock(); });
    return &made;
  }();
  return *all;
}

Result<std::unique_ptr<FilterProcess>> take_process() {
  {
    const std::lock_guard lock(filter_processes().mutex);
    auto& idle = filter_processes().idle;
    // A process that forked may not use the processes of its parent.
    std::erase_if(idle, [](const auto& process) { return !process->is_waiting(); });
    if (!idle.empty()) {
      std::unique_ptr<FilterProcess> taken = std::move(idle.back());
      idle.pop_back();
      return taken;
    }
  }
  return FilterProcess::start();
}

Result<std::vector<std::byte>> ask_process(const FilterRequest& request,
                                           std::span<const std::byte> bytes, bool* ended) {
  NMB_ASSIGN(std::unique_ptr<FilterProcess> process, take_process());
  Result<std::vector<std::byte>> answer = process->ask(request, bytes, ended);
  if (!process->is_usable()) return answer;
  const std::lock_guard lock(filter_processes().mutex);
  if (filter_processes().idle.size() < kMostIdle)
    filter_processes().idle.push_back(std::move(process));
  return answer;
}

}  // namespace

Status can_undo_filter(std::uint32_t filter) {
  {
    const std::lock_guard lock(filter_processes().mutex);
    const auto found = filter_processes().known.find(filter);
    if (found != filter_processes().known.end()) return found->second;
  }
  bool ended = false;
  const Status answer = ask_process({filter, {}, 0}, {}, &ended).status();
  if (ended)  // loading a plug-in may end the process
    return Status(Code::kUnsupported, answer.message());
  if (!answer.ok() && answer.code() != Code::kUnsupported) return answer;
  const std::lock_guard lock(filter_processes().mutex);
  filter_processes().known.insert_or_assign(filter, answer);
  return answer;
}

Result<std::vector<std::byte>> undo_filter(const FilterRequest& request,
                                           std::span<const std::byte> bytes, bool* ended) {
  if (bytes.empty()) return Status(Code::kDamaged, "found a chunk without bytes");
  return ask_process(request, bytes, ended);
}

}  // namespace nmb::hdf5
