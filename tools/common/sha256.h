// SHA-256 of files, for reports: unlike the sums of the format (spec/format.md, section 1), it
// shows that files differ even if somebody tried to make them look alike.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "nmb/bytes.h"
#include "nmb/status.h"

namespace nmb::tools {

using ReadAt = std::function<Status(std::uint64_t offset, std::span<std::byte> out)>;

// Returns 64 hexadecimal digits for the `length` bytes that `read` supplies in parts of at most 1
// MiB. cancel: if it is set, this fails with kIo "interrupted".
Result<std::string> sha256(std::uint64_t length, const ReadAt& read,
                           const std::atomic<bool>* cancel);
// Of a whole file.
Result<std::string> sha256(const ByteSource& file, const std::atomic<bool>* cancel);

}  // namespace nmb::tools
