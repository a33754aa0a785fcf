// DatasetUnion: unites several classic datasets to one. Their objects with the same name become one
// object; along a dimension, their values may be joined one dataset after another, or each dataset
// has a part of some dimensions. It knows nothing of files, writers or ranks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "merge/uniting/coordinate_order.h"
#include "merge/uniting/decomposition.h"
#include "merge/uniting/tile_cover.h"
#include "netcdf/type_widening.h"
#include "nmb/dataset.h"
#include "nmb/merge.h"
#include "nmb/metadata.h"
#include "nmb/status.h"
#include "values/array_source.h"

namespace nmb {

struct UnionRules {
  enum class Along : std::uint8_t { kNothing, kRecords, kDimension, kFirstAxis, kTiles };
  // The dimension along which values are joined: the record dimension of the first dataset that has
  // one; `dimension`; or every dimension that is the first of a variable. Its length may differ
  // between datasets. It is found by its name, whether it is the record dimension or not. kTiles:
  // each dataset has a part of every dimension that has a decomposition
  // (merge/uniting/decomposition.h).
  Along along = Along::kNothing;
  std::string dimension{};
  bool distinct_variables = false;  // two datasets must not have variables with the same name
  bool equal_attributes = false;    // all attributes must be equal, not only those that tell what
                                    // values mean
  bool equal_values = true;         // of variables that are not joined
  bool complete = false;            // each dataset must have each variable
  // Values are fill values if a dataset does not have the variable or no tile has them.
  bool fills = false;
  bool skips = false;  // leaves out an object that differs from the first with its name
  // Except for tiles: a variable gets the narrowest type that holds all values
  // (netcdf/type_widening.h).
  bool widens = false;
  bool drops_parts = false;  // leaves out attributes that tell which part of a set a dataset is
};

// A note on an object of the dataset that was added last; notes on values of tiles come later.
struct UnionNote {
  enum class What : std::uint8_t {
    kConflict,
    kLeftOut,  // because of UnionRules::skips
    kFilled,   // because of UnionRules::fills
    kShared,   // values are not compared because UnionRules::equal_values is not set
    kWidened,  // because of UnionRules::widens
    kDiffers,  // an attribute: the first value is kept, or the only one
  };
  What what;
  ConflictKind kind;  // like that of PackConflict
  std::string object;
  std::string found, expected;
  std::uint32_t first;   // the dataset with the expected value
  std::uint32_t second;  // the dataset with the found value
};

// Returns whether an attribute tells what values mean. If such an attribute differs, the values
// cannot be joined.
bool tells_meaning(std::string_view attribute);

class LaidValues;
class TiledValues;

// A coordinate along which datasets are joined.
struct JoinedCoordinate {
  DimId along;
  std::string name;
  Type type;
  std::vector<CoordinatePart> parts;
};

class DatasetUnion {
 public:
  using TakeNote = std::function<void(UnionNote)>;

  // A dataset of classic types. add() reads everything except some of its values, which are read
  // later.
  struct Member {
    const Metadata& metadata;
    std::vector<std::uint64_t> begins;  // where each variable begins in `values`
    std::uint64_t record_size = 0;      // distance from one record of a variable to the next
    std::uint64_t records = 0;
    Source values{};      // nullptr: there are none
    std::string group{};  // for notes, if a file has several
    // Whether values that were never written are the default fill value of the type, as in netCDF.
    // nullopt: not known; types are then not widened.
    std::optional<bool> has_default_fill{};
    // No variable of the dataset or of others in its file uses the record dimension, so any number
    // of records fits.
    bool is_record_unused = false;
    // For values that others have compared: by variable, an earlier dataset that has the same
    // values, type and shape, or kNobody. Not for tiles, nor if types are widened.
    std::vector<std::uint32_t> same_as{};
  };
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};
  static Member member_of(const Dataset& dataset, Source values);

  DatasetUnion(UnionRules rules, TakeNote note);

  // Errors: kLimit; kIo, kDamaged for values that are compared.
  Status add(const Member& member);
  bool has_any() const { return !members_.empty(); }
  // Returns whether values are joined along a dimension.
  bool is_joined() const { return std::ranges::any_of(joined_, &Joined::is); }
  // For tiles: call this after all datasets were added. It reports values that no tile has and, if
  // there was no other conflict, values that several tiles have. Errors: kLimit; kIo, kDamaged for
  // values that are compared.
  Status check_tiles(bool with_values);
  // Returns the variable with this name if it has one value for each index of its first dimension
  // and is joined along it.
  std::optional<VarId> joined_column(std::string_view name) const;
  Type type_of(VarId variable) const { return all_.metadata.variable(variable).type; }
  // Returns the values that one dataset has of such a variable, without gaps, and their number;
  // nullptr: the dataset does not have it.
  Source column(VarId variable, std::uint32_t member, std::uint64_t* count) const;
  // Adds a variable of kInt64 with the dimensions of `like` and the given values of each dataset,
  // without gaps. If the name is used, this is a conflict with the dataset that uses it. Errors:
  // kLimit.
  Status add_column(const std::string& name, VarId like, std::vector<Source> values);
  // Returns the names of the dimensions along which values are joined.
  std::vector<std::string> joined_names() const;
  // Returns the length of a dataset's part along a dimension; nullopt: nothing is joined along it.
  std::optional<std::uint64_t> joined_count(std::string_view dimension, std::uint32_t member) const;
  bool has_variable_along(std::string_view dimension, std::uint32_t member) const;
  // Gives a dataset without a variable along a dimension this length there, of fill values.
  void set_joined_count(std::string_view dimension, std::uint32_t member, std::uint64_t count);
  // Inserts fill values along a dimension before a dataset, or after all. Not for tiles.
  void add_gap(std::string_view dimension, std::uint32_t before, std::uint64_t count);
  bool has_variable(std::string_view name) const {
    return all_.metadata.find_variable(name).has_value();
  }
  // Returns the coordinates of all dimensions along which values are joined; not for tiles.
  std::vector<JoinedCoordinate> coordinates() const;
  // Returns the united dataset, of kind CDF-5; the union cannot be used afterwards. name: of the
  // values, for messages. Errors: kUnsupported, kLimit for sizes.
  Result<Dataset> take(const std::string& name);

  // After take(): joined() returns the joined dimensions; member_at() returns the dataset that has
  // index `index` along one of them, which must have no gaps; not for tiles.
  std::vector<DimId> joined() const;
  std::uint32_t member_at(DimId dimension, std::uint64_t index) const;

 private:
  struct Added {
    std::string group;
    std::uint64_t record_size;
    Source values;
    std::optional<bool> has_default_fill;
  };
  // A dimension; if it is joined, the number of indexes that each dataset has, and the first of
  // them.
  struct Joined {
    bool is = false;
    std::vector<std::uint64_t> counts;
    std::vector<std::uint64_t> firsts;  // after take(); not for tiles
    // Numbers of fill values, by the dataset before which they are inserted.
    std::map<std::uint32_t, std::uint64_t> gaps{};
  };
  // The parts that datasets have of some dimensions.
  struct Tiling {
    std::shared_ptr<TileBoxes> boxes;  // each once; `shape` is set after all were added
    std::map<std::vector<std::uint64_t>, std::uint32_t> known;  // box by its bounds
  };
  // The values of a variable in one dataset.
  struct Place {
    std::uint32_t member;
    bool is_record;  // its records are not contiguous
    Type type;
    std::uint64_t begin;
    std::uint32_t box = 0;  // for a tile
  };
  struct Placed {
    std::vector<std::uint32_t> axes;  // those of its dimensions that are divided among datasets
    std::uint32_t last;               // the last dataset that has it
    TypeSet types;                    // all types that it has in datasets
    std::vector<Place> places;        // one, or one for each dataset if it is divided
    std::vector<std::uint32_t> place_of_box{};  // for tiles: place or kNoPlace
    bool has_gaps = false;                      // for tiles, after check_tiles()
    // Datasets whose values equal those of the first and with which others may have been compared;
    // ascending.
    std::vector<std::uint32_t> same{};
  };
  static constexpr std::uint32_t kNoPlace = ~std::uint32_t{0};
  using DimIds = std::vector<std::optional<DimId>>;

  Status add_dimensions(const Member& member, DimIds* ids);
  std::vector<bool> along_of(const Metadata& metadata) const;
  // The part of a dimension that one dataset has.
  struct Part {
    std::uint64_t first, count;
    std::uint64_t whole;  // for tiles: the length of the whole dimension
  };
  std::optional<Part> part_of(const Member& member, DimId local, bool is_joined);
  void compare_dimensions(const Member& member, const Dimension& found, DimId known);
  void compare_records(const Member& member, const Dimension& found, DimId known);
  Result<std::optional<DimId>> add_dimension(const Dimension& found, const Part& part,
                                             bool is_joined);
  bool is_alike(const Dimension& found, std::uint64_t whole, DimId known);
  std::uint64_t length_of(DimId id) const;
  Status add_variables(const Member& member, const DimIds& ids);
  Status add_variable(const Member& member, VarId local, const std::vector<DimId>& dimensions,
                      std::vector<std::uint32_t> axes);
  Status unite_variable(const Member& member, VarId local, VarId known,
                        const std::vector<DimId>& dimensions);
  bool is_alike(const Member& member, VarId local, VarId known,
                const std::vector<DimId>& dimensions);
  Status compare_values(const Member& member, VarId local, VarId known, const Place& first);
  bool is_known_same(const Member& member, VarId local, VarId known) const;
  bool can_widen(const Member& member, VarId local, VarId known) const;
  bool maps_fill(VarId variable, const Place& place) const;
  Status widen(VarId known, const Variable& found);
  Status add_attribute(VarId known, Type of_variable, const Attribute& attribute);
  bool is_same(const Attribute& found, const Attribute& expected) const;
  Source array_of(VarId variable, const Place& place, std::uint64_t* slice) const;
  Source values_of(VarId variable, const Place& place, std::uint64_t* offset,
                   std::uint64_t* step) const;
  // Returns whether the attributes of the two owners allow one united object.
  bool attributes_agree(const Metadata& metadata, VarId local, VarId known, bool may_skip);
  Status unite_attributes(const Metadata& metadata, VarId local, VarId known);
  bool is_strict(std::string_view attribute) const;
  bool is_dropped(VarId owner, std::string_view attribute) const {
    return rules_.drops_parts && tells_part(owner == kGlobal, attribute);
  }
  void tell_missing(std::uint32_t before);
  // Reports that dataset `second` does not have a variable. Values are reported as well if the
  // variable is not joined.
  void tell_filled(VarId variable, std::uint32_t first, std::uint32_t second);

  // Reports an object that two datasets have or whose name is not legal.
  Status clash(ConflictKind kind, std::string_view object, const Status& status,
               std::uint32_t first);
  void conflict(ConflictKind kind, std::string_view object, std::string found, std::string expected,
                std::uint32_t first);
  // Reports a conflict of an object that may be left out.
  void mismatch(bool may_skip, ConflictKind kind, std::string_view object, std::string found,
                std::string expected, std::uint32_t first);
  void tell(UnionNote::What what, ConflictKind kind, std::string_view object, std::string found,
            std::string expected, std::uint32_t first, std::uint32_t second);
  std::string object_of(VarId known, std::string_view attribute) const;
  std::uint32_t first_of(VarId known, std::string_view attribute) const;
  std::uint32_t here() const { return static_cast<std::uint32_t>(members_.size() - 1); }
  Result<std::uint64_t> join_lengths();
  void lay(VarId variable, LaidValues* values) const;
  template <class Visit>
  void for_each_part(const Joined& joined, const Placed& placed, Visit visit) const;
  void lay_joined(VarId variable, LaidValues* values) const;

  // --- dataset_union_tiles.cpp ---
  bool is_tiled() const { return rules_.along == UnionRules::Along::kTiles; }
  Tiling& tiling_of(VarId variable) { return tilings_[dimension_ids(variable)]; }
  std::vector<DimId> dimension_ids(VarId variable) const;
  std::uint32_t box_here(VarId variable);
  void add_place(VarId variable, Place place);
  const Place* place_here(VarId variable);
  Source fill_of(VarId variable) const;
  std::shared_ptr<const TiledValues> tiled_values(VarId variable, std::size_t count, bool last_wins,
                                                  bool fills) const;
  Status check_files(const std::vector<DimId>& dimensions);
  Status compare_tiles(VarId variable, std::uint32_t place);
  std::vector<std::uint64_t> shape_of(VarId variable) const;

  const UnionRules rules_;
  const TakeNote note_;
  Dataset all_;
  bool is_record_used_ = false;  // a dataset so far uses it
  std::vector<Added> members_;
  std::vector<Joined> joined_;                    // by dimension
  std::vector<Placed> placed_;                    // by variable
  std::map<VarId, std::vector<Source>> columns_;  // added by add_column(): for each dataset
  std::map<std::vector<DimId>, Tiling> tilings_;  // by a variable's dimensions
  std::vector<std::uint32_t> dimension_members_;  // by dimension: the first dataset that has it
  // By "variable@attribute": the first dataset that has the attribute, unless it is the first that
  // has the variable.
  std::unordered_map<std::string, std::uint32_t> attribute_members_;
};

}  // namespace nmb
