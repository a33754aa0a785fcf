// A library to preload: reads and writes of files below NMBENCH_LIMITED_FOLDER take at least as
// long as NMBENCH_LIMITED_RATE bytes per second allow. Each thread has a rate of its own, as each
// stream of a parallel file system's client has.
#include <dlfcn.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace {

const char* const folder = std::getenv("NMBENCH_LIMITED_FOLDER");
const double rate = std::getenv("NMBENCH_LIMITED_RATE")
                        ? std::strtod(std::getenv("NMBENCH_LIMITED_RATE"), nullptr)
                        : 0;

bool is_limited(int file) {
  char link[32], path[4096];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t length = ::readlink(link, path, sizeof path);
  const std::size_t prefix = std::strlen(folder);
  return length > static_cast<ssize_t>(prefix) && std::memcmp(path, folder, prefix) == 0 &&
         path[prefix] == '/';
}

// Waits until the bytes that this thread has moved may have been moved.
void wait_for(ssize_t bytes, int file, int other = -1) {
  if (bytes <= 0 || !folder || rate <= 0) return;
  const int error = errno;
  const int files = (is_limited(file) ? 1 : 0) + (other >= 0 && is_limited(other) ? 1 : 0);
  errno = error;
  if (files == 0) return;
  thread_local double free_at = 0;  // when the stream is free again
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const double time = static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  free_at = (free_at > time ? free_at : time) + files * static_cast<double>(bytes) / rate;
  // The system sleeps somewhat longer than asked, so short waits are added up.
  if (free_at - time < 2e-3) return;
  const auto whole = static_cast<std::time_t>(free_at);
  const timespec until{whole, static_cast<long>((free_at - static_cast<double>(whole)) * 1e9)};
  while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
  errno = error;
}

template <class Function>
Function* next(Function*, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

#define LIMITED(name, parameters, arguments)       \
  extern "C" ssize_t name parameters {             \
    static auto* const inner = next(&name, #name); \
    const ssize_t done = inner arguments;          \
    wait_for(done, file);                          \
    return done;                                   \
  }

LIMITED(read, (int file, void* to, std::size_t bytes), (file, to, bytes))
LIMITED(write, (int file, const void* from, std::size_t bytes), (file, from, bytes))
LIMITED(pread, (int file, void* to, std::size_t bytes, off_t at), (file, to, bytes, at))
LIMITED(pread64, (int file, void* to, std::size_t bytes, off64_t at), (file, to, bytes, at))
LIMITED(pwrite, (int file, const void* from, std::size_t bytes, off_t at), (file, from, bytes, at))
LIMITED(pwrite64, (int file, const void* from, std::size_t bytes, off64_t at),
        (file, from, bytes, at))
LIMITED(readv, (int file, const iovec* to, int count), (file, to, count))
LIMITED(writev, (int file, const iovec* from, int count), (file, from, count))
LIMITED(preadv, (int file, const iovec* to, int count, off_t at), (file, to, count, at))
LIMITED(pwritev, (int file, const iovec* from, int count, off_t at), (file, from, count, at))

extern "C" ssize_t copy_file_range(int from, off64_t* from_at, int to, off64_t* to_at,
                                   std::size_t bytes, unsigned flags) {
  static auto* const inner = next(&copy_file_range, "copy_file_range");
  const ssize_t done = inner(from, from_at, to, to_at, bytes, flags);
  wait_for(done, from, to);
  return done;
}
