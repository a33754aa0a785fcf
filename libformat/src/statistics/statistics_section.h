// The statistics section of a block (spec/format.md, section 9.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "nmb/block_entry.h"
#include "nmb/byte_source.h"
#include "nmb/metadata.h"
#include "nmb/statistics.h"
#include "nmb/status.h"

namespace nmb {

inline constexpr std::uint16_t kSectionStatistics = 6;

// Which definitions and values statistics are of: a sum of what the entry says of them.
std::uint64_t statistics_state(const BlockEntry& entry);

// The sequence of sections that holds them.
std::vector<std::byte> encode_statistics(const BlockStatistics& statistics, std::uint64_t state);
// Sets the state of such a sequence.
void set_statistics_state(std::span<std::byte> sections, std::uint64_t state);

// The payload; metadata: of the block. state: what it is of. kDamaged (R-ST-1, the offset is one in
// the payload).
Result<BlockStatistics> decode_statistics(std::span<const std::byte> payload,
                                          const Metadata& metadata, std::uint64_t* state);

// Those of an entry's sections; nullopt: there are none, or none of a version that is known.
// kDamaged (R-ST-1, R-ST-2, R-SC-1, with the section's offset); kIo.
Result<std::optional<BlockStatistics>> read_statistics(const ByteSource& file,
                                                       const BlockEntry& entry,
                                                       const Metadata& metadata);

}  // namespace nmb
