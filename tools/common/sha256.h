// SHA-256 of files, for reports: it tells files apart where somebody may have meant them to look
// alike, which the format's own sums do not (spec/format.md, section 1).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "nmb/status.h"

namespace nmb::tools {

using ReadAt = std::function<Status(std::uint64_t offset, std::span<std::byte> out)>;

// 64 hexadecimal digits of the `length` bytes that `read` gives, in parts of at most 1 MiB. cancel,
// if set: kIo "interrupted".
Result<std::string> sha256(std::uint64_t length, const ReadAt& read,
                           const std::atomic<bool>* cancel);

}  // namespace nmb::tools
