// The content of an open NMB file, for comparisons and digests.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "compare/compare.h"
#include "reader/file_reader.h"

namespace nmb::test {

// `reader` must outlive the result.
inline ContentFile content_of(const FileReader& reader) {
  return {{[&](std::string_view name) { return reader.find(name); },
           [&](std::string_view prefix, const auto& visit) {
             return reader.for_each_entry(prefix, visit);
           },
           [&](const BlockEntry& entry) -> Result<std::shared_ptr<const Dataset>> {
             NMB_ASSIGN(std::shared_ptr<const LoadedBlock> block, reader.block(entry));
             return std::shared_ptr<const Dataset>(std::move(block));
           }},
          reader.file_length()};
}

}  // namespace nmb::test
