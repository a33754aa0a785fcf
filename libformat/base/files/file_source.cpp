// Reads files at given positions (see files/files.h).
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "files/files.h"
#include "files/writer_lock.h"
#include "wire/joined_text.h"
#include "wire/system_error.h"

namespace nmb {

namespace {

FileStamp stamp_from(const struct stat& info) {
  return {info.st_dev, info.st_ino, static_cast<std::uint64_t>(info.st_size),
          std::int64_t{info.st_mtim.tv_sec} * 1000000000 + info.st_mtim.tv_nsec};
}

}  // namespace

Result<FileStamp> FileSource::stamp_of(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) return system_error(errno, path, "stat");
  return stamp_from(info);
}

Result<std::unique_ptr<FileSource>> FileSource::open(const std::string& path) {
  if (path.empty()) return Status(Code::kNotFound, "found an empty name of a file");
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return system_error(errno, path, "open");
  return adopt(fd, path);
}

Result<std::unique_ptr<FileSource>> FileSource::adopt(int fd, const std::string& path) {
  std::unique_ptr<FileSource> source(new FileSource(path, fd));
  struct stat info;
  if (::fstat(fd, &info) != 0) return system_error(errno, path, "stat");
  if (!S_ISREG(info.st_mode))
    return Status(Code::kIo, path, kNoOffset, "",
                  S_ISDIR(info.st_mode) ? "found a folder, expected a file"
                                        : "found a device, expected a file");
  source->size_ = static_cast<std::uint64_t>(info.st_size);
  source->sparse_ = static_cast<std::uint64_t>(info.st_blocks) * 512 < source->size_;
  source->stamp_ = stamp_from(info);
  return source;
}

FileSource::~FileSource() { ::close(fd_); }

Result<std::uint64_t> FileSource::refresh() const {
  struct stat info;
  if (::fstat(fd_, &info) != 0) return system_error(errno, path_, "stat");
  const auto now = static_cast<std::uint64_t>(info.st_size);
  {
    // A writer may have filled the hole that was found last.
    std::lock_guard lock(hole_mutex_);
    hole_ = {};
  }
  for (std::uint64_t known = size_; known < now && !size_.compare_exchange_weak(known, now);) {
  }
  return now;
}

bool FileSource::has_writer() const {
  struct flock lock = writer_lock();
  return ::fcntl(fd_, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

Status FileSource::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  std::size_t done = 0;
  while (done < out.size()) {
    // In Linux, one call reads at most 2 GiB - 4 KiB.
    const std::size_t ask = std::min<std::size_t>(out.size() - done, 1 << 30);
    ssize_t got = ::pread(fd_, out.data() + done, ask, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error(errno, path_, joined_text("read at ", offset + done));
    reads_.fetch_add(1, std::memory_order_relaxed);
    bytes_.fetch_add(static_cast<std::uint64_t>(got), std::memory_order_relaxed);
    if (got == 0)
      return Status(Code::kDamaged, path_, offset + done, "R-FL-1",
                    joined_text("cut: found ", offset + done, " bytes, expected at least ",
                                offset + out.size()));
    done += static_cast<std::size_t>(got);
  }
  return {};
}

bool FileSource::is_unallocated(std::uint64_t offset, std::uint64_t length) const {
  if (!sparse_) return false;
  std::lock_guard lock(hole_mutex_);
  // Adjacent ranges often lie in the same hole.
  if (offset < hole_.begin || offset >= hole_.end) {
    off_t data = ::lseek(fd_, static_cast<off_t>(offset), SEEK_DATA);
    if (data < 0 && errno != ENXIO) return false;
    hole_ = {offset, data < 0 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(data)};
  }
  return length <= hole_.end - offset;
}

}  // namespace nmb
