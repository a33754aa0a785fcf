// The plan that nmcat --dry-run shows.
#pragma once

#include "common/json_document.h"
#include "common/output.h"
#include "nmb/merge.h"

namespace nmb::tools {

// Writes text for users: at most one screen, however many inputs there are. report.plan must be
// set.
Status write_plan(Output& out, const PackOptions& options, const PackReport& report);

// Returns the parts that other reports do not have.
Json plan_json(const PackOptions& options, const PackReport& report);

}  // namespace nmb::tools
