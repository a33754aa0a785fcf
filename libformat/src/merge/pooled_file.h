// PooledFile: an input that is opened when it is read; few of thousands are open at a time.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "nmb/file_source.h"

namespace nmb {

class PooledFile;

// Keeps the files used last open. Thread-safe; outlives its files.
class FilePool {
 public:
  explicit FilePool(std::size_t limit) : limit_(limit) {}
  // That a process keeps open: half of those that it may, at most 128.
  static std::size_t most_files();
  Result<std::shared_ptr<const FileSource>> use(const PooledFile& file);

 private:
  friend class PooledFile;
  std::mutex mutex_;
  std::size_t limit_;
  std::list<const PooledFile*> uses_;  // the most recent in front
};

// Thread-safe. A file that changes between openings is kDamaged.
class PooledFile final : public ByteSource {
 public:
  static Result<std::shared_ptr<PooledFile>> open(const std::string& path,
                                                  std::shared_ptr<FilePool> pool);
  ~PooledFile() override;
  std::uint64_t size() const override { return size_; }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override;
  const std::string& name() const override { return path_; }
  bool is_unallocated(std::uint64_t offset, std::uint64_t length) const override;
  bool may_be_sparse() const override { return sparse_; }
  // kDamaged if the file is no longer what it was when it was opened first.
  Status check_unchanged() const;

 private:
  friend class FilePool;
  PooledFile(std::string path, std::shared_ptr<FilePool> pool)
      : path_(std::move(path)), pool_(std::move(pool)) {}
  std::string path_;
  std::shared_ptr<FilePool> pool_;
  std::uint64_t size_ = 0;
  FileStamp stamp_;
  bool sparse_ = false;
  mutable std::shared_ptr<const FileSource> source_;  // guarded by the pool
  mutable std::list<const PooledFile*>::iterator use_;
};

}  // namespace nmb
