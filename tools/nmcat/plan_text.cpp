// Plans as text and JSON (see plan_text.h).
#include "nmcat/plan_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/table.h"
#include "common/units.h"
#include "nmb/text.h"

namespace nmb::tools {

namespace {

std::string blocks_text(const PackReport& report) {
  const auto [fewest, most] = std::ranges::minmax(report.plan->blocks_of_input);
  const std::string range =
      fewest == most ? std::to_string(most) : fmt::format("{} to {}", fewest, most);
  return fmt::format("{} ({} an input)", report.totals.blocks, range);
}

}  // namespace

Status write_plan(Output& out, const PackOptions& options, const PackReport& report) {
  const PackPlan& plan = *report.plan;
  const Totals& totals = report.totals;
  const std::uint64_t other =
      report.bytes_out - report.value_bytes - plan.metadata_bytes - plan.index_bytes;
  Table table(out, {{""}, {""}});
  auto row = [&](const char* key, std::string text) { return table.row({key, std::move(text)}); };
  auto number = [&](const char* key, std::uint64_t value) {
    return row(key, std::to_string(value));
  };
  NMB_TRY(row("dry run", options.output + " is not written"));
  NMB_TRY(row("inputs", fmt::format("{} ({})", report.inputs, human_bytes(report.bytes_in))));
  NMB_TRY(row("blocks", blocks_text(report)));
  NMB_TRY(number("objects", totals.variables));
  NMB_TRY(number("dimensions", totals.dimensions));
  NMB_TRY(number("attributes", totals.attributes));
  NMB_TRY(number("records", totals.records));
  NMB_TRY(number("samples", totals.samples));
  NMB_TRY(
      row("size", fmt::format("{} ({} bytes)", human_bytes(report.bytes_out), report.bytes_out)));
  NMB_TRY(row("values", human_bytes(report.value_bytes)));
  if (options.link)
    NMB_TRY(row("values linked", fmt::format("{} in {} files", human_bytes(report.linked_bytes),
                                             report.external_files.size())));
  NMB_TRY(row("metadata", human_bytes(plan.metadata_bytes)));
  NMB_TRY(row("index", human_bytes(plan.index_bytes)));
  NMB_TRY(row("fixed parts and gaps", human_bytes(other)));
  NMB_TRY(row("ranks", std::to_string(plan.ranks)));
  NMB_TRY(row("memory", human_bytes(plan.peak_memory) + " per process at most"));
  NMB_TRY(row(
      "on Lustre",
      plan.lustre_command + (plan.stripe_count > 1 ? " (-c: no more than there are OSTs)" : "")));
  const char* key = "first blocks";
  for (const std::string& name : plan.first_blocks) NMB_TRY(row(std::exchange(key, ""), name));
  return table.finish();
}

Json plan_json(const PackOptions& options, const PackReport& report) {
  const PackPlan& plan = *report.plan;
  Json json{{"metadata_bytes", plan.metadata_bytes},
            {"index_bytes", plan.index_bytes},
            {"ranks", plan.ranks},
            {"peak_memory", plan.peak_memory},
            {"stripe_count", plan.stripe_count},
            {"stripe_size", plan.stripe_size},
            {"lustre", json_text(plan.lustre_command)}};
  json["first_blocks"] = json_texts(plan.first_blocks);
  json["inputs"] = Json::array();
  for (std::size_t i = 0; i < plan.blocks_of_input.size(); ++i)
    json["inputs"].push_back(
        {{"file", json_text(options.inputs[i])}, {"blocks", plan.blocks_of_input[i]}});
  return json;
}

}  // namespace nmb::tools
