// FileSource: a file to read from by positioned reads, never mapped, so that a file that is cut
// while it is read is an error and not a signal.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "nmb/byte_range.h"
#include "nmb/byte_source.h"

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

// Thread-safe.
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

}  // namespace nmb
