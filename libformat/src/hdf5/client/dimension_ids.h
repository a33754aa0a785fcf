// DimensionIds: the numbers that netCDF gives the dimensions of a file (_Netcdf4Dimid, and
// _Netcdf4Coordinates of what uses them), where an NMB file is written as HDF5. netCDF takes two
// dimensions of one number for one, so those of several sources get new ones. A block below a
// classic one may use dimensions of that, whose numbers are not those of the source.
//
// A scale without a number gets one from netCDF-C when it is read: the next above all that were met
// until then.
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
  // Reads the definitions of all blocks of kind 6. reader outlives the result. Numbers stay as they
  // are where netCDF takes no two dimensions for one; else all are counted from 0. kDamaged: the
  // hdf5 section; kLimit: more than 2^31 - 1 dimensions; kIo.
  NMB_EXPORT static Result<DimensionIds> plan(const Reader& reader);

  // Whether a block is a classic dataset with dimensions, of whatever kind.
  bool is_classic(std::string_view block) const {
    const auto known = blocks_.find(block);
    return known != blocks_.end() && known->second.classic_count > 0;
  }
  // Whether numbers of scales of blocks of kind 6 change, those that netCDF counts among them.
  bool changes() const { return changes_; }
  // Of a classic block's first dimension; the others follow.
  NMB_EXPORT std::int64_t first_of(std::string_view block) const;
  // The block with the numbers that are written; the same where none changes. kDamaged; kIo;
  // kConflict: a variable below a classic block uses a dimension that is not in the file, or that
  // has another length there.
  NMB_EXPORT Result<std::shared_ptr<const Block>> renumbered(
      std::shared_ptr<const Block> block) const;

  struct Dimension {
    std::string path;  // of its scale, without the first '/'
    std::uint64_t length = 0;
    std::int64_t id = 0;      // as written, or as netCDF counts it
    bool is_classic = false;  // of a classic block
    bool is_record = false;   // and its record dimension
  };
  // Of a classic dataset, by dimension, what it is in a group above: the dimension of that name,
  // length and limit that the group has of its own. nullopt: the dataset's own. kDamaged; kIo.
  NMB_EXPORT Result<std::vector<std::optional<Dimension>>> dimensions_above(
      const Block& block) const;
  // Whether a group below uses a dimension of a classic dataset. path: without the first '/'.
  bool is_shared(const std::string& path) const { return shared_.contains(path); }
  // Of a variable of a block of kind 6, as its marks in the source say; nullopt where they do not.
  Result<std::vector<std::optional<Dimension>>> dimensions_of(const Block& block,
                                                              VarId variable) const;
  // The dimension of a number, of those that a variable of a block of kind 6 can use, in the file
  // that the block came from; nullopt: none.
  std::optional<Dimension> in_source(const std::string& block, std::int64_t id) const;

 private:
  struct Scale {
    std::string name;
    VarId variable = 0;
    std::uint64_t length = 0;
    std::optional<std::int64_t> own;      // in the source
    std::optional<std::int64_t> counted;  // there by netCDF-C, where variables say so
    std::int64_t id = 0;
    // next: what netCDF-C would count.
    std::int64_t in_source(std::int64_t next) const { return own ? *own : counted.value_or(next); }
  };
  struct Scales {                       // of a block that has some
    std::uint64_t classic_count = 0;    // dimensions of a classic block
    std::int64_t first = 0;             // of these
    std::int64_t numbers = 0;           // up to that of the last dimension of its own
    std::vector<std::uint32_t> levels;  // of a classic dataset: levels_above()
    std::vector<Scale> scales;
    std::unordered_map<std::string, std::size_t> places;  // in `scales`, by name
  };
  // By number, the blocks and places of scales that have it.
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
  std::vector<std::string> order_;  // of these, as netCDF-C reads them; of no matter: by name
  bool some_count_ = false;         // there are scales without numbers
  bool changes_ = false;
  std::set<std::string> shared_;  // paths of dimensions that groups below use
  mutable std::map<std::string, Numbers> sources_;
  mutable std::shared_ptr<const Block> classic_;  // the last one that a path led to
};

}  // namespace nmb::hdf5
