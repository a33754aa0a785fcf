// bench_run COMMAND...: runs a command and appends its costs as one line of JSON to standard error.
// A small parent of its own, because a child's peak memory is never below its parent's.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "bench_run: found no command\n");
    return 2;
  }
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    execvp(argv[1], argv + 1);
    std::perror(argv[1]);
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  if (child < 0 || wait4(child, &status, 0, &usage) != child) {
    std::perror("bench_run");
    return 2;
  }
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  const auto seconds = [](timeval t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  std::fprintf(stderr, "{\"wall\": %.6f, \"cpu\": %.6f, \"rss_mb\": %.3f}\n", wall.count(),
               seconds(usage.ru_utime) + seconds(usage.ru_stime),
               static_cast<double>(usage.ru_maxrss) * 1024 / 1e6);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}
