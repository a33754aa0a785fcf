#include "nmcat/plan_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/printing/table.h"
#include "common/printing/units.h"
#include "model/text.h"

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
  const std::uint64_t other = report.bytes_out - plan.bytes_before - report.value_bytes -
                              plan.metadata_bytes - plan.index_bytes;
  std::vector<std::pair<const char*, std::string>> rows{
      {"dry run", options.output + " is not written"},
      {"inputs", fmt::format("{} ({})", report.inputs, human_bytes(report.bytes_in))},
      {"blocks", blocks_text(report)},
      {"objects", std::to_string(totals.variables)},
      {"dimensions", std::to_string(totals.dimensions)},
      {"attributes", std::to_string(totals.attributes)},
      {"records", std::to_string(totals.records)},
      {"samples", std::to_string(totals.samples)},
      {"size", plan.is_estimate
                   ? "about " + human_bytes(report.bytes_out)
                   : fmt::format("{} ({} bytes)", human_bytes(report.bytes_out), report.bytes_out)},
      {"values", human_bytes(report.value_bytes)}};
  if (const auto* const pack = std::get_if<Pack>(&options.mode); pack && pack->link)
    rows.emplace_back("values linked",
                      fmt::format("{} in {} files", human_bytes(report.linked_bytes),
                                  report.external_files.size()));
  if (plan.bytes_before > 0) rows.emplace_back("bytes before", human_bytes(plan.bytes_before));
  if (!plan.is_estimate)
    rows.insert(rows.end(), {{"metadata", human_bytes(plan.metadata_bytes)},
                             {"index", human_bytes(plan.index_bytes)},
                             {"fixed parts and gaps", human_bytes(other)}});
  rows.insert(rows.end(),
              {{"ranks", std::to_string(plan.ranks)},
               {"memory", human_bytes(plan.peak_memory) + " per process at most"},
               {"on Lustre",
                plan.lustre_command +
                    (plan.stripe_count > 1 ? " (-c must not exceed the number of OSTs)" : "")}});
  const char* key = "first blocks";
  for (const std::string& name : plan.first_blocks) rows.emplace_back(std::exchange(key, ""), name);
  Table table(out, {{""}, {""}});
  for (auto& [what, text] : rows) NMB_TRY(table.row({what, std::move(text)}));
  return table.finish();
}

Json plan_json(const PackOptions& options, const PackReport& report) {
  const PackPlan& plan = *report.plan;
  Json json{{"is_estimate", plan.is_estimate},
            {"bytes_before", plan.bytes_before},
            {"metadata_bytes", plan.metadata_bytes},
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
        {{"file",
          json_text(report.archive_inputs.empty() ? options.inputs[i] : report.archive_inputs[i])},
         {"blocks", plan.blocks_of_input[i]}});
  return json;
}

}  // namespace nmb::tools
