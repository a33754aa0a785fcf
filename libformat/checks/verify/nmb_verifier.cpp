#include "verify/nmb_verifier.h"

#include <utility>

#include "verify/status_finding.h"

namespace nmb {

NmbVerifier::NmbVerifier(const ByteSource& file, const VerifierOptions& options, Findings& findings,
                         RegionList* regions)
    : file_(file, options),
      options_(options),
      level_(options.level),
      findings_(*this, findings),
      regions_(regions),
      values_(file_, options) {}

Result<VerifySummary> NmbVerifier::run() {
  summary_.kind = "NMB";
  Result<Choice> choice = choose_newest(file_, TrailerScope::kAll);
  if (!choice.ok()) {
    const Code code = choice.status().code();
    if (code != Code::kDamaged && code != Code::kUnsupported) return choice.status();
    Finding finding = finding_of(choice.status());
    if (code == Code::kUnsupported) finding.severity = Severity::kUnsupported;
    findings_.report(std::move(finding));
  } else if (read_head(*choice) && check_superblock()) {
    NMB_TRY(find_new_part());
    check_places();
    check_growth_pages();
    check_table(PageUse::kStatistics);
    check_table(PageUse::kTags);
    check_index();
    find_stray_statistics();
    count_originals();
    check_dead_space();
    report_values();
    not_decoded_.tell([this](std::string found, std::string expected) {
      findings_.report(
          {"R-XC-1", kNoOffset, "", std::move(found), std::move(expected), Severity::kWarning});
    });
    check_stamp();
    if (!regions_) check_view();
    check_features();
    if (all_walked_ && at_least(VerifyLevel::kData)) check_gaps();
    if (regions_) add_fixed_regions();
    found_all_ = all_walked_;
  }
  summary_.bytes_read = file_.bytes();
  return summary_;
}

void NmbVerifier::report(const char* rule, std::uint64_t offset, std::string object,
                         std::string found, std::string expected) {
  findings_.report({rule, offset, std::move(object), std::move(found), std::move(expected)});
}

void NmbVerifier::missed(const Status& status) {
  if (summary_.incomplete.ok()) summary_.incomplete = status.in_file(file_.name());
  if (block_ && !block_->unsupported) block_->damaged = true;
}

void NmbVerifier::Counter::report(Finding finding) {
  switch (finding.severity) {
    case Severity::kWarning:
      ++verifier_.summary_.warnings;
      break;
    case Severity::kUnsupported:
      verifier_.missed(finding.status(verifier_.file_.name()));
      break;
    case Severity::kFinding:
      ++verifier_.summary_.findings;
      if (verifier_.block_) verifier_.block_->damaged = true;
  }
  findings_.report(std::move(finding));
}

}  // namespace nmb
