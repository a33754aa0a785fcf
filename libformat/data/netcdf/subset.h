// Makes a dataset of a part of a classic dataset: some variables, at some indexes of dimensions,
// which are given as indexes or by the values of coordinates (CF conventions).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/dataset.h"
#include "sources/selected_values.h"
#include "wire/failure.h"

namespace nmb {

// The part of a dataset that is wanted. All conditions must hold.
struct SubsetRules {
  // A name or pattern of variables. matches() receives the name of a variable, or its path with the
  // name of the block. It must be thread-safe.
  struct Variables {
    std::string text;
    std::function<Result<bool>(std::string_view)> matches;
  };
  // Variables; all if empty. The coordinates of their dimensions, and the variables that their
  // attributes name (bounds, grid mappings, ...), are part of the subset too.
  std::vector<Variables> variables{};

  // Indexes of a dimension: start, start + stride, ... Without `count`, up to the end.
  struct Slab {
    std::string dimension;
    std::uint64_t start = 0;
    std::optional<std::uint64_t> count{};
    std::uint64_t stride = 1;
  };
  std::vector<Slab> slabs{};

  // Dates as CalendarTime::span() reads them; both are included. An empty text is no limit.
  struct Times {
    std::string from, to;
  };
  std::optional<Times> times{};

  // The values of a one-dimensional coordinate from `from` to `to`, both included. For longitudes,
  // these are the values from `from` eastwards to `to`.
  struct Range {
    std::string coordinate;
    double from = 0, to = 0;
  };
  std::vector<Range> ranges{};

  // Degrees; all limits are included. Longitudes differ by any multiple of 360.
  struct Box {
    double west = 0, east = 0, south = 0, north = 0;
  };
  std::optional<Box> box{};

  // The rules are numbered: variables, slabs, times, ranges, box.
  std::size_t count() const {
    return variables.size() + slabs.size() + ranges.size() + (times ? 1 : 0) + (box ? 1 : 0);
  }
  // Returns the object that a rule needs, for example: dimension "time".
  NMB_EXPORT std::string object_of(std::size_t rule) const;
};

// The selected indexes of dimensions, by the paths of the dimensions.
using DimensionSelections = std::map<std::string, IndexRuns, std::less<>>;

// The paths of variables in a file, without the first '/'.
using NeededPaths = std::set<std::string, std::less<>>;

// By variable: the indexes of each dimension at which its values are those of the whole dataset.
using SelectedIndexes = std::map<std::string, std::vector<IndexRuns>>;

struct DatasetSubset {
  // The part, as a dataset of kind CDF-5. It reads values from the source only when they are used.
  Dataset dataset{};
  std::vector<DimId> dimensions{};  // for each dimension: its number in the whole dataset
  // Lacks longitudes whose values change by 360 degrees.
  SelectedIndexes selected{};
  // Whether a limit excludes all values. `dataset` is not set then.
  bool is_outside = false;
  bool has_wanted = false;           // whether the dataset has a variable of SubsetRules::variables
  std::vector<std::uint8_t> used{};  // for each rule: whether it has an effect on the dataset
};

// The group to which a dataset belongs.
struct SubsetGroup {
  std::string_view name;                     // path of the group, without the first '/'
  const std::vector<std::uint32_t>& levels;  // for each dimension, see path_above()
  // Selections in groups of the same file. Selections of this dataset are added.
  DimensionSelections& known;
  // A dimension that the subset has in any case, with its coordinates.
  std::optional<DimId> kept{};
  // The variables of the file that variables of the subset need; nullptr if the file has only this
  // dataset.
  const NeededPaths* needed = nullptr;
};

// Returns a part of a dataset. dataset: a classic dataset of kind CDF-5 or below. values: its
// extent, which may be nullptr. Errors (with a message only): kConflict if indexes are outside of a
// dimension, or if a rule cannot be applied to the dataset; kUsage for wrong dates; kUnsupported
// for coordinates that cannot be used. Other errors: those of Dataset::read().
NMB_EXPORT Result<DatasetSubset> subset_of(const Dataset& dataset, Source values,
                                           const SubsetRules& rules, const SubsetGroup& group);

}  // namespace nmb
