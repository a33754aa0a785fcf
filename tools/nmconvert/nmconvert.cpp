// nmconvert: classic netCDF files to NMB and back.
#include "common/tool.h"
#include "nmconvert/convert_command.h"

int main(int argc, char** argv) {
  using namespace nmb::tools;
  Tool tool(
      "nmconvert",
      {"Converts a classic netCDF file to NMB, and what is in an NMB file back to a classic one.",
       "The kind of INPUT is told by its content, that of OUTPUT by --to or its ending: .nmb is "
       "NMB, .nc the kind of the "
       "block.\nA block that was packed whole comes back byte for byte. The result is read back "
       "and checked before it gets "
       "its name.\nThe values are dealt to -j threads or, under mpiexec or srun, to its processes; "
       "the file is the same.\n\nExit codes: 0 done, 1 the input is damaged, 2 could not run.",
       "  nmconvert in.nc out.nmb                      # header and values as they are, "
       "checksummed\n"
       "  nmconvert out.nmb in.nc                      # the same bytes again\n"
       "  nmconvert all.nmb rank_0007.nc --extract rank_0007\n"
       "  nmconvert in.nc out.nc --to cdf5\n"
       "  mpiexec -n 16 nmconvert in.nc out.nmb        # by the processes of an MPI job"});
  ConvertCommand command(tool);
  return tool.main(argc, argv, [&] { return command.execute(); });
}
