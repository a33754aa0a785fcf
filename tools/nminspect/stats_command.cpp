#include "nminspect/stats_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/options/block_name.h"
#include "common/printing/json_document.h"
#include "common/printing/table.h"
#include "dump/dump.h"
#include "hdf5_types/netcdf_marks.h"
#include "model/text.h"
#include "netcdf/netcdf_view.h"

namespace nmb::tools {

namespace {

std::string value_text(const VariableStatistics& v, const std::array<std::byte, 8>& value) {
  return v.has_range ? number_text(v.type, value.data()) : "-";
}

// Returns integers and other finite numbers with all their digits, and infinite numbers as text.
Json number_json(const VariableStatistics& v, const std::array<std::byte, 8>& value) {
  if (!v.has_range) return Json();
  const std::string text = number_text(v.type, value.data());
  Json json = Json::parse(text, nullptr, false);
  return json.is_discarded() ? Json(text) : json;
}

Json bound_json(double bound) {
  std::array<std::byte, 8> external{};
  const auto bits = std::bit_cast<std::uint64_t>(bound);
  for (std::size_t i = 0; i < 8; ++i) external[i] = static_cast<std::byte>(bits >> (56 - 8 * i));
  const std::string text = number_text(Type::kDouble, external.data());
  Json json = Json::parse(text, nullptr, false);
  return json.is_discarded() ? Json(text) : json;
}

Json finite_json(const std::optional<Moments>& moments, double Moments::*number) {
  return moments ? Json((*moments).*number) : Json();
}

// Returns a bar for a bucket in a table. The bucket with `most` values has the longest bar, which
// the table may shorten.
std::string bar(std::uint64_t count, std::uint64_t most) {
  constexpr double kLongestBar = 40;
  const double length = kLongestBar * static_cast<double>(count) / static_cast<double>(most);
  return std::string(static_cast<std::size_t>(std::ceil(length)), '#');
}

const char* level_name(StatisticsLevel level) {
  switch (level) {
    case StatisticsLevel::kNone:
      return "none";
    case StatisticsLevel::kBasic:
      return "basic";
    case StatisticsLevel::kHistogram:
      return "histogram";
    case StatisticsLevel::kParts:
      break;
  }
  return "parts";
}

// Returns the value of a part's range in the type of the variable, or null if all values of the
// part are missing or NaN.
Json part_json(const VariableStatistics& v, const PartRanges::Part& part,
               const std::array<std::byte, 8>& value) {
  return part.ordered > 0 ? number_json(v, value) : Json();
}

Json result_json(const TagValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return json_text(*text);
  Json json = Json::parse(tag_text(value), nullptr, false);
  return json.is_discarded() ? Json(tag_text(value)) : json;
}

Json variable_json(std::string_view name, const VariableStatistics& v, bool with_histogram,
                   bool with_moments) {
  Json json{{"variable", json_text(name)}, {"computed", v.computed}};
  for (const FunctionResult& result : v.functions)
    json["functions"][result.function] = result_json(result.value);
  if (!v.computed) return json;
  json["type"] = type_name(v.type);
  json["elements"] = v.elements;
  json["missing"] = v.missing;
  json["nan"] = v.nans;
  json["min"] = number_json(v, v.minimum);
  json["max"] = number_json(v, v.maximum);
  if (with_moments) {
    json["mean"] = finite_json(v.moments, &Moments::mean);
    json["standard_deviation"] = finite_json(v.moments, &Moments::deviation);
  }
  for (const PartRanges::Part& part : v.parts.parts)
    json["parts"].push_back(Json{{"min", part_json(v, part, part.minimum)},
                                 {"max", part_json(v, part, part.maximum)},
                                 {"ordered", part.ordered}});
  if (!with_histogram) return json;
  json["histogram"] = Json::array();
  for (const Histogram::Bucket& bucket : v.histogram.buckets) {
    const Histogram::Range range = v.histogram.range(bucket);
    json["histogram"].push_back(
        Json::array({bound_json(range.least), bound_json(range.greatest), bucket.count}));
  }
  return json;
}

// Writes the statistics of one block after the other.
class StatsListing {
 public:
  // moments: whether the statistics are computed from the values.
  // variables: if not nullptr, only variables that match are listed.
  StatsListing(Tool& tool, StatsRows rows, bool moments, const ObjectPattern* variables)
      : out_(tool.out()),
        selected_(variables),
        json_(tool.options().json),
        rows_(rows),
        moments_(moments),
        table_(tool.out(), columns(rows, moments)) {}

  Status begin(const InspectedFile& file) {
    if (!json_) return {};
    Json json = json_document("stats");
    json["file"] = json_text(file.file().name());
    std::string head = json.dump(-1, ' ', true);
    head.back() = ',';
    return out_.write(head + "\"blocks\":[");
  }
  // `statistics` is nullopt if the block has none.
  Status block(const std::string& name, const Dataset& block,
               const std::optional<BlockStatistics>& statistics) {
    std::vector<VarId> variables;
    for (VarId v = 0; v < block.metadata.variable_count(); ++v) {
      if (is_dimension_only(block.metadata, v)) continue;
      bool is_selected = true;
      if (selected_)
        NMB_ASSIGN(is_selected, selected_->matches(name, block.metadata.variable(v).name));
      if (is_selected) variables.push_back(v);
    }
    if (variables.empty()) return {};  // a block without variables has no statistics
    ++blocks_;
    if (!statistics) ++without_;
    const bool has_histogram = statistics && statistics->level >= StatisticsLevel::kHistogram;
    if (has_histogram) ++histograms_;
    if (json_) return block_json(name, block, variables, statistics, has_histogram);
    if (!statistics) return {};
    for (const VarId v : variables)
      NMB_TRY(rows_of(full_name(name, netcdf_name(block.metadata, v)), statistics->variables[v]));
    return {};
  }
  Status end() { return json_ ? out_.write("\n]}\n") : table_.finish(); }

  std::uint64_t blocks() const { return blocks_; }
  std::uint64_t without() const { return without_; }
  std::uint64_t histograms() const { return histograms_; }
  std::uint64_t rows() const { return row_count_; }

 private:
  static std::vector<Table::Column> columns(StatsRows rows, bool moments) {
    using Align = Table::Align;
    if (rows == StatsRows::kBuckets)
      return {{"object"},
              {"from", Align::kRight},
              {"to", Align::kRight},
              {"values", Align::kRight},
              {"share of the largest", Align::kBar}};
    if (rows == StatsRows::kParts)
      return {{"object"},
              {"part", Align::kRight},
              {"minimum", Align::kRight},
              {"maximum", Align::kRight},
              {"ordered values", Align::kRight}};
    if (rows == StatsRows::kFunctions) return {{"object"}, {"function"}, {"result"}};
    std::vector<Table::Column> columns{{"object"},
                                       {"type"},
                                       {"elements", Align::kRight},
                                       {"missing", Align::kRight},
                                       {"NaN", Align::kRight},
                                       {"minimum", Align::kRight},
                                       {"maximum", Align::kRight}};
    if (moments) {
      columns.push_back({"mean", Align::kRight});
      columns.push_back({"std dev", Align::kRight});
    }
    return columns;
  }
  Status rows_of(const std::string& name, const VariableStatistics& v) {
    switch (rows_) {
      case StatsRows::kVariables:
        return row(name, v);
      case StatsRows::kBuckets:
        return bucket_rows(name, v);
      case StatsRows::kParts:
        return part_rows(name, v);
      case StatsRows::kFunctions:
        break;
    }
    for (const FunctionResult& result : v.functions) {
      ++row_count_;
      NMB_TRY(table_.row({name, printable(result.function), printable(tag_text(result.value))}));
    }
    return {};
  }
  Status part_rows(const std::string& name, const VariableStatistics& v) {
    for (std::size_t i = 0; i < v.parts.parts.size(); ++i) {
      const PartRanges::Part& part = v.parts.parts[i];
      const bool has = part.ordered > 0;
      ++row_count_;
      NMB_TRY(table_.row({name, std::to_string(i), has ? value_text(v, part.minimum) : "-",
                          has ? value_text(v, part.maximum) : "-", std::to_string(part.ordered)}));
    }
    return {};
  }
  Status row(const std::string& name, const VariableStatistics& v) {
    std::vector<std::string> cells(moments_ ? 9 : 7, "-");
    cells[0] = name;
    if (!v.computed) return table_.row(std::move(cells));
    cells[1] = type_name(v.type);
    cells[2] = std::to_string(v.elements);
    cells[3] = std::to_string(v.missing);
    cells[4] = std::to_string(v.nans);
    cells[5] = value_text(v, v.minimum);
    cells[6] = value_text(v, v.maximum);
    if (moments_ && v.moments) {
      cells[7] = fmt::format("{:.6g}", v.moments->mean);
      cells[8] = fmt::format("{:.6g}", v.moments->deviation);
    }
    return table_.row(std::move(cells));
  }
  Status bucket_rows(const std::string& name, const VariableStatistics& v) {
    std::uint64_t most = 0;
    for (const Histogram::Bucket& bucket : v.histogram.buckets) most = std::max(most, bucket.count);
    for (const Histogram::Bucket& bucket : v.histogram.buckets) {
      const Histogram::Range range = v.histogram.range(bucket);
      NMB_TRY(table_.row({name, fmt::format("{:.6g}", range.least),
                          fmt::format("{:.6g}", range.greatest), std::to_string(bucket.count),
                          bar(bucket.count, most)}));
    }
    return {};
  }
  Status block_json(const std::string& name, const Dataset& block,
                    const std::vector<VarId>& variables,
                    const std::optional<BlockStatistics>& statistics, bool has_histogram) {
    Json json{{"block", json_text(name)},
              {"level", !statistics ? Json() : Json(level_name(statistics->level))}};
    if (statistics) {
      json["variables"] = Json::array();
      for (const VarId v : variables)
        json["variables"].push_back(variable_json(
            netcdf_name(block.metadata, v), statistics->variables[v], has_histogram, moments_));
    }
    return out_.write((blocks_ == 1 ? "\n" : ",\n") + json.dump(-1, ' ', true));
  }

  Output& out_;
  const ObjectPattern* const selected_;
  const bool json_;
  const StatsRows rows_;
  const bool moments_;
  Table table_;
  std::uint64_t blocks_ = 0, without_ = 0, histograms_ = 0, row_count_ = 0;
};

}  // namespace

StatsCommand::StatsCommand(Tool& tool)
    : InspectCommand(
          tool, "stats",
          {"Shows statistics of variables, for example minimum and maximum.",
           std::string(
               "Shows the statistics that are stored in an NMB file written with --stats. Values "
               "are not read. With --values, and for files of other kinds, the statistics are "
               "computed from the values, and the mean and the standard deviation are shown too; "
               "they have no rounding errors of sums, and do not depend on the number of threads. "
               "If GLOB matches no block, it selects variables, as BLOCK/VARIABLE. "
               "The columns for each variable of the selected blocks are: type, "
               "number of elements, number of missing values, number of NaNs, and minimum and "
               "maximum of all other values. A value is missing if it equals missing_value or "
               "_FillValue. If the variable has no _FillValue and its type has two bytes or more, "
               "a value is also missing if it equals the default fill value. scale_factor and "
               "add_offset are not applied. A variable that was not counted shows \"-\" in each "
               "column. The standard deviation is that of the values themselves: the sum of "
               "squares is "
               "divided by their number. A variable with an infinite value has neither mean nor "
               "standard deviation. With --histogram, the rows show the number of values in each "
               "range, and not the other statistics. With --parts, the rows show the range of each "
               "part of "
               "the values: of a number of chunks, or of a number of runs of 4096 values (--stats "
               "parts). With --functions, the rows show results that the program which wrote the "
               "file has stored. With --json, all statistics are shown. The stored numbers are "
               "checked by nmverify, except results of functions.\n\n") +
               PatternOption::kHelp,
           "  nminspect stats run.nmb\n"
           "  nminspect stats run.nmb 'r4952/**'\n"
           "  nminspect stats run.nmb 'r4952/**/energy'\n"
           "  nminspect stats --histogram tas.nmb\n"
           "  nminspect stats --values tas.nc\n"
           "  nminspect stats --json run.nmb r4952/sr0/evt3"}) {
  pattern_.offer(command_, "blocks, or variables as BLOCK/VARIABLE");
  auto* const histogram =
      command_.add_flag("--histogram", histogram_, "show the number of values in each range");
  auto* const parts =
      command_.add_flag("--parts", parts_, "show the range of each part of the values");
  auto* const functions =
      command_.add_flag("--functions", functions_, "show stored results of functions");
  parts->excludes(histogram);
  functions->excludes(histogram)->excludes(parts);
  command_.add_flag("--values", values_, "compute the statistics from the values");
  tool.offer_json(command_);
  tool.offer_threads(command_);
  offer_progress(Reads::kAll);
}

Status StatsCommand::run(const InspectedFile& file) {
  NMB_ASSIGN(const NamePattern pattern, pattern_.names());
  if (functions_ && (values_ || !file.reader()))
    return Status(Code::kUsage, "--functions shows stored results; only NMB files have them");
  NMB_TRY(find_variables(file, pattern));
  return values_ || !file.reader() ? compute(file, pattern) : show_stored(file, pattern);
}

// Sets `variables_` if GLOB matches no block, but variables. Errors: kNotFound if it matches
// neither.
Status StatsCommand::find_variables(const InspectedFile& file, const NamePattern& pattern) {
  if (!pattern_.text) return {};
  bool has_block = false, has_variable = false;
  NMB_TRY(for_each_block(file, pattern, [&](const BlockEntry&) -> Result<bool> {
    has_block = true;
    return false;
  }));
  if (has_block) return {};
  NMB_ASSIGN(variables_, pattern_.objects());
  NMB_TRY(variables_->for_each(
      file, [&](const BlockEntry&, const Dataset& block, VarId id) -> Result<bool> {
        has_variable = !is_dimension_only(block.metadata, id);
        return !has_variable;
      }));
  return has_variable ? Status()
                      : Status(Code::kNotFound, "found no block or variable that matches");
}

// Visits the blocks that match or, if variables are selected, the blocks of these variables.
Status StatsCommand::for_each_selected(
    const InspectedFile& file, const NamePattern& pattern,
    const std::function<Result<bool>(const BlockEntry&)>& visit) const {
  if (!variables_) return for_each_block(file, pattern, visit);
  std::optional<std::string> last;
  return variables_->for_each(file,
                              [&](const BlockEntry& entry, const Dataset&, VarId) -> Result<bool> {
                                if (last == entry.name) return true;
                                last = entry.name;
                                return visit(entry);
                              });
}

StatsRows StatsCommand::wanted_rows() const {
  return histogram_   ? StatsRows::kBuckets
         : parts_     ? StatsRows::kParts
         : functions_ ? StatsRows::kFunctions
                      : StatsRows::kVariables;
}

Status StatsCommand::compute(const InspectedFile& file, const NamePattern& pattern) {
  StatsListing listing(tool_, wanted_rows(), true, variables_ ? &*variables_ : nullptr);
  const StatisticsLevel level = parts_                               ? StatisticsLevel::kParts
                                : histogram_ || tool_.options().json ? StatisticsLevel::kHistogram
                                                                     : StatisticsLevel::kBasic;
  bool begun = false;
  NMB_TRY(for_each_selected(file, pattern, [&](const BlockEntry& entry) -> Result<bool> {
    NMB_ASSIGN(const std::shared_ptr<const Dataset> dataset, file.dataset(entry));
    NMB_ASSIGN(const BlockStatistics statistics,
               compute_statistics(*dataset, level, tool_.options().threads));
    if (!std::exchange(begun, true)) NMB_TRY(listing.begin(file));
    NMB_TRY(listing.block(entry.name, *dataset, statistics));
    return true;
  }));
  if (!begun) return Status(Code::kNotFound, "the file has no blocks");
  return listing.end();
}

Status StatsCommand::show_stored(const InspectedFile& file, const NamePattern& pattern) {
  const FileReader* const reader = file.reader();
  StatsListing listing(tool_, wanted_rows(), false, variables_ ? &*variables_ : nullptr);
  // Nothing is written before a block with statistics is found.
  std::uint64_t blocks = 0;
  bool begun = false;
  std::vector<BlockEntry> ahead;  // blocks before the first block with statistics
  const auto list = [&](const BlockEntry& entry) -> Status {
    NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> block, reader->block(entry));
    NMB_ASSIGN(const std::optional<BlockStatistics> statistics, reader->statistics(*block));
    if (!begun && !statistics) {
      ahead.push_back(entry);
      return {};
    }
    if (!begun) {
      begun = true;
      NMB_TRY(listing.begin(file));
      for (const BlockEntry& before : ahead) {
        NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> without, reader->block(before));
        NMB_TRY(listing.block(before.name, *without, std::nullopt));
      }
    }
    return listing.block(entry.name, *block, statistics);
  };
  NMB_TRY(for_each_selected(file, pattern, [&](const BlockEntry& entry) -> Result<bool> {
    ++blocks;
    if (reader->has_statistics()) NMB_TRY(list(entry));
    return true;
  }));
  if (blocks == 0) return Status(Code::kNotFound, "the file has no blocks");
  if (!begun)
    return Status(
        Code::kNotFound,
        fmt::format("{} no stored statistics; --values computes them",
                    blocks == 1 ? "the block has" : fmt::format("{} blocks have", blocks)));
  NMB_TRY(listing.end());
  if ((parts_ || functions_) && listing.rows() == 0 && !tool_.options().json)
    return Status(Code::kNotFound,
                  parts_ ? "no variable has stored ranges of parts; --values computes them"
                         : "no variable has results of functions");
  return report_missing(file.file().name(), listing.blocks(), listing.without(),
                        listing.histograms());
}

// Reports how many blocks have no statistics and how many have no histogram.
Status StatsCommand::report_missing(const std::string& file, std::uint64_t blocks,
                                    std::uint64_t without, std::uint64_t histograms) {
  if (without > 0)
    tool_.diagnostics().note(
        fmt::format("{}: {} of {} blocks have no statistics", file, without, blocks));
  if (!histogram_) return {};
  if (histograms == 0)
    return Status(Code::kNotFound, "the blocks have no stored histograms; --values computes them");
  if (const std::uint64_t plain = blocks - without - histograms; plain > 0)
    tool_.diagnostics().note(
        fmt::format("{}: {} of {} blocks have no histogram", file, plain, blocks));
  return {};
}

}  // namespace nmb::tools
