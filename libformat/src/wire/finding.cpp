// Formats findings (see nmb/status.h).
#include "nmb/status.h"
#include "wire/joined_text.h"

namespace nmb {

static std::string describe(const Finding& finding) {
  std::string out;
  if (!finding.object.empty()) out += finding.object + ": ";
  out += (finding.is_statement ? "" : "found ") + finding.found;
  if (!finding.expected.empty()) out += ", expected " + finding.expected;
  return out;
}

std::string Finding::text() const {
  std::string out;
  if (offset != kNoOffset) out += joined_text("at ", offset, ": ");
  return out + describe(*this) + " (" + rule + ")";
}

Status Finding::status(const std::string& file) const {
  const Code code = severity == Severity::kUnsupported ? Code::kUnsupported : Code::kDamaged;
  return Status(code, file, offset, rule, describe(*this));
}

}  // namespace nmb
