#include "files/pooled_file.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>

namespace nmb {

namespace {

// Stands for any device; no device has this number.
constexpr std::uint64_t kAnyDevice = 0;

}  // namespace

// Returns whether the file was last changed more than two seconds ago. A file that was changed more
// recently might change again without a new modification time.
bool PooledFile::is_settled(const FileStamp& stamp) {
  using std::chrono::system_clock, std::chrono::nanoseconds;
  const nanoseconds age = system_clock::now().time_since_epoch() - nanoseconds(stamp.modified_ns);
  return age > std::chrono::seconds(2);
}

std::size_t FilePool::most_files() {
  constexpr rlim_t kMost = 128;
  rlimit limit;
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kMost;
  std::error_code error;
  rlim_t taken = 0;
  for (std::filesystem::directory_iterator open("/proc/self/fd", error), end; !error && open != end;
       open.increment(error))
    ++taken;
  const rlim_t free = limit.rlim_cur - std::min(limit.rlim_cur, taken);
  return static_cast<std::size_t>(std::clamp<rlim_t>(free / 2, 1, kMost));
}

// Opens and closes files without the mutex, so that other threads need not wait for that.
Result<std::shared_ptr<const FileSource>> FilePool::use(const PooledFile& file) {
  PooledFile::Unchanged unchanged;
  {
    std::lock_guard lock(mutex_);
    if (file.source_) {
      uses_.splice(uses_.begin(), uses_, file.use_);
      return file.source_;
    }
    unchanged = file.unchanged_;
  }
  NMB_ASSIGN(std::shared_ptr<const FileSource> source, file.opener_());
  NMB_TRY(file.check(*source, unchanged));
  const Sources closed = keep(file, source);
  return source;
}

// Adds an opened file to the pool, unless another thread has opened it too. Returns the least
// recently used files, which the caller closes, if too many are open.
FilePool::Sources FilePool::keep(const PooledFile& file, std::shared_ptr<const FileSource> source) {
  Sources closed;
  std::lock_guard lock(mutex_);
  if (file.source_) return closed;
  file.source_ = std::move(source);
  uses_.push_front(&file);
  file.use_ = uses_.begin();
  while (uses_.size() > limit_) {
    closed.push_back(std::move(uses_.back()->source_));
    uses_.pop_back();
  }
  return closed;
}

Result<std::shared_ptr<PooledFile>> PooledFile::open(const std::string& path,
                                                     std::shared_ptr<FilePool> pool) {
  const auto opener = [path] { return FileSource::open(path); };
  NMB_ASSIGN(const std::unique_ptr<FileSource> source, opener());
  return std::shared_ptr<PooledFile>(new PooledFile(*source, std::move(pool), opener));
}

Result<std::shared_ptr<PooledFile>> PooledFile::open_and_keep(std::shared_ptr<FilePool> pool,
                                                              Opener opener) {
  NMB_ASSIGN(std::shared_ptr<const FileSource> source, opener());
  std::shared_ptr<PooledFile> file(new PooledFile(*source, std::move(pool), std::move(opener)));
  const FilePool::Sources closed = file->pool_->keep(*file, std::move(source));
  return file;
}

std::shared_ptr<PooledFile> PooledFile::as_seen(const std::string& path, const FileStamp& stamp,
                                                bool may_be_sparse,
                                                std::shared_ptr<FilePool> pool) {
  FileStamp seen = stamp;
  seen.device = kAnyDevice;
  return std::shared_ptr<PooledFile>(new PooledFile(path, seen, may_be_sparse, std::move(pool),
                                                    [path] { return FileSource::open(path); }));
}

PooledFile::~PooledFile() {
  std::lock_guard lock(pool_->mutex_);
  if (source_) pool_->uses_.erase(use_);
}

Status PooledFile::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  NMB_ASSIGN(std::shared_ptr<const FileSource> source, pool_->use(*this));
  return source->read_at(offset, out);
}

Result<std::uint64_t> PooledFile::refresh() const {
  NMB_ASSIGN(std::shared_ptr<const FileSource> source, pool_->use(*this));
  NMB_ASSIGN(const std::uint64_t now, source->refresh());
  if (now > size_) size_ = now;
  return now;
}

bool PooledFile::is_unallocated(std::uint64_t offset, std::uint64_t length) const {
  if (!sparse_) return false;
  Result<std::shared_ptr<const FileSource>> source = pool_->use(*this);
  return source.ok() && (*source)->is_unallocated(offset, length);
}

Status PooledFile::check_unchanged() const {
  Unchanged unchanged;
  {
    std::lock_guard lock(pool_->mutex_);
    unchanged = unchanged_;
  }
  NMB_ASSIGN(const FileStamp now, FileSource::stamp_of(path_));
  if (!unchanged) return check(now);
  if (is_settled_ && check(now).ok()) return {};
  NMB_ASSIGN(const std::shared_ptr<const FileSource> source, opener_());
  return check(*source, unchanged);
}

bool PooledFile::has_writer() const {
  const Result<std::shared_ptr<const FileSource>> source = pool_->use(*this);
  return source.ok() && (*source)->has_writer();
}

void PooledFile::set_unchanged(Unchanged unchanged) const {
  std::lock_guard lock(pool_->mutex_);
  unchanged_ = std::move(unchanged);
}

Status PooledFile::check(const FileSource& now, const Unchanged& unchanged) const {
  if (!unchanged) return check(now.stamp());
  return is_settled_ && check(now.stamp()).ok() ? Status() : unchanged(now);
}

Status PooledFile::check(FileStamp now) const {
  if (stamp_.device == kAnyDevice) now.device = kAnyDevice;
  if (now == stamp_) return {};
  return Status(Code::kDamaged, path_, kNoOffset, "", "the file changed while it was read");
}

}  // namespace nmb
