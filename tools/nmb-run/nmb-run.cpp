// nmb-run: runs a program so that its PnetCDF calls write and read NMB files, and its netCDF-C
// calls read them.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "common/command_line/tool.h"
#include "nmb-run/preloaded_program.h"

namespace {

using namespace nmb;
using namespace nmb::tools;

const HelpText kHelp = {
    "Runs PROGRAM so that its PnetCDF calls write and read NMB files, and its netCDF-C calls read "
    "them, without a change.",
    "A file that the program creates becomes an NMB file if its path ends in .nmb, if its hint nmb "
    "is on (with off, it never does), or if NMB_PNETCDF has a pattern that matches it: "
    "NMB_PNETCDF='out*.nc:restart_*.nc'. "
    "A file that it opens is read as what it is. All other files are PnetCDF's, as without "
    "nmb-run.\n\n"
    "For netCDF-C, 4.9 or later, the blocks of an NMB file are groups: ncdump, NCO, R and Python's "
    "netCDF4 read it. Messages about files go to standard error, unless NMB_NETCDF_MESSAGES is "
    "empty."
    "\n\n"
    "Start nmb-run with each process: mpiexec -n 64 nmb-run PROGRAM. PnetCDF programs must be "
    "linked dynamically with MPI (Open MPI or MPICH) and PnetCDF; a statically linked program is "
    "refused.\n\n"
    "With --report, the costs of input and output of each file go to standard error at the end: "
    "seconds by phase (the highest of all processes that this nmb-run has started), calls, bytes "
    "and messages.\n\n"
    "Exit codes: that of PROGRAM, or 128 + N after signal N; 2 if it cannot be run.",
    "  mpiexec -n 64 nmb-run ./model                        # writes NMB where paths end in .nmb\n"
    "  NMB_PNETCDF='*.nc' mpiexec -n 64 nmb-run ./model     # all files that it creates\n"
    "  mpiexec -n 64 nmb-run --report ./model\n"
    "  nmb-run ncdump -h all.nmb                            # any program of netCDF-C",
    {}};

// The options of nmb-run end at the first argument that is not one.
int program_index(int argc, char** argv) {
  int at = 1;
  while (at < argc && argv[at][0] == '-') {
    if (std::strcmp(argv[at], "--") == 0) return at + 1;
    const bool has_value =
        std::strcmp(argv[at], "--color") == 0 || std::strcmp(argv[at], "--completion") == 0;
    at += has_value ? 2 : 1;
  }
  return std::min(at, argc);
}

}  // namespace

int main(int argc, char** argv) {
  Tool tool("nmb-run", kHelp);
  PreloadedProgram program;
  bool report = false;
  tool.app().add_flag("--report", report, "show what input and output cost");
  std::vector<std::string> ignored;
  // Only the name is parsed; the program's own arguments are not ours.
  tool.app().add_option("PROGRAM", ignored, "the program and its arguments")->required();
  tool.expect_ranks();
  const int begin = program_index(argc, argv);
  program.arguments.assign(argv + begin, argv + argc);
  int exit_code = 0;
  const int own = tool.main(std::min(begin + 1, argc), argv, [&]() -> Status {
    program.reports = report;
    const Result<int> code = program.run();
    if (!code.ok()) return code.status();
    exit_code = *code;
    return {};
  });
  return own != 0 ? own : exit_code;
}
