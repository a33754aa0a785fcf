#include "findings.h"

#include "text.h"

namespace nmb_python {

nb::object to_python(const nmb::Finding& finding) {
  constexpr const char* severities[] = {"warning", "unsupported", "finding"};
  return nb::module_::import_("nmb._reports")
      .attr("Finding")(to_text(finding.rule),
                       finding.offset == nmb::kNoOffset ? nb::none() : nb::cast(finding.offset),
                       to_text(finding.object), to_text(finding.found), to_text(finding.expected),
                       severities[static_cast<std::size_t>(finding.severity)],
                       to_text(finding.text()));
}

}  // namespace nmb_python
