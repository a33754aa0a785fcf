// LustreStriping: how a file that many ranks write should lie on a Lustre file system
// (spec/rationale.md, "Aggregators").
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nmb {

struct LustreStriping {
  int count = 1;                 // object storage targets that the file lies on
  std::uint64_t size = 1 << 20;  // bytes that lie on one of them before the next
};

// targets: object storage targets that there are. aggregators: ranks that write. Counts below 1 are
// taken for 1. Stripes of 1 MiB for less than 1 GB (10^9) of data, then as many MiB as there are
// whole GB, 16 at most.
LustreStriping lustre_striping(std::uint64_t data_bytes, int targets, int aggregators);

// The command that makes new files in `folder` lie so, for a shell: "lfs setstripe -c 8 -S 4M out".
std::string lustre_command(const LustreStriping& striping, std::string_view folder);

}  // namespace nmb
