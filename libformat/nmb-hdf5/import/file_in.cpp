#include "import/file_in.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "wire/joined_text.h"

namespace nmb::hdf5 {

Status Spool::open(int descriptor) {
  struct stat about {};
  if (fstat(descriptor, &about) != 0)
    return failure(Code::kIo, "reading the spool: ", std::strerror(errno));
  descriptor_ = descriptor;
  begin_ = static_cast<std::uint64_t>(about.st_size);
  return {};
}

Result<std::uint64_t> Spool::append(std::span<const std::byte> bytes, const std::string& object) {
  NMB_ASSIGN(const std::uint64_t at, reserve(bytes.size(), object));
  NMB_TRY(write_at(at, bytes));
  return at;
}

Result<std::uint64_t> Spool::reserve(std::uint64_t bytes, const std::string& object) {
  if (bytes > most_ - size_)
    return failure(Code::kLimit, object, ": decoded values and chunk tables take more than ", most_,
                   " bytes, which is the limit for a file of this size");
  return begin_ + std::exchange(size_, size_ + bytes);
}

Status Spool::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0)
      return Status(errno == ENOSPC ? Code::kNoSpace : Code::kIo,
                    joined_text("writing the spool: ", std::strerror(errno)));
    offset += static_cast<std::uint64_t>(n);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return {};
}

std::string FileIn::placed(const std::string& path_in_file) const {
  if (place.empty() || path_in_file.empty()) return path_in_file;
  const std::string root = "/" + place;
  if (path_in_file == "/") return root;
  // A path that begins with "//" stands for a named datatype without a link.
  return path_in_file.starts_with("//") ? "/" + root + path_in_file.substr(1) : root + path_in_file;
}

}  // namespace nmb::hdf5
