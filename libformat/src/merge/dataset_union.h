// DatasetUnion: several classic datasets as one: what they have of one name is one object, and
// along a dimension they may follow one another. No files, no writer, no ranks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "nmb/byte_source.h"
#include "nmb/dataset.h"
#include "nmb/metadata.h"
#include "nmb/status.h"

namespace nmb {

struct UnionRules {
  enum class Along : std::uint8_t { kNothing, kRecords, kDimension, kFirstAxis };
  // The dimension along which values follow one another: the record dimension of the first dataset
  // that has one; `dimension`; or each that is the first of a variable. Of another length in each
  // dataset; it is found by its name, be it the record dimension or not.
  Along along = Along::kNothing;
  std::string dimension{};
  bool distinct_variables = false;  // no two datasets have a variable of one name
  bool equal_attributes = false;    // all of them; else those that say what values mean
  bool equal_values = true;         // of variables that do not follow one another
  bool complete = false;            // each dataset has each variable
  bool fills =
      false;  // not so: where one does not have it, its values along `along` are fill values
  bool skips = false;  // an object that does not go with the first of its name is left out
};

// What is said of an object of the dataset that was added last.
struct UnionNote {
  enum class What : std::uint8_t {
    kConflict,
    kLeftOut,  // by UnionRules::skips
    kDiffers,  // an attribute; the first one's value is kept
  };
  What what;
  std::string kind;  // as PackConflict has it
  std::string object;
  std::string found, expected;
  std::uint32_t first;  // the dataset that has what is expected
};

// Attributes that say what values mean, which is never the same for two values of one of them.
bool tells_meaning(std::string_view attribute);

class LaidValues;

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
  };
  static Member member_of(const Dataset& dataset, std::shared_ptr<const ByteSource> values);

  DatasetUnion(UnionRules rules, TakeNote note);

  // kLimit; kIo, kDamaged: values that are compared.
  Status add(const Member& member);
  bool has_any() const { return !members_.empty(); }
  // Whether there is a dimension along which values follow one another.
  bool is_joined() const { return std::ranges::any_of(joined_, &Joined::is); }
  // All of it, of kind CDF-5, after which the union is of no use. name: of the values, for
  // messages. kUnsupported, kLimit: sizes.
  Result<Dataset> take(const std::string& name);

  // After take(): those dimensions, and the dataset that has index `index` along one of them.
  std::vector<DimId> joined() const;
  std::uint32_t member_at(DimId dimension, std::uint64_t index) const;

 private:
  struct Added {
    std::string group;
    std::uint64_t record_size;
    std::shared_ptr<const ByteSource> values;
  };
  // A dimension, and if values follow one another along it how many there are in each dataset.
  struct Joined {
    bool is = false;
    std::vector<std::uint64_t> counts, firsts;  // firsts: after take()
  };
  // Values of a variable in a dataset.
  struct Place {
    std::uint32_t member;
    bool is_record;  // its records do not follow one another at once
    std::uint64_t begin;
  };
  struct Placed {
    std::optional<std::uint32_t> axis;  // along which its values follow one another
    std::uint32_t last;                 // the last dataset that has it
    std::vector<Place> places;          // one, but for those
  };
  using DimIds = std::vector<std::optional<DimId>>;

  Status add_dimensions(const Member& member, DimIds* ids);
  std::vector<bool> along_of(const Metadata& metadata) const;
  void compare_dimensions(const Dimension& found, std::uint64_t records, DimId known);
  Status add_variables(const Member& member, const DimIds& ids);
  Status add_variable(const Member& member, VarId local, const std::vector<DimId>& dimensions,
                      std::optional<std::uint32_t> axis);
  Status unite_variable(const Member& member, VarId local, VarId known,
                        const std::vector<DimId>& dimensions);
  bool is_alike(const Member& member, VarId local, VarId known,
                const std::vector<DimId>& dimensions);
  Status compare_values(const Member& member, VarId local, VarId known);
  // Whether the owners' attributes let them be one object.
  bool attributes_agree(const Metadata& metadata, VarId local, VarId known, bool may_skip);
  Status unite_attributes(const Metadata& metadata, VarId local, VarId known);
  bool is_strict(std::string_view attribute) const;
  void tell_missing(std::uint32_t before);

  // An object that two datasets have, or that has no legal name.
  Status clash(const char* kind, std::string_view object, const Status& status,
               std::uint32_t first);
  void conflict(std::string kind, std::string_view object, std::string found, std::string expected,
                std::uint32_t first);
  // The same, of an object that may be left out.
  void mismatch(bool may_skip, std::string kind, std::string_view object, std::string found,
                std::string expected, std::uint32_t first);
  void tell(UnionNote::What what, std::string kind, std::string_view object, std::string found,
            std::string expected, std::uint32_t first);
  std::string object_of(VarId known, std::string_view attribute) const;
  std::uint32_t first_of(VarId known, std::string_view attribute) const;
  std::uint32_t here() const { return static_cast<std::uint32_t>(members_.size() - 1); }
  Result<std::uint64_t> join_lengths();
  void lay(VarId variable, LaidValues* values) const;

  const UnionRules rules_;
  const TakeNote note_;
  Dataset all_;
  std::vector<Added> members_;
  std::vector<Joined> joined_;                    // by dimension
  std::vector<Placed> placed_;                    // by variable
  std::vector<std::uint32_t> dimension_members_;  // by dimension: the first
  // By "variable@attribute": the first that has it, where that is not the owner's.
  std::unordered_map<std::string, std::uint32_t> attribute_members_;
};

}  // namespace nmb
