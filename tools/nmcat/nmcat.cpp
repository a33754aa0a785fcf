// nmcat: merges per-process files into one.
#include "common/interrupt.h"
#include "common/tool.h"
#include "nmcat/pack_command.h"

int main(int argc, char** argv) {
  using namespace nmb::tools;
  Tool tool(
      "nmcat",
      {"Merges per-process files (CDF-1, CDF-2, CDF-5, netCDF-4, HDF5, NMB, mixed) into one NMB "
       "file.",
       "Each input becomes a block, named after the file; with --split-names variables\n"
       "whose names carry a group become a block a group. With --mode union blocks of one\n"
       "name are one block, with --mode join values follow one another along a dimension,\n"
       "with --mode tiles each input has the part of a grid that its attributes tell.\n"
       "Nothing is published before all inputs are known to go together: conflicts are\n"
       "all told, and an existing target survives every failure. Inputs are dealt to threads (-j) "
       "or, started by\n"
       "mpiexec or srun, to its processes; the file is the same.\n\n"
       "OUT and the report must not be an input, a list of inputs, a file that an input refers to, "
       "or one file, by any name: exit code 2, and nothing is written.\n\n"
       "Exit codes: 0 done, 1 conflicts or a damaged input, 2 could not run.",
       "  nmcat rank_*.nc -o all.nmb                   # a block a file: rank_0000, ...\n"
       "  nmcat --files-from list -o all.nmb --block-name '{path}'\n"
       "  nmcat rank_*.nc -o all.nmb --dry-run         # what would go wrong, or be made\n"
       "  nmcat part.*.nc -o events.nmb --split-names '^_grp_(r[0-9]+_sr[0-9]+_evt[0-9]+)_' "
       "--block-name '{group}'\n"
       "                                               # a block a sample\n"
       "  nmcat --mode join run_*.nc -o run.nmb        # time steps, along the record dimension\n"
       "  nmcat --mode tiles ocean.nc.???? -o ocean.nc # a model's output, a part a process\n"
       "  mpiexec -n 16 nmcat --files-from list -o all.nmb # by the processes of an MPI job",
       {"-o", "--to", "--mode", "--block-name", "--split-names", "--along", "--compress", "--link",
        "--hdf5-view", "--append", "-f", "--dry-run", "--report", "--files-from", "-j", "-q"}});
  PackCommand command(tool);
  return tool.main(argc, argv, [&] { return command.execute(); });
}
