// nminspect header (see header_command.h).
#include "nminspect/header_command.h"

#include "nmb/dump.h"
#include "nminspect/block_name.h"

namespace nmb::tools {

HeaderCommand::HeaderCommand(Tool& tool)
    : InspectCommand(
          tool, "header",
          {"Shows the dimensions, variables and attributes of a block, as CDL or JSON.",
           std::string(
               "CDL is the same as that of `ncdump -h`, and ncgen makes the same definitions from "
               "it (for types of classic netCDF). Without BLOCK, the only block of the file is "
               "shown, or its root block, whose name is empty or \"/\".\n\n") +
               ViewOption::kHelp,
           "  nminspect header run.nmb r4952/sr0/evt3\n"
           "  nminspect header --json tas.nc"}) {
  command_.add_option("BLOCK", block_, "the block's name")->type_name("");
  CLI::Option* cdl = command_.add_flag("--cdl", cdl_, "CDL (default)");
  tool.offer_json(command_);
  view_.offer(command_);
  cdl->excludes("--json");
}

Status HeaderCommand::run(const InspectedFile& file) {
  std::string block(name_from_user(block_.value_or("")));
  if (!block_ && file.totals().blocks == 1)
    NMB_TRY(file.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
      block = entry.name;
      return false;
    }));
  NMB_ASSIGN(const std::optional<BlockEntry> entry, file.find(block));
  if (!entry && !block_)
    return Status(Code::kUsage, "the file has " + std::to_string(file.totals().blocks) +
                                    " blocks; name one of them as BLOCK");
  NMB_ASSIGN(const std::shared_ptr<const Dataset> dataset, file.dataset(block));
  const bool json = tool_.options().json;
  // A CDL name cannot be a path.
  std::string name = block.empty() ? file.stem() : block;
  if (!json) name.erase(0, name.rfind('/') + 1);
  const DatasetText text{name, dataset->metadata, dataset->kind(), dataset->records};
  NMB_ASSIGN(const std::optional<NetcdfView> found, view_.of(file, block, *dataset));
  const NetcdfView* const view = found ? &*found : nullptr;
  if (!json) return write_cdl_header(text, tool_.out().sink(), view);
  NMB_TRY(write_json_header(text, tool_.out().sink(), view));
  return tool_.out().write("\n");
}

}  // namespace nmb::tools
