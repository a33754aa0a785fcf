// DimensionIds chooses the numbers by which netCDF identifies dimensions, when an NMB file is
// written as HDF5. A scale has its number in _Netcdf4Dimid; variables that use it repeat the number
// in _Netcdf4Coordinates. For netCDF, two dimensions with the same number are one dimension.
// Dimensions from several sources therefore get new numbers. A block below a classic block may use
// dimensions of the classic block. These dimensions have other numbers than in the source. If a
// scale has no number, netCDF-C gives it the number after the largest number that it has read so
// far.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hdf5/client/named_blocks.h"
#include "nmb/reader.h"
#include "nmb/status.h"

namespace nmb::hdf5 {

// Not thread-safe.
class DimensionIds {
 public:
  // Chooses the numbers of all dimensions. Reads the definitions of all blocks of kind 6. The
  // result keeps a copy of `blocks`. If all dimensions have different numbers, they keep them;
  // otherwise all dimensions are numbered from 0. Errors: kDamaged for the hdf5 section; kLimit for
  // more than 2^31 - 1 dimensions; kIo.
  NMB_EXPORT static Result<DimensionIds> plan(const NamedBlocks& blocks);

  // Returns whether a block is a classic dataset with dimensions. The kind of the block may be 6 or
  // a classic kind.
  bool is_classic(std::string_view block) const {
    const auto known = blocks_.find(block);
    return known != blocks_.end() && known->second.classic_count > 0;
  }
  // Returns whether scales in blocks of kind 6 get other numbers than in their sources. Numbers
  // that netCDF-C gives count too.
  bool changes() const { return changes_; }
  // Returns the number of a classic block's first dimension. Its other dimensions have the next
  // numbers.
  NMB_EXPORT std::int64_t first_of(std::string_view block) const;
  // Returns the block with the numbers that are written, or `block` itself if no number changes.
  // Errors: kDamaged; kIo; kConflict if a variable below a classic block uses a dimension that is
  // not in the file, or that has another length in the file.
  NMB_EXPORT Result<std::shared_ptr<const Block>> renumbered(
      std::shared_ptr<const Block> block) const;

  struct Dimension {
    std::string path;  // path of its scale, without the first '/'
    std::uint64_t length = 0;
    std::int64_t id = 0;      // number that is written, or that netCDF-C gives
    bool is_classic = false;  // whether it belongs to a classic block
    bool may_grow = false;    // whether it is also the dimension of that block that may grow
  };
  // Returns, for each dimension of a classic dataset, the dimension of a group above that it stands
  // for. That dimension has the same name and length, and both or neither may grow.
  // Returns nullopt for dimensions that the dataset defines itself. Errors: kDamaged; kIo.
  NMB_EXPORT Result<std::vector<std::optional<Dimension>>> dimensions_above(
      const Block& block) const;
  // Returns whether a group below uses a dimension of a classic dataset. `path` is the dimension's
  // path without the first '/'.
  bool is_shared(const std::string& path) const { return shared_.contains(path); }
  // Returns the dimensions of a variable in a block of kind 6, as the variable's marks in the
  // source state them. Returns nullopt for dimensions without marks.
  Result<std::vector<std::optional<Dimension>>> dimensions_of(const Block& block,
                                                              VarId variable) const;
  // Returns the dimension that has number `id` in the file from which the block came, if a variable
  // of the block can use it. Otherwise, returns nullopt. `block` is of kind 6.
  std::optional<Dimension> in_source(const std::string& block, std::int64_t id) const;

 private:
  struct Scale {
    std::string name;
    VarId variable = 0;
    std::uint64_t length = 0;
    std::optional<std::int64_t> own;  // number in the source
    std::optional<std::int64_t>
        counted;  // number that netCDF-C gave it in the source, if variables state it
    std::int64_t id = 0;
    // Returns the number in the source. `next` is the number that netCDF-C would give next.
    std::int64_t in_source(std::int64_t next) const { return own ? *own : counted.value_or(next); }
  };
  struct Scales {                     // the scales, or the classic dimensions, of one block
    std::uint64_t classic_count = 0;  // number of dimensions of a classic block
    std::int64_t first = 0;           // number of the first of these dimensions
    std::int64_t numbers =
        0;  // one more than the index of the last dimension that the block defines itself
    std::vector<std::uint32_t> levels;  // result of levels_above() for a classic dataset
    std::vector<Scale> scales;
    std::unordered_map<std::string, std::size_t> places;  // index in `scales`, by name
  };
  // For each number: the scales that have it, as the block's name and the index of the scale.
  using Numbers = std::map<std::int64_t, std::vector<std::pair<std::string, std::size_t>>>;

  explicit DimensionIds(const NamedBlocks& blocks) : source_blocks_(blocks) {}
  Status gather();
  void take_counted(const Block& block);
  Status find_shared();
  Status count_own();
  Status order_blocks();
  Status keep_numbers(bool* are_unique);
  Status count_anew();
  static std::int64_t count_source(const std::vector<Scales*>& blocks, std::int64_t first);
  template <class Visit>
  void for_each_in_order(Visit visit);
  std::string source_of(const std::string& block) const;
  const Numbers& numbers_of_source(const std::string& block) const;
  Result<std::optional<Dimension>> by_path(std::string_view path) const;
  Result<std::optional<Dimension>> by_name(const Block& block, DimId dimension) const;
  bool is_below_classic(std::string_view block) const;
  Result<std::int64_t> written_id(const Block& block, VarId variable, std::size_t place,
                                  std::int64_t id, const std::optional<Dimension>& dimension) const;

  NamedBlocks source_blocks_;
  std::map<std::string, Scales, std::less<>> blocks_;
  std::vector<std::string> order_;  // names of the blocks, in the order in which netCDF-C reads
                                    // them, or by name if the order does not matter
  bool some_count_ = false;         // whether some scales have no number
  bool changes_ = false;
  std::set<std::string> shared_;  // paths of dimensions that groups below use
  mutable std::map<std::string, Numbers> sources_;
  mutable std::shared_ptr<const Block> classic_;  // the classic block that was read last
};

}  // namespace nmb::hdf5
