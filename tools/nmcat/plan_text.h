// What nmcat --dry-run shows of a plan.
#pragma once

#include "common/json_document.h"
#include "common/output.h"
#include "nmb/merge.h"

namespace nmb::tools {

// For people: at most a screenful, however many inputs there are. report.plan is there.
Status write_plan(Output& out, const PackOptions& options, const PackReport& report);

// What other reports do not have.
Json plan_json(const PackOptions& options, const PackReport& report);

}  // namespace nmb::tools
