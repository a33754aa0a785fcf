#include "nmconvert/resume_proofs.h"

#include <unordered_set>

#include "compare/compare.h"
#include "files/files.h"
#include "model/text.h"

namespace nmb::tools {

namespace {

bool has_sha256(const FileSource& file, const std::string& expected,
                const std::atomic<bool>* cancel) {
  const Result<Sha256> found = sha256(file, cancel);
  return found.ok() && digest_text(*found) == expected;
}

bool is_asked_for(const ConversionRecord& done, const Conversion& what) {
  const auto block = what.block ? std::optional(json_text(*what.block)) : std::nullopt;
  return done.of.input == json_text(what.input) && done.of.to == what.to &&
         done.of.block == block && done.of.block_by == json_text(what.block_by) &&
         done.of.statistics == what.statistics && done.of.options == json_text(what.options);
}

// Returns whether a conversion would record the same SHA-256 in the report and in the output as the
// earlier conversion did. `digest` is whether --digest is given.
bool records_same_sha256(const ConversionRecord& done, bool digest) {
  const bool recorded = !done.sha256_in.empty() && !done.sha256_out.empty();
  return digest ? recorded : !recorded || done.originals + done.digested == 0;
}

}  // namespace

Result<ResumeProofs> ResumeProofs::read(const ReportFile& report,
                                        const std::vector<Conversion>& conversions) {
  std::unordered_set<std::string> wanted;
  for (const Conversion& conversion : conversions) wanted.insert(json_text(conversion.output));
  ResumeProofs proofs;
  NMB_TRY(report.for_each_line([&](std::string_view line) {
    std::optional<ConversionRecord> record = done_record(line);
    if (!record || !wanted.contains(record->of.output)) return;
    std::string output = record->of.output;
    proofs.done_.insert_or_assign(std::move(output), std::move(*record));
  }));
  return proofs;
}

std::optional<ConversionRecord> ResumeProofs::claimed(const Conversion& what) const {
  const auto it = done_.find(json_text(what.output));
  if (it == done_.end() || !is_asked_for(it->second, what)) return std::nullopt;
  return it->second;
}

bool may_be_outdated(const ConversionRecord& done, const Conversion& what, bool digest) {
  const auto input = FileSource::open(what.input);
  return !input.ok() || (*input)->size() != done.bytes_in ||
         (*input)->stamp().modified_ns != done.modified_in || !records_same_sha256(done, digest);
}

Proof check_proof(const ConversionRecord& done, const Conversion& what, bool digest,
                  const std::atomic<bool>* cancel) {
  const bool digests = !done.sha256_in.empty() && !done.sha256_out.empty();
  const auto input = FileSource::open(what.input), output = FileSource::open(what.output);
  if (!input.ok() || !output.ok() || (*output)->size() != done.bytes_out) return Proof::kNone;
  if (digests && !has_sha256(**output, done.sha256_out, cancel)) return Proof::kNone;
  const bool known_again = digests || (*output)->stamp().modified_ns == done.modified_out;
  const bool same_input = (*input)->size() == done.bytes_in &&
                          ((*input)->stamp().modified_ns == done.modified_in ||
                           (digests && has_sha256(**input, done.sha256_in, cancel)));
  if (same_input && records_same_sha256(done, digest)) return Proof::kHolds;
  return known_again ? Proof::kOutdated : Proof::kNone;
}

}  // namespace nmb::tools
