#include "send_message.h"

#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "wire/system_error.h"

namespace nmb::hdf5 {

namespace {

Status write_all(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return system_error(errno, {}, "send a message");
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return {};
}

}  // namespace

Status send_message(Message kind, std::initializer_list<std::span<const std::byte>> contents) {
  std::uint64_t length = 0;
  for (const std::span<const std::byte> content : contents) length += content.size();
  const MessageHead head{kind, 0, length};
  NMB_TRY(write_all(std::as_bytes(std::span(&head, 1))));
  for (const std::span<const std::byte> content : contents) NMB_TRY(write_all(content));
  return {};
}

int send_end(const Status& status) {
  if (status.ok()) return send_message(Message::kDone, {}).ok() ? 0 : 1;
  static_cast<void>(send_message(Message::kFailure, {bytes_of_fields(status)}).ok());
  return 1;
}

}  // namespace nmb::hdf5
