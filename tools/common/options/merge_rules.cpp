#include "common/options/merge_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "common/options/file_list.h"
#include "model/text.h"
#include "wire/natural_order.h"

namespace nmb::tools {

namespace {

// Largest number of conflicts of one kind that are shown. Further ones are only counted; --json
// shows all.
constexpr std::size_t kShownConflicts = 10;

constexpr std::string_view kAllModes = "pack, union, join or tiles";

// Returns the texts of conflicts; one that occurs in several inputs has one text. At most
// `shown_of_kind` conflicts of each kind are shown.
std::vector<std::string> grouped(const PackReport& report,
                                 const std::vector<PackConflict>& conflicts, std::size_t inputs,
                                 std::size_t shown_of_kind) {
  const bool is_archive = !report.archive_inputs.empty();
  struct Group {
    const PackConflict* first;
    std::size_t count;
  };
  std::vector<Group> groups;
  std::map<std::tuple<ConflictKind, std::string_view, std::string_view>, std::size_t> places;
  for (const PackConflict& conflict : conflicts) {
    const auto [place, is_new] =
        places.emplace(std::tuple(conflict.kind, std::string_view(conflict.object),
                                  std::string_view(conflict.expected)),
                       groups.size());
    if (is_new) groups.push_back({&conflict, 0});
    ++groups[place->second].count;
  }
  std::vector<std::string> texts;
  std::map<std::string_view, std::size_t> shown;
  for (const auto& [first, count] : groups) {
    if (++shown[conflict_name(first->kind)] > shown_of_kind) continue;
    std::string text = first->text();
    if (count > 1)
      text += fmt::format(", and the same in {} more of {} {}", count - 1,
                          is_archive ? report.archive_inputs.size() : inputs,
                          is_archive ? "blocks" : "files");
    texts.push_back(std::move(text));
  }
  for (const auto& [kind, count] : shown)
    if (count > shown_of_kind)
      texts.push_back(fmt::format("{}: {} more conflicts of this kind (--json lists all)", kind,
                                  count - shown_of_kind));
  return texts;
}

Json conflicts_json(const std::vector<PackConflict>& conflicts) {
  Json all = Json::array();
  for (const PackConflict& conflict : conflicts) {
    Json one{{"kind", conflict_name(conflict.kind)},
             {"object", json_text(conflict.object)},
             {"files", Json::array({json_text(conflict.first_file)})},
             {"found", json_message(conflict.found)},
             {"expected", json_message(conflict.expected)}};
    if (!conflict.second_file.empty()) one["files"].push_back(json_text(conflict.second_file));
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace

void MergeRules::in_modes(const CLI::App& app, std::string_view modes) {
  offered_.push_back({app.get_options().back(), modes});
}

void MergeRules::offer_mode(CLI::App& app) {
  offer_word(
      app, "--mode", &mode_, "MODE", {"pack", "union", "join", "tiles"},
      "how to merge inputs: pack (default), union, join or tiles. With --mode pack, each input "
      "becomes its own block. With --mode union, blocks of the same name become one block. With "
      "--mode join, blocks of the same name become one block, and their values are concatenated "
      "along a dimension. With --mode tiles, each input contains a part of a grid, and the "
      "domain_decomposition attributes of the "
      "input describe this part");
  in_modes(app, kAllModes);
  app.add_option(
         "--block-name", options_->block_name,
         "names of blocks: a text with {stem}, {path}, {index} and {group} (default: {stem}; for "
         "inputs with groups, {stem}/{group}; for union, join and tiles, and for blocks "
         "selected from one NMB file, {group})")
      ->type_name("TEMPLATE");
}

void MergeRules::offer_agreement(CLI::App& app) {
  app.add_option("--along", join_.along,
                 "join: dimension along which values are concatenated (default: the record "
                 "dimension). If groups define dimensions of the same name, /GROUP/NAME means the "
                 "dimension of one group. axis:0 means the first dimension of each variable")
      ->type_name("DIM");
  in_modes(app, "join");
  app.add_option("--key", join_.key,
                 "join: give a number to each event in the list VARIABLE of BLOCK (the default "
                 "BLOCK is spill). Each block with a variable of this name gets a variable "
                 "VARIABLE.seq, which contains the event number of each row")
      ->type_name("[BLOCK/]VARIABLE");
  in_modes(app, "join");
  offer_choice<bool>(
      app, "--shared", &agreement_.first_values, "WHAT", {{"first", true}},
      "union, tiles: what to do if several inputs have values of the same variable. With --shared "
      "first, the values of the first input are used, and are not compared with the values of "
      "other inputs (default: the values must be equal)");
  in_modes(app, "union or tiles");
  offer_word(app, "--atts", &atts_, "WHAT", {"strict", "first", "list"},
             "what to do if an attribute differs between inputs: first (default), list or strict. "
             "With --atts first, the first value is kept. With --atts list, the first value is "
             "kept and each difference is listed. With --atts strict, each difference is a "
             "conflict. Attributes that "
             "determine the meaning of values (units, calendar, ...) must always agree");
  in_modes(app, "union, join or tiles");
  offer_choice<Mismatch>(
      app, "--on-mismatch", &join_.on_mismatch, "WHAT",
      {{"error", Mismatch::kConflict}, {"skip", Mismatch::kSkip}, {"widen", Mismatch::kWiden}},
      "what to do if an object does not match the first object of the same name: error "
      "(default), skip or widen (only with union or join). With --on-mismatch skip, the "
      "object is left out. With --on-mismatch widen, numbers are converted to the narrowest "
      "type that holds all of them; if no type holds all of them, this is an error");
  in_modes(app, "union, join or tiles");
  offer_choice<bool>(app, "--missing", &join_.fill_missing, "WHAT",
                     {{"error", false}, {"fill", true}},
                     "join, tiles: what to do if an input lacks a variable or block, or if no "
                     "input has a tile: error (default) or fill (use fill values)");
  in_modes(app, "join or tiles");
  offer_choice<bool>(app, "--time-units", &join_.rebase_times, "WHAT",
                     {{"error", false}, {"rebase", true}},
                     "join: what to do if times count from another day than in the first input: "
                     "error (default) or rebase. With --time-units rebase, times, their bounds and "
                     "other joined variables with units such as \"days since 2000-01-01\" get the "
                     "units of the first input; a time that is not exact in these units is an "
                     "error");
  in_modes(app, "join");
  app.add_flag("--keep-tracking-id", keep_tracking_id_,
               "join: keep the first value of the attribute tracking_id (default: drop it, because "
               "it identifies a single file)");
  in_modes(app, "join");
  app.add_flag(
      "--monotonic", join_.monotonic,
      "join: a coordinate that is not strictly monotonic is a conflict (default: a warning)");
  in_modes(app, "join");
}

const CLI::Option* MergeRules::first_given() const {
  for (const auto& [option, modes] : offered_)
    if (option->count() > 0) return option;
  return nullptr;
}

Status MergeRules::check_mode() const {
  for (const auto& [option, modes] : offered_)
    if (option->count() > 0 && modes.find(mode_) == modes.npos)
      return Status(Code::kUsage, fmt::format("{} needs --mode {}", option->get_name(), modes));
  if (join_.on_mismatch == Mismatch::kWiden && mode_ == "tiles")
    return Status(Code::kUsage, "--on-mismatch widen needs --mode union or join");
  return {};
}

Status MergeRules::take() {
  NMB_TRY(check_mode());
  agreement_.strict_attributes = atts_ == "strict";
  if (mode_ == "union") {
    options_->mode = Union{.agreement = agreement_, .on_mismatch = join_.on_mismatch};
  } else if (mode_ == "tiles") {
    options_->mode = Tiles{.agreement = agreement_,
                           .skip_mismatches = join_.on_mismatch == Mismatch::kSkip,
                           .fill_missing = join_.fill_missing};
  } else if (mode_ == "join") {
    join_.drop_tracking_id = !keep_tracking_id_;
    join_.agreement = agreement_;
    options_->mode = join_;
  }
  options_->sorts_blocks_by_name = sort_ == "name";
  constexpr std::string_view kValues = "values:";
  if (sort_.starts_with(kValues) && sort_.size() > kValues.size())
    options_->sort_by = sort_.substr(kValues.size());
  else if (sort_ != "given" && sort_ != "name")
    return Status(Code::kUsage, "found --sort " + sort_ + ", expected given, name or values:VAR");
  if (!split_names_.empty()) {
    options_->block_by.by = BlockRule::By::kPrefix;
    options_->block_by.name = split_names_;
  }
  NMB_ASSIGN(options_->samples, SampleRule::try_parse(samples_));
  return {};
}

void MergeRules::offer_blocks(CLI::App& app) {
  app.add_option("--split-names", split_names_,
                 "divide variables into blocks by the first capture of REGEX in their names; the "
                 "part of a variable's name after the match becomes its name in the block")
      ->type_name("REGEX");
  in_modes(app, kAllModes);
  offer_choice<bool>(app, "--unmatched", &options_->block_by.keep_unmatched, "WHAT",
                     {{"keep", true}},
                     "keep: a variable whose name --split-names does not match stays in the "
                     "undivided block (default: such a variable is a conflict)");
  in_modes(app, kAllModes);
  offer_choice<bool>(app, "--unique", &options_->unique_groups, "WHAT", {{"{group}", true}},
                     "{group}: the same group name in two inputs is a conflict");
  in_modes(app, kAllModes);
  app.add_option("--samples", samples_,
                 "number of samples of a block: vars:N, dim:NAME, group or none (default: 1 for a "
                 "block with variables; a block of an NMB input keeps its number of samples)")
      ->type_name("RULE");
  in_modes(app, kAllModes);
  app.add_option("--sort", sort_,
                 "order of inputs: given (default), name or values:VAR. With --sort given, inputs "
                 "have the order of the command line. With --sort name, inputs are sorted by name, "
                 "and numbers in names are in numeric order. With --sort values:VAR, inputs are "
                 "sorted by the first value of variable VAR. Blocks of a single NMB file that are "
                 "joined are by default in the order of time, that is of the first value of the "
                 "coordinate of the joined dimension")
      ->type_name("ORDER");
  in_modes(app, kAllModes);
}

Status MergeRules::gather_inputs(const CommonOptions& common) {
  std::vector<std::string>& inputs = options_->inputs;
  if (!common.files_from.empty()) {
    NMB_ASSIGN(const std::vector<std::string> listed,
               read_file_list(common.files_from, common.nul_separated));
    inputs.insert(inputs.end(), listed.begin(), listed.end());
  }
  if (sort_ == "name") std::stable_sort(inputs.begin(), inputs.end(), natural_less);
  return {};
}

void MergeRules::report_differing(const PackReport& report, std::size_t inputs,
                                  Diagnostics& diagnostics) const {
  if (atts_ != "list") return;
  for (const std::string& text : grouped(report, report.differing, inputs, report.differing.size()))
    diagnostics.warning("", text);
}

void report_unreadable(Tool& tool, const PackReport& report) {
  for (const Status& status : report.unreadable) tool.diagnostics().error(status);
  if (std::ranges::any_of(report.unreadable,
                          [](const Status& s) { return s.code() == Code::kLimit; }))
    tool.note_memory_limit();
}

void note_archive(Tool& tool, const PackReport& report, const std::vector<std::string>& inputs) {
  const std::size_t blocks = report.archive_inputs.size();
  if (blocks == 0 && !report.archive_note.empty())
    tool.diagnostics().note(inputs.front() + ": " + with_option_names(report.archive_note));
  if (blocks == 0) return;
  tool.diagnostics().note(
      fmt::format("{}: {} as an input, {}", inputs.front(),
                  blocks == 1 ? "1 block counts" : fmt::format("each of {} blocks counts", blocks),
                  report.archive_note));
}

void report_conflicts(Tool& tool, const PackReport& report, std::size_t inputs) {
  for (const std::string& text : grouped(report, report.conflicts, inputs, kShownConflicts))
    tool.diagnostics().error(Status(Code::kConflict, text));
  if (std::ranges::any_of(report.conflicts, [](const PackConflict& conflict) {
        return conflict.kind == ConflictKind::kMissingVariable;
      }))
    tool.diagnostics().note(
        "--mode join and --mode tiles can use fill values where a variable is missing: "
        "--missing fill");
}

Json errors_json(const PackReport& report, const Status& status) {
  if (!status.ok() && report.unreadable.empty() && report.conflicts.empty())
    return Json::array({json_message(status.text())});
  return json_messages(report.unreadable, &Status::text);
}

Json agreement_json(const PackReport& report) {
  return {{"conflicts", conflicts_json(report.conflicts)},
          {"differing", conflicts_json(report.differing)},
          {"left_out", conflicts_json(report.left_out)},
          {"filled", conflicts_json(report.filled)},
          {"shared", conflicts_json(report.shared)},
          {"widened", conflicts_json(report.widened)},
          {"rebased", conflicts_json(report.rebased)}};
}

}  // namespace nmb::tools
