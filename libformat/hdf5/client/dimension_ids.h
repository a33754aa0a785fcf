// DimensionIds chooses the numbers by which netCDF identifies dimensions, when an NMB file is
// written as HDF5. A scale has its number in _Netcdf4Dimid; variables that use the scale repeat the
// number in _Netcdf4Coordinates. If a scale has no number, netCDF-C chooses one: the largest number
// that it has read so far, plus 1. For netCDF, two dimensions with the same number are one
// dimension, so dimensions from different sources get new numbers if they have the same number. The
// dimensions of a classic block, which blocks below it may use, also have other numbers in the HDF5
// file than in the source.
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

#include "client/named_blocks.h"
#include "reader/file_reader.h"
#include "wire/failure.h"

namespace nmb::hdf5 {

// Not thread-safe.
class DimensionIds {
 public:
  // Chooses the numbers of all dimensions. Reads the definitions of all blocks of kind 6. The
  // result keeps a copy of `blocks`. If no two dimensions have the same number, all numbers stay;
  // otherwise, all dimensions are numbered from 0. Errors: kDamaged if an hdf5 section is invalid;
  // kLimit for more than 2^31 - 1 dimensions; kIo.
  NMB_EXPORT static Result<DimensionIds> plan(const NamedBlocks& blocks);

  // Returns whether a block is a classic dataset with dimensions. The kind of the block may be 6 or
  // a classic kind.
  bool is_classic(std::string_view block) const {
    const auto known = blocks_.find(block);
    return known != blocks_.end() && known->second.classic_count > 0;
  }
  // Returns whether any scale in a block of kind 6 gets another number than in its source. This
  // includes numbers that netCDF-C chooses.
  bool changes() const { return changes_; }
  // Returns the number of the first dimension of a classic block. The other dimensions of the block
  // have the numbers that follow.
  NMB_EXPORT std::int64_t first_of(std::string_view block) const;
  // Returns a copy of the block with the new numbers, or `block` itself if no number changes.
  // Errors: kDamaged; kIo; kConflict if a variable below a classic block uses a dimension that is
  // not in the file, or that has another length in the file.
  NMB_EXPORT Result<std::shared_ptr<const LoadedBlock>> renumbered(
      std::shared_ptr<const LoadedBlock> block) const;

  struct Dimension {
    std::string path;  // path of the dimension's scale, without the first '/'
    std::uint64_t length = 0;
    std::int64_t id = 0;      // number that is written or that netCDF-C chooses
    bool is_classic = false;  // whether it belongs to a classic block
    bool may_grow = false;    // whether the dimension belongs to a classic block and may grow
  };
  // For each dimension of a classic dataset, returns the dimension of a group above that it
  // represents, or nullopt if the dataset defines the dimension itself. Both dimensions have the
  // same name and length, and both or neither may grow. Errors: kDamaged; kIo.
  NMB_EXPORT Result<std::vector<std::optional<Dimension>>> dimensions_above(
      const LoadedBlock& block) const;
  // Returns whether a group below a classic dataset uses a certain dimension of the dataset. `path`
  // is the path of the dimension without the first '/'.
  bool is_shared(const std::string& path) const { return shared_.contains(path); }
  // For a variable in a block of kind 6, returns the dimensions that the variable's marks in the
  // source state. Returns nullopt for dimensions without marks.
  Result<std::vector<std::optional<Dimension>>> dimensions_of(const LoadedBlock& block,
                                                              VarId variable) const;
  // Returns the dimension that has number `id` in the source file of the block, or nullopt if
  // variables of the block can use no dimension with this number. `block` must be of kind 6.
  std::optional<Dimension> in_source(const std::string& block, std::int64_t id) const;

 private:
  struct Scale {
    std::string name;
    VarId variable = 0;
    std::uint64_t length = 0;
    std::optional<std::int64_t> own;      // number in the source
    std::optional<std::int64_t> counted;  // number that netCDF-C chose for the scale in the source,
                                          // if a variable states this number
    std::int64_t id = 0;
    // Returns the number in the source. `next` is the number that netCDF-C would choose next.
    std::int64_t in_source(std::int64_t next) const { return own ? *own : counted.value_or(next); }
  };
  struct Scales {                     // of one block: its scales or its classic dimensions
    std::uint64_t classic_count = 0;  // number of dimensions of a classic block
    std::int64_t first = 0;           // number of the first dimension of a classic block
    std::int64_t numbers =
        0;  // one more than the index of the last dimension that the block defines itself
    std::vector<std::uint32_t> levels;  // result of levels_above() for a classic dataset
    std::vector<Scale> scales;
    std::unordered_map<std::string, std::size_t>
        places;  // maps the name of a scale to its index in `scales`
  };
  // Maps each number to the scales that have it. A scale is given by the name of its block and its
  // index in that block.
  using Numbers = std::map<std::int64_t, std::vector<std::pair<std::string, std::size_t>>>;

  explicit DimensionIds(const NamedBlocks& blocks) : source_blocks_(blocks) {}
  Status gather();
  void take_counted(const LoadedBlock& block);
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
  Result<std::optional<Dimension>> by_name(const LoadedBlock& block, DimId dimension) const;
  bool is_below_classic(std::string_view block) const;
  Result<std::int64_t> written_id(const LoadedBlock& block, VarId variable, std::size_t place,
                                  std::int64_t id, const std::optional<Dimension>& dimension) const;

  NamedBlocks source_blocks_;
  std::map<std::string, Scales, std::less<>> blocks_;
  std::vector<std::string> order_;  // block names in the order in which netCDF-C reads the blocks;
                                    // sorted if that order does not matter
  bool some_count_ = false;         // whether some scales have no number
  bool changes_ = false;
  std::set<std::string> shared_;  // paths of dimensions that groups below use
  mutable std::map<std::string, Numbers> sources_;
  mutable std::shared_ptr<const LoadedBlock> classic_;  // the classic block that was read last
};

}  // namespace nmb::hdf5
