// nmcat: merges many files into one.
#include "common/command_line/tool.h"
#include "nmcat/pack_command.h"

int main(int argc, char** argv) {
  using namespace nmb::tools;
  Tool tool(
      "nmcat",
      {"Merges CDF-1, CDF-2, CDF-5, netCDF-4, HDF5 and NMB files, in any mixture, into one file.",
       "Each input becomes a block, named after the file. The option --split-names divides the "
       "variables of each input into several blocks, by a part of the variables' names. With "
       "--mode union, blocks of the same name are united. With --mode join, blocks of the same "
       "name are united, and their values are concatenated along a dimension. With --mode tiles, "
       "each input contains a part of a grid, and OUT contains the whole grid; attributes of each "
       "input describe its part. In these three modes, each block of a single NMB file counts as "
       "an input; join orders the blocks by time.\n"
       "With --mode pack, an OUT of kind nmb also contains a byte-for-byte copy of each HDF5 and "
       "netCDF-4 input. nmconvert --original writes such a copy to a file. Values that lie in a "
       "copy of an input are stored only in this copy.\n"
       "Nothing is written before all inputs have been checked. All conflicts are listed, and an "
       "existing OUT survives every failure. The work is shared by threads (-j) or, under mpiexec "
       "or srun, by processes. The written file does not depend on the number of threads or "
       "processes.\n\n"
       "OUT and the report must be different files. Neither OUT nor the report may be an input, a "
       "list of inputs, or a file that an input refers to, even under another name. If OUT or the "
       "report would replace an input, a list of inputs, or a file that an input refers to, "
       "nothing is written and the exit code is 2.\n\n"
       "Exit codes: 0 done, 1 conflicts or a damaged input, 2 could not run.",
       "  nmcat rank_*.nc -o all.nmb                   # one block per file: rank_0000, ...\n"
       "  nmcat --files-from list -o all.nmb --block-name '{path}'\n"
       "  nmcat rank_*.nc -o all.nmb --dry-run         # check only\n"
       "  nmcat part.*.nc -o events.nmb --split-names '^_grp_(r[0-9]+_sr[0-9]+_evt[0-9]+)_' "
       "--block-name '{group}'\n"
       "                                               # one block per sample\n"
       "  nmcat run*.nc -o all.nmb --tag-names 'run([0-9]+)' --tag 'run={1}' --tag 'site=@site'\n"
       "                                               # tags from names and attributes\n"
       "  nmcat all.nmb -o part.nmb --where 'run == 4952' --block-name '{group}'\n"
       "                                               # some blocks, copied without decoding\n"
       "  nmcat --mode join run_*.nc -o run.nmb        # time steps, along the record dimension\n"
       "  nmcat --mode join all.nmb -o run.nmb --where 'site == 2' # blocks of an archive, by "
       "time\n"
       "  nmcat --mode tiles ocean.nc.???? -o ocean.nc # a model's output, one part per process\n"
       "  mpiexec -n 16 nmcat --files-from list -o all.nmb # with MPI",
       {"-o", "--to", "--mode", "--block-name", "--split-names", "--along", "--compress", "--link",
        "--hdf5-view", "--append", "-f", "--dry-run", "--report", "--files-from", "-j", "-q"}});
  tool.expect_ranks();
  PackCommand command(tool);
  return tool.main(argc, argv, [&] { return command.execute(); });
}
