// DatasetUnion: unites several classic datasets into one. Objects with the same name become one
// object. Values may be joined along a dimension, in the order of the datasets. Datasets may also
// be tiles: each tile covers a part of some dimensions. This class does not use files, writers or
// ranks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "merge/reporting/merge.h"
#include "merge/uniting/coordinate_order.h"
#include "merge/uniting/decomposition.h"
#include "merge/uniting/tile_cover.h"
#include "merge/uniting/value_comparison.h"
#include "model/dataset.h"
#include "model/metadata.h"
#include "netcdf/calendar_time.h"
#include "netcdf/netcdf_view.h"
#include "netcdf/own_attribute.h"
#include "netcdf/subset.h"
#include "sources/type_widening.h"
#include "sources/value_source.h"
#include "wire/failure.h"

namespace nmb {

struct UnionRules {
  enum class Along : std::uint8_t { kNothing, kRecords, kDimension, kFirstAxis, kTiles };
  // The dimension along which values are joined.
  // - kRecords: the record dimension of the first dataset that has one. If no dataset before has
  //   one, the first dimension of Member::growing that a variable uses.
  // - kDimension: the dimension `dimension`.
  // - kFirstAxis: every dimension that is the first dimension of a variable.
  // - kTiles: each dataset has a part of every dimension that has a decomposition
  //   (merge/uniting/decomposition.h). The dimension may have a different length in each dataset.
  //   The dimension is identified by its name. It may be the record dimension.
  Along along = Along::kNothing;
  std::string dimension{};
  // Two datasets must not have variables with the same name, and attributes must be equal, except
  // that a dataset may lack a global one.
  bool distinct_variables = false;
  Agreement agreement{};
  bool complete = false;  // each dataset must have each variable
  // Fill values are used for values that are missing in all datasets or tiles.
  bool fills = false;
  bool skips = false;  // leaves out an object that differs from the first object with the same name
  // A variable gets the narrowest type that holds all of its values (sources/type_widening.h). Not
  // for tiles.
  bool widens = false;
  // A dimension that may grow can be at any position in a variable's shape.
  bool grows_anywhere = false;
  bool drops_parts = false;        // leaves out attributes for which tells_part() is true
  bool drops_tracking_id = false;  // leaves out the global attribute tracking_id
  // Times that are joined are counted from the day of the first dataset (dataset_union_times.cpp).
  // Not for tiles.
  bool rebases_times = false;
  // Only some named datatypes are needed: see DatasetUnion::keep_named_types().
  bool selects_types = false;
  bool keeps_classic_model = false;  // see DatasetUnion::is_classic_model()
};

// A note about an object of the dataset that was added last. Notes about values of tiles are made
// by check_tiles().
struct UnionNote {
  enum class What : std::uint8_t {
    kConflict,
    kLeftOut,  // because of UnionRules::skips
    kFilled,
    kShared,  // values are not compared because of Agreement::first_values
    kWidened,
    kRebased,  // times are counted from the day of the first dataset
    kDiffers,  // an attribute differs or is missing in one dataset; the first value is kept
  };
  What what;
  ConflictKind kind;  // same meaning as PackConflict::kind
  std::string object;
  std::string found, expected;
  std::uint32_t first;   // the dataset with the expected value
  std::uint32_t second;  // the dataset with the found value
};

// Returns whether an attribute defines the meaning of values. If such an attribute differs, the
// values cannot be joined.
bool tells_meaning(std::string_view attribute);

struct LaidValues;
struct TiledValues;

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

  // A dataset that has only classic types. Some values of the dataset are read only after add() has
  // returned.
  struct Member {
    const Metadata& metadata;
    std::vector<std::uint64_t> begins;  // offset of each variable in `values`
    std::uint64_t record_size = 0;      // distance in bytes between records of a variable
    std::uint64_t records = 0;
    Source values{};      // nullptr if there are no values
    std::string group{};  // path of the group, for notes; empty unless the file has several groups
    // Whether values that were never written have the default fill value of the type, as in netCDF.
    // If the field is nullopt, which means unknown, types are not widened; times with the default
    // fill value are not rebased unless the field is false.
    std::optional<bool> has_default_fill{};
    // Whether no variable in the file uses the record dimension. An unused record dimension may
    // have any number of records.
    bool is_record_unused = false;
    bool is_classic_model = false;  // whether the input has the attribute kClassicModel
    // Dimensions that have a fixed length in the classic dataset, but may grow in the input. If the
    // first dataset that has a dimension lists it here, it may grow in the united dataset, too.
    std::vector<DimId> growing{};
    // Dimensions whose names the input does not contain (ClassicView::made_up).
    std::vector<DimId> made_up{};
    // Names of dimensions of length 0 that may grow in the input and that no variable uses. The
    // classic dataset lacks them.
    std::vector<std::string> empty{};
    // For each variable: an earlier dataset that is known to have the same values, type and shape.
    // kNobody if no such dataset is known. The list is empty if no values were compared before. The
    // list must be empty for tiles and if types are widened.
    std::vector<std::uint32_t> same_as{};
    // Variables and attributes that have other types in the input, and characters in the classic
    // dataset. The last dimension of such a variable is the bytes of a value.
    std::vector<ClassicView::OwnValues> own{};
    std::vector<ClassicView::OwnAttribute> own_attributes{};
    std::vector<AttributeForm> attribute_forms{};
    std::vector<TypeTable> named_types{};

    // Returns the own values of a variable, or nullptr if it has a classic type.
    const ClassicView::OwnValues* own_of(VarId variable) const {
      const auto found = std::ranges::find(own, metadata.variable(variable).name,
                                           &ClassicView::OwnValues::variable);
      return found == own.end() ? nullptr : &*found;
    }
    bool is_own(VarId owner, std::string_view attribute) const {
      return std::ranges::any_of(own_attributes, [&](const ClassicView::OwnAttribute& one) {
        return one.owner == owner && one.name == attribute;
      });
    }
    // Returns the form of an attribute, or nullptr if it is stored as usual.
    const AttributeForm* form_of(VarId owner, std::string_view attribute) const {
      const auto found = std::ranges::find_if(attribute_forms, [&](const AttributeForm& one) {
        return one.owner == owner && one.name == attribute;
      });
      return found == attribute_forms.end() ? nullptr : &*found;
    }
    // Set if the dataset is a subset of another one, whose values `values` selects: see
    // DatasetSubset::selected.
    std::optional<SelectedIndexes> selected{};
  };
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};
  static Member member_of(const Dataset& dataset, Source values);

  DatasetUnion(UnionRules rules, TakeNote note);

  // Adds a dataset. Errors: kLimit; kIo and kDamaged if values to be compared cannot be read.
  Status add(const Member& member);
  bool has_any() const { return !members_.empty(); }
  // Returns whether dimensions other than the record dimension may grow.
  bool has_growing() const { return std::ranges::count(grows_, true) > 0 || !empty_.empty(); }
  // Returns the names in Member::empty of all datasets. The united dataset may have some of these
  // dimensions, because another dataset uses them.
  const std::vector<std::string>& empty() const { return empty_; }
  // Returns whether a dimension may grow, although it is not the record dimension.
  bool grows(DimId dimension) const { return grows_[dimension]; }
  // Returns the names of dimensions that may grow, but along which no values are joined.
  std::vector<std::string> other_growing() const;
  bool is_joined() const { return std::ranges::any_of(joined_, &Joined::is); }
  // For tiles: reports values that no tile has. If with_values is set, also reports values that
  // differ where tiles overlap. Call this after all datasets were added. Errors: kLimit; kIo and
  // kDamaged if values to be compared cannot be read.
  Status check_tiles(bool with_values);
  // Reports times that cannot be counted exactly from the day of the first dataset. Call this after
  // all datasets were added. Errors: kIo and kDamaged if times cannot be read.
  Status check_times();
  // Returns the variable with this name if it is joined along its first dimension and has one value
  // for each index of this dimension.
  std::optional<VarId> joined_column(std::string_view name) const;
  // Returns the type and the fill value of a variable that only the united dataset stores as
  // characters; nullptr for any other variable. After take(), `heap` says where the united dataset
  // has the bytes to which values of variable length refer.
  const ClassicView::OwnValues* own_of(VarId variable) const {
    const auto known = own_.find(variable);
    return known == own_.end() ? nullptr : &known->second;
  }
  // Returns whether an attribute of characters is the result of encode_own().
  bool is_own(VarId owner, std::string_view attribute) const {
    return own_attributes_.contains({owner, std::string(attribute)});
  }
  // Returns how the first dataset with an attribute stores it, or nullptr if it is stored as usual.
  const AttributeForm* form_of(VarId owner, std::string_view attribute) const {
    const auto known = forms_.find({owner, std::string(attribute)});
    return known == forms_.end() ? nullptr : &known->second;
  }
  // Returns whether attributes have forms; byte_order: also those that differ only in byte order.
  bool has_forms(bool byte_order) const {
    return std::ranges::any_of(
        forms_, [&](const auto& form) { return byte_order || !form.second.is_byte_order(); });
  }
  // Calls a function for each type of variables and attributes that CDF-5 lacks. The type is the
  // last one of the table.
  void visit_own_types(const std::function<void(const TypeTable&)>& visit) const;
  const std::vector<TypeTable>& named_types() const { return named_types_; }
  // For UnionRules::selects_types: leaves only some named datatypes, by their numbers in
  // named_types(). Reports those that datasets define differently.
  void keep_named_types(const std::set<std::size_t>& kept);
  // Returns whether there are types that a classic dataset lacks.
  bool has_own_types() const {
    return !own_.empty() || !own_attributes_.empty() || !named_types_.empty();
  }
  // After take(): returns whether all datasets are netCDF-4 files of the classic model, and the
  // united dataset can be one: it has classic types and one unlimited dimension, the slowest one.
  bool is_classic_model() const { return are_classic_model_; }
  void forget_classic_model() { are_classic_model_ = false; }
  Type type_of(VarId variable) const { return all_.metadata.variable(variable).type; }
  // Returns a variable's values in one dataset, without gaps, and sets *count to the number of
  // values. variable: a result of joined_column(). Returns nullptr if the dataset does not have the
  // variable.
  Source column(VarId variable, std::uint32_t member, std::uint64_t* count) const;
  // Adds a variable of type kInt64 with the dimensions of `like`. values: the variable's values in
  // each dataset, without gaps. If the name is already used, reports a conflict with the dataset
  // that uses it. Errors: kLimit.
  Status add_column(const std::string& name, VarId like, std::vector<Source> values);
  // Returns the names of the dimensions along which values are joined.
  std::vector<std::string> joined_names() const;
  // Returns the length of a dataset's part along a dimension, or nullopt if no values are joined
  // along the dimension.
  std::optional<std::uint64_t> joined_count(std::string_view dimension, std::uint32_t member) const;
  bool has_variable_along(std::string_view dimension, std::uint32_t member) const;
  // Sets the length of a dataset along a dimension. None of the dataset's variables may have this
  // dimension. The dataset's values along the dimension become fill values.
  void set_joined_count(std::string_view dimension, std::uint32_t member, std::uint64_t count);
  // Inserts `count` fill values along a dimension before dataset number `before`, or after the last
  // dataset. Not for tiles.
  void add_gap(std::string_view dimension, std::uint32_t before, std::uint64_t count);
  bool has_variable(std::string_view name) const {
    return all_.metadata.find_variable(name).has_value();
  }
  // Returns the coordinates of all dimensions along which values are joined. Not for tiles.
  std::vector<JoinedCoordinate> coordinates() const;
  // Puts a line before the text of the global attribute `history`. Does nothing if that attribute
  // is not text.
  Status add_history(const std::string& line);
  // Returns the united dataset, which is of kind CDF-5. The union must not be changed afterwards.
  // name: name of the values in messages. Errors: kUnsupported; kLimit if a size is too large.
  Result<Dataset> take(const std::string& name);

  // The box of the united array that has the values of one dataset.
  struct Box {
    std::uint32_t member;
    std::vector<std::uint64_t> first{}, count{};  // by dimension, slowest first
    Type type{};                                  // type of the dataset's values
    bool maps_fill = false;                       // see widening()
    bool is_rebased = false;  // times count from another day in the united array
  };
  // Returns the boxes of a variable, in the order of the datasets. Where boxes overlap, the values
  // of the first box are used. Returns no boxes for a variable from add_column(). all: the result
  // of take().
  std::vector<Box> boxes(const Dataset& all, VarId variable) const;
  // Returns the values of all datasets, in order.
  std::vector<Source> values() const;
  // Returns the selected indexes (Member::selected) if a dataset is a subset, otherwise nullptr.
  const SelectedIndexes* selected_of(std::uint32_t member) const {
    return members_[member].selected ? &*members_[member].selected : nullptr;
  }

  // joined() returns the joined dimensions. member_at() returns the dataset that has index `index`
  // along a joined dimension. The dimension must not have gaps. Call member_at() only after take().
  // Do not call member_at() for tiles.
  std::vector<DimId> joined() const;
  std::uint32_t member_at(DimId dimension, std::uint64_t index) const;

 private:
  struct Added {
    std::string group;
    std::uint64_t record_size;
    Source values;
    std::optional<bool> has_default_fill;
    std::optional<SelectedIndexes> selected;
  };
  // A dimension. For a joined dimension: the number of indexes that each dataset has, and the first
  // index of each dataset.
  struct Joined {
    bool is = false;
    std::vector<std::uint64_t> counts;
    std::vector<std::uint64_t> firsts;  // set by take(); for tiles, set by add()
    // The number of fill values to insert. The key is the dataset before which fill values are
    // inserted.
    std::map<std::uint32_t, std::uint64_t> gaps{};
  };
  // The tiles of the variables that share the same dimensions.
  struct Tiling {
    std::shared_ptr<TileBoxes> boxes;  // distinct boxes; `shape` has the lengths of the whole
                                       // dimensions
    std::map<std::vector<std::uint64_t>, std::uint32_t> known;  // number of each box, by the bounds
                                                                // of the box
  };
  // The values of a variable in one dataset.
  struct DatasetValues {
    std::uint32_t member;
    bool is_record;  // records are not contiguous
    Type type;
    std::uint64_t begin;
    std::uint32_t box = 0;    // box number of a tile
    std::uint32_t shift = 0;  // how times are rebased: index in shifts_
    ClassicView::OwnValues::Heap heap{};
    std::uint64_t new_heap = 0;  // offset of the heap in the united values; set by take()
  };
  struct Placed {
    std::vector<std::uint32_t> axes;  // positions of the dimensions that are divided among datasets
    std::uint32_t last;               // the last dataset that has the variable
    TypeSet types;                    // the variable's types in all datasets
    std::vector<DatasetValues> places;  // a single place, or one place for each dataset if the
                                        // variable is divided
    std::vector<std::uint32_t> place_of_box{};  // for tiles: position in `places`, or kNoPlace
    bool has_gaps = false;                      // for tiles: set by check_tiles()
    // The datasets whose values equal the values of the first dataset, in ascending order.
    // Member::same_as of a later dataset may refer to these datasets.
    std::vector<std::uint32_t> same{};
  };
  static constexpr std::uint32_t kNoPlace = ~std::uint32_t{0};
  using DimIds = std::vector<std::optional<DimId>>;

  Status add_dimensions(const Member& member, DimIds* ids);
  std::string made_up_name(const Member& member, DimId local, const std::set<DimId>& taken) const;
  std::vector<bool> along_of(const Member& member) const;
  DimIds known_rows(const Metadata& metadata) const;
  void report_rows(const Member& member, DimId local, std::uint64_t rows, DimId known);
  std::string rows_text(VarId variable, DimId rows) const;
  // The part of a dimension that one dataset has.
  struct DimensionRange {
    std::uint64_t first, count;
    std::uint64_t whole;  // for tiles: length of the whole dimension
  };
  std::optional<DimensionRange> part_of(const Member& member, DimId local, bool is_joined);
  Status compare_dimensions(const Member& member, DimId local, DimId known);
  void compare_records(const Member& member, const Dimension& found, DimId known);
  Result<std::optional<DimId>> add_dimension(const Dimension& found, const DimensionRange& part,
                                             bool is_joined, bool grows);
  Status fix_record_dimension(std::uint64_t length, bool grows);
  bool is_alike(const Dimension& found, std::uint64_t whole, DimId known);
  std::uint64_t length_of(DimId id) const;
  Status add_variables(const Member& member, const DimIds& ids);
  Status add_variable(const Member& member, VarId local, const std::vector<DimId>& dimensions,
                      std::vector<std::uint32_t> axes);
  struct Rebase;
  Status unite_variable(const Member& member, VarId local, VarId known,
                        const std::vector<DimId>& dimensions);
  bool is_alike(const Member& member, VarId local, VarId known,
                const std::vector<DimId>& dimensions, const Rebase& rebase);
  Status compare_values(const Member& member, VarId local, VarId known, const DatasetValues& first);
  bool is_known_same(const Member& member, VarId local, VarId known) const;
  bool can_widen(const Member& member, VarId local, VarId known) const;
  bool maps_fill(const Metadata& all, VarId variable, const DatasetValues& place) const;
  Status widen(VarId known, const Variable& found);
  Status add_attribute(VarId known, Type of_variable, const Attribute& attribute);
  void keep_form(const Member& member, VarId local, VarId known, std::string_view attribute);
  bool is_same(const Attribute& found, const Attribute& expected) const;
  bool is_same(const Member& member, VarId local, VarId known, const Attribute& found,
               const Attribute& expected) const;
  std::pair<std::string, std::string> difference(const Member& member, VarId local, VarId known,
                                                 const Attribute* found,
                                                 const Attribute* expected) const;
  Source stored_array(VarId variable, const DatasetValues& place, std::uint64_t* slice) const;
  Source array_of(VarId variable, const DatasetValues& place, std::uint64_t* slice) const;
  Source widened_array(VarId variable, const DatasetValues& place, std::uint64_t* slice) const;
  DatasetValues values_here(const Member& member, VarId local) const;
  std::optional<OwnAttributeValues> fill_attribute(VarId variable) const;
  std::vector<std::byte> own_fill_of(VarId variable) const;
  void add_named_types(const Member& member);
  void report_other_types();
  Status compare_own(VarId known, const DatasetValues& own, const DatasetValues& first,
                     std::uint64_t from);
  std::vector<IndexRange> ranges_here(VarId known) const;
  bool has_classic_definitions() const;
  void place_heaps();
  Source with_heaps(Source laid);
  Source values_of(VarId variable, const DatasetValues& place, std::uint64_t* offset,
                   std::uint64_t* step) const;
  // Returns whether the attributes of two objects allow the union of these objects.
  // rebase: nullptr for global attributes.
  bool attributes_agree(const Member& member, VarId local, VarId known, bool may_skip,
                        const Rebase* rebase);
  Status unite_attributes(const Member& member, VarId local, VarId known, bool is_rebased = false);
  bool is_strict(std::string_view attribute) const;
  bool is_dropped(VarId owner, std::string_view attribute) const {
    return (rules_.drops_parts && tells_part(owner == kGlobal, attribute)) ||
           (rules_.drops_tracking_id && owner == kGlobal && attribute == "tracking_id");
  }
  void report_missing(std::uint32_t before);
  // Reports that dataset `second` does not have a variable. If the variable is joined, fill values
  // are used. If the variable is not joined, the values of the other datasets are used.
  void report_filled(VarId variable, std::uint32_t first, std::uint32_t second);

  // Reports a conflict if two datasets have the same object, or if the name of the object is
  // illegal.
  Status clash(ConflictKind kind, std::string_view object, const Status& status,
               std::uint32_t first);
  void conflict(ConflictKind kind, std::string_view object, std::string found, std::string expected,
                std::uint32_t first);
  // Reports that an object differs. The difference is a conflict, unless the object may be left
  // out.
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
  void add_place(VarId variable, DatasetValues place);
  const DatasetValues* place_here(VarId variable);
  Source fill_of(VarId variable) const;
  std::shared_ptr<const TiledValues> tiled_values(VarId variable, std::size_t count, bool last_wins,
                                                  bool fills) const;
  Status check_files(const std::vector<DimId>& dimensions);
  Status compare_tiles(VarId variable, std::uint32_t place);
  Status compare_own_tiles(VarId variable, std::uint32_t place);
  std::vector<std::uint64_t> shape_of(VarId variable) const;

  // --- dataset_union_times.cpp ---
  // How times of a dataset become times in the units of the first dataset.
  struct Rebase {
    bool is = false;
    TimeShift shift{};
    std::string found{}, expected{};  // the units
    // If the units differ and `is` is false: why times are not rebased, or the option that rebases
    // them.
    std::string hint{};
    // Set if the variable has no units and is the bounds of a coordinate: this coordinate.
    std::optional<VarId> coordinate{};
  };
  Rebase rebase_of(const Metadata& metadata, VarId local, std::optional<VarId> known) const;
  void note_bounds(const Metadata& metadata);
  std::uint32_t number_of(const Rebase& rebase);
  void report_rebased(VarId variable, const Rebase& rebase);
  Rebasing rebasing_of(VarId variable, const DatasetValues& place) const;
  Status check_times(VarId variable, const DatasetValues& place);

  const UnionRules rules_;
  const TakeNote note_;
  Dataset all_;
  bool is_record_used_ = false;  // whether one of the datasets so far uses the record dimension
  std::vector<Added> members_;
  std::vector<Joined> joined_;      // for each dimension
  std::vector<bool> grows_;         // for each dimension; see grows()
  std::vector<DimId> made_up_;      // united dimensions that inputs have without a name
  std::vector<std::string> empty_;  // see empty()
  bool are_classic_model_;          // see is_classic_model()
  std::vector<Placed> placed_;      // for each variable
  std::map<VarId, ClassicView::OwnValues> own_;  // see own_of()
  std::set<std::pair<VarId, std::string>> own_attributes_;
  std::map<std::pair<VarId, std::string>, AttributeForm> forms_;  // see form_of()
  std::vector<TypeTable> named_types_;
  // By number in named_types_: the first dataset that has another definition of the datatype.
  std::map<std::size_t, std::uint32_t> other_types_;
  std::map<VarId, std::vector<Source>> columns_;  // variables from add_column(), with the values in
                                                  // each dataset
  std::map<std::vector<DimId>, Tiling> tilings_;  // tiles, by the dimensions of their variables
  // How times are rebased, and the units in which the dataset counts them. The first element stands
  // for times that are not changed.
  std::vector<std::pair<TimeShift, std::string>> shifts_{1};
  std::map<std::string, std::string, std::less<>> bounds_;  // the coordinate of each variable that
                                                            // an attribute names as bounds
  std::vector<std::uint32_t> dimension_members_;  // for each dimension, the first dataset that has
                                                  // it
  // The first dataset that has an attribute. Attributes that the first dataset of the variable
  // already has are omitted. The key is "variable@attribute".
  std::unordered_map<std::string, std::uint32_t> attribute_members_;
};

}  // namespace nmb
