// Files: FileSource reads a file, OutputFile writes a file, and OutputSet prevents a call from
// writing to a file that it reads.
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

#include "wire/bytes.h"
#include "wire/failure.h"

namespace nmb {

// The number of reads of a source, and the number of bytes that were read. The numbers are exact
// only if no thread reads at the same time.
struct IoCounts {
  std::uint64_t reads = 0;
  std::uint64_t bytes = 0;
};

// Identifies a file and its state. A later stamp of the same path shows whether the file has
// changed.
struct FileStamp {
  std::uint64_t device = 0, inode = 0, size = 0;
  std::int64_t modified_ns = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

// A file for positioned reads. The file is never mapped into memory. If another program truncates
// the file during a read, the read fails, but there is no signal. Thread-safe.
class FileSource final : public ByteSource {
 public:
  // Opens a file. Errors: kNotFound; kIo, also for a folder or a device.
  NMB_EXPORT static Result<std::unique_ptr<FileSource>> open(const std::string& path);
  // Returns the stamp of the file at a path without opening the file. Errors: kNotFound, kIo.
  NMB_EXPORT static Result<FileStamp> stamp_of(const std::string& path);
  // Takes ownership of a file descriptor that is open for reading, and closes it even if the call
  // fails. `path` is the file's name. Errors: kIo, also for a folder or a device.
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
  // Returns whether the file may have holes: at the time of opening, the file system stored fewer
  // bytes than the length of the file.
  bool may_be_sparse() const override { return sparse_; }
  // Returns the stamp of the file at the time of opening.
  const FileStamp& stamp() const { return stamp_; }

 private:
  FileSource(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  std::string path_;
  int fd_;
  mutable std::atomic<std::uint64_t> size_{0};
  FileStamp stamp_;
  bool sparse_ = false;
  mutable std::mutex hole_mutex_;
  mutable ByteRange hole_;  // range in which SEEK_DATA last found no data
  mutable std::atomic<std::uint64_t> reads_{0};
  mutable std::atomic<std::uint64_t> bytes_{0};
};

// OutputFile: a file that is written by positioned writes. The writer changes files only through
// this interface, so that tests can make the Nth call fail.

// The functions write_at() and read_at() are thread-safe.
class OutputFile {
 public:
  virtual ~OutputFile() = default;
  virtual Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
  // Bytes after the end of the file read as zero.
  virtual Status read_at(std::uint64_t offset, std::span<std::byte> out) const = 0;
  virtual Status truncate(std::uint64_t length) = 0;
  // Reserves space if the file system supports that, and extends the file to contain the range.
  // Errors: kNoSpace.
  virtual Status reserve(std::uint64_t offset, std::uint64_t length) = 0;
  // If earlier runs wrote all bytes of the range at `offset`, copies these bytes to `out` and
  // returns true. If a byte was not written, returns false, and the content of `out` is
  // unspecified. Thread-safe.
  virtual bool recall(std::uint64_t, std::span<std::byte>) const { return false; }
  // Waits until all written bytes are on the device.
  virtual Status sync() = 0;
  // Gives a created file its name. Call this function once. Errors: kExists if the target exists
  // and must not be replaced; kBusy if a writer has locked the target.
  virtual Status publish() = 0;
  // Checks that the file has its name and that no other writer can open it. Errors: kUnsupported if
  // Locking::kRequired was requested, but the file system has no locks; kBusy if another program
  // removed the file or gave its name to another file; kIo.
  virtual Status check_held() const { return {}; }
  virtual Result<std::uint64_t> size() const = 0;
  virtual const std::string& name() const = 0;
};

// A file that wraps another file. If a function is not overridden, it calls the same function of
// the wrapped file.
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
  Status check_held() const override { return base_->check_held(); }
  Result<std::uint64_t> size() const override { return base_->size(); }
  const std::string& name() const override { return base_->name(); }

 protected:
  std::shared_ptr<OutputFile> base_;
};

// A function that wraps a file, for example in an OutputFileLayer.
using OutputLayer = std::function<std::unique_ptr<OutputFile>(std::unique_ptr<OutputFile>)>;

// Whether a file that has a name may be written on a file system without locks (NFS without its
// lock service, some parallel file systems).
enum class Locking {
  kRequired,
  kIfPossible,  // the file may be written; the caller must make sure that there is no other writer
};

struct CreateOptions {
  bool overwrite = false;  // whether publish() may replace an existing target
  bool sync = true;        // whether publish() syncs the folder
  bool named = false;      // whether the file has a hidden name until publish(), so that other
                           // processes can attach to the file by this name
  // If set, create_output() calls this function instead of open(2) to create an empty file. The
  // file must not exist before, and `hidden` is its name.
  std::function<Status(const std::string& hidden)> make{};
  // If this key is not empty, the file has the name resumable_name() until publish(), and a journal
  // named journal_name(). If the file is not published, the file and its journal stay. A later call
  // with the same key then continues from the journal (recall()). The key must contain everything
  // that affects the bytes of the file: inputs and options. A key cannot be combined with `make`.
  std::string resume_key{};
  Locking locking = Locking::kRequired;  // see OutputFile::check_held()
  // If set, publish() fails with kIo "interrupted" once *cancel is true. The flag must outlive the
  // file.
  const std::atomic<bool>* cancel = nullptr;
};

// Creates a file that has no name until publish(), and that vanishes with the process if it is not
// published. If the file system has no unnamed files, or if `named` or `make` is set, the file has
// a hidden name and is removed unless it is published. Errors: kExists if the target exists and
// `overwrite` is not set, or if the journal has another resume_key; kBusy if another process
// continues from the journal, or if a writer has locked the target.
NMB_EXPORT Result<std::unique_ptr<OutputFile>> create_output(const std::string& path,
                                                             const CreateOptions& options);
// Checks in advance whether create_output() would fail, without creating a file. Fails if the
// target exists (kExists), if a writer has locked it (kBusy), or if the folder does not exist, is
// not writable, or is in /proc or /sys.
NMB_EXPORT Status check_new_output(const std::string& path, const CreateOptions& options);
// Returns ".NAME.HOST-PID.part" in the folder of `path`. PID is the ID of this process. HOST
// identifies the host and the container in which the ID is valid.
NMB_EXPORT std::string hidden_name(const std::string& path);
// Removes the files with hidden names that this process is writing; files that are published stay.
// Call it only if CreateOptions::cancel is set already. A signal handler may call it.
NMB_EXPORT void unlink_temporary_files();
// Returns ".NAME.part" in the folder of `path`.
NMB_EXPORT std::string resumable_name(const std::string& path);
// Returns ".NAME.journal" in the folder of `path`.
NMB_EXPORT std::string journal_name(const std::string& path);
// Opens the file that an earlier call left under the name `hidden`, or creates it if it does not
// exist. The file is locked until it is closed. A file that is not published keeps its hidden name.
// Errors: kBusy.
NMB_EXPORT Result<std::unique_ptr<OutputFile>> reopen_output(const std::string& path,
                                                             const std::string& hidden,
                                                             const CreateOptions& options);
// Opens a file that another process has created or opened; that process publishes it. If the file
// was created and not published, `path` is its hidden name. `name` is the name for messages.
// `resume_key` has the same meaning as CreateOptions::resume_key.
NMB_EXPORT Result<std::unique_ptr<OutputFile>> attach_output(const std::string& path,
                                                             const std::string& name,
                                                             const std::string& resume_key = {});
// Opens an existing file, and locks it against other writers until it is closed (spec/writer.md,
// section 5.5). Errors: kBusy if another writer has locked it; kUnsupported if locks are required
// and the file system has no locks.
NMB_EXPORT Result<std::unique_ptr<OutputFile>> open_output(const std::string& path,
                                                           Locking locking = Locking::kRequired);

// OutputSet: the files that a call is going to write. An OutputSet makes sure that the call does
// not read any of its outputs, and that it does not write any output twice.

class ByteSource;
struct Dataset;
class FileReader;
class VisitedFiles;

// Compares files by identity, not by name. An existing file is identified by device and inode,
// after following symbolic links. A file that does not exist is identified by device and inode of
// the nearest existing folder, and by the rest of the path. All failures are kUsage, with the path
// of the output as file and a message such as "is also the input a.nc; choose another output". The
// const functions are thread-safe. Files are not opened, so a file that is renamed after it was
// added is not recognised.
class OutputSet {
 public:
  NMB_EXPORT OutputSet();
  // Adds a file. `what` is the file's role in messages, for example "output" or "report". Errors:
  // kUsage if the file was added before.
  NMB_EXPORT Status add(const std::string& path, std::string_view what);
  // Adds an output. If `resumable` is true (see CreateOptions::resume_key), also adds the hidden
  // file and the journal of this output.
  NMB_EXPORT Status add_output(const std::string& path, bool resumable);
  // Returns whether any of the added files existed when it was added. If the result is false, no
  // existing file is an output.
  bool replaces() const { return replaces_; }

  // Fails with kUsage if `path`, an existing file to read, is one of the outputs. `what` is the
  // role of `path` in messages, for example "input".
  NMB_EXPORT Status check_input(const std::string& path, std::string_view what) const;
  // Fails with kUsage if `path` is one of the outputs. `by` is the file that refers to `path`, for
  // the message.
  NMB_EXPORT Status check_reference(const std::string& path, const std::string& by) const;
  // Fails with kUsage if any output exists. Call this if it cannot be found out whether `input`
  // refers to an output. `why` is the reason, for the message.
  NMB_EXPORT Status refuse_unknown(const std::string& input, const std::string& why) const;

 private:
  // Device, inode, and the rest of the path. The rest of the path is empty if the file exists.
  using Identity = std::tuple<std::uint64_t, std::uint64_t, std::string>;
  struct Output {
    std::string path, what;
  };
  static Identity identity_of(const std::string& path);
  const Output* find(const std::string& path) const;

  friend Status check_file_table(const OutputSet&, const FileReader&);
  friend Status check_references(const OutputSet&, const FileReader&);
  friend Status check_references(const OutputSet&, const Dataset&, const std::string&);
  friend Status check_references(const OutputSet&, const std::shared_ptr<const ByteSource>&);

  std::map<Identity, Output> outputs_;
  bool replaces_ = false;
  // Files to which inputs refer, and which were already compared with these outputs
  // (convert/convert.h).
  std::shared_ptr<VisitedFiles> visited_;
};

}  // namespace nmb
