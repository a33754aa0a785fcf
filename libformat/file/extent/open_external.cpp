#include "extent/open_external.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string_view>

#include "extent/external_path.h"
#include "wire/joined_text.h"
#include "wire/system_error.h"

namespace nmb {

namespace {

constexpr const char* kBeneath =
    "a file in or below the NMB file's folder, unless any path is allowed (ExternalPaths::kAny)";
#ifdef _WIN32
constexpr bool kOnWindows = true;
#else
constexpr bool kOnWindows = false;
#endif
constexpr int kOpen = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }
  void take(int number) {
    if (number_ >= 0) ::close(number_);
    number_ = number;
  }

 private:
  int number_;
};

class Opening {
 public:
  Opening(const std::string& folder, const std::string& path, ExternalPaths allowed)
      : folder_(folder),
        path_(path),
        allowed_(allowed),
        name_(path.starts_with('/') ? path : folder + path) {}

  Result<std::unique_ptr<FileSource>> run() {
    if (allowed_ == ExternalPaths::kNone)
      return Status(
          Code::kUnsupported, name_, kNoOffset, "R-FT-4",
          "found an external file, which may not be opened; ExternalPaths::kBeneath allows "
          "files in the folder of the NMB file and below");
    if (const char* error = kOnWindows ? windows_path_error(path_) : nullptr)
      return refused(joined_text("a path with ", error), "a path that Windows accepts for a file");
    if (allowed_ == ExternalPaths::kAny) {
      NMB_TRY(check(AT_FDCWD, name_, 0));
      return open(AT_FDCWD, name_, 0);
    }
    if (leads_out(path_)) return refused("a path that leads out of the folder", kBeneath);
    return open_beneath();
  }

 private:
  // Opens each folder of the path separately, so that no symbolic link is followed.
  Result<std::unique_ptr<FileSource>> open_beneath() {
    const std::string& start = folder_.empty() ? std::string(".") : folder_;
    Descriptor at(::open(start.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (at.get() < 0) return system_error(errno, start, "open");
    std::string_view rest = path_;
    for (std::size_t slash; (slash = rest.find('/')) != std::string_view::npos;) {
      const std::string part(rest.substr(0, slash));
      rest.remove_prefix(slash + 1);
      const int next =
          ::openat(at.get(), part.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      if (next < 0) return not_opened(at.get(), part, errno);
      at.take(next);
    }
    const std::string last(rest);
    NMB_TRY(check(at.get(), last, AT_SYMLINK_NOFOLLOW));
    return open(at.get(), last, O_NOFOLLOW);
  }

  // Checks that `part` is the name of a regular file. Call this before the file is opened.
  Status check(int at, const std::string& part, int flags) const {
    struct stat info;
    if (::fstatat(at, part.c_str(), &info, flags) != 0) return not_opened(at, part, errno);
    if (S_ISREG(info.st_mode)) return {};
    if (S_ISLNK(info.st_mode)) return link();
    return refused(S_ISDIR(info.st_mode)    ? "a folder"
                   : S_ISFIFO(info.st_mode) ? "a FIFO"
                                            : "a device",
                   "a regular file");
  }

  Result<std::unique_ptr<FileSource>> open(int at, const std::string& part, int flags) const {
    const int descriptor = ::openat(at, part.c_str(), kOpen | flags);
    if (descriptor < 0) return not_opened(at, part, errno);
    return FileSource::adopt(descriptor, name_);
  }

  Status not_opened(int at, const std::string& part, int error) const {
    struct stat info;
    if ((error == ELOOP || error == ENOTDIR) && allowed_ != ExternalPaths::kAny &&
        ::fstatat(at, part.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode))
      return link();
    if (error == ENOENT || error == ENOTDIR)
      return Status(Code::kDamaged, name_, kNoOffset, "R-FT-4",
                    "found no such file, expected the external file with the values");
    return system_error(error, name_, "open");
  }

  Status link() const {
    return refused("a symbolic link on the way to an external file", kBeneath);
  }
  Status refused(const std::string& found, const std::string& expected) const {
    return Status(Code::kUnsupported, name_, kNoOffset, "R-FT-4",
                  "found " + found + ", expected " + expected);
  }

  const std::string& folder_;
  const std::string& path_;
  const ExternalPaths allowed_;
  const std::string name_;
};

}  // namespace

Result<std::unique_ptr<FileSource>> open_external(const std::string& folder,
                                                  const std::string& path, ExternalPaths allowed) {
  return Opening(folder, path, allowed).run();
}

}  // namespace nmb
