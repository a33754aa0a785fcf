// The option --digest of nmcat and nmconvert.
#pragma once

#include <CLI/CLI.hpp>

#include "common/command_line/tool.h"
#include "merge/reporting/merge.h"

namespace nmb::tools {

inline void offer_digest(CLI::App& app, RecordedDigests* digests) {
  offer_choice<RecordedDigests>(
      app, "--digest", digests, "KIND",
      {{"xxh128", RecordedDigests::kXxh3}, {"sha256", RecordedDigests::kSha256}},
      "xxh128: record the XXH3-128 of each classic file in an NMB output (that of an original is "
      "always recorded). sha256: also record the SHA-256 of each classic file and each original "
      "in an NMB output, and add the SHA-256 of all inputs and outputs to the report; for the "
      "report, they are read once more");
}

}  // namespace nmb::tools
