// Findings (nmb/finding.h) as nmb.Finding, a dataclass of nmb/_reports.py.
#pragma once

#include <nanobind/nanobind.h>
#include <nmb/finding.h>

namespace nmb_python {

nanobind::object to_python(const nmb::Finding& finding);

}  // namespace nmb_python
