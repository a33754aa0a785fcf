// InputExtras: the contents of an input, without the definitions and values of its blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "merge/reporting/merge.h"
#include "table/kept_rows.h"

namespace nmb {

struct InputExtras {
  std::vector<std::string> provenance{};  // the texts, if they were requested
  std::shared_ptr<const KeptRows> rows;   // rows of tags and statistics; nullptr if the input has
                                          // none
  // tagged: number of visited blocks that have tags. counted: number of visited blocks that have
  // statistics.
  std::uint64_t tagged = 0, counted = 0;
  std::vector<PackLoss> losses{};  // content that no output can keep; the fields `input` and `path`
                                   // are not set
};

}  // namespace nmb
