// Numbers of bytes for people, and as people give them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "nmb/status.h"

namespace nmb::tools {

// "97.7 MiB", "512 B".
std::string human_bytes(std::uint64_t bytes);
// As human_bytes, or the exact number.
std::string bytes_text(std::uint64_t bytes, bool exact);

// "4096", "256M", "1.5 GiB", "64kB": K, M, G, T with or without "i" are powers of 1024, with a B
// alone
// ("kB", "MB") of 1000. kUsage.
Result<std::uint64_t> parse_bytes(std::string_view text);

}  // namespace nmb::tools
