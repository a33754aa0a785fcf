#include "files/spool_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "wire/system_error.h"

namespace nmb {

Result<std::shared_ptr<SpoolFile>> SpoolFile::create() {
  std::error_code error;
  std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  // An empty variable counts as one that is not set.
  if (const char* set = std::getenv("TMPDIR"); error && set && *set == '\0') {
    folder = "/tmp";
    error.clear();
  }
  if (error) return Status(Code::kIo, "there is no folder for temporary files; set TMPDIR");
  return create_in(folder.string());
}

Result<std::shared_ptr<SpoolFile>> SpoolFile::create_in(const std::string& folder) {
  int descriptor = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  // Some file systems, for example NFS, have no files without a name.
  if (descriptor < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
    std::string path = (std::filesystem::path(folder) / ".nmb-XXXXXX").string();
    descriptor = mkostemp(path.data(), O_CLOEXEC);
    if (descriptor >= 0) unlink(path.c_str());
  }
  if (descriptor < 0) return system_error(errno, folder, "make a temporary file");
  return std::shared_ptr<SpoolFile>(new SpoolFile(descriptor, folder));
}

SpoolFile::~SpoolFile() { close(descriptor_); }

std::uint64_t SpoolFile::size() const {
  struct stat about {};
  return fstat(descriptor_, &about) == 0 ? static_cast<std::uint64_t>(about.st_size) : 0;
}

Status SpoolFile::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t n = pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error(errno, name_, "read a temporary file");
    if (n == 0)
      return Status(Code::kIo, name_, kNoOffset, "", "a temporary file is shorter than expected");
    offset += static_cast<std::uint64_t>(n);
    out = out.subspan(static_cast<std::size_t>(n));
  }
  return {};
}

Status SpoolFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error(errno, name_, "write a temporary file");
    offset += static_cast<std::uint64_t>(n);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return {};
}

}  // namespace nmb
