// nminspect stats: shows the statistics that a file stores, or computes them from the values.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "nminspect/inspect_command.h"
#include "nminspect/pattern_option.h"

namespace nmb::tools {

// The subject of the rows of the output.
enum class StatsRows : std::uint8_t { kVariables, kBuckets, kParts, kFunctions };

class StatsCommand final : public InspectCommand {
 public:
  explicit StatsCommand(Tool& tool);

 private:
  Status run(const InspectedFile& file) override;
  Status find_variables(const InspectedFile& file, const NamePattern& pattern);
  Status for_each_selected(const InspectedFile& file, const NamePattern& pattern,
                           const std::function<Result<bool>(const BlockEntry&)>& visit) const;
  StatsRows wanted_rows() const;
  Status compute(const InspectedFile& file, const NamePattern& pattern);
  Status show_stored(const InspectedFile& file, const NamePattern& pattern);
  Status report_missing(const std::string& file, std::uint64_t blocks, std::uint64_t without,
                        std::uint64_t histograms);

  PatternOption pattern_;
  std::optional<ObjectPattern> variables_;  // selects variables, if GLOB matches no block
  bool histogram_ = false, parts_ = false, functions_ = false, values_ = false;
};

}  // namespace nmb::tools
