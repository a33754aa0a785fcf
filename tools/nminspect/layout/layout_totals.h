// Sums and lists of the regions of a file, for `nminspect layout`.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "handles/inspected_file.h"
#include "verify/layout.h"

namespace nmb::tools {

using BytesOfKinds = std::array<std::uint64_t, kRegionKinds>;

struct OwnerTotal {
  RegionOwner owner;
  std::uint64_t bytes = 0;
  std::uint64_t position = 0;  // of the first region
};

struct LayoutTotals {
  BytesOfKinds bytes{};
  BytesOfKinds regions{};
  std::vector<OwnerTotal> largest;  // in descending order of bytes
  std::vector<Region> dead;         // dead ranges in order of position
};

// Returns the totals of a layout, with at most `limit` owners.
LayoutTotals totals_of(const Layout& layout, std::uint64_t limit);

// Divides the file into `count` parts of equal length and returns the bytes of each kind in each
// part. If the file has fewer than `count` bytes, each byte is a part.
std::vector<BytesOfKinds> parts_of(const Layout& layout, std::size_t count);

std::vector<Region> largest_first(std::vector<Region> ranges);

// Returns the kind with the most bytes in a part.
RegionKind main_kind(const BytesOfKinds& part);

// Returns for example "12.3 %" or "< 0.1 %".
std::string share_text(std::uint64_t part, std::uint64_t all);

// Returns "block", "original", "variable" or "records"; "file" if a region has no owner.
std::string_view owner_word(RegionOwner::Of of);

class OwnerNames {
 public:
  // Reads the names of the owners in `wanted`, or of all owners in `layout` if `wanted` is nullptr.
  // Errors: kBusy if the file has changed since the layout was read; kLimit if the names have more
  // than 256 MiB; those of Reader.
  static Result<OwnerNames> read(const InspectedFile& file, const Layout& layout,
                                 const std::vector<OwnerTotal>* wanted = nullptr);
  // Returns the bytes of the name; "/" for the block with the empty name.
  const std::string& of(RegionOwner owner) const;
  // Calls visit(owner, name) for each owner.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& [key, name] : names_) visit(RegionOwner{key.first, key.second}, name);
  }

 private:
  using Key = std::pair<RegionOwner::Of, std::uint32_t>;
  Status add(RegionOwner owner, std::string_view name);

  std::map<Key, std::string> names_;
  std::size_t bytes_ = 0;
};

}  // namespace nmb::tools
