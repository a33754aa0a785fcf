// The option --stats of nmcat and nmconvert.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "common/command_line/tool.h"
#include "common/printing/units.h"
#include "nmb/statistics.h"

namespace nmb::tools {

inline void offer_statistics(CLI::App& app, std::string* level) {
  offer_word(
      app, "--stats", level, "LEVEL", {"none", "basic", "histogram", "parts"},
      "statistics of each variable in an NMB output: none (default); basic (counts, missing "
      "values, NaNs, minimum, maximum); histogram (basic and a histogram); parts (histogram, and "
      "minimum and maximum of each part of the values). A block of an NMB "
      "input keeps its statistics if it is copied whole. See nminspect stats");
}

inline StatisticsLevel statistics_level(std::string_view text) {
  return text == "basic"       ? StatisticsLevel::kBasic
         : text == "histogram" ? StatisticsLevel::kHistogram
         : text == "parts"     ? StatisticsLevel::kParts
                               : StatisticsLevel::kNone;
}

// Returns "FILE: 3 variables without statistics ...".
inline std::string without_statistics_text(const std::string& file, std::uint64_t count) {
  return file + ": " + counted(count, "variable") +
         " without statistics: the values are neither numbers nor text, are stored in other files, "
         "are in chunks that NMB does not decode, or missing_value has several values";
}

}  // namespace nmb::tools
