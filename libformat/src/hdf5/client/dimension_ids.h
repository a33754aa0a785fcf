// DimensionIds: the numbers that netCDF gives the dimensions of a file (_Netcdf4Dimid, and
// _Netcdf4Coordinates of the variables that use them) when an NMB file is written as HDF5. netCDF
// takes two dimensions with the same number for one dimension, so dimensions from several sources
// get new numbers. A block below a classic block may use dimensions of that block; their numbers
// are not those of the source.
// netCDF-C gives a scale without a number the next number above all numbers it has read so far.
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

#include "nmb/reader.h"
#include "nmb/status.h"

namespace nmb::hdf5 {

// Not thread-safe.
class DimensionIds {
 public:
  // Reads the definitions of all blocks of kind 6. `reader` must outlive the result. Numbers stay
  // as they are if netCDF distinguishes all dimensions; otherwise all are numbered from 0. Errors:
  // kDamaged for the hdf5 section; kLimit for more than 2^31 - 1 dimensions; kIo.
  NMB_EXPORT static Result<DimensionIds> plan(const Reader& reader);

  // Returns whether a block is a classic dataset with dimensions; its kind does not matter.
  bool is_classic(std::string_view block) const {
    const auto known = blocks_.find(block);
    return known != blocks_.end() && known->second.classic_count > 0;
  }
  // Returns whether numbers of scales of blocks of kind 6 change, including those that netCDF-C
  // gives.
  bool changes() const { return changes_; }
  // Returns the number of a classic block's first dimension; those of the others follow.
  NMB_EXPORT std::int64_t first_of(std::string_view block) const;
  // Returns the block with the numbers that are written, or the same block if none changes. Errors:
  // kDamaged; kIo; kConflict if a variable below a classic block uses a dimension that is not in
  // the file or that has another length there.
  NMB_EXPORT Result<std::shared_ptr<const Block>> renumbered(
      std::shared_ptr<const Block> block) const;

  struct Dimension {
    std::string path;  // path of its scale, without the first '/'
    std::uint64_t length = 0;
    std::int64_t id = 0;      // the number that is written, or that netCDF-C gives
    bool is_classic = false;  // of a classic block
    bool is_record = false;   // is also the record dimension of that block
  };
  // For each dimension of a classic dataset: the group's own dimension of the same name, length and
  // limit in a group above. nullopt: the dataset has its own. Errors: kDamaged; kIo.
  NMB_EXPORT Result<std::vector<std::optional<Dimension>>> dimensions_above(
      const Block& block) const;
  // Returns whether a group below uses a dimension of a classic dataset. path: without the first
  // '/'.
  bool is_shared(const std::string& path) const { return shared_.contains(path); }
  // Returns the dimensions of a variable of a block of kind 6 according to its marks in the source;
  // nullopt for those without marks.
  Result<std::vector<std::optional<Dimension>>> dimensions_of(const Block& block,
                                                              VarId variable) const;
  // Returns the dimension that has a number in the file from which the block came, if a variable of
  // a block of kind 6 can use it; nullopt: there is none.
  std::optional<Dimension> in_source(const std::string& block, std::int64_t id) const;

 private:
  struct Scale {
    std::string name;
    VarId variable = 0;
    std::uint64_t length = 0;
    std::optional<std::int64_t> own;      // its number in the source
    std::optional<std::int64_t> counted;  // the number that netCDF-C gave it there, if variables
                                          // state it
    std::int64_t id = 0;
    // next: the number that netCDF-C would give.
    std::int64_t in_source(std::int64_t next) const { return own ? *own : counted.value_or(next); }
  };
  struct Scales {                       // the scales of a block that has some
    std::uint64_t classic_count = 0;    // number of dimensions of a classic block
    std::int64_t first = 0;             // number of the first of these
    std::int64_t numbers = 0;           // one more than the number of the block's last own
                                        // dimension
    std::vector<std::uint32_t> levels;  // result of levels_above() for a classic dataset
    std::vector<Scale> scales;
    std::unordered_map<std::string, std::size_t> places;  // index in `scales`, by name
  };
  // For each number: the blocks and indexes of the scales that have it.
  using Numbers = std::map<std::int64_t, std::vector<std::pair<std::string, std::size_t>>>;

  explicit DimensionIds(const Reader& reader) : reader_(&reader) {}
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

  const Reader* reader_;
  std::map<std::string, Scales, std::less<>> blocks_;
  std::vector<std::string> order_;  // the blocks, in the order in which netCDF-C reads them, or by
                                    // name if that does not matter
  bool some_count_ = false;         // some scales have no number
  bool changes_ = false;
  std::set<std::string> shared_;  // paths of dimensions that groups below use
  mutable std::map<std::string, Numbers> sources_;
  mutable std::shared_ptr<const Block> classic_;  // the last classic block that a path led to
};

}  // namespace nmb::hdf5
