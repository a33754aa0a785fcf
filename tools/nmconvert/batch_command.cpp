#include "nmconvert/batch_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "common/options/file_list.h"
#include "common/options/ranks.h"
#include "common/printing/progress.h"
#include "common/printing/report_file.h"
#include "common/printing/units.h"
#include "convert/convert.h"
#include "files/files.h"
#include "nmconvert/block_files.h"
#include "nmconvert/conversion_report.h"
#include "nmconvert/file_workers.h"
#include "nmconvert/new_folders.h"
#include "nmconvert/output_names.h"
#include "nmconvert/rank_shares.h"
#include "nmconvert/resume_proofs.h"
#include "wire/natural_order.h"

namespace nmb::tools {

namespace {

namespace fs = std::filesystem;
using Outcome = ConversionRecord::Outcome;

// Ranks exchange the results of finished files in rounds. These are the lengths of the first and of
// the longest round.
constexpr std::chrono::milliseconds kFirstRound{5}, kLongestRound{100};

// Number of files for each core that are converted at the same time, because conversions wait for
// the device (spec/rationale.md, "Many conversions").
constexpr unsigned kWaiting = 4;

std::uint64_t length_of(const std::string& path) {
  std::error_code error;
  const auto length = std::filesystem::file_size(path, error);
  return error ? 0 : length;
}

ConversionRecord skipped(ConversionRecord done, const Conversion& what) {
  done.of = what;
  done.outcome = Outcome::kSkipped;
  return done;
}

class Batch {
 public:
  Batch(Tool& tool, const BatchArguments& arguments, const ConversionOptions& options,
        Communicator& ranks, unsigned threads)
      : tool_(tool),
        arguments_(arguments),
        options_(options),
        ranks_(ranks),
        threads_(threads),
        telling_(tool, options.digest),
        progress_(tool, "converting") {
    options_.folders = true;
    options_.accept_equal = arguments.resume;
    options_.block_is_name = !arguments.input.empty();  // the blocks that --extract matches
    // If the user gave no number of threads, more files than cores are converted at the same time,
    // because a file that waits for the device needs no core.
    const bool given = tool.app().count("-j") > 0;
    at_a_time_ = given || !options.sync ? threads : kWaiting * threads;
    options_.cache_bytes /= at_a_time_;
  }

  Status run() {
    ranks_.set_names_ranks(false);
    NMB_TRY(ranks_.first([&] { return prepare(); }));
    NMB_ASSIGN(std::vector<FileShare> share, deal_files(ranks_, std::move(files_)));
    const Status status = convert_share(share);
    if (ranks_.rank() == 0) finish();
    NMB_TRY(status);
    NMB_TRY(ranks_.first([&] { return report_status_; }));
    NMB_ASSIGN(const Exit exit, ranks_.broadcast_value(0, tool_.diagnostics().exit()));
    tool_.diagnostics().raise(exit);
    return {};
  }

 private:
  // Determines which conversions must be done. Called on rank 0 only, before anything is written.
  Status prepare() {
    const CommonOptions& common = tool_.options();
    std::vector<Conversion> conversions;
    std::vector<std::uint64_t> lengths;
    if (arguments_.input.empty()) {
      NMB_ASSIGN(std::vector<std::string> inputs,
                 read_file_list(common.files_from, common.nul_separated));
      if (arguments_.sort == "name") std::stable_sort(inputs.begin(), inputs.end(), natural_less);
      NMB_ASSIGN(conversions,
                 plan_conversions(inputs, arguments_.folder, arguments_.to, arguments_.block));
      for (const Conversion& conversion : conversions)
        lengths.push_back(length_of(conversion.input));
    } else {
      NMB_TRY(plan_blocks(&conversions, &lengths));
    }
    NMB_TRY(check_files(conversions));
    const bool replaces = options_.overwrite;
    if (replaces || !arguments_.resume) NMB_TRY(check_references_of(conversions, replaces));
    for (Conversion& conversion : conversions) {
      folders_.note(std::filesystem::path(conversion.output).parent_path());
      conversion.block_by = arguments_.block_by;
      conversion.statistics = arguments_.statistics;
      conversion.options = arguments_.options;
    }
    if (!arguments_.report.empty()) {
      NMB_ASSIGN(report_, ReportFile::open(arguments_.report, "nmb/convert/1"));
    }
    std::vector<std::optional<ConversionRecord>> proofs(conversions.size());
    if (arguments_.resume) {
      NMB_ASSIGN(const ResumeProofs known, ResumeProofs::read(*report_, conversions));
      for (std::size_t i = 0; i < conversions.size(); ++i)
        proofs[i] = known.claimed(conversions[i]);
      bool makes_again = false;
      for (std::size_t i = 0; i < conversions.size() && !replaces && !makes_again; ++i)
        makes_again = proofs[i] && may_be_outdated(*proofs[i], conversions[i], options_.digest);
      if (makes_again) NMB_TRY(check_references_of(conversions, true));
    }
    files_.reserve(conversions.size());
    for (std::size_t i = 0; i < conversions.size(); ++i)
      files_.push_back({i, lengths[i], std::move(conversions[i]), std::move(proofs[i])});
    count_ = files_.size();
    for (const FileShare& file : files_) total_bytes_ += file.length;
    lengths_ = std::move(lengths);
    return {};
  }

  // Plans one conversion for each block of the NMB file.
  Status plan_blocks(std::vector<Conversion>* conversions,
                     std::vector<std::uint64_t>* lengths) const {
    const std::string& input = arguments_.input;
    NMB_ASSIGN(const std::shared_ptr<const FileSource> file, FileSource::open(input));
    NMB_ASSIGN(const FileKind kind, kind_of(*file));
    if (kind != FileKind::kNmb)
      return Status(
          Code::kUsage, input, kNoOffset, "",
          "--extract needs an NMB input; this is a " + std::string(kind_name(kind)) + " file");
    NMB_ASSIGN(const std::unique_ptr<FileReader> reader,
               FileReader::open(file, {.external = options_.external}));
    NMB_ASSIGN(std::vector<BlockFile> blocks,
               files_of_blocks(*reader, *arguments_.block, arguments_.folder,
                               arguments_.to == "hdf5" ? ".h5" : ".nc"));
    for (BlockFile& block : blocks) {
      conversions->push_back(
          {input, std::move(block.output), arguments_.to, std::move(block.block)});
      lengths->push_back(block.bytes);
    }
    return {};
  }

  // Checks that no output is also an input, the list, the report or another output. Called before
  // anything is written.
  Status check_files(const std::vector<Conversion>& conversions) {
    OutputSet all;
    for (const Conversion& conversion : conversions) NMB_TRY(all.add(conversion.output, "output"));
    const std::string& report = arguments_.report;
    if (!report.empty()) NMB_TRY(all.add(report, "report"));
    for (const Conversion& conversion : conversions)
      NMB_TRY(all.check_input(conversion.input, "input"));
    NMB_TRY(check_file_list(all, tool_.options().files_from));
    return {};
  }

  // Checks that no output replaces a file to which an input refers. Called before the first output
  // is replaced, because that could replace a file that a later input needs. The check reads the
  // metadata of all inputs once more.
  Status check_references_of(const std::vector<Conversion>& conversions, bool replaces) const {
    OutputSet replaced;
    std::error_code none;
    for (const Conversion& conversion : conversions)
      if (replaces && fs::exists(conversion.output, none))
        NMB_TRY(replaced.add(conversion.output, "output"));
    const std::string& report = arguments_.report;
    if (!report.empty() && fs::exists(report, none)) NMB_TRY(replaced.add(report, "report"));
    if (!replaced.replaces()) return {};
    std::atomic<std::size_t> next = 0;
    std::mutex mutex;
    std::map<std::size_t, Status> refused;  // errors; the key is the index of the input
    const auto check = [&] {
      for (std::size_t i; (i = next++) < conversions.size();) {
        if (i > 0 && conversions[i].input == arguments_.input) continue;
        Result<std::unique_ptr<FileSource>> opened = FileSource::open(conversions[i].input);
        // If an input cannot be opened, this error is reported when the input is converted.
        if (!opened.ok()) continue;
        const std::shared_ptr<const ByteSource> input = std::move(*opened);
        Status status = check_references(replaced, input);
        if (status.code() != Code::kUsage) continue;
        next = conversions.size();
        const std::lock_guard lock(mutex);
        refused.emplace(i, std::move(status));
      }
    };
    std::vector<std::future<void>> checks;
    for (std::size_t n = std::min<std::size_t>(at_a_time_, conversions.size()); n > 0; --n)
      checks.push_back(std::async(std::launch::async | std::launch::deferred, check));
    for (std::future<void>& one : checks) one.get();
    return refused.empty() ? Status() : refused.begin()->second;
  }

  // Converts the share of this rank and sends the results to rank 0.
  Status convert_share(const std::vector<FileShare>& share) {
    std::vector<std::uint64_t> lengths;
    lengths.reserve(share.size());
    for (const FileShare& file : share) lengths.push_back(file.length);
    FileWorkers workers(
        std::move(lengths), at_a_time_, threads_,
        [&](std::size_t i, unsigned threads) { return convert_file(share[i], threads); },
        options_.cancel);
    NMB_TRY(workers.start());
    std::chrono::milliseconds round = kFirstRound;
    while (true) {
      // The rounds of all ranks must end at about the same time, because a rank that waits for a
      // message uses a core.
      if (ranks_.size() > 1) std::this_thread::sleep_for(round);
      round = std::min(2 * round, kLongestRound);
      FileWorkers::Finished finished = workers.take_finished(ranks_.size() == 1);
      for (auto& [at, record] : finished) at = share[at].at;
      const bool more = !workers.is_done();
      NMB_ASSIGN(finished, gather_finished(ranks_, std::move(finished)));
      for (auto& [at, record] : finished) take(at, std::move(record));
      // If a rank was interrupted, or could not write the report, all ranks stop.
      const bool stop = options_.cancel->load() || !report_status_.ok();
      NMB_ASSIGN(const bool any_stops, ranks_.all_reduce(stop, std::logical_or<>()));
      if (any_stops) workers.stop();
      NMB_ASSIGN(const bool any_has_more, ranks_.all_reduce(more, std::logical_or<>()));
      if (!any_has_more) return {};
    }
  }

  // Several threads may call this function at the same time.
  ConversionRecord convert_file(const FileShare& file, unsigned threads) const {
    try {
      ConversionOptions options = options_;
      const auto outputs = std::make_shared<OutputSet>();
      (void)outputs->add(file.conversion.output, "output");
      // check_files() has checked that the output and the report are different files.
      if (!arguments_.report.empty()) (void)outputs->add(arguments_.report, "report");
      options.outputs = outputs;
      if (file.proof) {
        const Proof proof =
            check_proof(*file.proof, file.conversion, options.digest, options.cancel);
        const bool may_skip = options.lossy || file.proof->losses.empty();
        if (proof == Proof::kHolds && may_skip) return skipped(*file.proof, file.conversion);
        options.overwrite = options.overwrite || proof == Proof::kOutdated;
      }
      Communicator alone;
      return convert(file.conversion, options, alone, threads);
    } catch (const std::bad_alloc&) {
      ConversionRecord record;
      record.of = file.conversion;
      record.status = Status(Code::kLimit, file.conversion.input, kNoOffset, "", "out of memory");
      return record;
    }
  }

  // Writes the result of one conversion to the report, and shows it when it is next in the list.
  // Called on rank 0, also for results of other ranks.
  void take(std::size_t at, ConversionRecord record) {
    const bool new_in_report =
        record.outcome == Outcome::kDone || record.outcome == Outcome::kFailed;
    if (report_ && new_in_report && report_status_.ok())
      report_status_ = report_->append(record_json(record).dump(-1, ' ', true));
    done_bytes_ += arguments_.input.empty() ? record.bytes_in.value_or(0) : lengths_[at];
    untold_.emplace(at, std::move(record));
    while (!untold_.empty() && untold_.begin()->first == next_told_) report_first();
    (void)tool_.out().flush();
    if (const auto show = progress_.callback())
      show(std::min(done_bytes_, total_bytes_), total_bytes_);
  }

  void report_first() {
    const ConversionRecord& record = untold_.begin()->second;
    progress_.finish();
    ++counts_[static_cast<std::size_t>(record.outcome)];
    if (record.outcome == Outcome::kDone) {
      // All blocks come from the same input, whose bytes count once.
      const bool is_known = record.of.input == arguments_.input && bytes_in_ > 0;
      bytes_in_ += is_known ? 0 : record.bytes_in.value_or(0);
      bytes_out_ += record.bytes_out.value_or(0);
    }
    const bool interrupted = record.outcome == Outcome::kInterrupted;
    telling_.diagnose(record, !interrupted);
    if (!interrupted) telling_.tell(record);
    next_told_ = untold_.begin()->first + 1;
    untold_.erase(untold_.begin());
  }

  // Reports files that were not converted because of an interrupt, and the summary.
  void finish() {
    while (!untold_.empty()) report_first();
    progress_.finish();
    telling_.finish();
    (void)tool_.out().flush();
    const auto count = [this](Outcome outcome) {
      return counts_[static_cast<std::size_t>(outcome)];
    };
    const std::uint64_t reported =
        count(Outcome::kDone) + count(Outcome::kSkipped) + count(Outcome::kFailed);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    std::string text =
        fmt::format("{} {}: {} done, {} skipped, {} failed", count_, count_ == 1 ? "file" : "files",
                    count(Outcome::kDone), count(Outcome::kSkipped), count(Outcome::kFailed));
    if (reported < count_) text += fmt::format(", {} not done", count_ - reported);
    text += fmt::format("; {} to {} in {:.1f} s", human_bytes(bytes_in_), human_bytes(bytes_out_),
                        seconds);
    tool_.diagnostics().note(text);
    if (reported == count_) return;
    tool_.diagnostics().raise(Exit::kCannotRun);
    std::string why = options_.cancel->load() ? "interrupted" : "given up";
    why += report_ ? "; finished files are in the report, and --resume continues from there"
                   : "; finished files are kept";
    tool_.diagnostics().note(why, true);
  }

  Tool& tool_;
  const BatchArguments& arguments_;
  ConversionOptions options_;
  Communicator& ranks_;
  const unsigned threads_;
  unsigned at_a_time_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();

  // on rank 0
  std::vector<FileShare> files_;
  std::vector<std::uint64_t> lengths_;  // of the files
  NewFolders folders_;                  // of all outputs
  std::unique_ptr<ReportFile> report_;
  Status report_status_;
  ConversionReport telling_;
  Progress progress_;
  std::map<std::size_t, ConversionRecord>
      untold_;  // results not yet shown; the key is the index in the list
  std::size_t next_told_ = 0;
  std::uint64_t count_ = 0, total_bytes_ = 0, done_bytes_ = 0, bytes_in_ = 0, bytes_out_ = 0;
  std::uint64_t counts_[4] = {};
};

}  // namespace

Status run_batch(Tool& tool, const BatchArguments& arguments, const ConversionOptions& options) {
  return run_on_ranks(tool, tool.app(), 1, Needs::kAnyRanks,
                      [&](Communicator& ranks, unsigned threads) {
                        return Batch(tool, arguments, options, ranks, threads).run();
                      });
}

}  // namespace nmb::tools
