// What a netCDF or HDF5 file does not keep (see not_written.h).
#include "common/not_written.h"

#include <fmt/format.h>

#include <algorithm>

namespace nmb::tools {

std::string no_place_for_tags(const TagCounts& counts) {
  return fmt::format("the output has no place for {} {} of {} {}; an .nmb output keeps {}",
                     counts.tags, counts.tags == 1 ? "tag" : "tags", counts.blocks,
                     counts.blocks == 1 ? "block" : "blocks", counts.tags == 1 ? "it" : "them");
}

Result<std::vector<std::string>> not_written_lines(const Reader& reader) {
  std::vector<std::string> lines;
  // A table that cannot be read is no reason to refuse blocks that can.
  const auto failed = [&](const char* what, const Status& status) -> Status {
    if (status.code() != Code::kDamaged && status.code() != Code::kUnsupported) return status;
    lines.push_back(
        fmt::format("the output has no place for {}, and they cannot be read: {}; nmverify says "
                    "what is damaged",
                    what, status.text()));
    return {};
  };
  if (const Result<TagCounts> tags = reader.tag_counts(); !tags.ok())
    NMB_TRY(failed("tags", tags.status()));
  else if (tags->tags > 0)
    lines.push_back(no_place_for_tags(*tags));
  if (const auto files = reader.external_files(); !files.ok()) {
    NMB_TRY(failed("originals", files.status()));
  } else if (const auto count = std::ranges::count_if(*files, &ExternalFile::is_original);
             count > 0) {
    lines.push_back(fmt::format(
        "the output has no place for {} {} (input files kept whole); only {} has {}", count,
        count == 1 ? "original" : "originals", reader.file().name(), count == 1 ? "it" : "them"));
  }
  if (const auto additions = reader.later_additions(); !additions.ok())
    NMB_TRY(failed("additions of a later version of the format", additions.status()));
  else
    for (const std::string& addition : *additions)
      lines.push_back("the output has no place for " + addition +
                      ", which a later version of the format added; only " + reader.file().name() +
                      " has it");
  return lines;
}

}  // namespace nmb::tools
