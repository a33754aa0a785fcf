#include "nminspect/header_command.h"

#include <utility>

#include "common/options/block_name.h"
#include "dump/dump.h"
#include "model/text.h"

namespace nmb::tools {

HeaderCommand::HeaderCommand(Tool& tool)
    : InspectCommand(
          tool, "header",
          {"Shows dimensions, variables and attributes, as CDL, JSON or NcML.",
           std::string(
               "The CDL is the text that `ncdump -h` prints. With --exact, numbers have enough "
               "digits to read back the same values, and NULs at the end of strings are kept; "
               "ncgen makes a file with the same definitions from this CDL. Without BLOCK, the "
               "whole file is shown, and each block is a group. JSON is one document with the "
               "schema \"nmb/header/1\"; if the file has several blocks, the schema is "
               "\"nmb/headers/1\", and the list \"blocks\" has the headers in the order of their "
               "names. With --ncml, the text is NcML 2.2; a type that NcML lacks becomes a string. "
               "The root block, whose name is empty, is \"/\".\n\n") +
               ViewOption::kHelp,
           "  nminspect header run.nmb r4952/sr0/evt3\n"
           "  nminspect header --json tas.nc\n"
           "  nminspect header --exact tas.nc | ncgen -k nc3 -o empty.nc\n"}) {
  command_.add_option("BLOCK", block_, "the block's name");
  CLI::Option* cdl = command_.add_flag("--cdl", cdl_, "CDL (default)");
  CLI::Option* ncml = command_.add_flag("--ncml", ncml_, "NcML 2.2, an XML form of CDL");
  CLI::Option* exact = command_.add_flag("--exact", exact_, "CDL with all digits and all bytes");
  tool.offer_json(command_);
  offer_progress(Reads::kPart);
  view_.offer(command_);
  cdl->excludes("--json")->excludes(ncml);
  ncml->excludes("--json")->excludes(exact);
  exact->excludes("--json");
}

Status HeaderCommand::run(const InspectedFile& file) {
  const bool json = tool_.options().json;
  if (block_) {
    const std::string_view name = name_from_user(*block_);
    NMB_ASSIGN(const std::shared_ptr<const Dataset> dataset, file.dataset(name));
    NMB_TRY(write(file, name, *dataset));
  } else if (!json) {
    NMB_TRY(write_file(file));
  } else if (file.totals().blocks > 1) {
    NMB_TRY(write_json_list(file));
  } else {
    NMB_TRY(file.for_each_entry("", [&](const BlockEntry& entry) { return write(file, entry); }));
  }
  return json ? tool_.out().write("\n") : Status();
}

Status HeaderCommand::write_file(const InspectedFile& file) {
  const std::string name = ncml_ ? file.file().name() : file.stem();
  const FileText text{name, file.blocks(), [&](std::string_view block, const Dataset& dataset) {
                        return view_.of(file, block, dataset);
                      }};
  return ncml_ ? write_ncml_file(text, tool_.out().sink())
               : write_cdl_file(text, tool_.out().sink(), form());
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
  if (ncml_) return write_ncml_header(text, tool_.out().sink(), view);
  if (!json) return write_cdl_header(text, tool_.out().sink(), view, form());
  return write_json_header(text, tool_.out().sink(), view);
}

}  // namespace nmb::tools
