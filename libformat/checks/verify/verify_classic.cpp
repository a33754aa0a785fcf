// Verifies the header of a classic file and the places of its values, and checks that all values
// exist. Classic files have no sums, so the values themselves cannot be checked
// (spec/classic_header.md).
#include "verify/verify_classic.h"

#include "model/classic.h"
#include "sources/value_source.h"
#include "verify/metered_source.h"
#include "verify/status_finding.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

// Nonzero padding (R-CH-6) is a finding in a classic file, because no writer produces it. In a
// block's body, nonzero padding is only a warning.
Severity severity_of(const HeaderRemark& remark) {
  return remark.rule == "R-CH-6" ? Severity::kFinding : Severity::kWarning;
}

class Report {
 public:
  Report(VerifySummary& summary, Findings& findings) : summary_(summary), findings_(findings) {}
  void add(Finding finding) {
    ++(finding.severity == Severity::kWarning ? summary_.warnings : summary_.findings);
    findings_.report(std::move(finding));
  }
  void add_remarks(const ClassicHeader& header) {
    for (const HeaderRemark& remark : header.remarks)
      add({remark.rule, remark.offset, remark.object, remark.found, remark.expected,
           severity_of(remark)});
    summary_.warnings += header.remark_count - header.remarks.size();
  }

 private:
  VerifySummary& summary_;
  Findings& findings_;
};

// Decodes the header of a file whose values are incomplete. The caller reports the remarks about
// the header.
Result<ClassicHeader> decode_header_alone(const ByteSource& file) {
  DecodeOptions options;
  options.values_follow = false;
  Result<ClassicHeader> header = decode_classic_header(file, options);
  if (header.ok() || header.status().rule() != "R-CH-18") return header;
  return decode_classic_header(*run_of(not_owned(file), 0, header.status().offset()), options);
}

}  // namespace

Result<VerifySummary> verify_classic(const ByteSource& file, const VerifierOptions& options,
                                     Findings& findings) {
  const MeteredSource source(file, options);
  VerifySummary summary;
  Report report(summary, findings);
  std::byte kind{};
  NMB_TRY(source.read_at(3, {&kind, 1}));
  summary.kind = joined_text("CDF-", std::to_integer<int>(kind));
  Result<ClassicHeader> header = decode_classic_header(source);
  if (!header.ok()) {
    const Status status = header.status();
    if (status.code() != Code::kDamaged) return status;
    report.add(finding_of(status));
    if (status.rule() == "R-CH-17") header = decode_header_alone(source);
  }
  if (header.ok()) report.add_remarks(*header);
  summary.bytes_read = source.bytes();
  return summary;
}

}  // namespace nmb
