// nminspect header (see header_command.h).
#include "nminspect/header_command.h"

#include <utility>

#include "common/block_name.h"
#include "nmb/dump.h"
#include "nmb/text.h"

namespace nmb::tools {

HeaderCommand::HeaderCommand(Tool& tool)
    : InspectCommand(
          tool, "header",
          {"Shows dimensions, variables and attributes, as CDL or JSON.",
           std::string(
               "The CDL has the form of `ncdump -h`. If all types are types of classic "
               "netCDF, ncgen can make a file with the same definitions from the CDL. Without "
               "BLOCK, all blocks of the file are shown in the order of their names. If there are "
               "several blocks, CDL has a line \"// block NAME\" before each of them, and JSON is "
               "one document with the schema \"nmb/headers/1\", whose list \"blocks\" has the "
               "headers. The root block, whose name is empty, is \"/\".\n\n") +
               ViewOption::kHelp,
           "  nminspect header run.nmb r4952/sr0/evt3\n"
           "  nminspect header --json tas.nc\n"
           "  nminspect header run.nmb | csplit -z - '/^\\/\\/ block /' '{*}'   # one file per "
           "block"}) {
  command_.add_option("BLOCK", block_, "the block's name");
  CLI::Option* cdl = command_.add_flag("--cdl", cdl_, "CDL (default)");
  tool.offer_json(command_);
  view_.offer(command_);
  cdl->excludes("--json");
}

Status HeaderCommand::run(const InspectedFile& file) {
  const bool json = tool_.options().json;
  if (block_) {
    const std::string_view name = name_from_user(*block_);
    NMB_ASSIGN(const std::shared_ptr<const Dataset> dataset, file.dataset(name));
    NMB_TRY(write(file, name, *dataset));
  } else if (file.totals().blocks > 1) {
    NMB_TRY(json ? write_json_list(file) : write_cdl_list(file));
  } else {
    NMB_TRY(file.for_each_entry("", [&](const BlockEntry& entry) { return write(file, entry); }));
  }
  return json ? tool_.out().write("\n") : Status();
}

Status HeaderCommand::write_cdl_list(const InspectedFile& file) {
  std::string_view space;
  return file.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    NMB_TRY(tool_.out().write(std::string(std::exchange(space, "\n")) + "// block " +
                              printable(name_for_user(entry.name)) + "\n"));
    return write(file, entry);
  });
}

Status HeaderCommand::write_json_list(const InspectedFile& file) {
  NMB_TRY(tool_.out().write("{\"schema\":\"nmb/headers/1\",\"blocks\":["));
  std::string_view comma;
  NMB_TRY(file.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    NMB_TRY(tool_.out().write(std::exchange(comma, ",\n")));
    return write(file, entry);
  }));
  return tool_.out().write("]}");
}

Result<bool> HeaderCommand::write(const InspectedFile& file, const BlockEntry& entry) {
  NMB_ASSIGN(const std::shared_ptr<const Dataset> dataset, file.dataset(entry));
  NMB_TRY(write(file, entry.name, *dataset));
  return true;
}

Status HeaderCommand::write(const InspectedFile& file, std::string_view block,
                            const Dataset& dataset) {
  const bool json = tool_.options().json;
  // In CDL, the name cannot be a path, so only the part after the last '/' is written.
  std::string name = block.empty() ? file.stem() : std::string(block);
  if (!json) name.erase(0, name.rfind('/') + 1);
  const DatasetText text{name, dataset.metadata, dataset.kind(), dataset.records};
  NMB_ASSIGN(const std::optional<NetcdfView> found, view_.of(file, block, dataset));
  const NetcdfView* const view = found ? &*found : nullptr;
  if (!json) return write_cdl_header(text, tool_.out().sink(), view);
  return write_json_header(text, tool_.out().sink(), view);
}

}  // namespace nmb::tools
