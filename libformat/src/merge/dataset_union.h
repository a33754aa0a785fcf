// DatasetUnion: several classic datasets as one: the groups of an input as one block. No files, no
// writer, no ranks.
#pragma once

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

// Dimensions of one name must have one length, the record dimension as many records; variables have
// names of their own; global attributes of one name must be equal. All else is a conflict.
class DatasetUnion {
 public:
  // kind: as PackConflict has it. Called for each conflict.
  using TakeConflict = std::function<void(std::string kind, std::string_view object,
                                          std::string found, std::string expected)>;

  explicit DatasetUnion(TakeConflict conflict) : conflict_(std::move(conflict)) {
    all_.metadata = Metadata();
    all_.metadata.check_names_at_once();
  }

  // group: its path, for messages. dataset: of classic types; read during the call alone. values:
  // of its extent; nullptr: it is empty. kLimit.
  Status add(const std::string& group, const Dataset& dataset,
             std::shared_ptr<const ByteSource> values);
  bool has_any() const { return !groups_.empty(); }
  // All of it, of kind CDF-5, after which the union is of no use. name: of the values, for
  // messages. kUnsupported, kLimit: sizes.
  Result<Dataset> take(const std::string& name);

 private:
  // Where the values of a variable lie.
  struct Place {
    std::uint32_t group;
    std::uint64_t begin, record_size;
  };

  Status add_dimensions(const Dataset& dataset, std::vector<std::optional<DimId>>* ids);
  Status add_attributes(const Dataset& dataset);
  Status add_variables(const Dataset& dataset, const std::vector<std::optional<DimId>>& ids);
  void compare_dimensions(const Dimension& found, std::uint64_t records, DimId known);
  // An object that two groups have, or that has no legal name.
  Status clash(const char* kind, std::string_view name, const Status& status, std::uint32_t first);
  std::string group_text(std::size_t group) const;
  std::uint32_t here() const { return static_cast<std::uint32_t>(groups_.size() - 1); }

  const TakeConflict conflict_;
  Dataset all_;
  std::vector<std::string> groups_;
  std::vector<std::shared_ptr<const ByteSource>> values_;  // by group
  std::vector<Place> places_;                              // by variable
  std::vector<std::uint32_t> dimension_groups_;            // by dimension: the first
  std::unordered_map<std::string, std::uint32_t> attribute_groups_;
};

}  // namespace nmb
