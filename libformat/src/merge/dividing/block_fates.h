// BlockFates: decides what happens to the blocks of an input that is divided, before any of them is
// taken. Blocks of kind 6 refer to objects of other blocks by path: to dimension scales, groups and
// the objects of references.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nmb/dataset.h"

namespace nmb {

class BlockFates {
 public:
  void clear() { fates_.clear(); }
  // Adds a block, which is taken unchanged, as `name`, or divided. path: in the input, without the
  // first '/'. Add all blocks of an input before you call settle().
  void add(const std::string& path, const Dataset& block, std::string name, bool is_divided);

  // A block of kind 6 cannot stay of kind 6 if its variables use dimensions of a block that is
  // divided or that will not be above it: it becomes a classic dataset with its own dimensions.
  // This finds such blocks.
  void settle();

  // Returns whether the input has a block with this path.
  bool has(std::string_view path) const { return fates_.contains(path); }
  // Returns the path of the dimension that forces a block to become classic; nullopt: there is
  // none.
  const std::optional<std::string>& torn_by(const std::string& path) const;
  // Returns whether paths in a block may change: it stays of kind 6 while another part of the input
  // becomes other blocks or gets another name.
  bool maps_paths(std::string_view path) const;
  // Returns whether the block above stays of kind 6: its links refer to this block even if only a
  // part of it remains.
  bool is_linked(std::string_view path) const;
  // A PathMap (convert/moved_paths.h) for paths in blocks that are not divided.
  std::optional<std::string> moved(std::string_view path) const;

 private:
  // A dimension that a variable uses, given by the path of its scale or by netCDF's number.
  struct Use {
    std::string path;
    std::int64_t id = -1;
    bool operator<(const Use& other) const {
      return path != other.path ? path < other.path : id < other.id;
    }
  };
  struct Fate {
    std::string name;
    bool is_extended = false;
    bool is_divided = false;
    std::optional<std::string> torn_by{};
    std::vector<Use> uses{};                       // dimensions of other blocks
    std::map<std::int64_t, std::string> scales{};  // its own dimensions: names by number
    bool is_whole() const { return !is_divided && !torn_by; }
    // Returns whether the block stays of kind 6.
    bool is_kept() const { return is_extended && is_whole(); }
  };

  std::optional<std::string> owner_of(const std::string& path, const Use& use) const;
  std::optional<std::string> new_torn_by(const std::string& path, const Fate& fate) const;

  std::map<std::string, Fate, std::less<>> fates_;
  bool changes_ = false;
};

}  // namespace nmb
