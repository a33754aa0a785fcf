#include "common/printing/difference_text.h"

#include <fmt/format.h>

#include <cmath>

#include "common/options/block_name.h"
#include "common/printing/units.h"
#include "model/text.h"

namespace nmb::tools {

namespace {

std::string index_text(const std::vector<std::uint64_t>& index) {
  return fmt::format("[{}]", fmt::join(index, ","));
}

// Returns the shortest text from which the same number can be read back.
std::string number_text(double number) { return fmt::format("{}", number); }

Json value_json(const DifferentValue& value) {
  return {{"index", value.index},
          {"first", json_text(value.first)},
          {"second", json_text(value.second)}};
}

}  // namespace

std::string largest_difference_text(const ComparedVariable& variable) {
  return number_text(variable.largest_difference);
}

std::string difference_line(const DefinitionDifference& difference, const std::string& first,
                            const std::string& second) {
  const std::string block = "/" + printable(difference.block);
  const bool is_block = difference.object.empty() && difference.kind != DifferenceKind::kDiffers;
  const std::string object =
      is_block ? "block " + block
               : block + ": " + (difference.object.empty() ? "" : printable(difference.object));
  if (difference.kind != DifferenceKind::kDiffers)
    return fmt::format("only in {}: {}",
                       printable(difference.kind == DifferenceKind::kOnlyInFirst ? first : second),
                       object);
  return fmt::format("{}{}{}: {} -> {}", object, difference.object.empty() ? "" : ": ",
                     difference.property, printable(difference.first),
                     printable(difference.second));
}

std::vector<std::string> difference_lines(const ComparedVariable& variable) {
  if (variable.different == 0) return {};
  const std::string name = "/" + printable(full_name(variable.block, variable.variable));
  std::string line = fmt::format("{}: {} of {} {}", name, counted(variable.different, "value"),
                                 variable.values, variable.different == 1 ? "differs" : "differ");
  if (variable.missing > 0)
    line += fmt::format("; the fill value in one file only: {}", variable.missing);
  if (variable.nans > 0) line += fmt::format("; NaN in one file only: {}", variable.nans);
  if (variable.largest)
    line += fmt::format("; largest difference {} at {}", number_text(variable.largest_difference),
                        index_text(variable.largest->index));
  std::vector<std::string> lines{std::move(line)};
  for (const DifferentValue& value : variable.first)
    lines.push_back(
        fmt::format("{}{}: {} -> {}", name, index_text(value.index), value.first, value.second));
  return lines;
}

Json difference_json(const DefinitionDifference& difference) {
  Json json{{"block", json_text(difference.block)}, {"object", json_text(difference.object)}};
  if (difference.kind != DifferenceKind::kDiffers) {
    json["only_in"] = difference.kind == DifferenceKind::kOnlyInFirst ? "first" : "second";
  } else {
    json["property"] = difference.property;
    json["first"] = json_text(difference.first);
    json["second"] = json_text(difference.second);
  }
  return json;
}

Json difference_json(const ComparedVariable& variable) {
  Json json{{"block", json_text(variable.block)}, {"variable", json_text(variable.variable)},
            {"values", variable.values},          {"different", variable.different},
            {"fill_in_one", variable.missing},    {"nan_in_one", variable.nans},
            {"largest_difference", Json()},       {"first_differences", Json::array()}};
  if (variable.largest) {
    json["largest_difference"] = value_json(*variable.largest);
    // JSON has no infinity.
    json["largest_difference"]["difference"] = std::isfinite(variable.largest_difference)
                                                   ? Json(variable.largest_difference)
                                                   : Json(number_text(variable.largest_difference));
  }
  for (const DifferentValue& value : variable.first)
    json["first_differences"].push_back(value_json(value));
  return json;
}

}  // namespace nmb::tools
