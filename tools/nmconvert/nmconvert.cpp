// nmconvert: netCDF and HDF5 files to NMB and back.
#include "common/tool.h"
#include "nmconvert/convert_command.h"

int main(int argc, char** argv) {
  using namespace nmb::tools;
  Tool tool(
      "nmconvert",
      {"Converts netCDF and HDF5 files to NMB, and what is in NMB files back to such files.",
       "The kind of INPUT is told by its content, that of OUTPUT by --to or its ending: .nmb is "
       "NMB, .nc the kind of the block.\nA block that was packed whole from a classic file comes "
       "back byte for byte, "
       "with --extract too, if no other kind is asked for. --extract with --to nc4 or hdf5, or an "
       "ending .h5, writes HDF5: a classic block into the root group, one that came from HDF5, "
       "with "
       "the blocks below it, into the group of its name, to which references in it lead. "
       "An HDF5 or netCDF-4 file, and a block that came from one, becomes a classic file with --to "
       "cdf1, cdf2 or cdf5, or --extract. What a classic file cannot hold is listed and nothing is "
       "written, unless --lossy allows it; then it is left out, or written as what is said, "
       "counted, and listed in JSON reports. netCDF and HDF5 files have no place for tags and "
       "originals of an NMB file: a warning counts them, and --strict refuses them.\n"
       "What becomes a block of an NMB output is what is a file, a group or a block in INPUT. "
       "--block-by prefix:REGEX divides variables by the first capture of REGEX, and what follows "
       "the match is the new name (as nmcat --split-names); vars:N makes a block of each N "
       "variables, \"0007\"; one unites all groups in the root block. --regroup dim:NAME makes a "
       "block for each index along a dimension, \"NAME/0007\", whose variables lose it; key:ATT "
       "one for each value of an attribute of variables, or of groups, whose blocks become "
       "VALUE/GROUP. Blocks lie below the one that they were in, where the rest stays, with global "
       "attributes. What came from HDF5 is divided or united as a classic dataset, if it loses "
       "nothing by that. Conflicts, as of names, are listed and nothing is written.\n"
       "What is written is read back and compared before it gets its name.\nThe values are dealt "
       "to -j "
       "threads or, under mpiexec or srun, to its processes; the file is the same.\n\n"
       "No output, nor the report, may be an input, the list, a file that an input refers to, or "
       "another output, by any name: exit code 2, and nothing is written.\n\n"
       "Many files: --files-from LIST --out-dir DIR. Paths are kept below DIR, without a leading / "
       "or .. and with another ending; no two may become one. After a failure it goes on, and the "
       "exit code is the worst. A line a file, in the order of the list, says what became of it; "
       "--report has the same as JSON in the order in which files were done, each written as soon "
       "as it is. -j files are converted at a time (default: four for each core, since they wait "
       "for the device; one with --no-sync), large ones on more than one thread where they are "
       "few. "
       "The processes of mpiexec each take some of the files.\n\n"
       "--resume leaves out what the report proves done, as this call asks for it: the output has "
       "the recorded length and the input the length and time of modification; where SHA-256 are "
       "recorded, the output's is computed and compared, and the input's if only its time changed. "
       "Of an input that changed the output is made again, without -f too if it is still the one "
       "that was made (by its SHA-256, or length and time). "
       "An output of which nothing is proved, as after a kill, is accepted without -f if it is "
       "byte for byte what the conversion makes.\n--digest sha256 reads input and output once "
       "more, as "
       "a rule from memory. After a power failure a report of a run with --no-sync proves nothing "
       "without it.\n\n"
       "Exit codes: 0 done, 1 the input is damaged or the output cannot hold it, 2 could not run; "
       "130 or 143 after SIGINT or "
       "SIGTERM, when the file in work is cleaned up and what is done stays.",
       "  nmconvert in.nc out.nmb                      # header and values as they are, "
       "checksummed\n"
       "  nmconvert out.nmb in.nc                      # the same bytes again\n"
       "  nmconvert all.nmb rank_0007.nc --extract rank_0007\n"
       "  nmconvert in.nc out.nc --to cdf5\n"
       "  nmconvert netcdf4.nc out.nc --to cdf5 --lossy\n"
       "  nmconvert in.nc out.nmb --hdf5-view on       # ncdump -h out.nmb, h5ls -r out.nmb\n"
       "  nmconvert --add-hdf5-view out.nmb            # the same, of a file that is there\n"
       "  nmconvert in.nc out.nmb --digest sha256 --json\n"
       "  nmconvert in.nc out.nmb --block-by 'prefix:^([a-z]+)_' # atm_t: variable t of block atm\n"
       "  nmconvert run.nc out.nmb --regroup dim:time  # a block a time step: time/0000, ...\n"
       "  mpiexec -n 16 nmconvert in.nc out.nmb        # by the processes of an MPI job\n"
       "  find . -name '*.nc' -print0 | nmconvert --files-from - -0 --out-dir packed "
       "--report packed.jsonl\n"
       "  nmconvert --files-from list --out-dir packed --report packed.jsonl --resume",
       {"--to", "--extract", "--block-by", "--compress", "--hdf5-view", "--stats", "--repack",
        "--files-from", "--out-dir", "--report", "--resume", "--lossy", "-f", "--no-check", "-j",
        "-q"}});
  ConvertCommand command(tool);
  return tool.main(argc, argv, [&] { return command.execute(); });
}
