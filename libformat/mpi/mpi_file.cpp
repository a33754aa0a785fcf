// A file that each rank reads and writes independently with MPI-IO. A call counts as successful
// only if its byte count is right, because OMPIO may return success although it wrote nothing.
#include "mpi_file.h"

#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <span>
#include <string>

#include "mpi_call.h"
#include "wire/joined_text.h"
#include "wire/system_error.h"

namespace nmb {

namespace {

// Maximum number of bytes in one call, because MPI counts bytes with an int.
constexpr std::size_t kMostBytes = 1 << 30;
constexpr std::size_t kLongestName = 200;

// The return code of an MPI call, and the value of errno after the call. Often only errno shows why
// the call failed.
struct Outcome {
  int code = MPI_SUCCESS;
  int error = 0;
};

template <class Call>
Outcome outcome_of(Call call) {
  errno = 0;
  const int code = call();
  return {code, errno};
}

Code code_of(int mpi_class) {
  if (mpi_class == MPI_ERR_NO_SUCH_FILE) return Code::kNotFound;
  if (mpi_class == MPI_ERR_FILE_EXISTS) return Code::kExists;
  return mpi_class == MPI_ERR_NO_SPACE || mpi_class == MPI_ERR_QUOTA ? Code::kNoSpace : Code::kIo;
}

// Returns the error of a call that failed or transferred nothing.
Status failure(const std::string& name, const std::string& doing, const Outcome& outcome) {
  const int error = outcome.error;
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) return system_error(error, name, doing);
  if (outcome.code == MPI_SUCCESS)
    return Status(Code::kIo, name, kNoOffset, "",
                  "cannot " + doing + ": MPI-IO did nothing" +
                      (error == 0 ? "" : joined_text(" (", std::strerror(error), ")")));
  int mpi_class = MPI_ERR_OTHER;
  MPI_Error_class(outcome.code, &mpi_class);
  return Status(code_of(mpi_class), name, kNoOffset, "",
                "cannot " + doing + " by MPI-IO: " + mpi_error_text(outcome.code));
}

class MpiFile final : public OutputFile {
 public:
  // Takes ownership of `handle`.
  MpiFile(std::unique_ptr<OutputFile> file, MPI_File handle)
      : file_(std::move(file)), handle_(handle) {}
  ~MpiFile() override {
    int finalised = 0;
    MPI_Finalized(&finalised);
    if (finalised == 0) MPI_File_close(&handle_);
  }

  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    const std::lock_guard lock(mutex_);
    for (std::size_t done = 0; done < bytes.size();) {
      const auto at = static_cast<MPI_Offset>(offset + done);
      const auto ask = static_cast<int>(std::min(bytes.size() - done, kMostBytes));
      MPI_Status status;
      const Outcome outcome = outcome_of([&] {
        return MPI_File_write_at(handle_, at, bytes.data() + done, ask, MPI_BYTE, &status);
      });
      NMB_ASSIGN(const std::size_t count,
                 count_of(joined_text("write at ", at), outcome, status, ask));
      if (count == 0) return failure(name(), joined_text("write at ", at), outcome);
      done += count;
    }
    return {};
  }

  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    const std::lock_guard lock(mutex_);
    for (std::size_t done = 0; done < out.size();) {
      const auto at = static_cast<MPI_Offset>(offset + done);
      const auto ask = static_cast<int>(std::min(out.size() - done, kMostBytes));
      MPI_Status status;
      const Outcome outcome = outcome_of(
          [&] { return MPI_File_read_at(handle_, at, out.data() + done, ask, MPI_BYTE, &status); });
      NMB_ASSIGN(const std::size_t count,
                 count_of(joined_text("read at ", at), outcome, status, ask));
      if (count == 0) {
        // At the end of the file, the remaining bytes are zeros.
        NMB_ASSIGN(const std::uint64_t length, length_now());
        if (offset + done < length) return failure(name(), joined_text("read at ", at), outcome);
        std::memset(out.data() + done, 0, out.size() - done);
        return {};
      }
      done += count;
    }
    return {};
  }

  Status truncate(std::uint64_t length) override {
    const std::lock_guard lock(mutex_);
    return check_done(joined_text("set the length to ", length), outcome_of([&] {
                        return MPI_File_set_size(handle_, static_cast<MPI_Offset>(length));
                      }));
  }

  // MPI_File_preallocate() is not used: in Open MPI and in MPICH, it reads the whole file, writes
  // it again (OMPIO at another position), and writes zeros after it. A system call that reserves
  // space does not change any byte that MPI-IO may cache.
  Status reserve(std::uint64_t offset, std::uint64_t length) override {
    const std::lock_guard lock(mutex_);
    return file_->reserve(offset, length);
  }

  Status sync() override {
    const std::lock_guard lock(mutex_);
    return check_done("sync", outcome_of([&] { return MPI_File_sync(handle_); }));
  }

  Status publish() override { return file_->publish(); }
  Status check_held() const override { return file_->check_held(); }

  Result<std::uint64_t> size() const override {
    const std::lock_guard lock(mutex_);
    return length_now();
  }

  const std::string& name() const override { return file_->name(); }

 private:
  Status check_done(const std::string& doing, const Outcome& outcome) const {
    return outcome.code == MPI_SUCCESS ? Status() : failure(name(), doing, outcome);
  }

  // Returns the number of bytes that a call processed.
  Result<std::size_t> count_of(const std::string& doing, const Outcome& outcome,
                               const MPI_Status& status, int asked) const {
    NMB_TRY(check_done(doing, outcome));
    int count = 0;
    NMB_TRY(check("MPI_Get_count", MPI_Get_count(&status, MPI_BYTE, &count)));
    if (count < 0 || count > asked)
      return Status(Code::kIo, name(), kNoOffset, "",
                    joined_text("cannot ", doing, ": MPI-IO returned a count of ", count,
                                ", expected at most ", asked));
    return static_cast<std::size_t>(count);
  }

  Result<std::uint64_t> length_now() const {
    MPI_Offset length = 0;
    NMB_TRY(check_done("get the length",
                       outcome_of([&] { return MPI_File_get_size(handle_, &length); })));
    return static_cast<std::uint64_t>(length);
  }

  std::unique_ptr<OutputFile> file_;
  // Only one thread at a time may use MPI. Both MPI libraries lock a file during each call anyway.
  mutable std::mutex mutex_;
  MPI_File handle_;
};

struct Info {
  MPI_Info info = MPI_INFO_NULL;
  ~Info() {
    if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  }
  // Checks the lengths of all keys and values before calls of MPI, because a failure in MPI may end
  // the program.
  Status set(const MpiIo::Hints& hints) {
    if (hints.empty()) return {};
    NMB_TRY(check("MPI_Info_create", MPI_Info_create(&info)));
    for (const auto& [key, value] : hints) {
      if (key.empty() || key.size() >= MPI_MAX_INFO_KEY || value.empty() ||
          value.size() >= MPI_MAX_INFO_VAL)
        return Status(
            Code::kUsage,
            joined_text("found hint \"", key, "=", value, "\", expected a key of 1 to ",
                        MPI_MAX_INFO_KEY - 1, " bytes and a value of 1 to ", MPI_MAX_INFO_VAL - 1));
      NMB_TRY(check("MPI_Info_set", MPI_Info_set(info, key.c_str(), value.c_str())));
    }
    return {};
  }
};

struct Folder {
  int fd = -1;
  ~Folder() {
    if (fd >= 0) ::close(fd);
  }
};

// Passes MPI a path that begins with the descriptor of the folder, for two reasons. Open MPI writes
// beyond its buffer if a path has more than about 240 bytes. If a path contains a colon, MPI uses
// the part before the colon as the name of a file-system driver.
Result<MPI_File> open_handle(const std::string& path, int mode, const MpiIo::Hints& hints,
                             const std::string& doing) {
  const std::filesystem::path whole(path);
  const std::string name = whole.filename().string();
  if (name.size() > kLongestName || name.find(':') != std::string::npos)
    return Status(Code::kUsage, path, kNoOffset, "",
                  joined_text("found a name of ", name.size(), " bytes, expected at most ",
                              kLongestName, " and no ':' for MPI-IO"));
  const std::string parent = whole.parent_path().string();
  const Folder folder{
      ::open(parent.empty() ? "." : parent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (folder.fd < 0) return system_error(errno, path, doing);
  const std::string way = joined_text("/proc/self/fd/", folder.fd, "/", name);
  Info info;
  NMB_TRY(info.set(hints));
  MPI_File handle = MPI_FILE_NULL;
  const Outcome outcome = outcome_of(
      [&] { return MPI_File_open(MPI_COMM_SELF, way.c_str(), mode, info.info, &handle); });
  if (outcome.code != MPI_SUCCESS) return failure(path, doing, outcome);
  MPI_File_set_errhandler(handle, MPI_ERRORS_RETURN);
  return handle;
}

class MpiFiles final : public MpiIo {
 public:
  Status create(const std::string& path, const Hints& hints) const override {
    NMB_ASSIGN(MPI_File handle,
               open_handle(path, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR, hints, "create"));
    return check("MPI_File_close", MPI_File_close(&handle));
  }

  Result<std::unique_ptr<OutputFile>> open(std::unique_ptr<OutputFile> file,
                                           const std::string& path, const Hints& hints,
                                           bool threads) const override {
    int level = MPI_THREAD_SINGLE;
    NMB_TRY(check("MPI_Query_thread", MPI_Query_thread(&level)));
    if (threads && level < MPI_THREAD_SERIALIZED)
      return Status(Code::kUsage, path, kNoOffset, "",
                    "MPI was initialised for calls by one thread; MPI-IO by several threads needs "
                    "MPI_THREAD_SERIALIZED");
    NMB_ASSIGN(MPI_File handle, open_handle(path, MPI_MODE_RDWR, hints, "open for writing"));
    return std::unique_ptr<OutputFile>(std::make_unique<MpiFile>(std::move(file), handle));
  }
};

}  // namespace

const MpiIo& mpi_files() {
  static const MpiFiles files;
  return files;
}

}  // namespace nmb
