// nmconvert: converts netCDF and HDF5 files to NMB and back.
#include "common/tool.h"
#include "nmconvert/convert_command.h"

int main(int argc, char** argv) {
  using namespace nmb::tools;
  Tool tool(
      "nmconvert",
      {"Converts netCDF and HDF5 files to NMB, and blocks of NMB files back to such files.",
       "The content of INPUT determines its kind. --to or the ending of OUTPUT determines the kind "
       "of OUTPUT: .nmb is NMB, .nc the kind of the block.\n"
       "A block that was packed whole from a classic file comes back byte for byte, with --extract "
       "too, unless another kind is asked for. --extract with --to nc4 or hdf5, or with the ending "
       ".h5, writes HDF5: a classic block becomes the root group; a block that came from HDF5 "
       "becomes the group of its own name, with the blocks below it, so that references to it "
       "still work.\n"
       "HDF5 and netCDF-4 files, and blocks that came from them, become classic files with --to "
       "cdf1, cdf2 or cdf5, or with --extract. If a classic file cannot hold something, it is "
       "listed, and nothing is written. --lossy leaves such things out, or writes them as the list "
       "says, prints their number, and lists them in JSON reports. netCDF and HDF5 files have no "
       "place for tags and originals of an NMB file: a warning counts them, and --strict refuses "
       "them.\n"
       "In an NMB output, each file, group or block of INPUT becomes a block by default. "
       "--block-by prefix:REGEX divides variables by the first capture of REGEX, and the part of "
       "the name after the match is the new name (like nmcat --split-names); vars:N makes one "
       "block of each N variables, \"0007\"; one unites all groups in the root block. --regroup "
       "dim:NAME makes one block for each index along a dimension, \"NAME/0007\", whose variables "
       "lose the dimension; key:ATT makes one block for each value of an attribute of variables, "
       "or of groups, whose blocks become VALUE/GROUP. New blocks lie below the block that they "
       "were part of. Everything else, and the global attributes, stays there. HDF5 groups are "
       "divided or united as classic datasets, if they lose nothing by that. Conflicts, for "
       "example between names, are listed, and nothing is written.\n"
       "The output is read back and compared before it gets its name. The values are shared by -j "
       "threads or, under mpiexec or srun, by processes; the file is the same.\n\n"
       "All outputs and the report must be different files, and none may be an input, the list, or "
       "a file that an input refers to, by any name. Otherwise the exit code is 2, and nothing is "
       "written.\n\n"
       "Many files: --files-from LIST --out-dir DIR. Paths are kept below DIR, without a leading / "
       "or .. and with a new ending; two inputs must not get the same output. A failure does not "
       "stop the run; the exit code is the worst of all files. One line per file, in the order of "
       "the list, reports the result. --report writes the same as JSON, each file as soon as it is "
       "finished. -j files are converted at a time (default: four for each core, because they wait "
       "for the device; one for each core with --no-sync). If there are few files, large ones use "
       "several threads. Under mpiexec, each process converts some of the files.\n\n"
       "--resume skips a file if the report proves that this call has already converted it: the "
       "output has the recorded length, and the input the recorded length and modification time. "
       "If SHA-256 are recorded, that of the output is computed and compared, and that of the "
       "input if only its time changed. If an input changed, its output is made again, even "
       "without -f if the output itself is unchanged (by its SHA-256, or length and time). If the "
       "report proves nothing about an output, for example after a kill, the output is accepted "
       "without -f if it has exactly the bytes that the conversion makes.\n"
       "--digest sha256 reads input and output once more, usually from memory. With --no-sync, "
       "outputs may be lost in a power failure, which only a report with SHA-256 shows.\n\n"
       "Exit codes: 0 done, 1 the input is damaged or the output cannot hold it, 2 could not run; "
       "130 or 143 after SIGINT or SIGTERM: unfinished files are removed, finished ones are kept.",
       "  nmconvert in.nc out.nmb                      # header and values unchanged, with "
       "checksums\n"
       "  nmconvert out.nmb in.nc                      # the same bytes again\n"
       "  nmconvert all.nmb rank_0007.nc --extract rank_0007\n"
       "  nmconvert in.nc out.nc --to cdf5\n"
       "  nmconvert netcdf4.nc out.nc --to cdf5 --lossy\n"
       "  nmconvert in.nc out.nmb --hdf5-view on       # ncdump -h out.nmb, h5ls -r out.nmb\n"
       "  nmconvert --add-hdf5-view out.nmb            # the same, for an existing file\n"
       "  nmconvert in.nc out.nmb --digest sha256 --json\n"
       "  nmconvert in.nc out.nmb --block-by 'prefix:^([a-z]+)_' # atm_t: variable t of block atm\n"
       "  nmconvert run.nc out.nmb --regroup dim:time  # one block per time step: time/0000, ...\n"
       "  mpiexec -n 16 nmconvert in.nc out.nmb        # with MPI\n"
       "  find . -name '*.nc' -print0 | nmconvert --files-from - -0 --out-dir packed "
       "--report packed.jsonl\n"
       "  nmconvert --files-from list --out-dir packed --report packed.jsonl --resume",
       {"--to", "--extract", "--block-by", "--compress", "--hdf5-view", "--stats", "--repack",
        "--files-from", "--out-dir", "--report", "--resume", "--lossy", "-f", "--no-check", "-j",
        "-q"}});
  ConvertCommand command(tool);
  return tool.main(argc, argv, [&] { return command.execute(); });
}
