#include "verify/verify.h"

#include <utility>

#include "calls/arguments.h"
#include "calls/call_options.h"
#include "handles/input_file.h"
#include "parallel/outbox.h"
#include "wire/enumerators.h"

namespace nmb {

template <class Fields>
void fields(Fields& all, VerifySummary& summary) {
  all(summary.kind, summary.recorded_blocks, summary.sound_blocks, summary.damaged_blocks,
      summary.unchanged_blocks, summary.findings, summary.warnings, summary.bytes_read,
      summary.originals, summary.whole_originals, summary.reads_other_files, summary.incomplete);
}

namespace {

class FindingList final : public Findings {
 public:
  explicit FindingList(std::vector<Finding>* list) : list_(*list) {}
  void report(Finding finding) override { list_.push_back(std::move(finding)); }

 private:
  std::vector<Finding>& list_;
};

}  // namespace

Result<VerifyReport> try_verify(const std::string& path, const VerifyOptions& options) {
  VerifierOptions all;
  all.level = options.level;
  all.originals = options.originals;
  all.since = options.since;
  all.external = options.external;
  all.threads = options.threads;
  all.progress = options.progress;
  VerifyReport report;
  VerifySummary& summary = report;
  const auto work = [&]() -> Status {
    NMB_ASSIGN(const std::shared_ptr<const InputFile> file, InputFile::open(path));
    FindingList list(&report.list);
    NMB_ASSIGN(summary, verify(*file, all, list));
    return {};
  };
  NMB_TRY(with_ranks(options.ranks, [&](Communicator& ranks) -> Status {
    NMB_TRY(agree_on_arguments(ranks, "verify()", options, {path}));
    NMB_TRY(check_enumerator(options.level, VerifyLevel::kData, "VerifyLevel"));
    NMB_TRY(check_enumerator(options.external, ExternalPaths::kAny, "ExternalPaths"));
    if (!options.ranks) return work();
    all.ranks = &ranks;
    NMB_TRY(verify_together(ranks, options.threads, work));
    return broadcast_fields(ranks, 0, &summary);
  }));
  return report;
}

}  // namespace nmb
