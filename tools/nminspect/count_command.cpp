#include "nminspect/count_command.h"

#include "common/printing/json_document.h"
#include "model/text.h"

namespace nmb::tools {
namespace {

std::uint64_t number_of(const Totals& totals, std::string_view what) {
  if (what == "objects") return totals.variables;
  if (what == "blocks") return totals.blocks;
  if (what == "dims") return totals.dimensions;
  if (what == "atts") return totals.attributes;
  if (what == "records") return totals.records;
  return totals.samples;
}

}  // namespace

CountCommand::CountCommand(Tool& tool)
    : InspectCommand(
          tool, "count",
          {"Counts objects, blocks, samples, ...: prints one integer.",
           std::string(
               "Without GLOB, the number comes from the head of the file: one read of 16 KiB. "
               "With GLOB, objects are selected by their full names (BLOCK/VARIABLE), and "
               "everything else by the names of blocks. For example, --what=samples 'r4952/*' adds "
               "up the samples of the blocks below r4952. If the only wildcard of GLOB is a final "
               "\"**\", only the two ends of the matching range in the index are read. A pattern "
               "for variables loads every block that may contain a match.\n\n") +
               PatternOption::kHelp,
           "  nminspect count run.nmb                            # objects\n"
           "  nminspect count run.nmb --what=samples             # samples\n"
           "  nminspect count run.nmb --what=blocks 'r4952/**'   # blocks below r4952\n"
           "  nminspect count run.nmb '**/energy'                # objects called energy"}) {
  pattern_.offer(command_, "names to count");
  offer_word(command_, "--what", &what_, "WHAT",
             {"objects", "blocks", "dims", "atts", "records", "samples"},
             "objects (default), blocks, dims, atts, records or samples");
  tool.offer_json(command_);
  offer_progress(Reads::kPart);
}

Result<std::uint64_t> CountCommand::count(const InspectedFile& file) const {
  if (what_ == "objects") {
    NMB_ASSIGN(const ObjectPattern objects, pattern_.objects());
    return objects.count(file);
  }
  NMB_ASSIGN(const NamePattern blocks, pattern_.names());
  NMB_ASSIGN(const Totals totals, totals_of(file, blocks));
  return number_of(totals, what_);
}

Status CountCommand::run(const InspectedFile& file) {
  NMB_ASSIGN(const std::uint64_t number, count(file));
  if (!tool_.options().json) return tool_.out().write(std::to_string(number) + "\n");
  Json json = json_document("count");
  json["file"] = json_text(file.file().name());
  json["what"] = what_;
  if (pattern_.text) {
    json["pattern"] = json_text(*pattern_.text);
    json["regex"] = pattern_.regex;
  }
  json["count"] = number;
  return write_json(tool_.out(), json);
}

}  // namespace nmb::tools
