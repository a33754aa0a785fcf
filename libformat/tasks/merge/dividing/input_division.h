// InputDivision decides what happens to each block of a divided input. It decides before the first
// block is taken, because blocks of kind 6 refer by path to dimension scales, groups and reference
// targets in other blocks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/dataset.h"

namespace nmb {

class InputDivision {
 public:
  void clear() { decisions_.clear(); }
  // Adds a block. The block will either be divided, or be taken unchanged under the name `name`.
  // path: the block's path in the input, without the first '/'. Add all blocks of an input before
  // you call settle().
  void add(const std::string& path, const Dataset& block, std::string name, bool is_divided);

  // Finds blocks of kind 6 that must become classic datasets with their own dimensions. A block
  // must become classic if its variables use dimensions of another block, and that other block is
  // divided or will no longer be above this block.
  void settle();

  // Returns whether the input has a block with this path.
  bool has(std::string_view path) const { return decisions_.contains(path); }
  // Returns the path of the dimension that forces a block to become classic, or nullopt if no
  // dimension does.
  const std::optional<std::string>& forced_by(const std::string& path) const;
  // Returns whether paths in a block may change. Paths may change if the block keeps kind 6 while
  // another block of the input is divided or renamed.
  bool maps_paths(std::string_view path) const;
  // Returns whether the parent block keeps kind 6. The links of such a parent refer to this block
  // even if only a part of this block remains.
  bool is_linked(std::string_view path) const;
  // Returns the new path for a path in a block that is not divided. This function is a PathMap
  // (convert/moved_paths.h).
  std::optional<std::string> moved(std::string_view path) const;

 private:
  // A dimension that a variable uses, given by the path of its scale or by netCDF's number.
  struct DimensionUse {
    std::string path;
    std::int64_t id = -1;
    bool operator<(const DimensionUse& other) const {
      return path != other.path ? path < other.path : id < other.id;
    }
  };
  struct Decision {
    std::string name;
    bool is_extended = false;
    bool is_divided = false;
    std::optional<std::string> forced_by{};
    std::vector<DimensionUse> uses{};              // used dimensions of other blocks
    std::map<std::int64_t, std::string> scales{};  // names of the block's own dimensions, by number
    bool is_whole() const { return !is_divided && !forced_by; }
    // Returns whether the block keeps kind 6.
    bool is_kept() const { return is_extended && is_whole(); }
  };

  std::optional<std::string> owner_of(const std::string& path, const DimensionUse& use) const;
  std::optional<std::string> new_forced_by(const std::string& path, const Decision& decision) const;

  std::map<std::string, Decision, std::less<>> decisions_;
  bool changes_ = false;
};

}  // namespace nmb
