// nminspect count (see count_command.h).
#include "nminspect/count_command.h"

#include "common/json_document.h"
#include "nmb/text.h"
#include "nminspect/object_pattern.h"
#include "nminspect/pattern_help.h"

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
          {"How many objects, blocks, samples ... there are: one integer.",
           std::string(
               "Without GLOB the number stands in the file's head: one read of 16 KiB. With "
               "GLOB, objects are counted by\ntheir full names (BLOCK/VARIABLE), all else by "
               "the names of blocks: --what=samples 'r4952/*' adds the\nsamples of the blocks "
               "below r4952. A GLOB that ends with its only wildcard, \"**\", reads the edges "
               "of a\nrange of the index; patterns of variables load the blocks they may be "
               "in.\n\n") +
               kPatternHelp,
           "  nminspect count run.nmb                            # objects\n"
           "  nminspect count run.nmb --what=samples             # samples\n"
           "  nminspect count run.nmb --what=blocks 'r4952/**'   # blocks below r4952\n"
           "  nminspect count run.nmb '**/energy'                # objects called energy"}) {
  command_.add_option("GLOB", pattern_, "names to count")->type_name("");
  command_.add_option("--what", what_, "objects (default), blocks, dims, atts, records or samples")
      ->type_name("WHAT")
      ->check(CLI::IsMember({"objects", "blocks", "dims", "atts", "records", "samples"}));
  command_.add_flag("-e", regex_, "GLOB is a regular expression")->needs("GLOB");
  tool.offer_json(command_);
}

Result<std::uint64_t> CountCommand::count(const InspectedFile& file) const {
  if (!pattern_) return number_of(file.totals(), what_);
  if (what_ == "objects") {
    NMB_ASSIGN(const ObjectPattern objects,
               regex_ ? ObjectPattern::regex(*pattern_) : ObjectPattern::glob(*pattern_));
    return objects.count(file);
  }
  NMB_ASSIGN(const NamePattern blocks,
             regex_ ? NamePattern::regex(*pattern_) : NamePattern::glob(*pattern_));
  NMB_ASSIGN(const Totals totals, totals_of(file, blocks));
  return number_of(totals, what_);
}

Status CountCommand::run(const InspectedFile& file) {
  NMB_ASSIGN(const std::uint64_t number, count(file));
  if (!tool_.options().json) return tool_.out().write(std::to_string(number) + "\n");
  Json json = json_document("count");
  json["file"] = json_text(file.file().name());
  json["what"] = what_;
  if (pattern_) {
    json["pattern"] = json_text(*pattern_);
    json["regex"] = regex_;
  }
  json["count"] = number;
  return write_json(tool_.out(), json);
}

}  // namespace nmb::tools
