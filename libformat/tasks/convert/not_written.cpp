#include "convert/not_written.h"

#include "wire/joined_text.h"

namespace nmb {

std::string no_place_for_tags(const TagCounts& counts) {
  return joined_text("the output has no place for ", counts.tags,
                     counts.tags == 1 ? " tag" : " tags", " of ", counts.blocks,
                     counts.blocks == 1 ? " block" : " blocks", "; an .nmb output keeps ",
                     counts.tags == 1 ? "it" : "them");
}

std::string no_place_for_records(const LostRecords& lost) {
  return joined_text("the output has no place for ", lost.text(), "; an .nmb output keeps them");
}

std::string no_place_for_addition(const std::string& addition, const std::string& file) {
  return joined_text("the output has no place for ", addition,
                     ", which a later version of the format added; only ", file, " has it");
}

Result<std::vector<std::string>> not_written_lines(const FileReader& reader) {
  std::vector<std::string> lines;
  // A damaged table must not prevent the conversion of intact blocks.
  const auto failed = [&](const char* what, const Status& status) -> Status {
    if (status.code() != Code::kDamaged && status.code() != Code::kUnsupported) return status;
    lines.push_back(joined_text("the output has no place for ", what, ", and they cannot be read: ",
                                status.text(), "; nmverify reports the damage"));
    return {};
  };
  if (const Result<TagCounts> tags = reader.tag_counts(); !tags.ok())
    NMB_TRY(failed("tags", tags.status()));
  else if (tags->tags > 0)
    lines.push_back(no_place_for_tags(*tags));
  if (const auto additions = reader.later_additions(); !additions.ok())
    NMB_TRY(failed("additions of a later version of the format", additions.status()));
  else
    for (const std::string& addition : *additions)
      lines.push_back(no_place_for_addition(addition, reader.file().name()));
  return lines;
}

}  // namespace nmb
