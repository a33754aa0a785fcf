#include "common/options/file_list.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/printing/io_failure.h"

namespace nmb::tools {
namespace {

constexpr std::size_t kMostListBytes = std::size_t{1} << 30;

Result<std::string> read_all(int fd, const std::string& name) {
  std::string text;
  std::vector<char> buffer(64 * 1024);
  while (true) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return io_failure(name, "read");
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (text.size() > kMostListBytes)
      return Status(Code::kLimit, name, kNoOffset, "", "the list has more than 1 GiB");
  }
}

Result<std::string> read_text(const std::string& path) {
  if (path == "-") return read_all(STDIN_FILENO, "standard input");
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return Status(errno == ENOENT ? Code::kNotFound : Code::kIo, path, kNoOffset, "",
                  std::string("cannot open: ") + std::strerror(errno));
  Result<std::string> text = read_all(fd, path);
  ::close(fd);
  return text;
}

}  // namespace

Result<std::vector<std::string>> read_list(const std::string& path, bool nul_separated) {
  NMB_ASSIGN(const std::string text, read_text(path));
  std::vector<std::string> names;
  const char separator = nul_separated ? '\0' : '\n';
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    if (end > at) names.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

Result<std::vector<std::string>> read_file_list(const std::string& path, bool nul_separated) {
  NMB_ASSIGN(std::vector<std::string> names, read_list(path, nul_separated));
  if (names.empty())
    return Status(Code::kUsage, path, kNoOffset, "", "found no names of files in the list");
  return names;
}

Status check_file_list(const OutputSet& outputs, const std::string& path, const std::string& what) {
  if (path.empty()) return {};
  return outputs.check_input(path == "-" ? "/dev/stdin" : path, what);
}

}  // namespace nmb::tools
