// The driver that DeferredChunks sets passes all calls to HDF5's usual driver, but leaves out the
// writes of the bytes of deferred chunks.
#include "export/deferred_chunks.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <memory>
#include <span>
#include <utility>

#include "hdf5_error.h"
#include "parallel/workers.h"
#include "wire/joined_text.h"

namespace nmb::hdf5 {

namespace {

// Bytes that a thread copies at a time. Larger buffers do not fit in the caches of processors.
constexpr std::uint64_t kPart = 1 << 20;
// When this many chunks are deferred, their bytes are copied before the next one. This limits
// memory.
constexpr std::size_t kMostDeferred = 65536;
constexpr haddr_t kMostAddress = (haddr_t{1} << 62) - 1;

// HDF5 gets this address in place of the bytes of a chunk, and passes it to the driver unread.
const std::byte kNoBytes{};

struct DriverFile {
  H5FD_t of_hdf5;  // must be the first member
  H5FD_t* base;
  DeferredChunks* chunks;
};

DriverFile* own(H5FD_t* file) { return reinterpret_cast<DriverFile*>(file); }
H5FD_t* base(const H5FD_t* file) { return reinterpret_cast<const DriverFile*>(file)->base; }

H5FD_t* open_file(const char* name, unsigned flags, hid_t fapl, haddr_t most) {
  const void* const info = H5Pget_driver_info(fapl);
  const Handle usual(H5Pcreate(H5P_FILE_ACCESS));
  if (!info || !usual.ok()) return nullptr;
  H5FD_t* const file = H5FDopen(name, flags, usual.get(), most);
  if (!file) return nullptr;
  auto made = std::make_unique<DriverFile>();
  made->base = file;
  made->chunks = *static_cast<DeferredChunks* const*>(info);
  return &made.release()->of_hdf5;
}

herr_t close_file(H5FD_t* file) {
  const std::unique_ptr<DriverFile> closed(own(file));
  return H5FDclose(closed->base);
}

herr_t write_bytes(H5FD_t* file, H5FD_mem_t type, hid_t dxpl, haddr_t position, std::size_t length,
                   const void* bytes) {
  if (own(file)->chunks->take(position, length, bytes)) return 0;
  return H5FDwrite(base(file), type, dxpl, position, length, bytes);
}

H5FD_class_t driver_class() {
  H5FD_class_t out{};
#ifdef H5FD_CLASS_VERSION
  out.version = H5FD_CLASS_VERSION;
  out.value = static_cast<H5FD_class_value_t>(600);  // a number for private drivers
#endif
  out.name = "nmb_deferred_chunks";
  out.maxaddr = kMostAddress;
  out.fc_degree = H5F_CLOSE_STRONG;
  out.fapl_size = sizeof(void*);  // a pointer to DeferredChunks
  out.open = open_file;
  out.close = close_file;
  out.cmp = [](const H5FD_t* a, const H5FD_t* b) { return H5FDcmp(base(a), base(b)); };
  out.query = [](const H5FD_t* file, unsigned long* flags) -> herr_t {
    // HDF5 also calls this without a file.
    if (file) return H5FDquery(base(file), flags) < 0 ? -1 : 0;
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
  };
  out.get_eoa = [](const H5FD_t* file, H5FD_mem_t type) { return H5FDget_eoa(base(file), type); };
  out.set_eoa = [](H5FD_t* file, H5FD_mem_t type, haddr_t end) {
    return H5FDset_eoa(base(file), type, end);
  };
  out.get_eof = [](const H5FD_t* file, H5FD_mem_t type) { return H5FDget_eof(base(file), type); };
  out.get_handle = [](H5FD_t* file, hid_t fapl, void** handle) {
    return H5FDget_vfd_handle(base(file), fapl, handle);
  };
  out.read = [](H5FD_t* file, H5FD_mem_t type, hid_t dxpl, haddr_t position, std::size_t length,
                void* bytes) { return H5FDread(base(file), type, dxpl, position, length, bytes); };
  out.write = write_bytes;
  out.flush = [](H5FD_t* file, hid_t dxpl, hbool_t closing) {
    return H5FDflush(base(file), dxpl, closing);
  };
  out.truncate = [](H5FD_t* file, hid_t dxpl, hbool_t closing) {
    return H5FDtruncate(base(file), dxpl, closing);
  };
  out.lock = [](H5FD_t* file, hbool_t writes) { return H5FDlock(base(file), writes); };
  out.unlock = [](H5FD_t* file) { return H5FDunlock(base(file)); };
  constexpr H5FD_mem_t kMap[H5FD_MEM_NTYPES] = H5FD_FLMAP_DICHOTOMY;
  std::copy(std::begin(kMap), std::end(kMap), out.fl_map);
  return out;
}

}  // namespace

DeferredChunks::~DeferredChunks() {
  if (file_ >= 0) ::close(file_);
}

Status DeferredChunks::set_driver(hid_t fapl) {
  static const H5FD_class_t kDriver = driver_class();
  const hid_t driver = H5FDregister(&kDriver);
  if (driver < 0) return hdf5_failure("driver");
  DeferredChunks* const self = this;
  const herr_t set = H5Pset_driver(fapl, driver, &self);
  H5FDunregister(driver);  // the property list keeps the driver
  return check_hdf5(set, "driver");
}

Status DeferredChunks::write(hid_t data_set, const hsize_t* start, std::uint32_t mask,
                             std::shared_ptr<const ByteSource> source, std::uint64_t offset,
                             std::uint64_t length) {
  if (chunks_.size() >= kMostDeferred) NMB_TRY(copy_all());
  chunks_.push_back({std::move(source), offset, length});
  is_writing_ = true;
  const herr_t written = H5Dwrite_chunk(data_set, H5P_DEFAULT, mask, start,
                                        static_cast<std::size_t>(length), &kNoBytes);
  if (written >= 0 && !std::exchange(is_writing_, false)) return {};
  is_writing_ = false;
  chunks_.pop_back();
  return written < 0 ? hdf5_failure("a chunk")
                     : unsupported("this version of HDF5 does not write chunks in one piece");
}

bool DeferredChunks::take(haddr_t position, std::size_t length, const void* buffer) {
  if (!is_writing_ || buffer != &kNoBytes || length != chunks_.back().length) return false;
  chunks_.back().position = position;
  is_writing_ = false;
  return true;
}

Status DeferredChunks::copy_all() {
  if (chunks_.empty()) return {};
  if (file_ < 0) file_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  if (file_ < 0) return Status(Code::kIo, path_, kNoOffset, {}, std::strerror(errno));
  parts_.clear();
  part_count_ = 0;
  for (const Chunk& chunk : chunks_) {
    parts_.push_back(part_count_);
    part_count_ += (chunk.length + kPart - 1) / kPart;
  }
  std::atomic<std::uint64_t> next{0};
  const Status status = share_work(threads_, [&](const std::atomic<bool>& stop) -> Status {
    std::vector<std::byte> buffer(kPart);
    for (std::uint64_t part; !stop && (part = next++) < part_count_;) NMB_TRY(copy(part, &buffer));
    return {};
  });
  chunks_.clear();
  return status;
}

// Copies one part.
Status DeferredChunks::copy(std::uint64_t number, std::vector<std::byte>* buffer) const {
  const auto at =
      static_cast<std::size_t>(std::ranges::upper_bound(parts_, number) - parts_.begin());
  const Chunk& chunk = chunks_[at - 1];
  const std::uint64_t from = (number - parts_[at - 1]) * kPart;
  auto bytes =
      std::span(*buffer).first(static_cast<std::size_t>(std::min(kPart, chunk.length - from)));
  NMB_TRY(chunk.source->read_at(chunk.offset + from, bytes));
  for (std::uint64_t to = chunk.position + from; !bytes.empty();) {
    const ssize_t done = ::pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(to));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0)
      return Status(done < 0 && errno != ENOSPC ? Code::kIo : Code::kNoSpace, path_, kNoOffset, {},
                    done < 0 ? std::strerror(errno) : "no space");
    bytes = bytes.subspan(static_cast<std::size_t>(done));
    to += static_cast<std::uint64_t>(done);
  }
  return {};
}

}  // namespace nmb::hdf5
