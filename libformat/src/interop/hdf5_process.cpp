// Runs nmb-hdf5 (see hdf5_process.h).
#include "interop/hdf5_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "wire/plugin_folders.h"
#include "wire/system_error.h"

extern char** environ;

namespace nmb::hdf5 {

namespace {

namespace fs = std::filesystem;

Result<std::string> find_program() {
  std::string looked;
  for (const fs::path& folder : plugin_folders()) {
    const fs::path file = folder / "nmb-hdf5";
    std::error_code error;
    if (fs::exists(file, error)) return file.string();
    looked += (looked.empty() ? "" : ", ") + file.string();
  }
  return Status(Code::kUnsupported,
                "found no program for HDF5, expected " +
                    (looked.empty() ? "a folder in NMB_PLUGIN_PATH" : "one of " + looked));
}

}  // namespace

Result<std::unique_ptr<Hdf5Process>> Hdf5Process::start(const std::vector<std::string>& arguments,
                                                        Tells tells, int shared) {
  NMB_ASSIGN(std::string program, find_program());
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return system_error(errno, {}, "make a pipe");
  std::unique_ptr<Hdf5Process> process(new Hdf5Process(ends[0]));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const bool on_output = tells == Tells::kOnOutput;
  posix_spawn_file_actions_adddup2(&actions, ends[1], on_output ? STDOUT_FILENO : STDERR_FILENO);
  posix_spawn_file_actions_addopen(&actions, on_output ? STDERR_FILENO : STDOUT_FILENO, "/dev/null",
                                   O_WRONLY, 0);
  if (shared >= 0) posix_spawn_file_actions_adddup2(&actions, shared, kShared);
  std::vector<std::string> texts{program};
  texts.insert(texts.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  const int error =
      posix_spawn(&process->id_, program.c_str(), &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error != 0) {
    process->id_ = 0;
    return system_error(error, program, "start it");
  }
  return process;
}

Hdf5Process::~Hdf5Process() {
  close(pipe_);
  if (id_ == 0) return;
  kill(id_, SIGKILL);
  (void)wait();
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

Result<int> Hdf5Process::wait() {
  int status = 0;
  while (waitpid(id_, &status, 0) < 0 && errno == EINTR) {
  }
  id_ = 0;
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
  const int signal = WTERMSIG(status);
  if (signal == SIGXCPU || signal == SIGKILL)
    return Status(Code::kLimit,
                  "found a file on which the HDF5 library takes more time than is allowed");
  return Status(Code::kDamaged,
                "found a file on which the HDF5 library ended by signal " + std::to_string(signal));
}

}  // namespace nmb::hdf5
