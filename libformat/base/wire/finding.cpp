// Formats findings (see nmb/status.h).
#include <algorithm>

#include "wire/failure.h"
#include "wire/joined_text.h"

namespace nmb {

std::string DamagedPiece::text() const {
  constexpr std::size_t kShown = 10;
  std::string out = joined_text("piece ", number, " (bytes ", begin, " to ", end - 1);
  const std::size_t shown = std::min(kShown, variables.size());
  for (std::size_t i = 0; i < shown; ++i)
    out += joined_text(i > 0                   ? ", "
                       : variables.size() == 1 ? "; variable "
                                               : "; variables ",
                       "\"", variables[i], "\"");
  const std::uint64_t more = variables.size() - shown + more_variables;
  if (more > 0) out += joined_text(" and ", more, " more");
  return out + ")";
}

static std::string describe(const Finding& finding) {
  std::string out = finding.object;
  if (finding.piece) out += (out.empty() ? "" : ", ") + finding.piece->text();
  if (!out.empty()) out += ": ";
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
