// Statistics (nmb/statistics.h) as nmb.Statistics, a dataclass of nmb/_reports.py.
#pragma once

#include <nanobind/nanobind.h>
#include <nmb/statistics.h>

namespace nmb_python {

nanobind::object to_python(const nmb::VariableStatistics& statistics);

}  // namespace nmb_python
