// Inputs that are opened when they are read (see merge/pooled_file.h).
#include "merge/pooled_file.h"

#include <sys/resource.h>

#include <algorithm>

namespace nmb {

std::size_t FilePool::most_files() {
  constexpr rlim_t kMost = 128;
  rlimit limit;
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kMost;
  return static_cast<std::size_t>(std::clamp<rlim_t>(limit.rlim_cur / 2, 1, kMost));
}

Result<std::shared_ptr<const FileSource>> FilePool::use(const PooledFile& file) {
  std::lock_guard lock(mutex_);
  if (file.source_) {
    uses_.splice(uses_.begin(), uses_, file.use_);
    return file.source_;
  }
  NMB_ASSIGN(std::shared_ptr<const FileSource> source, FileSource::open(file.path_));
  if (source->stamp() != file.stamp_)
    return Status(Code::kDamaged, file.path_, kNoOffset, "", "the file changed while it was read");
  file.source_ = source;
  uses_.push_front(&file);
  file.use_ = uses_.begin();
  while (uses_.size() > limit_) {
    uses_.back()->source_.reset();
    uses_.pop_back();
  }
  return source;
}

Result<std::shared_ptr<PooledFile>> PooledFile::open(const std::string& path,
                                                     std::shared_ptr<FilePool> pool) {
  NMB_ASSIGN(std::shared_ptr<const FileSource> source, FileSource::open(path));
  std::shared_ptr<PooledFile> file(new PooledFile(path, std::move(pool)));
  file->size_ = source->size();
  file->stamp_ = source->stamp();
  file->sparse_ = source->may_be_sparse();
  return file;
}

PooledFile::~PooledFile() {
  std::lock_guard lock(pool_->mutex_);
  if (source_) pool_->uses_.erase(use_);
}

Status PooledFile::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  NMB_ASSIGN(std::shared_ptr<const FileSource> source, pool_->use(*this));
  return source->read_at(offset, out);
}

bool PooledFile::is_unallocated(std::uint64_t offset, std::uint64_t length) const {
  if (!sparse_) return false;
  Result<std::shared_ptr<const FileSource>> source = pool_->use(*this);
  return source.ok() && (*source)->is_unallocated(offset, length);
}

Status PooledFile::check_unchanged() const {
  NMB_ASSIGN(std::shared_ptr<const FileSource> source, FileSource::open(path_));
  if (source->stamp() == stamp_) return {};
  return Status(Code::kDamaged, path_, kNoOffset, "", "the file changed while it was read");
}

}  // namespace nmb
