#include "decode/undo_filters.h"

#include <unistd.h>

#include <cerrno>
#include <new>

#include "decode/filter_file.h"
#include "hdf5_error.h"
#include "resource_limits.h"
#include "send_message.h"
#include "server/hdf5_server.h"
#include "wire/system_error.h"

namespace nmb::hdf5 {

namespace {

// Returns false at the end of the requests.
bool receive(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = read(STDOUT_FILENO, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return true;
}

// Reads the bytes of a request.
Result<std::vector<std::byte>> load(std::uint64_t length) {
  std::vector<std::byte> bytes(length);
  for (std::size_t done = 0; done < length;) {
    const ssize_t n = pread(kShared, bytes.data() + done, length - done, static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return damaged("found a request of ", done, " bytes, expected ", length);
    done += static_cast<std::size_t>(n);
  }
  return bytes;
}

// Writes a result where the bytes of the request were, and says so.
Status answer_with(std::span<const std::byte> result) {
  const std::uint64_t length = result.size();
  for (off_t at = 0; !result.empty();) {
    const ssize_t n = pwrite(kShared, result.data(), result.size(), at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return system_error(errno, {}, "write a result");
    result = result.subspan(static_cast<std::size_t>(n));
    at += n;
  }
  return send_message(Message::kBlock, {bytes_of_fields(length)});
}

// Loads the filter's plug-in if there is one.
Status find_filter(std::uint32_t filter) {
  if (filter == 0 || filter > kMostFilter)
    return unsupported("the HDF5 library has no filter ", filter);
  const auto number = static_cast<H5Z_filter_t>(filter);
  unsigned can = 0;
  const bool has = H5Zfilter_avail(number) > 0 && H5Zget_filter_info(number, &can) >= 0;
  H5Eclear2(H5E_DEFAULT);
  if (!has) return unsupported("the HDF5 library finds no plug-in for it");
  if ((can & H5Z_FILTER_CONFIG_DECODE_ENABLED) == 0)
    return unsupported("the HDF5 library was built without its decoder");
  return {};
}

class FilterServer {
 public:
  // Answers a request. The answer of a filter that HDF5 undoes is sent from within the filter.
  Status answer(const FilterRequest& request) {
    NMB_TRY(find_filter(request.filter));
    if (request.length == 0) return answer_with({});
    limit_work(request.length, request.most);
    NMB_ASSIGN(const std::vector<std::byte> bytes, load(request.length));
    if (!file_ || !file_->fits(request) || file_->is_full()) {
      file_.reset();
      NMB_ASSIGN(file_, FilterFile::make(request));
    }
    const Status status = file_->undo(bytes, request.most, answer_with);
    // HDF5 may keep parts of a chunk that it could not read.
    if (!status.ok()) file_.reset();
    return status;
  }

 private:
  std::unique_ptr<FilterFile> file_;
};

}  // namespace

int undo_filters() {
  silence_hdf5();
  FilterServer server;
  for (MessageHead head; receive(std::as_writable_bytes(std::span(&head, 1)));) {
    if (head.kind != Message::kUndo) return 2;
    Status status;
    try {
      std::vector<std::byte> content(head.length);
      if (!receive(content)) return 0;
      FilterRequest request;
      if (!take_fields(content, &request).ok()) return 2;
      status = server.answer(request);
    } catch (const std::bad_alloc&) {
      return 2;
    }
    if (!status.ok() && !send_message(Message::kFailure, {bytes_of_fields(status)}).ok()) return 2;
  }
  return 0;
}

}  // namespace nmb::hdf5
