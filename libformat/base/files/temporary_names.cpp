#include "files/temporary_names.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "files/files.h"
#include "wire/hash.h"
#include "wire/joined_text.h"
#include "wire/whole_number.h"

namespace nmb {

namespace {

namespace fs = std::filesystem;

// A process writes few files at a time, at most one for each thread.
constexpr std::size_t kMostNames = 256;
constexpr std::string_view kEnding = ".part";
constexpr std::size_t kHostDigits = 8;

std::array<std::atomic<char*>, kMostNames>& names() {
  static std::array<std::atomic<char*>, kMostNames> all{};
  return all;
}
// Number of calls of unlink_temporary_files() that have not returned.
std::atomic<int> unlinking{0};
static_assert(std::atomic<char*>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "a signal handler uses these objects");

// Returns a text that differs between hosts, between starts of a host, and between containers with
// process IDs of their own. Returns an empty text if the system does not provide such a text.
std::string find_host() {
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  std::error_code error;
  const std::string processes = fs::read_symlink("/proc/self/ns/pid", error).string();
  if (boot.empty() || error) return {};
  const std::string both = boot + processes;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx",
                static_cast<unsigned long long>(sum_of(std::as_bytes(std::span(both)))));
  return std::string(text, kHostDigits);
}

const std::string& host() {
  static const std::string text = find_host();
  return text;
}

// Returns ".HOST-PID.part".
std::string ending_of(std::string_view process) {
  return joined_text(".", host(), "-", process, kEnding);
}

// If `name` is a hidden name that a process of this host made, and this process no longer exists,
// returns the name for which it was made; otherwise an empty text.
std::string left_for(std::string_view name) {
  const std::string begin = "." + host() + "-";
  const std::size_t at = name.find(begin, 1);
  if (name.empty() || name.front() != '.' || at == name.npos) return {};
  std::string_view rest = name.substr(at + begin.size());
  const std::string_view process = rest.substr(0, rest.find('.'));
  const auto number = whole_number(process);
  if (!number || *number == 0 || *number > 1u << 30) return {};
  rest.remove_prefix(process.size());
  // The process may also have made a file ".NAME.HOST-PID.part.nmb" and a hidden name for that
  // file. These names are accepted too.
  const std::string own = ending_of(process), merged = std::string(kEnding) + ".nmb";
  std::string_view made_for = name.substr(1, at - 1);
  if (rest == merged + own && made_for.starts_with('.'))
    made_for.remove_prefix(1);
  else if (rest != kEnding && rest != merged)
    return {};
  if (::kill(static_cast<pid_t>(*number), 0) == 0 || errno != ESRCH) return {};
  return std::string(made_for);
}

// Names of files that may be removed, by folder and then by the name for which they were made.
class StaleFiles {
 public:
  std::vector<std::string> take(const std::string& path) {
    const std::string folder = folder_of(path);
    const std::lock_guard lock(mutex_);
    const auto [known, is_new] = folders_.try_emplace(folder);
    if (is_new) list(folder, &known->second);
    const auto found = known->second.extract(path.substr(path.rfind('/') + 1));
    return found ? std::move(found.mapped()) : std::vector<std::string>();
  }

 private:
  using ByName = std::map<std::string, std::vector<std::string>>;

  static void list(const std::string& folder, ByName* out) {
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      if (const std::string made_for = left_for(name); !made_for.empty())
        (*out)[made_for].push_back(folder + "/" + name);
    }
  }

  std::mutex mutex_;
  std::map<std::string, ByName> folders_;
};

void remove_file(const std::string& path) {
  struct stat about {};
  if (::lstat(path.c_str(), &about) != 0) return;
  if (S_ISDIR(about.st_mode)) {
    std::error_code none;
    fs::remove_all(path, none);
    return;
  }
  if (!S_ISREG(about.st_mode)) return;
  // The process is gone, but a process that it started may still write the file.
  const int fd = ::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return;
  const bool is_locked = ::flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (!is_locked) ::unlink(path.c_str());
  ::close(fd);
}

}  // namespace

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

TemporaryName::TemporaryName(const std::string& path) {
  char* const copy = ::strdup(path.c_str());
  if (!copy) return;
  for (std::size_t i = 0; i < kMostNames; ++i) {
    char* none = nullptr;
    if (!names()[i].compare_exchange_strong(none, copy)) continue;
    place_ = static_cast<int>(i);
    return;
  }
  std::free(copy);
}

TemporaryName::TemporaryName(TemporaryName&& other) noexcept
    : place_(std::exchange(other.place_, -1)) {}

TemporaryName& TemporaryName::operator=(TemporaryName&& other) noexcept {
  std::swap(place_, other.place_);
  return *this;
}

void TemporaryName::forget() {
  const int place = std::exchange(place_, -1);
  if (place < 0) return;
  char* const name = names()[static_cast<std::size_t>(place)].exchange(nullptr);
  // A signal handler in another thread may still use the name.
  if (unlinking.load() == 0) std::free(name);
}

void unlink_temporary_files() {
  const int error = errno;
  ++unlinking;
  for (const std::atomic<char*>& name : names())
    if (const char* const path = name.load()) ::unlink(path);
  --unlinking;
  errno = error;
}

std::string hidden_name(const std::string& path) {
  const std::string name = folder_of(path) + "/." + path.substr(path.rfind('/') + 1);
  return name + ending_of(std::to_string(::getpid()));
}

void remove_stale_files(const std::string& path) {
  if (host().empty()) return;
  static StaleFiles all;
  for (const std::string& name : all.take(path)) remove_file(name);
}

}  // namespace nmb
