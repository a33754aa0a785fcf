// LustreStriping: recommended striping for a file that many ranks write on a Lustre file system
// (spec/rationale.md, "Aggregators").
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nmb {

struct LustreStriping {
  int count = 1;                 // number of object storage targets for the file
  std::uint64_t size = 1 << 20;  // length in bytes of a stripe
};

// Returns the recommended striping for `data_bytes` bytes. The length of a stripe is 1 MiB for each
// whole GB (10^9 bytes) of data, but at least 1 MiB and at most 16 MiB. targets: number of object
// storage targets of the file system. aggregators: number of ranks that write. Values of `targets`
// and `aggregators` below 1 count as 1.
LustreStriping lustre_striping(std::uint64_t data_bytes, int targets, int aggregators);

// Returns a shell command that sets this striping for new files in `folder`, such as "lfs setstripe
// -c 8 -S 4M out".
std::string lustre_command(const LustreStriping& striping, std::string_view folder);

}  // namespace nmb
