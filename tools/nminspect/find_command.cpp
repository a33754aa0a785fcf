#include "nminspect/find_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/options/block_name.h"
#include "common/printing/json_document.h"
#include "common/printing/table.h"
#include "find/find.h"
#include "model/text.h"
#include "nminspect/ls_rows.h"

namespace nmb::tools {

FindCommand::FindCommand(Tool& tool)
    : InspectCommand(
          tool, "find",
          {"Lists blocks whose tags, attributes, statistics and values match.",
           std::string(
               "EXPR compares numbers, texts in ' ' or \" \", and names with == != < <= > >=. "
               "Combine comparisons with &&, ||, ! and ( ). A name is a tag of the block or, if "
               "the block has no such tag, an attribute of the block. VARIABLE@NAME is an "
               "attribute of a variable: text of any kind or one number. VARIABLE.min, .max, "
               ".elements, .missing and .nan are statistics of a variable. VARIABLE.NAME is the "
               "result of a function that the program which wrote the file has stored. Put ` ` "
               "around a name that has characters other than letters, digits and _-/:+.\n"
               "count(VARIABLE < NUMBER), with any of the comparisons, is the number of values "
               "that match; missing values and NaN never match. any(VARIABLE < NUMBER) means that "
               "at least one value matches, all(VARIABLE < NUMBER) that no value fails to match.\n"
               "Tags and stored statistics (--stats) are read by name. Only blocks for which they "
               "do not decide are read: to find an attribute, every block without a tag of this "
               "name is read. Values are read only if nothing else decides: if a variable has no "
               "stored statistics, all its values; else only parts with ranges that do not decide "
               "(--stats parts). --io-stats shows how much was read. "
               "A block without the named tag, attribute or variable never matches, and a number "
               "never matches text. A name that no block has is an error (exit code 2), as is a "
               "comparison that finds text beside a number in all blocks, so that an empty answer "
               "always means that no block matches.\n\n") +
               PatternOption::kHelp,
           "  nminspect find run.nmb 'energy.max > 10 && run == 4952'\n"
           "  nminspect find run.nmb 'tas@units == \"K\" && tas.min < 200' 'r4952/**'\n"
           "  nminspect find run.nmb 'tas.nan > 0 || tas.missing == tas.elements'\n"
           "  nminspect find tas.nc 'count(tas > 310) >= 100'\n"
           "  nminspect find run.nmb 'any(event_id == 4711)'"}) {
  command_.add_option("EXPR", expression_, "the expression")->required();
  pattern_.offer(command_, "blocks to search");
  command_.add_flag("--no-values", no_values_, "do not read values");
  tool.offer_json(command_);
  tool.offer_threads(command_);
  offer_progress(Reads::kPart);
}

Status FindCommand::run(const InspectedFile& file) {
  NMB_ASSIGN(const FindExpression expression, FindExpression::parse(expression_));
  NMB_ASSIGN(const NamePattern pattern, pattern_.names());
  BlockFinder finder(expression, file.reader(),
                     {.reads_values = !no_values_, .threads = tool_.options().threads});
  NMB_TRY(finder.read_tables());
  std::vector<BlockEntry> found;
  if (file.reader() && !pattern_.text)
    NMB_TRY(finder.for_each_match([&](const BlockEntry& entry) { return file.dataset(entry); },
                                  [&](const BlockEntry& entry) -> Status {
                                    found.push_back(entry);
                                    return {};
                                  }));
  else
    NMB_TRY(for_each_block(file, pattern, [&](const BlockEntry& entry) -> Result<bool> {
      NMB_ASSIGN(const bool holds, finder.holds(entry.order, [&] { return file.dataset(entry); }));
      if (holds) found.push_back(entry);
      return true;
    }));
  const std::uint64_t looked_at = finder.blocks();
  if (looked_at == 0) return Status(Code::kNotFound, "found no block that matches");
  if (const auto missing = std::ranges::find(finder.found(), false);
      missing != finder.found().end()) {
    const FindName& name =
        expression.names()[static_cast<std::size_t>(missing - finder.found().begin())];
    return Status(Code::kNotFound,
                  fmt::format("{} {} {}",
                              looked_at == 1 ? "the block has no"
                                             : fmt::format("none of {} blocks has", looked_at),
                              name.kind_text(), printable(name.text)));
  }
  if (const std::string problem = expression.type_problem(finder.met()); !problem.empty())
    return Status(Code::kUsage, problem);
  if (const std::string note = finder.unlike_note(); !note.empty())
    tool_.diagnostics().note(file.file().name() + ": " + note);
  for (const std::string& warning : finder.warnings(file.file().name()))
    tool_.diagnostics().warning(file.file().name(), warning);
  if (const std::uint64_t blocks = finder.blocks_with_values_read(); blocks > 0 && file.reader())
    tool_.diagnostics().note(fmt::format(
        "{}: values of {} of {} blocks were read, because stored statistics do not decide",
        file.file().name(), blocks, looked_at));
  if (tool_.options().json) {
    Json json = json_document("find");
    json["file"] = json_text(file.file().name());
    json["blocks_looked_at"] = looked_at;
    json["blocks"] = json_texts(found, &BlockEntry::name);
    return write_json(tool_.out(), json);
  }
  Table table(tool_.out(), {{""}});
  for (const BlockEntry& entry : found)
    NMB_TRY(table.row({std::string(name_for_user(entry.name))}));
  return table.finish();
}

}  // namespace nmb::tools
