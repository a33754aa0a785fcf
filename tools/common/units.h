// Formats numbers of bytes for users, and parses those that users give.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "nmb/status.h"

namespace nmb::tools {

// Returns "97.7 MiB", "512 B".
std::string human_bytes(std::uint64_t bytes);
// Like human_bytes(), or the exact number.
std::string bytes_text(std::uint64_t bytes, bool exact);

// Accepts "4096", "256M", "1.5 GiB", "64kB": K, M, G, T with or without "i" are powers of 1024;
// with only a B ("kB", "MB") they are powers of 1000. Errors: kUsage.
Result<std::uint64_t> parse_bytes(std::string_view text);

}  // namespace nmb::tools
