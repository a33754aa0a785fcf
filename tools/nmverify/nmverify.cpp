// nmverify: checks NMB, classic netCDF and HDF5 files against the rules of their formats.
#include <fmt/format.h>

#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "common/command_line/tool.h"
#include "common/options/file_list.h"
#include "common/options/ranks.h"
#include "common/printing/progress.h"
#include "handles/input_file.h"
#include "nmverify/against_command.h"
#include "nmverify/files_report.h"
#include "nmverify/recover_command.h"
#include "nmverify/set_command.h"
#include "nmverify/verify_journal.h"

namespace {

using namespace nmb;
using namespace nmb::tools;

const HelpText kHelp = {
    "Checks NMB, classic netCDF (CDF-1, CDF-2, CDF-5), netCDF-4 and HDF5 files.",
    "Reports every finding with the broken rule of the format, the byte offset, and the found and "
    "expected values. Then lists the blocks that are not sound.\n\n"
    "The levels are index (head and index), blocks (metadata of blocks) and data (values, also "
    "those in other files, and unused bytes of the file). Each level includes the levels before "
    "it. For netCDF-4 and HDF5 files, the level index uses the HDF5 library to read all groups "
    "and objects. The check stops at the first object that the library refuses. The level blocks "
    "converts groups to blocks and checks these blocks. The level blocks also checks that no byte "
    "belongs to the values of two objects. The level data reads all values and decodes chunks. If "
    "a chunk has a filter that NMB does not decode, the chunk is not checked, and a warning "
    "reports this. The option --rate does not slow down the HDF5 library.\n\n"
    "With --since, only what later generations added to a file is checked: their blocks and "
    "values, and the index pages that lead to them. Writers never change bytes of earlier "
    "generations. Damage to these bytes is not found.\n\n"
    "With --resume, REPORT has a line for each step of the check: each finding, how far the "
    "values were checked, and each file that is done. If the check is stopped, the same call "
    "continues from REPORT. Files that have changed since, and metadata of the file that was not "
    "done, are checked again.\n\n"
    "With --against, nmverify verifies nothing. Instead, it compares FILE with the files from "
    "which nmcat --mode pack made it. Each SOURCE is compared with the blocks that nmcat made of "
    "it: first the source, then FILE, as nminspect diff does. The provenance of FILE says how "
    "nmcat named these blocks; --block-name replaces it. A SOURCE without a block and a block "
    "without a SOURCE are differences. With {path}, name each SOURCE as nmcat named it. For a "
    "FILE that nmconvert made, use --block-name '{group}'.\n\n"
    "With --set, nmverify checks whether nmcat would merge the FILEs. It plans the merge with the "
    "same options as nmcat, and reports the same conflicts. It does not check limits of an output "
    "of another kind than NMB; for them, use nmcat --dry-run.\n\n"
    "Under mpiexec, all processes check values of NMB files, or share the sources and the files "
    "of a set, and the first process writes the report. The report is the same for any number of "
    "processes. --recover and --plan need a single process.\n\n"
    "With --recover OUT, nmverify verifies nothing. Instead, it copies the undamaged blocks of "
    "one damaged NMB file to a new file. Blocks are found by their headers, so neither the head "
    "nor the index of the damaged file is needed. The report lists lost blocks, blocks with "
    "damaged values, and blocks of which a newer version may have been lost. Values in other "
    "files are copied into OUT. If no block can be recovered, nothing is written.\n\n"
    "Exit codes: 0 all sound; 1 findings, differences or conflicts; 2 a file could not be "
    "verified. With --recover or --plan: 0 nothing is lost; 1 no block can be recovered; 2 could "
    "not run; 3 something is lost or doubtful.",
    "  nmverify run.nmb                       # everything\n"
    "  nmverify --level blocks --json *.nmb   # without reading values\n"
    "  nmverify --originals all.nmb           # checks the packed files\n"
    "  nmverify --rate 50M archive.nmb        # at most 50 MiB a second\n"
    "  nmverify --since 12 archive.nmb        # only what generations after 12 added\n"
    "  nmverify --resume check.jsonl *.nmb    # a check that can be stopped\n"
    "  nmverify all.nmb --against rank_*.nc   # are all values of the sources in all.nmb?\n"
    "  nmverify --set rank_*.nc               # would nmcat merge these files?\n"
    "  nmverify --set --mode join run_*.nc    # would nmcat --mode join merge them?\n"
    "  nmverify --recover good.nmb bad.nmb    # copies the undamaged blocks of bad.nmb\n"
    "  find . -name '*.nmb' -print0 | nmverify -q --files-from - -0",
    {"FILE", "-q", "--level", "--originals", "--rate", "--against", "--set", "--mode", "--recover",
     "--plan", "--since", "--resume", "-j", "--files-from", "--json"}};

struct Arguments {
  std::vector<std::string> files;
  std::string resume;  // path of the report of --resume; empty if not given
  VerifierOptions verify;
};

// Passes findings to a report and, if there is one, to a journal.
class FoundInFile final : public Findings {
 public:
  FoundInFile(FilesReport& report, VerifyJournal* journal) : report_(report), journal_(journal) {}
  void report(Finding finding) override {
    if (journal_) journal_->found(finding);
    report_.report(std::move(finding));
  }
  void damaged_block(const std::string& block) {
    if (journal_) journal_->found_damaged_block(block);
    report_.damaged_block(block);
  }

 private:
  FilesReport& report_;
  VerifyJournal* const journal_;
};

// Reports what an earlier run found in a file.
VerifySummary repeat(const VerifyJournal::Record& record, FilesReport& report) {
  for (const auto& found : record.found)
    if (const auto* const finding = std::get_if<Finding>(&found))
      report.report(*finding);
    else
      report.damaged_block(std::get<std::string>(found));
  return *record.summary;
}

// journal: nullptr without --resume.
Result<VerifySummary> verify_file(Tool& tool, const std::string& name, const Arguments& arguments,
                                  VerifyJournal* journal, FilesReport& report) {
  const VerifyJournal::Record* const earlier = journal ? journal->begin_file(name) : nullptr;
  if (earlier && earlier->summary) return repeat(*earlier, report);
  NMB_ASSIGN(const std::shared_ptr<const InputFile> file, InputFile::open(name));
  if (file->kind() == FileKind::kUnknown) return refused_kind(*file, file->kind());
  VerifierOptions options = arguments.verify;
  FoundInFile found(report, journal);
  options.on_damaged_block = [&](const std::string& block) { found.damaged_block(block); };
  if (earlier) options.checked = earlier->checked;
  if (journal) options.on_checked = [&](const CheckedValues& values) { journal->checked(values); };
  Progress progress(tool, name);
  options.progress = progress.callback();
  Result<VerifySummary> summary = verify(*file, options, found);
  progress.finish();
  const bool stays = summary.ok() && summary->incomplete.ok() && !summary->reads_other_files;
  if (journal && stays) journal->end_file(*summary);
  return summary;
}

// Returns whether blocks of an NMB file are damaged or cannot be found.
bool has_lost_blocks(const Result<VerifySummary>& result) {
  if (!result.ok()) return result.status().code() == Code::kDamaged;
  return result->kind == "NMB" && result->findings > 0 &&
         (result->damaged_blocks > 0 ||
          result->sound_blocks + result->unchanged_blocks < result->recorded_blocks ||
          result->recorded_blocks == 0);
}

// Verifies all files, and sets the exit code in the tool's diagnostics.
void verify_files(Tool& tool, const Arguments& arguments, VerifyJournal* journal,
                  FilesReport& report) {
  const bool strict = tool.options().strict;
  VerifyTotals totals;
  bool has_lost = false;
  report.begin(arguments.verify.level);
  for (const std::string& name : arguments.files) {
    report.begin_file(name);
    const Result<VerifySummary> result = verify_file(tool, name, arguments, journal, report);
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
  if (journal) tool.diagnostics().error(journal->status());
  if (has_lost)
    tool.diagnostics().note(
        "undamaged blocks of a damaged file can be copied to a new file: nmverify --recover OUT "
        "FILE");
}

// Opens the report of --resume. Returns nullptr if the option is not given. Errors: those of
// VerifyJournal::open(); kUsage if the report is one of the files.
Result<std::unique_ptr<VerifyJournal>> open_journal(const Tool& tool, const Arguments& arguments) {
  if (arguments.resume.empty()) return std::unique_ptr<VerifyJournal>();
  OutputSet outputs;
  NMB_TRY(outputs.add(arguments.resume, "report"));
  for (const std::string& file : arguments.files) NMB_TRY(outputs.check_input(file, "file"));
  NMB_TRY(check_file_list(outputs, tool.options().files_from));
  return VerifyJournal::open(arguments.resume, arguments.verify);
}

// Errors: kUsage if the options ask for several kinds of work.
Status check_together(const CLI::App& app, const AgainstCommand& against, const SetCommand& set,
                      const RecoverCommand& recovery) {
  const auto exclude = [](const char* option, const char* other) {
    return Status(Code::kUsage, fmt::format("{} and {} exclude each other", option, other));
  };
  if (against.is_wanted() && set.is_wanted()) return exclude("--against", "--set");
  if (against.is_wanted() && recovery.is_wanted()) return exclude("--against", "--recover");
  if (set.is_wanted() && recovery.is_wanted()) return exclude("--set", "--recover");
  for (const char* option : {"--since", "--resume"})
    if (app.count(option) > 0 && (against.is_wanted() || set.is_wanted() || recovery.is_wanted()))
      return exclude(option, against.is_wanted() ? "--against"
                             : set.is_wanted()   ? "--set"
                                                 : "--recover");
  if (app.count("--since") > 0 && app.count("--originals") > 0)
    return exclude("--since", "--originals");
  if (app.count("--block-name") > 0 && !against.is_wanted() && !set.is_wanted())
    return Status(Code::kUsage, "--block-name needs --against or --set");
  return {};
}

// All processes of a job end with the exit code of the first process. Collective.
Status end_together(Tool& tool, Communicator& ranks) {
  NMB_ASSIGN(const Exit exit, ranks.broadcast_value(0, tool.diagnostics().exit()));
  tool.diagnostics().raise(exit);
  return {};
}

// Lets the process keep the memory of its buffers and use it again. By default, glibc returns large
// buffers to the system, which fills each page with zeros when the next buffer needs it.
void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  keep_freed_memory();
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
  app.add_option("--since", arguments.verify.since,
                 "check only what was added to NMB files after this generation; nminspect summary "
                 "shows the generation of a file")
      ->type_name("GENERATION")
      ->check(whole_number())
      ->check([](const std::string& text) {
        return text.find_first_not_of('0') == text.npos ? "found 0, expected at least 1" : "";
      });
  app.add_option("--resume", arguments.resume,
                 "write the progress of the check to REPORT; if REPORT exists, continue the check "
                 "from there. The result is that of a single check")
      ->type_name("REPORT");
  tool.expect_ranks();
  AgainstCommand against(tool);
  against.offer(app);
  SetCommand set(tool);
  set.offer(app);
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
    NMB_TRY(against.check(app, arguments.files.size()));
    NMB_TRY(set.check(app, against.is_wanted()));
    NMB_TRY(check_together(app, against, set, recovery));
    if (set.is_wanted()) return set.run(arguments.files);
    arguments.verify.external = options.external;
    if (arguments.verify.originals && app.count("--level") == 0)
      arguments.verify.level = VerifyLevel::kIndex;
    return run_on_ranks(tool, app, 1, Needs::kAnyRanks, [&](Communicator& ranks, unsigned threads) {
      if (recovery.is_wanted()) {
        if (ranks.size() > 1)
          return Status(Code::kUsage, "--recover and --plan need a single process");
        return recovery.run(arguments.files.front(), threads);
      }
      if (against.is_wanted()) {
        std::optional<std::string> block_name;
        if (app.count("--block-name") > 0) block_name = set.block_name();
        NMB_TRY(against.run(arguments.files.front(), block_name, set.merge(), set.rules(),
                            arguments.verify.rate, ranks, threads));
        return end_together(tool, ranks);
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
        NMB_ASSIGN(const std::unique_ptr<VerifyJournal> journal, open_journal(tool, arguments));
        const ReportOptions of_report{options.quiet, options.strict, arguments.verify.originals,
                                      arguments.verify.since};
        const auto report =
            options.json ? json_report(tool.out(), of_report) : text_report(tool.out(), of_report);
        verify_files(tool, arguments, journal.get(), *report);
        return {};
      }));
      return end_together(tool, ranks);
    });
  });
}
