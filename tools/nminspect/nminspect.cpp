// nminspect: shows the contents of a file, and reads as little of the file as possible.
#include <algorithm>
#include <memory>
#include <vector>

#include "nminspect/count_command.h"
#include "nminspect/diff_command.h"
#include "nminspect/digest_command.h"
#include "nminspect/dump_command.h"
#include "nminspect/files_command.h"
#include "nminspect/find_command.h"
#include "nminspect/header_command.h"
#include "nminspect/layout/layout_command.h"
#include "nminspect/ls_command.h"
#include "nminspect/provenance_command.h"
#include "nminspect/stats_command.h"
#include "nminspect/summary_command.h"
#include "nminspect/view_command.h"

int main(int argc, char** argv) {
  using namespace nmb::tools;
  Tool tool(
      "nminspect",
      {"Shows the contents of an NMB, classic netCDF, netCDF-4 or HDF5 file.",
       "`nminspect FILE` means `nminspect summary FILE`; write ./NAME for a file that is named "
       "like a command. Numbers from the index are shown as recorded; nmverify checks them.\n\n"
       "A netCDF-4 or HDF5 file is shown like the NMB file that nmconvert would make: a group is a "
       "block, and a data set is an object. Because HDF5 files have no index, a separate process, "
       "nmb-hdf5, reads all their metadata and all values of variable length. The option "
       "--io-stats does not count the reads of this process. In netCDF-4, HDF5 and classic files, "
       "a block with an object counts as one sample.\n\n"
       "Columns are aligned on a terminal and separated by tabs elsewhere. On a terminal, output "
       "that does not fit on the screen goes to the pager that NMB_PAGER or PAGER names, or to "
       "less. Control characters in "
       "names are shown as \\xHH.\nExit codes: 0 done, 1 the file is damaged (or, with --strict, a "
       "warning), 2 could not run.",
       ""});
  std::vector<std::unique_ptr<InspectCommand>> commands;
  commands.push_back(std::make_unique<SummaryCommand>(tool));
  commands.push_back(std::make_unique<CountCommand>(tool));
  commands.push_back(std::make_unique<LsCommand>(tool));
  commands.push_back(std::make_unique<HeaderCommand>(tool));
  commands.push_back(std::make_unique<DumpCommand>(tool));
  commands.push_back(std::make_unique<FilesCommand>(tool));
  commands.push_back(std::make_unique<ProvenanceCommand>(tool));
  commands.push_back(std::make_unique<StatsCommand>(tool));
  commands.push_back(std::make_unique<FindCommand>(tool));
  commands.push_back(std::make_unique<ViewCommand>(tool));
  commands.push_back(std::make_unique<LayoutCommand>(tool));
  commands.push_back(std::make_unique<DigestCommand>(tool));
  commands.push_back(std::make_unique<DiffCommand>(tool));
  tool.set_default_command("summary");
  return tool.main(argc, argv, [&] {
    const auto chosen =
        std::ranges::find_if(commands, [](const auto& command) { return command->chosen(); });
    return (*chosen)->execute();
  });
}
