// DatasetUnion: several classic datasets as one: what they have of one name is one object, and
// along a dimension they may follow one another, or each has a part of some dimensions. No files,
// no writer, no ranks.
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
#include <utility>
#include <vector>

#include "merge/uniting/coordinate_order.h"
#include "merge/uniting/decomposition.h"
#include "merge/uniting/tile_cover.h"
#include "netcdf/type_widening.h"
#include "nmb/bytes.h"
#include "nmb/dataset.h"
#include "nmb/merge.h"
#include "nmb/metadata.h"
#include "nmb/status.h"

namespace nmb {

struct UnionRules {
  enum class Along : std::uint8_t { kNothing, kRecords, kDimension, kFirstAxis, kTiles };
  // The dimension along which values follow one another: the record dimension of the first dataset
  // that has one; `dimension`; or each that is the first of a variable. Of another length in each
  // dataset; it is found by its name, be it the record dimension or not. kTiles: of each dimension
  // that has a decomposition (merge/uniting/decomposition.h) a dataset has the part that this
  // tells.
  Along along = Along::kNothing;
  std::string dimension{};
  bool distinct_variables = false;  // no two datasets have a variable of one name
  bool equal_attributes = false;    // all of them; else those that say what values mean
  bool equal_values = true;         // of variables that do not follow one another
  bool complete = false;            // each dataset has each variable
  // Where a dataset does not have it, or no tile is, its values are fill values.
  bool fills = false;
  bool skips = false;  // an object that does not go with the first of its name is left out
  // But for tiles: a variable gets the narrowest type that holds the values of all
  // (netcdf/type_widening.h).
  bool widens = false;
  bool drops_parts = false;  // attributes that say which part of a set a dataset is
};

// What is said of an object of a dataset: of the one that was added last, but for values of tiles.
struct UnionNote {
  enum class What : std::uint8_t {
    kConflict,
    kLeftOut,  // by UnionRules::skips
    kFilled,   // by UnionRules::fills
    kShared,   // values that are not compared, as UnionRules::equal_values is not set
    kWidened,  // by UnionRules::widens
    kDiffers,  // an attribute; the first one's value is kept, or that of the only one
  };
  What what;
  ConflictKind kind;  // as PackConflict has it
  std::string object;
  std::string found, expected;
  std::uint32_t first;   // the dataset that has what is expected
  std::uint32_t second;  // that has what is found
};

// Attributes that say what values mean, which is never the same for two values of one of them.
bool tells_meaning(std::string_view attribute);

class LaidValues;
class TiledValues;

// A coordinate along which values follow one another, dataset by dataset.
struct JoinedCoordinate {
  DimId along;
  std::string name;
  Type type;
  std::vector<CoordinatePart> parts;
};

class DatasetUnion {
 public:
  using TakeNote = std::function<void(UnionNote)>;

  // A dataset of classic types; read during add() alone, but for its values.
  struct Member {
    const Metadata& metadata;
    std::vector<std::uint64_t> begins;  // of each variable, in `values`
    std::uint64_t record_size = 0;      // from a variable's record to the next
    std::uint64_t records = 0;
    std::shared_ptr<const ByteSource> values{};  // nullptr: there are none
    std::string group{};                         // in notes; where several are of one file
    // Whether the default fill value of a type stands for what was never written, as in netCDF.
    // nullopt: not known; types are not widened then.
    std::optional<bool> has_default_fill{};
    // Nothing uses the record dimension, in the dataset and in others of its file: any number of
    // records goes with it.
    bool is_record_unused = false;
    // Where others have compared values: by variable, a dataset before that has the same ones, of
    // the same type and shape, or kNobody. Not of tiles, nor where types are widened.
    std::vector<std::uint32_t> same_as{};
  };
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};
  static Member member_of(const Dataset& dataset, std::shared_ptr<const ByteSource> values);

  DatasetUnion(UnionRules rules, TakeNote note);

  // kLimit; kIo, kDamaged: values that are compared.
  Status add(const Member& member);
  bool has_any() const { return !members_.empty(); }
  // Whether there is a dimension along which values follow one another.
  bool is_joined() const { return std::ranges::any_of(joined_, &Joined::is); }
  // Of tiles, once all are added: what no tile has and, where nothing was told, values that lie in
  // several of them. kLimit; kIo, kDamaged: values that are compared.
  Status check_tiles(bool with_values);
  // A variable of one value for each index of its first dimension, along which values follow one
  // another.
  std::optional<VarId> joined_column(std::string_view name) const;
  Type type_of(VarId variable) const { return all_.metadata.variable(variable).type; }
  // What a dataset has of it, one behind the other, and how many; nullptr: it does not have it.
  Source column(VarId variable, std::uint32_t member, std::uint64_t* count) const;
  // One more variable, of kInt64 and the dimensions of `like`, with what each dataset has of it,
  // one behind the other. A name that is taken is a conflict with the dataset that has it. kLimit.
  Status add_column(const std::string& name, VarId like, std::vector<Source> values);
  // Names of the dimensions along which values follow one another.
  std::vector<std::string> joined_names() const;
  // The length of what a dataset has along a dimension; nullopt: none is joined along it.
  std::optional<std::uint64_t> joined_count(std::string_view dimension, std::uint32_t member) const;
  bool has_variable_along(std::string_view dimension, std::uint32_t member) const;
  // Gives a dataset without such a variable a length along it, of fill values.
  void set_joined_count(std::string_view dimension, std::uint32_t member, std::uint64_t count);
  // Puts fill values along a dimension ahead of a dataset, or behind all. Not of tiles.
  void add_gap(std::string_view dimension, std::uint32_t before, std::uint64_t count);
  bool has_variable(std::string_view name) const {
    return all_.metadata.find_variable(name).has_value();
  }
  // Of all dimensions along which values follow one another; not of tiles.
  std::vector<JoinedCoordinate> coordinates() const;
  // All of it, of kind CDF-5, after which the union is of no use. name: of the values, for
  // messages. kUnsupported, kLimit: sizes.
  Result<Dataset> take(const std::string& name);

  // After take(): those dimensions, and but for tiles the dataset that has index `index` along one
  // of them, which has no gaps.
  std::vector<DimId> joined() const;
  std::uint32_t member_at(DimId dimension, std::uint64_t index) const;

 private:
  struct Added {
    std::string group;
    std::uint64_t record_size;
    std::shared_ptr<const ByteSource> values;
    std::optional<bool> has_default_fill;
  };
  // A dimension, and if datasets have parts of it how many indexes each has, from which on.
  struct Joined {
    bool is = false;
    std::vector<std::uint64_t> counts;
    std::vector<std::uint64_t> firsts;  // but for tiles after take()
    // Of fill values, by the dataset that they are ahead of.
    std::map<std::uint32_t, std::uint64_t> gaps{};
  };
  // The parts that datasets have of some dimensions.
  struct Tiling {
    std::shared_ptr<TileBoxes> boxes;  // each once; `shape` when all are there
    std::map<std::vector<std::uint64_t>, std::uint32_t> known;  // by its bounds
  };
  // Values of a variable in a dataset.
  struct Place {
    std::uint32_t member;
    bool is_record;  // its records do not follow one another at once
    Type type;
    std::uint64_t begin;
    std::uint32_t box = 0;  // of a tile
  };
  struct Placed {
    std::vector<std::uint32_t> axes;  // of its dimensions, those of which datasets have parts
    std::uint32_t last;               // the last dataset that has it
    TypeSet types;                    // that datasets have it of
    std::vector<Place> places;        // one, but for those
    std::vector<std::uint32_t> place_of_box{};  // of tiles, or kNoPlace
    bool has_gaps = false;                      // tiles, after check_tiles()
    // Datasets that others may have been compared with, whose values are those of the first;
    // ascending.
    std::vector<std::uint32_t> same{};
  };
  static constexpr std::uint32_t kNoPlace = ~std::uint32_t{0};
  using DimIds = std::vector<std::optional<DimId>>;

  Status add_dimensions(const Member& member, DimIds* ids);
  std::vector<bool> along_of(const Metadata& metadata) const;
  // What a dataset has of a dimension.
  struct Part {
    std::uint64_t first, count;
    std::uint64_t whole;  // of tiles the length of all
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
  // Whether the owners' attributes let them be one object.
  bool attributes_agree(const Metadata& metadata, VarId local, VarId known, bool may_skip);
  Status unite_attributes(const Metadata& metadata, VarId local, VarId known);
  bool is_strict(std::string_view attribute) const;
  bool is_dropped(VarId owner, std::string_view attribute) const {
    return rules_.drops_parts && tells_part(owner == kGlobal, attribute);
  }
  void tell_missing(std::uint32_t before);
  // That dataset `second` does not have a variable; its values are told where it is not joined.
  void tell_filled(VarId variable, std::uint32_t first, std::uint32_t second);

  // An object that two datasets have, or that has no legal name.
  Status clash(ConflictKind kind, std::string_view object, const Status& status,
               std::uint32_t first);
  void conflict(ConflictKind kind, std::string_view object, std::string found, std::string expected,
                std::uint32_t first);
  // The same, of an object that may be left out.
  void mismatch(bool may_skip, ConflictKind kind, std::string_view object, std::string found,
                std::string expected, std::uint32_t first);
  void tell(UnionNote::What what, ConflictKind kind, std::string_view object, std::string found,
            std::string expected, std::uint32_t first, std::uint32_t second);
  std::string object_of(VarId known, std::string_view attribute) const;
  std::uint32_t first_of(VarId known, std::string_view attribute) const;
  std::uint32_t here() const { return static_cast<std::uint32_t>(members_.size() - 1); }
  Result<std::uint64_t> join_lengths();
  void lay(VarId variable, LaidValues* values) const;
  void lay_joined(VarId variable, LaidValues* values) const;

  // --- dataset_union_tiles.cpp ---
  bool is_tiled() const { return rules_.along == UnionRules::Along::kTiles; }
  Tiling& tiling_of(VarId variable) { return tilings_[dimension_ids(variable)]; }
  std::vector<DimId> dimension_ids(VarId variable) const;
  std::uint32_t box_here(VarId variable);
  void add_place(VarId variable, Place place);
  const Place* place_here(VarId variable);
  std::shared_ptr<const ByteSource> fill_of(VarId variable) const;
  std::shared_ptr<const TiledValues> tiled_values(VarId variable, std::size_t count, bool last_wins,
                                                  bool fills) const;
  Status check_files(const std::vector<DimId>& dimensions);
  Status compare_tiles(VarId variable, std::uint32_t place);
  std::vector<std::uint64_t> shape_of(VarId variable) const;

  const UnionRules rules_;
  const TakeNote note_;
  Dataset all_;
  bool is_record_used_ = false;  // by a dataset so far
  std::vector<Added> members_;
  std::vector<Joined> joined_;                    // by dimension
  std::vector<Placed> placed_;                    // by variable
  std::map<VarId, std::vector<Source>> columns_;  // by add_column(): of each dataset
  std::map<std::vector<DimId>, Tiling> tilings_;  // by a variable's dimensions
  std::vector<std::uint32_t> dimension_members_;  // by dimension: the first
  // By "variable@attribute": the first that has it, where that is not the owner's.
  std::unordered_map<std::string, std::uint32_t> attribute_members_;
};

}  // namespace nmb
