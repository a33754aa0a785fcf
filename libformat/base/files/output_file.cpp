// Implements files that are being written (see files/files.h).
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "files/files.h"
#include "files/journaled_output.h"
#include "files/temporary_names.h"
#include "files/writer_lock.h"
#include "wire/joined_text.h"
#include "wire/system_error.h"

namespace nmb {

namespace {

// Takes the lock of a writer. Errors: kBusy if another writer has the lock; kUnsupported if the
// file system does not support locks.
Status take_writer_lock(int fd, const std::string& path) {
  struct flock lock = writer_lock();
  if (::fcntl(fd, F_OFD_SETLK, &lock) == 0) return {};
  if (errno == EAGAIN || errno == EACCES)
    return Status(Code::kBusy, path, kNoOffset, "", "another writer holds the file");
  if (errno != ENOLCK && errno != ENOSYS && errno != EOPNOTSUPP && errno != EINVAL)
    return system_error(errno, path, "lock");
  return Status(
      Code::kUnsupported, path, kNoOffset, "",
      "the file system does not support locks, so another program might write to the file at "
      "the same time");
}

// If other processes keep replacing a file, it is opened at most this number of times.
constexpr int kOpenings = 10;

// Returns whether `path` is the name of the open file `fd`.
Result<bool> names_file(const std::string& path, int fd) {
  struct stat named, opened;
  if (::fstat(fd, &opened) != 0) return system_error(errno, path, "stat");
  if (::stat(path.c_str(), &named) != 0) {
    if (errno == ENOENT) return false;
    return system_error(errno, path, "stat");
  }
  return named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

// Keeps writers out of a file that is about to be replaced, until the object is destroyed.
class ReplacedFile {
 public:
  ReplacedFile() = default;
  ReplacedFile(const ReplacedFile&) = delete;
  ReplacedFile& operator=(const ReplacedFile&) = delete;
  ~ReplacedFile() { close(); }

  // Does nothing if there is no file. operation: F_OFD_SETLK to keep writers out, F_OFD_GETLK only
  // to check that no writer is active. A shared lock is enough to keep writers out, and needs no
  // permission to write. Errors: kBusy if a writer has locked the file; kIo, also if the file
  // cannot be opened, since a writer may then have locked it.
  Status hold(const std::string& path, int operation) {
    for (int opening = 0; opening < kOpenings; ++opening) {
      close();
      fd_ = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
      if (fd_ < 0) return errno == ENOENT ? Status() : system_error(errno, path, "replace");
      struct flock lock = writer_lock();
      lock.l_type = F_RDLCK;
      const bool failed = ::fcntl(fd_, operation, &lock) != 0;
      if (failed ? errno == EAGAIN || errno == EACCES
                 : operation == F_OFD_GETLK && lock.l_type != F_UNLCK)
        return Status(Code::kBusy, path, kNoOffset, "",
                      "another program is writing to the file, so it is not replaced; try again "
                      "when that program has ended");
      NMB_ASSIGN(const bool same, names_file(path, fd_));
      if (same) return {};
    }
    return Status(Code::kBusy, path, kNoOffset, "",
                  "another process replaced the file each time that it was opened; try again "
                  "later");
  }

 private:
  void close() {
    if (fd_ >= 0) ::close(fd_);
  }
  int fd_ = -1;
};

class PosixFile final : public OutputFile {
 public:
  PosixFile(std::string path, int fd, CreateOptions options, std::string temporary, bool published,
            bool stays = false, TemporaryName name = {})
      : path_(std::move(path)),
        temporary_(std::move(temporary)),
        fd_(fd),
        options_(std::move(options)),
        published_(published),
        stays_(stays),
        name_(std::move(name)) {}
  ~PosixFile() override {
    if (!published_ && !stays_ && !temporary_.empty()) ::unlink(temporary_.c_str());
    name_.forget();
    ::close(fd_);
  }

  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    std::size_t done = 0;
    while (done < bytes.size()) {
      const std::size_t ask = std::min<std::size_t>(bytes.size() - done, 1 << 30);
      ssize_t got = ::pwrite(fd_, bytes.data() + done, ask, static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return system_error(errno, path_, joined_text("write at ", offset + done));
      if (got == 0) return system_error(ENOSPC, path_, joined_text("write at ", offset + done));
      done += static_cast<std::size_t>(got);
    }
    return {};
  }

  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    std::size_t done = 0;
    while (done < out.size()) {
      const std::size_t ask = std::min<std::size_t>(out.size() - done, 1 << 30);
      ssize_t got = ::pread(fd_, out.data() + done, ask, static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return system_error(errno, path_, joined_text("read at ", offset + done));
      if (got == 0) {
        std::memset(out.data() + done, 0, out.size() - done);
        break;
      }
      done += static_cast<std::size_t>(got);
    }
    return {};
  }

  Status truncate(std::uint64_t length) override {
    if (::ftruncate(fd_, static_cast<off_t>(length)) != 0)
      return system_error(errno, path_, joined_text("set the length to ", length));
    return {};
  }

  Status reserve(std::uint64_t offset, std::uint64_t length) override {
    if (length == 0) return {};
    // fallocate() also sets the length of the file. Writes that do not change the length do not
    // wait for each other.
    if (::fallocate(fd_, 0, static_cast<off_t>(offset), static_cast<off_t>(length)) == 0) return {};
    if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)
      return system_error(errno, path_, joined_text("reserve ", length, " bytes"));
    NMB_ASSIGN(std::uint64_t now, size());
    return now < offset + length ? truncate(offset + length) : Status();
  }

  Status sync() override {
    if (::fdatasync(fd_) != 0) return system_error(errno, path_, "sync");
    return {};
  }

  // Takes the lock before the file gets its name, since other processes can open the file as soon
  // as it has the name.
  Status publish() override {
    if (published_) return {};
    name_.forget();
    // This is the last check for cancellation; the file is published after it.
    if (options_.cancel && options_.cancel->load())
      return Status(Code::kIo, path_, kNoOffset, "", "interrupted; nothing was written");
    lock_status_ = take_writer_lock(fd_, path_);
    if (temporary_.empty()) {
      const std::string self = joined_text("/proc/self/fd/", fd_);
      if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, path_.c_str(), AT_SYMLINK_FOLLOW) == 0)
        return done();
      if (errno != EEXIST || !options_.overwrite) return system_error(errno, path_, "create");
      // linkat() cannot replace a file. So link to a temporary name in the same folder, and then
      // rename the file.
      temporary_ = hidden_name(path_);
      ::unlink(temporary_.c_str());
      if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, temporary_.c_str(), AT_SYMLINK_FOLLOW) != 0) {
        const int error = errno;
        temporary_.clear();
        return system_error(error, path_, "create");
      }
    } else if (!options_.overwrite) {
      if (::link(temporary_.c_str(), path_.c_str()) != 0)
        return system_error(errno, path_, "create");
      ::unlink(temporary_.c_str());
      return done();
    }
    ReplacedFile old;
    NMB_TRY(old.hold(path_, F_OFD_SETLK));
    if (::rename(temporary_.c_str(), path_.c_str()) != 0)
      return system_error(errno, path_, "rename to");
    return done();
  }

  Status check_held() const override {
    if (options_.locking == Locking::kRequired) NMB_TRY(lock_status_);
    if (!published_) return {};
    NMB_ASSIGN(const bool same, names_file(path_, fd_));
    if (same) return {};
    return Status(
        Code::kBusy, path_, kNoOffset, "",
        "another program removed or replaced the file while it was written; the file that "
        "has this name, if any, does not have what was written");
  }

  Result<std::uint64_t> size() const override {
    struct stat info;
    if (::fstat(fd_, &info) != 0) return system_error(errno, path_, "stat");
    return static_cast<std::uint64_t>(info.st_size);
  }

  const std::string& name() const override { return path_; }

 private:
  Status done() {
    published_ = true;
    // Release the lock that reopen_output() took, because it would block HDF5 programs that only
    // read the file.
    ::flock(fd_, LOCK_UN);
    if (!options_.sync) return {};
    const int folder = ::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    constexpr std::string_view outcome = "the file is complete and has its name nevertheless";
    if (folder < 0) return system_error(errno, path_, "sync the folder of").with(outcome);
    const bool ok = ::fsync(folder) == 0 || errno == EINVAL;
    const int error = errno;
    ::close(folder);
    return ok ? Status() : system_error(error, path_, "sync the folder of").with(outcome);
  }

  std::string path_;
  std::string temporary_;
  int fd_;
  CreateOptions options_;
  bool published_;
  const bool stays_;  // keeps the file if the object is destroyed without publish()
  Status lock_status_;
  TemporaryName name_;  // the hidden name, if the file has one
};

}  // namespace

namespace {

std::string hidden_beside(const std::string& path) {
  return folder_of(path) + "/." + path.substr(path.rfind('/') + 1);
}

}  // namespace

std::string resumable_name(const std::string& path) { return hidden_beside(path) + ".part"; }

namespace {

// Gives a new file the permissions of the file that it will replace, if there is one. The owner
// keeps the permission to write, because other processes of the job may have to open the file.
Status keep_permissions(const std::string& path, int fd) {
  struct stat old;
  if (::lstat(path.c_str(), &old) != 0 || !S_ISREG(old.st_mode)) return {};
  const mode_t mode = (old.st_mode & 0777) | S_IRUSR | S_IWUSR;
  return ::fchmod(fd, mode) == 0 ? Status() : system_error(errno, path, "set the permissions of");
}

Status check_target(const std::string& path, const CreateOptions& options) {
  struct stat info;
  if (::lstat(path.c_str(), &info) != 0)
    return errno == ENOENT ? Status() : system_error(errno, path, "create");
  if (S_ISDIR(info.st_mode))
    return Status(Code::kExists, path, kNoOffset, "", "the target is a folder; name a file");
  if (S_ISLNK(info.st_mode))
    return Status(Code::kExists, path, kNoOffset, "",
                  "the target is a symbolic link; name the file to which it points");
  if (!S_ISREG(info.st_mode))
    return Status(Code::kExists, path, kNoOffset, "", "the target is not a regular file");
  if (!options.overwrite) return Status(Code::kExists, path, kNoOffset, "", "the file exists");
  return ReplacedFile().hold(path, F_OFD_GETLK);
}

}  // namespace

// Returns the error of creating a file in a folder of the kernel's own file systems (/proc, /sys),
// or 0 for other folders. Access to such a folder may be allowed although nobody, not even root,
// can create a file there.
static int refusal_of(const std::string& folder) {
  struct statfs info;
  if (::statfs(folder.c_str(), &info) != 0) return 0;
  if (info.f_type == PROC_SUPER_MAGIC) return ENOENT;
  return info.f_type == SYSFS_MAGIC ? EACCES : 0;
}

Status check_new_output(const std::string& path, const CreateOptions& options) {
  NMB_TRY(check_target(path, options));
  if (const int error = refusal_of(folder_of(path)); error != 0)
    return system_error(error, path, "create");
  // The slash makes the call fail if the path is not a folder.
  if (::faccessat(AT_FDCWD, (folder_of(path) + "/").c_str(), W_OK | X_OK, AT_EACCESS) == 0)
    return {};
  return system_error(errno, path, "create");
}

Result<std::unique_ptr<OutputFile>> create_output(const std::string& path,
                                                  const CreateOptions& options) {
  NMB_TRY(check_target(path, options));
  if (!options.resume_key.empty()) return JournaledOutput::create(path, options);
  if (!options.named && !options.make) {
    const int fd = ::open(folder_of(path).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    if (fd >= 0) {
      std::unique_ptr<OutputFile> file(new PosixFile(path, fd, options, {}, false));
      NMB_TRY(keep_permissions(path, fd));
      return file;
    }
    if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
      return system_error(errno, path, "create");
  }
  remove_stale_files(path);
  const std::string temporary = hidden_name(path);
  TemporaryName name(temporary);
  if (options.make) {
    if (const Status made = options.make(temporary); !made.ok()) {
      // A make() that failed may still have created the file.
      if (made.code() != Code::kExists) ::unlink(temporary.c_str());
      return made;
    }
  }
  const int creation = options.make ? 0 : O_CREAT | O_EXCL;
  const int fd = ::open(temporary.c_str(), creation | O_RDWR | O_CLOEXEC, 0666);
  if (fd < 0) {
    const int error = errno;
    if (options.make) ::unlink(temporary.c_str());
    return system_error(error, error == EEXIST ? temporary : path, "create");
  }
  std::unique_ptr<OutputFile> file(
      new PosixFile(path, fd, options, temporary, false, false, std::move(name)));
  NMB_TRY(keep_permissions(path, fd));
  return file;
}

Result<std::unique_ptr<OutputFile>> attach_output(const std::string& path, const std::string& name,
                                                  const std::string& resume_key) {
  if (!resume_key.empty()) return JournaledOutput::attach(path, name, resume_key);
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return system_error(errno, path, "open for writing");
  return std::unique_ptr<OutputFile>(new PosixFile(name, fd, {}, {}, true));
}

Result<std::unique_ptr<OutputFile>> reopen_output(const std::string& path,
                                                  const std::string& hidden,
                                                  const CreateOptions& options) {
  for (int opening = 0; opening < kOpenings; ++opening) {
    const int fd = ::open(hidden.c_str(), O_CREAT | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0) return system_error(errno, hidden, "create");
    std::unique_ptr<OutputFile> file(new PosixFile(path, fd, options, hidden, false, true));
    NMB_TRY(keep_permissions(path, fd));
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) return system_error(errno, hidden, "lock");
      break;
    }
    // Another process may have published the file since it was opened.
    if (const Result<bool> same = names_file(hidden, fd); same.ok() && *same) return file;
  }
  return Status(Code::kBusy, hidden, kNoOffset, "", "another process is writing the file");
}

Result<std::unique_ptr<OutputFile>> open_output(const std::string& path, Locking locking) {
  for (int opening = 0; opening < kOpenings; ++opening) {
    int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) return system_error(errno, path, "open for writing");
    std::unique_ptr<OutputFile> file(new PosixFile(path, fd, {}, {}, true));
    const Status locked = take_writer_lock(fd, path);
    if (!locked.ok() && (locked.code() != Code::kUnsupported || locking == Locking::kRequired))
      return locked;
    // Another file may have been renamed to this name since this file was opened. The lock must be
    // on the file that other processes find under this name.
    NMB_ASSIGN(const bool same, names_file(path, fd));
    if (same) return file;
  }
  return Status(Code::kBusy, path, kNoOffset, "",
                "another process replaced the file each time that it was opened; try again "
                "later");
}

}  // namespace nmb
