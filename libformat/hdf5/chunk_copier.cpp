// Copies chunks on several threads (see chunk_copier.h).
#include "chunk_copier.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "hdf5_error.h"
#include "wire/joined_text.h"

namespace nmb::hdf5 {

namespace {

Status io_error(int error, const char* what) {
  return Status(error == ENOSPC || error == EDQUOT ? Code::kNoSpace : Code::kIo,
                joined_text(what, ": ", std::strerror(error)));
}

// Calls io(done) until `length` bytes are moved. io: pread() or pwrite() of the remaining bytes.
// Returns an error number, or 0.
template <class Io>
int move_all(std::size_t length, const Io& io) {
  for (std::size_t done = 0; done < length;) {
    const ssize_t n = io(done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : ENODATA;
    done += static_cast<std::size_t>(n);
  }
  return 0;
}

int write_all(int file, const std::byte* bytes, std::size_t length, std::uint64_t position) {
  return move_all(length, [&](std::size_t done) {
    return ::pwrite(file, bytes + done, length - done, static_cast<off_t>(position + done));
  });
}

}  // namespace

// The file driver. It has the features of HDF5's usual driver that determine where HDF5 puts data.
// It does not collect small writes of metadata: HDF5 would look into the bytes of a chunk, which
// are not there.
struct ChunkCopier::Driver {
  struct File {
    H5FD_t base;  // HDF5 sees only this member
    int file = -1;
    haddr_t allocated = 0, end = 0;
    ChunkCopier* copier = nullptr;
    dev_t device = 0;
    ino_t inode = 0;
  };
  static File& of(H5FD_t* file) { return *reinterpret_cast<File*>(file); }
  static const File& of(const H5FD_t* file) { return *reinterpret_cast<const File*>(file); }

  static H5FD_t* open(const char* name, unsigned flags, hid_t fapl, haddr_t) {
    const void* const info = H5Pget_driver_info(fapl);
    const int mode = O_RDWR | O_CLOEXEC | (flags & H5F_ACC_TRUNC ? O_TRUNC : 0) |
                     (flags & H5F_ACC_CREAT ? O_CREAT : 0) | (flags & H5F_ACC_EXCL ? O_EXCL : 0);
    const int opened = info ? ::open(name, mode, 0666) : -1;
    struct stat about {};
    if (opened < 0) return nullptr;
    if (::fstat(opened, &about) != 0) {
      ::close(opened);
      return nullptr;
    }
    auto file = std::make_unique<File>();
    std::memset(&file->base, 0, sizeof file->base);
    file->file = opened;
    file->end = static_cast<haddr_t>(about.st_size);
    file->copier = *static_cast<ChunkCopier* const*>(info);
    file->device = about.st_dev;
    file->inode = about.st_ino;
    return &file.release()->base;
  }
  static herr_t close(H5FD_t* file) {
    const std::unique_ptr<File> owned(&of(file));
    const bool is_done = owned->copier->finish().ok();
    return ::close(owned->file) == 0 && is_done ? 0 : -1;
  }
  static int compare(const H5FD_t* a, const H5FD_t* b) {
    const auto one = std::pair(of(a).device, of(a).inode),
               other = std::pair(of(b).device, of(b).inode);
    return one < other ? -1 : one > other ? 1 : 0;
  }
  static herr_t query(const H5FD_t*, unsigned long* flags) {
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
  }
  static haddr_t allocated(const H5FD_t* file, H5FD_mem_t) { return of(file).allocated; }
  static herr_t set_allocated(H5FD_t* file, H5FD_mem_t, haddr_t end) {
    of(file).allocated = end;
    return 0;
  }
  static haddr_t end(const H5FD_t* file, H5FD_mem_t) { return of(file).end; }
  static herr_t read(H5FD_t* base, H5FD_mem_t type, hid_t, haddr_t position, size_t length,
                     void* out) {
    File& file = of(base);
    if (type == H5FD_MEM_DRAW && !file.copier->finish().ok()) return -1;
    auto* const bytes = static_cast<std::byte*>(out);
    // As with HDF5's usual driver, bytes after the end are zeros.
    const haddr_t there = std::min<haddr_t>(length, file.end - std::min(file.end, position));
    std::fill(bytes + there, bytes + length, std::byte{0});
    const int error = move_all(there, [&](std::size_t done) {
      return ::pread(file.file, bytes + done, there - done, static_cast<off_t>(position + done));
    });
    return error == 0 ? 0 : -1;
  }
  static herr_t write(H5FD_t* base, H5FD_mem_t, hid_t, haddr_t position, size_t length,
                      const void* bytes) {
    File& file = of(base);
    if (!file.copier->take(bytes, file.file, position, length) &&
        write_all(file.file, static_cast<const std::byte*>(bytes), length, position) != 0)
      return -1;
    file.end = std::max(file.end, position + length);
    return 0;
  }
  static herr_t truncate(H5FD_t* base, hid_t, hbool_t) {
    File& file = of(base);
    if (!file.copier->finish().ok()) return -1;
    if (file.end == file.allocated) return 0;
    if (::ftruncate(file.file, static_cast<off_t>(file.allocated)) != 0) return -1;
    file.end = file.allocated;
    return 0;
  }
  static herr_t lock(H5FD_t*, hbool_t) { return 0; }
  static herr_t unlock(H5FD_t*) { return 0; }

  static H5FD_class_t make() {
    H5FD_class_t out;
    std::memset(&out, 0, sizeof out);
#if H5_VERSION_GE(1, 13, 0)
    out.version = H5FD_CLASS_VERSION;
    out.value =
        static_cast<H5FD_class_value_t>(H5FD_RESERVED + 78);  // a value that HDF5 does not use
#endif
    out.name = "nmb_chunk_copier";
    out.maxaddr = HADDR_MAX >> 1;
    out.fc_degree = H5F_CLOSE_WEAK;
    out.fapl_size = sizeof(void*);  // a ChunkCopier*
    out.open = open;
    out.close = close;
    out.cmp = compare;
    out.query = query;
    out.get_eoa = allocated;
    out.set_eoa = set_allocated;
    out.get_eof = end;
    out.read = read;
    out.write = write;
    out.truncate = truncate;
    out.lock = lock;
    out.unlock = unlock;
    const H5FD_mem_t map[] = H5FD_FLMAP_DICHOTOMY;
    std::copy(std::begin(map), std::end(map), std::begin(out.fl_map));
    return out;
  }
};

Result<std::unique_ptr<ChunkCopier>> ChunkCopier::make(hid_t fapl, unsigned threads) {
  static const H5FD_class_t driver = Driver::make();
  std::unique_ptr<ChunkCopier> copier(new ChunkCopier());
  copier->placeholder_ =
      ::mmap(nullptr, kMostChunk, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (copier->placeholder_ == MAP_FAILED) {
    copier->placeholder_ = nullptr;
    return io_error(errno, "address range for chunks");
  }
  NMB_ASSIGN(copier->driver_, check_handle(H5FDregister(&driver), "file driver"));
  ChunkCopier* const self = copier.get();
  NMB_TRY(check_hdf5(H5Pset_driver(fapl, copier->driver_.get(), &self), "file driver"));
  try {
    for (unsigned i = 0; i < threads; ++i) copier->threads_.emplace_back([self] { self->work(); });
  } catch (const std::system_error& error) {
    if (copier->threads_.empty()) return Status(Code::kLimit, error.what());
  }
  return copier;
}

ChunkCopier::~ChunkCopier() {
  {
    const std::scoped_lock lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  threads_.clear();
  if (placeholder_) ::munmap(placeholder_, kMostChunk);
}

Status ChunkCopier::copy(hid_t data_set, std::uint32_t mask, const hsize_t* start,
                         std::shared_ptr<const ByteSource> source, std::uint64_t offset,
                         std::size_t length) {
  next_ = Job{std::move(source), offset, length};
  const Status written = check_hdf5(
      H5Dwrite_chunk(data_set, H5P_DEFAULT, mask, start, length, placeholder_), "a chunk");
  const bool was_taken = !std::exchange(next_, std::nullopt);
  {
    const std::scoped_lock lock(mutex_);
    NMB_TRY(failure_);
  }
  NMB_TRY(written);
  return was_taken ? Status() : Status(Code::kUnsupported, "HDF5 did not write a chunk");
}

// Called when HDF5 writes. Returns whether a thread writes the bytes.
bool ChunkCopier::take(const void* bytes, int file, std::uint64_t position, std::size_t length) {
  if (!next_ || bytes != placeholder_ || length != next_->length) return false;
  Job job = *std::exchange(next_, std::nullopt);
  job.file = file;
  job.position = position;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return jobs_.size() < kMostJobs; });
  jobs_.push_back(std::move(job));
  lock.unlock();
  changed_.notify_all();
  return true;
}

Status ChunkCopier::finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return jobs_.empty() && running_ == 0; });
  return failure_;
}

void ChunkCopier::work() {
  std::vector<std::byte> buffer;
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return ends_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    const Job job = std::move(jobs_.front());
    jobs_.pop_front();
    ++running_;
    const bool goes_on = failure_.ok();
    lock.unlock();
    changed_.notify_all();
    Status status;
    try {
      if (goes_on) status = run(job, &buffer);
    } catch (const std::bad_alloc&) {
      status = Status(Code::kLimit, "out of memory");
    }
    lock.lock();
    --running_;
    if (failure_.ok()) failure_ = std::move(status);
    changed_.notify_all();
  }
}

Status ChunkCopier::run(const Job& job, std::vector<std::byte>* buffer) {
  constexpr std::size_t kPart = 1 << 20;
  for (std::size_t done = 0; done < job.length;) {
    const std::size_t part = std::min(kPart, job.length - done);
    buffer->resize(part);
    NMB_TRY(job.source->read_at(job.offset + done, *buffer));
    if (const int error = write_all(job.file, buffer->data(), part, job.position + done))
      return io_error(error, "a chunk");
    done += part;
  }
  return {};
}

}  // namespace nmb::hdf5
