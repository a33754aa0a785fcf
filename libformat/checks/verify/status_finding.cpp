#include "verify/status_finding.h"

#include <string>

namespace nmb {

Finding finding_of(const Status& status) {
  const std::string& text = status.message();
  const std::size_t found = text.find("found "), expected = text.rfind(", expected ");
  if (found == std::string::npos) {
    const std::size_t colon = text.rfind(": ");
    Finding statement{status.rule(), status.offset(), "", text, ""};
    statement.is_statement = true;
    if (colon != std::string::npos) {
      statement.object = text.substr(0, colon);
      statement.found = text.substr(colon + 2);
    }
    return statement;
  }
  const std::size_t object_end = found >= 2 ? found - 2 : 0;
  const std::size_t found_begin = found + std::string_view("found ").size();
  Finding finding{status.rule(), status.offset(), text.substr(0, object_end),
                  text.substr(found_begin), ""};
  if (expected != std::string::npos && expected > found_begin) {
    finding.found = text.substr(found_begin, expected - found_begin);
    finding.expected = text.substr(expected + std::string_view(", expected ").size());
  }
  return finding;
}

}  // namespace nmb
