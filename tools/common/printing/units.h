// Formats numbers for users, and parses numbers of bytes that users enter.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "wire/failure.h"

namespace nmb::tools {

// Returns "97.7 MiB", "512 B".
std::string human_bytes(std::uint64_t bytes);
// Returns the exact number if `exact` is true; otherwise returns the text of human_bytes().
std::string bytes_text(std::uint64_t bytes, bool exact);

// Returns for example "1 value" or "2 values".
std::string counted(std::uint64_t count, const char* what);

// Parses texts like "4096", "256M", "1.5 GiB" and "64kB". K, M, G and T, with or without "i", mean
// powers of 1024. K, M, G and T followed by only a B ("kB", "MB") mean powers of 1000. Errors:
// kUsage.
Result<std::uint64_t> parse_bytes(std::string_view text);

}  // namespace nmb::tools
