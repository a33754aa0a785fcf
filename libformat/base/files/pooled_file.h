// PooledFile: a file that is opened when it is read. Even with thousands of such files, only a few
// are open at a time.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "files/files.h"

namespace nmb {

class PooledFile;

// Keeps the most recently used files open. Thread-safe. Must outlive its files.
class FilePool {
 public:
  explicit FilePool(std::size_t limit) : limit_(limit) {}
  // Returns how many files a process may keep open: at most 128, and at most half of the files that
  // it may still open, because an MPI library needs many open files.
  static std::size_t most_files();
  Result<std::shared_ptr<const FileSource>> use(const PooledFile& file);

 private:
  friend class PooledFile;
  using Sources = std::vector<std::shared_ptr<const FileSource>>;
  Sources keep(const PooledFile& file, std::shared_ptr<const FileSource> source);
  std::mutex mutex_;
  std::size_t limit_;
  std::list<const PooledFile*> uses_;  // the most recently used first
};

// Thread-safe. A read fails with kDamaged if the file was changed between two openings, that is if
// its size or modification time differs. A function set by set_unchanged() may decide otherwise.
class PooledFile final : public ByteSource {
 public:
  using Opener = std::function<Result<std::unique_ptr<FileSource>>()>;
  // A thread-safe function. Returns an error if the newly opened file has changed.
  using Unchanged = std::function<Status(const ByteSource& now)>;
  static Result<std::shared_ptr<PooledFile>> open(const std::string& path,
                                                  std::shared_ptr<FilePool> pool);
  // Opens a file that will be read soon; the file stays open as long as the pool has room. opener:
  // a thread-safe function that opens the file each time.
  static Result<std::shared_ptr<PooledFile>> open_and_keep(std::shared_ptr<FilePool> pool,
                                                           Opener opener);
  // Makes a file object from a stamp that another process has read. The device number in `stamp` is
  // ignored, because the same device may have another number in this process.
  static std::shared_ptr<PooledFile> as_seen(const std::string& path, const FileStamp& stamp,
                                             bool may_be_sparse, std::shared_ptr<FilePool> pool);
  ~PooledFile() override;
  std::uint64_t size() const override { return size_; }
  Result<std::uint64_t> refresh() const override;
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override;
  const std::string& name() const override { return path_; }
  const std::string* path() const override { return &path_; }
  bool is_unallocated(std::uint64_t offset, std::uint64_t length) const override;
  bool may_be_sparse() const override { return sparse_; }
  bool has_writer() const override;
  KnownSource known() const override { return this; }
  // Sets a function that decides whether a file whose size or modification time differs counts as
  // changed. It is needed if other processes may add to the file.
  void set_unchanged(Unchanged unchanged) const;
  const FileStamp& stamp() const { return stamp_; }
  // Returns kDamaged if the file has changed since it was first opened. Compares the stamps, and
  // reopens the file only if set_unchanged() has set a function and the stamp differs or is too
  // recent to show every change.
  Status check_unchanged() const;

 private:
  friend class FilePool;
  PooledFile(const FileSource& source, std::shared_ptr<FilePool> pool, Opener opener)
      : path_(source.name()),
        pool_(std::move(pool)),
        opener_(std::move(opener)),
        size_(source.size()),
        stamp_(source.stamp()),
        is_settled_(is_settled(stamp_)),
        sparse_(source.may_be_sparse()) {}
  PooledFile(std::string path, const FileStamp& stamp, bool sparse, std::shared_ptr<FilePool> pool,
             Opener opener)
      : path_(std::move(path)),
        pool_(std::move(pool)),
        opener_(std::move(opener)),
        size_(stamp.size),
        stamp_(stamp),
        is_settled_(is_settled(stamp_)),
        sparse_(sparse) {}
  std::string path_;
  std::shared_ptr<FilePool> pool_;
  Opener opener_;
  mutable std::atomic<std::uint64_t> size_;
  FileStamp stamp_;
  bool is_settled_;  // the stamp shows every later change
  bool sparse_;
  Status check(const FileSource& now, const Unchanged& unchanged) const;
  Status check(FileStamp now) const;
  static bool is_settled(const FileStamp& stamp);
  mutable std::shared_ptr<const FileSource> source_;  // guarded by the pool
  mutable Unchanged unchanged_;                       // guarded by the pool
  mutable std::list<const PooledFile*>::iterator use_;
};

}  // namespace nmb
