// BlockFates: what becomes of the blocks of an input that is divided, before any of them is taken.
// Blocks of kind 6 lead to objects of other blocks by path: to dimension scales, groups, what is
// referred to.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nmb/dataset.h"
#include "nmb/status.h"

namespace nmb {

class BlockFates {
 public:
  void clear() { fates_.clear(); }
  // A block that is taken whole, under `name`, or divided. path: in the input, without the first
  // '/'. All of an input, before settle().
  void add(const std::string& path, const Dataset& block, std::string name, bool is_divided);

  // Blocks of kind 6 whose variables use dimensions of a block that is divided, or that is no
  // longer above them, cannot stay as they are: they become classic datasets, which have dimensions
  // of their own.
  void settle();

  // Whether the input has a block of this path.
  bool has(std::string_view path) const { return fates_.contains(path); }
  // The dimension for whose sake a block becomes classic, as a path; nullopt: for none.
  const std::optional<std::string>& torn_by(const std::string& path) const;
  // Whether a block stays of kind 6 while something in the input becomes other blocks, or gets
  // another name: its paths may change.
  bool maps_paths(std::string_view path) const;
  // Whether the block above stays of kind 6: its links lead to the block, whatever is left of that.
  bool is_linked(std::string_view path) const;
  // A PathMap (convert/moved_paths.h), for what blocks that stay whole lead to.
  std::optional<std::string> moved(std::string_view path) const;

 private:
  // A dimension that a variable uses: by the path of its scale, or by netCDF's number.
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
    std::vector<Use> uses{};                       // of other blocks' dimensions
    std::map<std::int64_t, std::string> scales{};  // its own, by number: their names
    bool is_whole() const { return !is_divided && !torn_by; }
    // Stays of kind 6.
    bool is_kept() const { return is_extended && is_whole(); }
  };

  std::optional<std::string> owner_of(const std::string& path, const Use& use) const;
  std::optional<std::string> new_torn_by(const std::string& path, const Fate& fate) const;

  std::map<std::string, Fate, std::less<>> fates_;
  bool changes_ = false;
};

}  // namespace nmb
