// Defines the feature bits of the superblock and the needs of blocks (spec/format.md, section 13).
#pragma once

#include <cstdint>
#include <string>

namespace nmb {

inline constexpr std::uint64_t kKnownIncompatible = 0;

inline constexpr std::uint64_t kFeatureView = 1 << 0;  // read-only compatible
inline constexpr std::uint64_t kFeatureGrowth = 1 << 1;
inline constexpr std::uint64_t kFeatureStatistics = 1 << 2;
inline constexpr std::uint64_t kFeatureTags = 1 << 3;
inline constexpr std::uint64_t kKnownReadonly =
    kFeatureView | kFeatureGrowth | kFeatureStatistics | kFeatureTags;
// The read-only compatible features that this version keeps up to date when it writes: all that it
// knows.
inline constexpr std::uint64_t kWrittenReadonly = kKnownReadonly;

inline constexpr std::uint64_t kFeatureGlobalSections = 1 << 2;  // compatible
inline constexpr std::uint64_t kFeatureOriginals = 1 << 3;
inline constexpr std::uint64_t kKnownCompatible = kFeatureGlobalSections | kFeatureOriginals;

// Needs of a block. The superblock has the union of the needs of all blocks.
inline constexpr std::uint64_t kNeedZstdBody = 1 << 0;
inline constexpr std::uint64_t kNeedDictionary = 1 << 1;
inline constexpr std::uint64_t kNeedExtendedBody = 1 << 2;
inline constexpr std::uint64_t kNeedExternal = 1 << 4;
inline constexpr std::uint64_t kNeedPieceCodec = 1 << 5;
inline constexpr std::uint64_t kNeedOriginals = 1 << 6;
inline constexpr std::uint64_t kKnownNeeds = kNeedZstdBody | kNeedDictionary | kNeedExtendedBody |
                                             kNeedExternal | kNeedPieceCodec | kNeedOriginals;
// Needs of values. All other needs concern the body.
inline constexpr std::uint64_t kNeedsOfValues = kNeedExternal | kNeedPieceCodec | kNeedOriginals;

// Returns a list of the unknown incompatible features in `mask`, for example "feature bit 3,
// feature bit 7".
std::string unsupported_features(std::uint64_t mask);
// Returns a text about the unknown needs, for example "needs a feature of a later version (need bit
// 3), which this version does not read".
std::string text_of_refused_needs(std::uint64_t needs);

}  // namespace nmb
