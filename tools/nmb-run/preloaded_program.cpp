#include "nmb-run/preloaded_program.h"

#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include "files/plugin_folders.h"
#include "nmb-run/cost_report.h"
#include "parallel/communicator.h"
#include "wire/failure.h"

namespace nmb::tools {

namespace {

namespace fs = std::filesystem;

// Finds a program as a shell does.
std::optional<fs::path> find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return fs::path(name);
  const char* const path = std::getenv("PATH");
  std::string_view rest = path ? path : "";
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const fs::path file = fs::path(end == 0 ? "." : std::string(rest.substr(0, end))) / name;
    if (::access(file.c_str(), X_OK) == 0 && fs::is_regular_file(file)) return file;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return std::nullopt;
}

// Returns whether a file is an ELF program that no dynamic linker loads.
bool is_static(const fs::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  bool has_interpreter = false;
  Elf64_Ehdr header;
  const bool is_elf =
      ::pread(file, &header, sizeof header, 0) == static_cast<ssize_t>(sizeof header) &&
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
      header.e_phentsize == sizeof(Elf64_Phdr);
  for (unsigned i = 0; is_elf && i < header.e_phnum; ++i) {
    Elf64_Phdr part;
    const auto at = static_cast<off_t>(header.e_phoff + i * sizeof part);
    if (::pread(file, &part, sizeof part, at) != static_cast<ssize_t>(sizeof part)) break;
    has_interpreter = has_interpreter || part.p_type == PT_INTERP;
  }
  ::close(file);
  return is_elf && !has_interpreter;
}

// Adds the libraries of this installation that are preloaded, each before a colon.
Result<std::string> find_libraries() {
  std::string all;
  for (const fs::path& folder : plugin_folders()) {
    for (const fs::path& file :
         {folder.parent_path() / "libnmb-pnetcdf.so", folder / "nmb-netcdf-preload.so"}) {
      std::error_code error;
      if (!fs::exists(file, error)) continue;
      const std::string found = fs::canonical(file, error).string();
      // Colons and blanks separate the libraries of LD_PRELOAD.
      if (found.find_first_of(": ") != std::string::npos)
        return Status(
            Code::kUnsupported, found, kNoOffset, "",
            "a library in a folder with a colon or a blank in its path cannot be preloaded");
      all += found + ":";
    }
    if (!all.empty()) return all;
  }
  return Status(Code::kUnsupported,
                "libnmb-pnetcdf.so and nmb-netcdf-preload.so are missing; the first is built where "
                "an MPI library and Python are found, the second where netCDF-C is");
}

// The file to which the program's processes write what they have done.
class TallyFile {
 public:
  TallyFile() {
    std::error_code error;
    const fs::path folder = fs::temp_directory_path(error);
    if (error) return;
    std::string name = (folder / "nmb-run-XXXXXX").string();
    const int file = ::mkostemp(name.data(), O_CLOEXEC);
    if (file < 0) return;
    ::close(file);
    path_ = name;
  }
  TallyFile(const TallyFile&) = delete;
  TallyFile& operator=(const TallyFile&) = delete;
  ~TallyFile() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

volatile sig_atomic_t child_process = 0;

void pass_on(int signal) {
  if (child_process > 0) ::kill(static_cast<pid_t>(child_process), signal);
}

int code_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

Result<int> PreloadedProgram::run() const {
  const std::optional<fs::path> program = find_program(arguments.front());
  if (!program || ::access(program->c_str(), X_OK) != 0)
    return Status(Code::kNotFound, arguments.front(), kNoOffset, "", "there is no such program");
  if (is_static(*program))
    return Status(Code::kUnsupported, arguments.front(), kNoOffset, "",
                  "the program is statically linked, so nothing can be preloaded; link it with "
                  "-lnmb-pnetcdf ahead of -lpnetcdf");
  NMB_ASSIGN(std::string preload, find_libraries());
  const TallyFile tally;
  if (tally.path().empty())
    std::fputs("nmb-run: cannot make a temporary file (TMPDIR), so there is no report\n", stderr);
  const pid_t child = ::fork();
  if (child < 0)
    return Status(Code::kIo, std::string("cannot start a process: ") + std::strerror(errno));
  if (child == 0) {
    const char* const before = std::getenv("LD_PRELOAD");
    if (before != nullptr) preload += before;
    ::setenv("LD_PRELOAD", preload.c_str(), 1);
    ::setenv("NMB_NETCDF_MESSAGES", "1", 0);
    if (!tally.path().empty()) ::setenv("NMB_RUN_TALLY", tally.path().c_str(), 1);
    std::vector<char*> words;
    for (const std::string& argument : arguments)
      words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    // If nmb-run is killed, so is the program. A script without #! runs in a shell.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::execvp(program->c_str(), words.data());
    std::fprintf(stderr, "nmb-run: %s: %s\n", program->c_str(), std::strerror(errno));
    ::_exit(2);
  }
  child_process = static_cast<sig_atomic_t>(child);
  struct sigaction action {};
  action.sa_handler = pass_on;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2})
    ::sigaction(signal, &action, nullptr);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return Status(Code::kIo, "cannot wait for the program");
  child_process = 0;
  const CostReport report(tally.path());
  if (launched_rank() == 0 && !tally.path().empty()) {
    if (!report.caught())
      std::fprintf(
          stderr,
          "nmb-run: %s: no call of PnetCDF was seen that creates or opens a file, and none of "
          "netCDF-C "
          "that opens one; is the library linked statically, or does the program look for the "
          "functions by dlsym()?\n",
          arguments.front().c_str());
    else if (reports)
      std::fputs(report.text().c_str(), stderr);
  }
  return code_of(status);
}

}  // namespace nmb::tools
