#include "nmverify/recover_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "common/command_line/interrupt.h"
#include "common/options/output_kind.h"
#include "common/printing/json_document.h"
#include "common/printing/progress.h"
#include "common/printing/units.h"
#include "handles/input_file.h"
#include "model/text.h"

namespace nmb::tools {

namespace {

// At most this many damaged ranges of a block are shown; reports in JSON have all.
constexpr std::size_t kShownRanges = 10;

const char* state_word(FoundBlock::State state) {
  constexpr const char* words[] = {"whole", "partial", "unverified", "left out"};
  return words[static_cast<std::size_t>(state)];
}

// Returns where values are damaged or, if `unverified` is true, not verified: elements of
// variables, or bytes if there is no such element.
std::string damage_text(const FoundBlock& block, bool unverified) {
  std::vector<std::string> all;
  for (const LostElements& lost : block.lost)
    if (lost.unverified == unverified)
      all.push_back(fmt::format("{} of variable \"{}\" from element {}",
                                counted(lost.count, "element"), printable(lost.variable),
                                lost.first));
  if (all.empty())
    for (const ByteRange& range : unverified ? block.unverified : block.damaged)
      all.push_back(
          fmt::format("{} of values from byte {}", counted(range.length(), "byte"), range.begin));
  const std::size_t count = all.size();
  all.resize(std::min(count, kShownRanges));
  std::string text = fmt::format("{}", fmt::join(all, ", "));
  if (count > kShownRanges)
    text += fmt::format(", and {} more (--json lists all)", count - kShownRanges);
  return text;
}

Json block_json(const FoundBlock& block) {
  Json json;
  json["name"] = json_text(block.name);
  json["position"] = block.position;
  json["generation"] = block.generation;
  json["state"] = state_word(block.state);
  json["doubt"] = block.doubt == BlockDoubt::kNone ? Json() : Json(doubt_name(block.doubt));
  if (block.damaged.empty() && block.unverified.empty()) return json;
  const auto list = [&](const char* key, const std::vector<ByteRange>& ranges) {
    json[key] = Json::array();
    for (const ByteRange& range : ranges)
      json[key].push_back({{"offset", range.begin}, {"bytes", range.length()}});
  };
  json["has_values"] = block.has_values;
  list("damaged", block.damaged);
  list("unverified", block.unverified);
  json["elements"] = Json::array();
  for (const LostElements& lost : block.lost)
    json["elements"].push_back({{"variable", json_text(lost.variable)},
                                {"first", lost.first},
                                {"count", lost.count},
                                {"unverified", lost.unverified}});
  json["reason"] = json_text(block.reason);
  return json;
}

}  // namespace

void RecoverCommand::offer(CLI::App& app) {
  app.add_option("--recover", options_.output,
                 "copy all undamaged blocks of a damaged NMB file to the new file OUT, and list "
                 "what is lost. The file may be cut, and may have lost its head and its index")
      ->type_name("OUT");
  app.add_flag("--plan", plan_, "say what --recover would do; write nothing");
  app.add_flag("--partial", options_.partial,
               "with --recover or --plan: take blocks with damaged values too; the damaged values "
               "become fill values, and the report lists them");
  app.add_flag("--unverified", options_.unverified,
               "with --recover or --plan: take values whose checksums are lost too, as they lie in "
               "the file. Nothing says whether they are right; the report lists them");
  app.add_flag("-f,--force", options_.writer.overwrite, "with --recover: replace an existing OUT");
  app.add_flag("--no-sync", no_sync_,
               "with --recover: do not wait until OUT is on the storage device");
}

Status RecoverCommand::check(const CLI::App& app, std::size_t files) const {
  const auto usage = [](const std::string& text) { return Status(Code::kUsage, text); };
  if (!is_wanted()) {
    for (const char* option : {"--partial", "--unverified"})
      if (app.count(option) > 0) return usage(std::string(option) + " needs --recover or --plan");
    for (const char* option : {"--force", "--no-sync"})
      if (app.count(option) > 0) return usage(std::string(option) + " needs --recover");
    return {};
  }
  NMB_TRY(refuse_dash(options_.output));
  const std::string asked = plan_ ? "--plan" : "--recover";
  if (plan_)
    for (const char* option : {"--recover", "--force", "--no-sync"})
      if (app.count(option) > 0)
        return usage("--plan and " + std::string(option) + " exclude each other");
  for (const char* option : {"--level", "--originals", "--rate", "--files-from"})
    if (app.count(option) > 0)
      return usage(asked + " and " + std::string(option) + " exclude each other");
  if (files != 1) return usage(fmt::format("{} needs one FILE; found {}", asked, files));
  return {};
}

Status RecoverCommand::run(const std::string& name, unsigned threads) {
  options_.external = tool_.options().external;
  options_.writer.threads = threads;
  options_.writer.sync = !no_sync_;
  options_.writer.cancel = catch_interrupts();
  NMB_ASSIGN(const std::shared_ptr<const InputFile> file, InputFile::open(name));
  Progress search(tool_, name + ": search"), copy(tool_, options_.output);
  options_.on_search = search.callback();
  options_.writer.progress = copy.callback();
  const Result<Recovery> recovery = recover(file, options_);
  search.finish();
  copy.finish();
  NMB_TRY(recovery.status());
  if (recovery->is_loss())
    tool_.diagnostics().raise(recovery->recovered() > 0 ? Exit::kLoss : Exit::kFindings);
  return tool_.options().json ? write_document(name, *recovery) : write_text(name, *recovery);
}

// Returns "" for a whole block.
std::string RecoverCommand::block_text(const FoundBlock& block) const {
  if (block.state == FoundBlock::State::kWhole) return "";
  const bool left_out = block.state == FoundBlock::State::kLeftOut;
  std::vector<std::string> parts;
  const auto add = [&](bool unverified, const char* taken, const char* not_taken) {
    const std::vector<ByteRange>& ranges = unverified ? block.unverified : block.damaged;
    if (ranges.empty()) return;
    parts.push_back(
        fmt::format("{}: {}", left_out ? not_taken : taken, damage_text(block, unverified)));
  };
  add(false, "these values become fill values", "values are damaged");
  add(true, "these values are not verified, because their checksums are lost",
      "the checksums of values are lost");
  std::string text = left_out                                     ? "left out; "
                     : block.state == FoundBlock::State::kPartial ? "recovered in part; "
                                                                  : "recovered; ";
  if (!block.has_values) text += "no value is left; ";
  return text + fmt::format("{} ({})", fmt::join(parts, "; "), printable(block.reason));
}

Status RecoverCommand::write_text(const std::string& file, const Recovery& recovery) {
  const bool is_loss = recovery.is_loss();
  if (tool_.options().quiet && !is_loss) return {};
  const auto line = [&](const std::string& text) {
    return tool_.out().write(printable(file) + ": " + text + "\n");
  };
  const auto in_quotes = [](const std::string& block) {
    return "block \"" + printable(block) + "\"";
  };
  for (const FoundBlock& block : recovery.blocks) {
    std::string text = block_text(block);
    if (block.doubt != BlockDoubt::kNone &&
        (recovery.generation > 0 || block.state != FoundBlock::State::kWhole))
      text += (text.empty() ? "recovered; this version is " : "; this version is ") +
              std::string(doubt_name(block.doubt));
    if (!text.empty()) NMB_TRY(line(in_quotes(block.name) + ": " + text));
  }
  for (const LostBlock& block : recovery.lost)
    NMB_TRY(line(in_quotes(block.name) + (block.perhaps_removed ? ": perhaps lost: " : ": lost: ") +
                 printable(block.reason)));
  if (recovery.lost_without_name > 0)
    NMB_TRY(line(counted(recovery.lost_without_name, "block") +
                 (recovery.lost_without_name == 1 ? " is lost; its name is not known"
                                                  : " are lost; their names are not known")));
  for (const std::string& loss : recovery.other_losses) NMB_TRY(line("lost: " + printable(loss)));
  if (recovery.may_lack_blocks)
    NMB_TRY(line(recovery.recorded_blocks
                     ? "it is not known whether more blocks are lost, because some of the blocks "
                       "above may have been removed"
                 : recovery.generation == 0
                     ? "all superblocks are lost, so it is not known which blocks were committed, "
                       "and whether more blocks are lost"
                     : "the newest superblock is lost, so it is not known whether more blocks are "
                       "lost"));

  std::string text = plan_ ? "would recover " : "recovered ";
  text += recovery.recorded_blocks ? fmt::format("{} of {}", recovery.recovered(),
                                                 counted(*recovery.recorded_blocks, "block"))
                                   : counted(recovery.recovered(), "block");
  if (const std::uint64_t partial = recovery.count(FoundBlock::State::kPartial))
    text += fmt::format(", {} of them in part", partial);
  const auto empty = std::ranges::count_if(recovery.blocks, [](const FoundBlock& block) {
    return block.state == FoundBlock::State::kPartial && !block.has_values;
  });
  if (empty > 0) text += fmt::format(" ({} without any value)", empty);
  if (const std::uint64_t unverified = recovery.count(FoundBlock::State::kUnverified))
    text += fmt::format(", {} of them with values that are not verified", unverified);
  if (const std::uint64_t doubtful = recovery.doubtful())
    text += fmt::format(", {} of them doubtful", doubtful);
  if (!is_loss) text += "; nothing is lost";
  if (recovery.bytes_out > 0)
    text += fmt::format("; wrote {} ({})", printable(options_.output),
                        bytes_text(recovery.bytes_out, tool_.options().bytes));
  else if (!plan_)
    text += "; wrote nothing";
  const auto advise = [&](const char* options, bool damaged, bool unverified) {
    const auto count = static_cast<std::uint64_t>(
        std::ranges::count_if(recovery.blocks, [&](const FoundBlock& block) {
          return block.state == FoundBlock::State::kLeftOut && block.may_be_taken &&
                 (options_.partial || damaged == !block.damaged.empty()) &&
                 (options_.unverified || unverified == !block.unverified.empty());
        }));
    if (count > 0) text += fmt::format("; {} takes {} more", options, counted(count, "block"));
  };
  if (!options_.partial) advise("--partial", true, false);
  if (!options_.unverified) advise("--unverified", false, true);
  if (!options_.partial && !options_.unverified) advise("--partial --unverified", true, true);
  return line(text);
}

// Writes the lists line by line, so that the document takes no memory.
Status RecoverCommand::write_document(const std::string& file, const Recovery& recovery) {
  Json json = json_document("recover");
  json["file"] = json_text(file);
  json["output"] = recovery.bytes_out > 0 ? Json(json_text(options_.output)) : Json();
  json["bytes_out"] = recovery.bytes_out;
  json["is_loss"] = recovery.is_loss();
  json["generation"] = recovery.generation != 0 ? Json(recovery.generation) : Json();
  json["recorded_blocks"] = recovery.recorded_blocks ? Json(*recovery.recorded_blocks) : Json();
  json["summary"] = {{"whole", recovery.count(FoundBlock::State::kWhole)},
                     {"partial", recovery.count(FoundBlock::State::kPartial)},
                     {"unverified", recovery.count(FoundBlock::State::kUnverified)},
                     {"left_out", recovery.count(FoundBlock::State::kLeftOut)},
                     {"lost", recovery.lost.size()},
                     {"lost_without_name", recovery.lost_without_name},
                     {"doubtful", recovery.doubtful()}};
  json["may_lack_blocks"] = recovery.may_lack_blocks;
  json["other_losses"] = json_messages(recovery.other_losses);
  std::string text = json.dump(1, ' ', true);
  text.resize(text.rfind('\n'));  // without the bracket at the end
  Output& out = tool_.out();
  NMB_TRY(out.write(text));
  const auto write_list = [&](const char* key, const auto& list, const auto& json_of) -> Status {
    NMB_TRY(out.write(std::string(",\n \"") + key + "\": ["));
    const char* before = "\n  ";
    for (const auto& one : list)
      NMB_TRY(out.write(std::exchange(before, ",\n  ") + json_of(one).dump(-1, ' ', true)));
    return out.write(list.empty() ? "]" : "\n ]");
  };
  NMB_TRY(write_list("blocks", recovery.blocks, block_json));
  NMB_TRY(write_list("lost", recovery.lost, [](const LostBlock& block) {
    return Json{{"name", json_text(block.name)},
                {"reason", json_text(block.reason)},
                {"perhaps_removed", block.perhaps_removed}};
  }));
  return out.write("\n}\n");
}

}  // namespace nmb::tools
