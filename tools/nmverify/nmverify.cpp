// nmverify: checks NMB, classic netCDF and HDF5 files against the rules of their formats.
#include <limits>

#include "common/file_list.h"
#include "common/input_file.h"
#include "common/progress.h"
#include "common/ranks.h"
#include "common/tool.h"
#include "nmb/values.h"
#include "recover_command.h"
#include "verify_report.h"

namespace {

using namespace nmb;
using namespace nmb::tools;

const HelpText kHelp = {
    "Checks NMB, classic netCDF (CDF-1, CDF-2, CDF-5), netCDF-4 and HDF5 files.",
    "Reports every finding with the broken rule of the format, the byte offset, and the found and "
    "expected values. Then lists the blocks that are not sound.\n\n"
    "The levels are index (head and index), blocks (metadata of blocks) and data (values, also "
    "those in other files, and unused bytes of the file). Each level includes the levels before "
    "it. For netCDF-4 and HDF5 files, the level index uses the HDF5 library to read all groups and "
    "objects. The check stops at the first object that the library refuses. The level blocks "
    "converts groups to blocks and checks these blocks. The level blocks also checks that no byte "
    "belongs to the values of two objects. The level data reads all values and decodes chunks. "
    "If a chunk has another filter than " +
        chunk_filters_text() +
        ", the chunk is not checked, and a warning reports this. The option --rate does not slow "
        "down the HDF5 library.\n\n"
        "Under mpiexec, all processes check values of NMB files, and the first process writes the "
        "report. The report is the same for any number of processes.\n\n"
        "With --recover OUT, nmverify verifies nothing. Instead, it copies the undamaged blocks of "
        "one "
        "damaged NMB file to a new file. Blocks are found by their headers, so neither the head "
        "nor "
        "the index of the damaged file is needed. The report lists lost blocks, blocks with "
        "damaged "
        "values, and blocks of which a newer version may have been lost. Values in other files are "
        "copied into OUT. If no block can be recovered, nothing is written.\n\n"
        "Exit codes: 0 all sound; 1 findings; 2 a file could not be verified. With --recover or "
        "--plan: 0 nothing is lost; 1 no block can be recovered; 2 could not run; 3 something is "
        "lost "
        "or doubtful.",
    "  nmverify run.nmb                       # everything\n"
    "  nmverify --level blocks --json *.nmb   # without reading values\n"
    "  nmverify --originals all.nmb           # checks the packed files\n"
    "  nmverify --rate 50M archive.nmb        # at most 50 MiB a second\n"
    "  nmverify --recover good.nmb bad.nmb    # copies the undamaged blocks of bad.nmb\n"
    "  find . -name '*.nmb' -print0 | nmverify -q --files-from - -0",
    {"FILE", "-q", "--level", "--originals", "--rate", "--recover", "--plan", "--partial", "-f",
     "--external", "-j", "--files-from", "-0", "--strict", "--json"}};

struct Arguments {
  std::vector<std::string> files;
  VerifyOptions verify;
};

Result<VerifySummary> verify_file(Tool& tool, const std::string& name, const Arguments& arguments,
                                  VerifyReport& report) {
  NMB_ASSIGN(const std::shared_ptr<const InputFile> file, InputFile::open(name));
  if (file->kind() == FileKind::kUnknown) return refused_kind(*file, file->kind());
  VerifyOptions options = arguments.verify;
  options.on_damaged_block = [&](const std::string& block) { report.damaged_block(block); };
  Progress progress(tool, name);
  options.progress = progress.callback();
  Result<VerifySummary> summary = verify(*file, options, report);
  progress.finish();
  return summary;
}

// Returns whether blocks of an NMB file are damaged or cannot be found.
bool has_lost_blocks(const Result<VerifySummary>& result) {
  if (!result.ok()) return result.status().code() == Code::kDamaged;
  return result->kind == "NMB" && result->findings > 0 &&
         (result->damaged_blocks > 0 || result->sound_blocks < result->recorded_blocks ||
          result->recorded_blocks == 0);
}

// Verifies all files, and sets the exit code in the tool's diagnostics.
void verify_files(Tool& tool, const Arguments& arguments, VerifyReport& report) {
  const bool strict = tool.options().strict;
  VerifyTotals totals;
  bool has_lost = false;
  report.begin(arguments.verify.level);
  for (const std::string& name : arguments.files) {
    report.begin_file(name);
    const Result<VerifySummary> result = verify_file(tool, name, arguments, report);
    report.end_file(result);
    ++totals.files;
    const Status problem = result.ok() ? result->incomplete : result.status();
    tool.diagnostics().error(problem);
    const std::uint64_t warnings = result.ok() && !strict ? result->warnings : 0;
    const std::uint64_t findings =
        result.ok() ? result->findings + (strict ? result->warnings : 0) : 0;
    const bool damaged = findings > 0;
    if (damaged) tool.diagnostics().raise(Exit::kFindings);
    has_lost |= has_lost_blocks(result);
    if (!problem.ok()) tool.diagnostics().raise(Exit::kCannotRun);
    ++(damaged ? totals.damaged : problem.ok() ? totals.sound : totals.not_verified);
    if (!result.ok()) continue;
    totals.findings += findings;
    totals.warnings += warnings;
    totals.bytes_read += result->bytes_read;
  }
  report.end(totals);
  if (has_lost)
    tool.diagnostics().note(
        "undamaged blocks of a damaged file can be copied to a new file: nmverify --recover OUT "
        "FILE");
}

}  // namespace

int main(int argc, char** argv) {
  Tool tool("nmverify", kHelp);
  Arguments arguments;
  CLI::App& app = tool.app();
  app.add_option("FILE", arguments.files, "files to verify");
  offer_choice<VerifyLevel>(app, "--level", &arguments.verify.level, "LEVEL",
                            {{"index", VerifyLevel::kIndex},
                             {"blocks", VerifyLevel::kBlocks},
                             {"data", VerifyLevel::kData}},
                            "index, blocks or data (default)");
  app.add_flag(
      "--originals", arguments.verify.originals,
      "check that each packed file can be written again: read the bytes of HDF5 and netCDF-4 "
      "files and compare their digests, and check all sums in blocks of classic files. The "
      "default level is then index");
  offer_size(
      app, "--rate", [&](std::uint64_t rate) { arguments.verify.rate = rate; }, 0,
      std::numeric_limits<std::uint64_t>::max(),
      "highest read rate in bytes per second, for example 50M");
  RecoverCommand recovery(tool);
  recovery.offer(app);
  tool.offer_external(app);
  tool.offer_threads(app);
  tool.offer_memory(app);
  offer_progress(tool, app);
  tool.offer_file_list(app);
  tool.offer_strict(app);
  tool.offer_json(app);
  return tool.main(argc, argv, [&]() -> Status {
    const CommonOptions& options = tool.options();
    NMB_TRY(recovery.check(app, arguments.files.size()));
    arguments.verify.external = options.external;
    if (arguments.verify.originals && app.count("--level") == 0)
      arguments.verify.level = VerifyLevel::kIndex;
    return run_on_ranks(tool, app, 1, Needs::kAnyRanks, [&](Communicator& ranks, unsigned threads) {
      if (recovery.is_wanted()) {
        if (ranks.size() > 1)
          return Status(Code::kUsage, "--recover and --plan need a single process");
        return recovery.run(arguments.files.front(), threads);
      }
      arguments.verify.threads = threads;
      if (ranks.size() > 1) arguments.verify.ranks = &ranks;
      NMB_TRY(verify_together(ranks, threads, [&]() -> Status {
        // The list may be standard input, which only the first process can read.
        if (!options.files_from.empty()) {
          NMB_ASSIGN(const std::vector<std::string> listed,
                     read_file_list(options.files_from, options.nul_separated));
          arguments.files.insert(arguments.files.end(), listed.begin(), listed.end());
        }
        if (arguments.files.empty())
          return Status(Code::kUsage, "no files; name files or use --files-from");
        const auto report =
            options.json ? json_report(tool.out(), options.strict, arguments.verify.originals)
                         : text_report(tool.out(), options.quiet, options.strict,
                                       arguments.verify.originals);
        verify_files(tool, arguments, *report);
        return {};
      }));
      // All processes of a job end with the exit code of the first process.
      NMB_ASSIGN(const Exit exit, ranks.broadcast_value(0, tool.diagnostics().exit()));
      tool.diagnostics().raise(exit);
      return Status();
    });
  });
}
