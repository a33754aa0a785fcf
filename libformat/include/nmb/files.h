// Files: FileSource reads one, OutputFile writes one, OutputSet keeps a call from writing to a file
// that it reads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "nmb/bytes.h"
#include "nmb/status.h"

namespace nmb {

// Work done on a source; exact when no thread reads.
struct IoCounts {
  std::uint64_t reads = 0;
  std::uint64_t bytes = 0;
};

// What tells that a file is still the one that was opened.
struct FileStamp {
  std::uint64_t device = 0, inode = 0, size = 0;
  std::int64_t modified_ns = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

// A file to read from by positioned reads, never mapped, so that a file that is cut while it is
// read is an error and not a signal. Thread-safe.
class FileSource final : public ByteSource {
 public:
  // kNotFound, kIo (a folder or a device among them).
  NMB_EXPORT static Result<std::unique_ptr<FileSource>> open(const std::string& path);
  // That of the file at a path, which is not opened. kNotFound, kIo.
  NMB_EXPORT static Result<FileStamp> stamp_of(const std::string& path);
  // A file that is open for reading; the source closes it, whatever becomes of the call. path: what
  // it is called. kIo (a folder or a device among them).
  NMB_EXPORT static Result<std::unique_ptr<FileSource>> adopt(int descriptor,
                                                              const std::string& path);
  NMB_EXPORT ~FileSource() override;
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  std::uint64_t size() const override { return size_; }
  NMB_EXPORT Result<std::uint64_t> refresh() const override;
  NMB_EXPORT bool has_writer() const override;
  NMB_EXPORT Status read_at(std::uint64_t offset, std::span<std::byte> out) const override;
  const std::string& name() const override { return path_; }
  const std::string* path() const override { return &path_; }
  IoCounts counts() const { return {reads_.load(), bytes_.load()}; }
  NMB_EXPORT bool is_unallocated(std::uint64_t offset, std::uint64_t length) const override;
  // Whether the file system stored fewer bytes than the file had when it was opened.
  bool may_be_sparse() const override { return sparse_; }
  // As of opening.
  const FileStamp& stamp() const { return stamp_; }

 private:
  FileSource(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  std::string path_;
  int fd_;
  mutable std::atomic<std::uint64_t> size_{0};
  FileStamp stamp_;
  bool sparse_ = false;
  mutable std::mutex hole_mutex_;
  mutable ByteRange hole_;  // where SEEK_DATA last found none
  mutable std::atomic<std::uint64_t> reads_{0};
  mutable std::atomic<std::uint64_t> bytes_{0};
};

// OutputFile: a file being written, by positioned writes. The one interface through which the
// writer changes anything on disk, so that tests fail the Nth call.

// write_at and read_at are thread-safe.
class OutputFile {
 public:
  virtual ~OutputFile() = default;
  virtual Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
  // Bytes behind the end read as zero.
  virtual Status read_at(std::uint64_t offset, std::span<std::byte> out) const = 0;
  virtual Status truncate(std::uint64_t length) = 0;
  // Reserves space if the file system can, and makes the file long enough for it. kNoSpace.
  virtual Status reserve(std::uint64_t offset, std::uint64_t length) = 0;
  // Fills `out` with what the file has from `offset` on if runs before wrote all of these bytes;
  // else false, and `out` is of no use. Thread-safe.
  virtual bool recall(std::uint64_t, std::span<std::byte>) const { return false; }
  // Waits until all that was written is on the device.
  virtual Status sync() = 0;
  // Gives a file that was created its name (once). kExists: there is a target and it must not be
  // replaced.
  virtual Status publish() = 0;
  // kUnsupported: the file has a name, and no lock keeps other writers out, because the file system
  // has none and Locking::kRequired was asked for.
  virtual Status check_locked() const { return {}; }
  virtual Result<std::uint64_t> size() const = 0;
  virtual const std::string& name() const = 0;
};

// A file around another one: what it does not override, that one does.
class OutputFileLayer : public OutputFile {
 public:
  explicit OutputFileLayer(std::shared_ptr<OutputFile> base) : base_(std::move(base)) {}
  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    return base_->write_at(offset, bytes);
  }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    return base_->read_at(offset, out);
  }
  Status truncate(std::uint64_t length) override { return base_->truncate(length); }
  Status reserve(std::uint64_t offset, std::uint64_t length) override {
    return base_->reserve(offset, length);
  }
  bool recall(std::uint64_t offset, std::span<std::byte> out) const override {
    return base_->recall(offset, out);
  }
  Status sync() override { return base_->sync(); }
  Status publish() override { return base_->publish(); }
  Status check_locked() const override { return base_->check_locked(); }
  Result<std::uint64_t> size() const override { return base_->size(); }
  const std::string& name() const override { return base_->name(); }

 protected:
  std::shared_ptr<OutputFile> base_;
};

// Puts a layer around a file.
using OutputLayer = std::function<std::unique_ptr<OutputFile>(std::unique_ptr<OutputFile>)>;

// What becomes of writing to a file that has a name where the file system has no locks (NFS without
// its lock service, some parallel file systems).
enum class Locking {
  kRequired,
  kIfPossible,  // it is done: the caller knows of no other writer
};

struct CreateOptions {
  bool overwrite = false;  // replace an existing target when publishing
  bool sync = true;        // publish() syncs the folder
  bool named = false;      // has a hidden name until publish(), for other processes to attach to
  // Set: makes the empty file that has the hidden name, in place of open(); it must not be there.
  std::function<Status(const std::string& hidden)> make{};
  // Not empty: the file is resumable_name() until publish() and has a journal, ".NAME.journal",
  // that a later call with this key goes on from (recall()); both stay if it is not published. It
  // is what decides the bytes of the file: inputs and options. Without `make`.
  std::string resume_key{};
  Locking locking = Locking::kRequired;  // as check_locked() sees it
  // Set: publish() gives no name once this is true, and fails with kIo "interrupted". Must outlive
  // the file.
  const std::atomic<bool>* cancel = nullptr;
};

// A new file without a name until publish(): it vanishes with the process. kExists at once if the
// target exists and overwrite is not set. Where the file system has no unnamed files, or `named` or
// `make` is set, one with a hidden name that is removed unless published. With a resume_key kExists
// too if the journal is of another key, and kBusy if another process goes on from it.
NMB_EXPORT Result<std::unique_ptr<OutputFile>> create_output(const std::string& path,
                                                             const CreateOptions& options);
// What create_output() would fail with, as far as it can be seen without creating anything:
// kExists, and a folder that is not there or may not be written to.
NMB_EXPORT Status check_new_output(const std::string& path, const CreateOptions& options);
// ".NAME.PID.part" in the folder of `path`.
NMB_EXPORT std::string hidden_name(const std::string& path);
// ".NAME.part" there.
NMB_EXPORT std::string resumable_name(const std::string& path);
// ".NAME.journal" there.
NMB_EXPORT std::string journal_name(const std::string& path);
// The file with the hidden name, as it was left, or a new one, locked until it is closed; it stays
// unless it is published. kBusy.
NMB_EXPORT Result<std::unique_ptr<OutputFile>> reopen_output(const std::string& path,
                                                             const std::string& hidden,
                                                             const CreateOptions& options);
// A file that another process has created, by its hidden name, or opened; that one publishes it.
// name: for messages.
// resume_key: as for create_output().
NMB_EXPORT Result<std::unique_ptr<OutputFile>> attach_output(const std::string& path,
                                                             const std::string& name,
                                                             const std::string& resume_key = {});
// An existing file, locked against other writers (kBusy) until it is closed (spec/format.md,
// section 5.5). kUnsupported: the file system has no locks, and they are required.
NMB_EXPORT Result<std::unique_ptr<OutputFile>> open_output(const std::string& path,
                                                           Locking locking = Locking::kRequired);

// OutputSet: the files that a call is going to write, so that none of them is one that it reads, or
// is written twice.

class ByteSource;
struct Dataset;
class Reader;
class VisitedFiles;

// Files are compared by what they are, not by their names: device and inode of a file that exists,
// symbolic links followed; of another one, those of the nearest folder that exists and the rest of
// the path. All failures are kUsage, in the output's name: "is also the input a.nc; choose another
// output". The const functions are thread-safe. Nothing is opened or kept open: a file that gets
// another name after it was added is not recognised.
class OutputSet {
 public:
  NMB_EXPORT OutputSet();
  // what: what messages call the file, as "output" or "report". kUsage: it was added before.
  NMB_EXPORT Status add(const std::string& path, std::string_view what);
  // The same of an output and, where it is resumable (CreateOptions::resume_key), of the files that
  // it is until it gets its name.
  NMB_EXPORT Status add_output(const std::string& path, bool resumable);
  // Whether one of the files existed when it was added. If none did, no file that exists is one.
  bool replaces() const { return replaces_; }

  // kUsage: `path`, which exists and is read, is one of the outputs. what: as of add(), "input".
  NMB_EXPORT Status check_input(const std::string& path, std::string_view what) const;
  // kUsage: `path` is one of the outputs. by: the file that refers to it, for the message.
  NMB_EXPORT Status check_reference(const std::string& path, const std::string& by) const;
  // kUsage, in the name of an output that exists: whether `input` refers to it cannot be told.
  // why: for the message. Ok where no output exists.
  NMB_EXPORT Status refuse_unknown(const std::string& input, const std::string& why) const;

 private:
  // Device, inode, and the rest of the path where there is no such file.
  using Identity = std::tuple<std::uint64_t, std::uint64_t, std::string>;
  struct Output {
    std::string path, what;
  };
  static Identity identity_of(const std::string& path);
  const Output* find(const std::string& path) const;

  friend Status check_file_table(const OutputSet&, const Reader&);
  friend Status check_references(const OutputSet&, const Reader&);
  friend Status check_references(const OutputSet&, const Dataset&, const std::string&);
  friend Status check_references(const OutputSet&, const std::shared_ptr<const ByteSource>&);

  std::map<Identity, Output> outputs_;
  bool replaces_ = false;
  // Files that inputs refer to, and that were compared with these outputs (nmb/convert.h).
  std::shared_ptr<VisitedFiles> visited_;
};

}  // namespace nmb
