// SHA-256 of files, for reports. Unlike the checksums of the format (spec/format.md, section 1),
// SHA-256 also detects deliberate changes of a file.
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

// Returns the SHA-256 of `length` bytes as 64 hexadecimal digits. `read` supplies the bytes in
// parts of at most 1 MiB. Fails with kIo "interrupted" when *cancel becomes true; `cancel` may be
// nullptr.
Result<std::string> sha256(std::uint64_t length, const ReadAt& read,
                           const std::atomic<bool>* cancel);
// Returns the SHA-256 of a whole file.
Result<std::string> sha256(const ByteSource& file, const std::atomic<bool>* cancel);

}  // namespace nmb::tools
