// The plan that nmcat --dry-run shows.
#pragma once

#include "common/printing/json_document.h"
#include "common/printing/output.h"
#include "merge/reporting/merge.h"

namespace nmb::tools {

// Writes the plan as text for users. The text fits on one screen for any number of inputs.
// report.plan must be set.
Status write_plan(Output& out, const PackOptions& options, const PackReport& report);

// Returns the JSON fields that only the report of a dry run has.
Json plan_json(const PackOptions& options, const PackReport& report);

}  // namespace nmb::tools
