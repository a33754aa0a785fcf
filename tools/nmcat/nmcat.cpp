// nmcat: merges per-process files into one.
#include "common/tool.h"
#include "nmcat/pack_command.h"

int main(int argc, char** argv) {
  using namespace nmb::tools;
  Tool tool(
      "nmcat",
      {"Merges per-process files (CDF-1, CDF-2, CDF-5, netCDF-4, HDF5, NMB, mixed) into one NMB "
       "file.",
       "Each input becomes a block, named after the file. --split-names makes one block for each "
       "group that the names of variables contain. --mode union unites blocks of the same name, "
       "--mode join concatenates their values along a dimension, and --mode tiles assembles a grid "
       "from parts that the inputs' attributes describe.\n"
       "An NMB file that is made by packing also has HDF5 and netCDF-4 inputs byte for byte, and "
       "nmconvert --original gives them back. Values that lie in them are not stored again.\n"
       "Nothing is written before all inputs have been checked. All conflicts are listed, and an "
       "existing target survives every failure. The work is shared by threads (-j) or, under "
       "mpiexec or srun, by processes; the file is the same.\n\n"
       "OUT and the report must be two files, and neither may be an input, a list of inputs, or a "
       "file that an input refers to, by any name. Otherwise the exit code is 2, and nothing is "
       "written.\n\n"
       "Exit codes: 0 done, 1 conflicts or a damaged input, 2 could not run.",
       "  nmcat rank_*.nc -o all.nmb                   # one block per file: rank_0000, ...\n"
       "  nmcat --files-from list -o all.nmb --block-name '{path}'\n"
       "  nmcat rank_*.nc -o all.nmb --dry-run         # check only\n"
       "  nmcat part.*.nc -o events.nmb --split-names '^_grp_(r[0-9]+_sr[0-9]+_evt[0-9]+)_' "
       "--block-name '{group}'\n"
       "                                               # one block per sample\n"
       "  nmcat --mode join run_*.nc -o run.nmb        # time steps, along the record dimension\n"
       "  nmcat --mode tiles ocean.nc.???? -o ocean.nc # a model's output, one part per process\n"
       "  mpiexec -n 16 nmcat --files-from list -o all.nmb # with MPI",
       {"-o", "--to", "--mode", "--block-name", "--split-names", "--along", "--compress", "--link",
        "--hdf5-view", "--append", "-f", "--dry-run", "--report", "--files-from", "-j", "-q"}});
  PackCommand command(tool);
  return tool.main(argc, argv, [&] { return command.execute(); });
}
