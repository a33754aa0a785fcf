// PooledFile: a file that is opened when it is read; few of thousands are open at a time.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "nmb/files.h"

namespace nmb {

class PooledFile;

// Keeps the files used last open. Thread-safe; outlives its files.
class FilePool {
 public:
  explicit FilePool(std::size_t limit) : limit_(limit) {}
  // That a process keeps open: half of those that it may open besides what it has open by now (an
  // MPI library has many), at most 128.
  static std::size_t most_files();
  Result<std::shared_ptr<const FileSource>> use(const PooledFile& file);

 private:
  friend class PooledFile;
  void keep(const PooledFile& file, std::shared_ptr<const FileSource> source);
  std::mutex mutex_;
  std::size_t limit_;
  std::list<const PooledFile*> uses_;  // the most recent in front
};

// Thread-safe. A file that changes between openings is kDamaged: one with another size or time of
// change, or of which `unchanged` says so.
class PooledFile final : public ByteSource {
 public:
  using Opener = std::function<Result<std::unique_ptr<FileSource>>()>;
  // ok, or what is told of the file that was opened now; thread-safe.
  using Unchanged = std::function<Status(const ByteSource& now)>;
  static Result<std::shared_ptr<PooledFile>> open(const std::string& path,
                                                  std::shared_ptr<FilePool> pool);
  // A file that is read now: it stays open while the pool has room. opener: opens it, each time;
  // thread-safe.
  static Result<std::shared_ptr<PooledFile>> open_and_keep(std::shared_ptr<FilePool> pool,
                                                           Opener opener);
  // A file as another process saw it, which is opened when it is read. stamp: its device may have
  // another number here, so it does not count.
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
  // From now on this decides where size or time are others: somebody may add to the file.
  void set_unchanged(Unchanged unchanged) const;
  const FileStamp& stamp() const { return stamp_; }
  // kDamaged if the file is no longer what it was when it was opened first. Opens it only where its
  // size or time are others, or so new that they may hide a change, and set_unchanged() says who
  // decides.
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
  bool is_settled_;  // a change shows in the stamp
  bool sparse_;
  Status check(const FileSource& now, const Unchanged& unchanged) const;
  Status check(FileStamp now) const;
  static bool is_settled(const FileStamp& stamp);
  mutable std::shared_ptr<const FileSource> source_;  // guarded by the pool
  mutable Unchanged unchanged_;                       // likewise
  mutable std::list<const PooledFile*>::iterator use_;
};

}  // namespace nmb
