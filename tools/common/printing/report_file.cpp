#include "common/printing/report_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/printing/io_failure.h"

namespace nmb::tools {

namespace {

constexpr std::size_t kPart = 64 * 1024;

}  // namespace

ReportFile::~ReportFile() { ::close(fd_); }

Result<std::unique_ptr<ReportFile>> ReportFile::open(const std::string& path,
                                                     const std::string& schema) {
  // O_NONBLOCK, so that opening a named pipe does not wait for the pipe's other end.
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
  if (fd < 0) return io_failure(path, "open for writing");
  std::unique_ptr<ReportFile> file(new ReportFile(path, fd));
  struct stat info;
  if (::fstat(fd, &info) != 0) return io_failure(path, "stat");
  if (!S_ISREG(info.st_mode))
    return Status(Code::kUsage, path, kNoOffset, "", "the report must be a regular file");
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK)
      return Status(Code::kBusy, path, kNoOffset, "", "another run writes this report");
    return io_failure(path, "lock");
  }
  if (::fstat(fd, &info) != 0) return io_failure(path, "stat");
  file->length_ = static_cast<std::uint64_t>(info.st_size);
  NMB_TRY(file->check_schema(schema));
  NMB_TRY(file->drop_cut_line());
  return file;
}

Result<std::string> ReportFile::read_some(std::uint64_t offset, std::size_t most) const {
  std::string out(most, '\0');
  while (true) {
    const ssize_t got = ::pread(fd_, out.data(), most, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return io_failure(path_, "read");
    out.resize(static_cast<std::size_t>(got));
    return out;
  }
}

Status ReportFile::check_schema(const std::string& schema) const {
  const std::string expected = "{\"schema\":\"" + schema + "\",";
  NMB_ASSIGN(const std::string found, read_some(0, expected.size()));
  // The file may contain only a part of the first line.
  if (expected.starts_with(found)) return {};
  return Status(
      Code::kUsage, path_, kNoOffset, "",
      "the file exists and is not a report of kind " + schema + "; choose another report");
}

Status ReportFile::drop_cut_line() {
  std::uint64_t end = length_;
  bool whole = end == 0;
  while (end > 0 && !whole) {
    const std::size_t ask = static_cast<std::size_t>(std::min<std::uint64_t>(end, kPart));
    NMB_ASSIGN(const std::string part, read_some(end - ask, ask));
    const std::size_t line_end = part.rfind('\n');
    whole = line_end != std::string::npos;
    end -= ask;
    if (whole) end += line_end + 1;
  }
  if (end == length_) return {};
  if (::ftruncate(fd_, static_cast<off_t>(end)) != 0) return io_failure(path_, "cut");
  length_ = end;
  return {};
}

Status ReportFile::for_each_line(const std::function<void(std::string_view)>& visit) const {
  std::string line;
  bool too_long = false;
  for (std::uint64_t at = 0; at < length_;) {
    NMB_ASSIGN(const std::string part, read_some(at, kPart));
    if (part.empty()) break;
    at += part.size();
    for (std::size_t begin = 0; begin < part.size();) {
      const std::size_t end = part.find('\n', begin);
      const bool ends = end != std::string::npos;
      const std::size_t until = ends ? end : part.size();
      too_long = too_long || until - begin > kLongestLine - line.size();
      if (!too_long) line.append(part, begin, until - begin);
      begin = until + 1;
      if (!ends) continue;
      if (!too_long) visit(line);
      line.clear();
      too_long = false;
    }
  }
  return {};
}

Status ReportFile::append(std::string_view line) {
  const std::string text = std::string(line) + "\n";
  // Writes the line with one call, so that a program that reads the report at the same time sees
  // only whole lines.
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t put = ::write(fd_, text.data() + done, text.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      Status status = io_failure(path_, "write");
      // Removes the incomplete line. If this fails, the next run removes it.
      [[maybe_unused]] const int cut = ::ftruncate(fd_, static_cast<off_t>(length_));
      return status;
    }
    done += static_cast<std::size_t>(put);
  }
  length_ += text.size();
  return {};
}

}  // namespace nmb::tools
