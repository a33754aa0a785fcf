#include "verify/sound_generation.h"

#include <memory>
#include <string>

#include "reader/file_reader.h"
#include "superblock/choosing.h"
#include "superblock/settled_head.h"
#include "verify/verify.h"
#include "wire/joined_text.h"

namespace nmb {

Result<bool> is_sound(const ByteSource& file, const HeadReading& reading,
                      const FoundSuperblock& generation) {
  NMB_ASSIGN(const std::shared_ptr<const ByteSource> committed,
             as_committed(not_owned(file), reading, generation));
  FirstFinding ignored;
  NMB_ASSIGN(const VerifySummary summary, verify(*committed, {}, ignored));
  const Code incomplete = summary.incomplete.code();
  if (incomplete != Code::kOk && incomplete != Code::kUnsupported) return summary.incomplete;
  return summary.findings == 0;
}

Status check_nothing_pending(const FileReader& reader) {
  const ByteSource& file = reader.file();
  if (file.size() <= reader.file_length()) return {};
  NMB_ASSIGN(const Choice choice, choose_newest(file, TrailerScope::kAll));
  if (choice.in_progress) return {};
  if (choice.stray)
    return Status(Code::kDamaged, file.name(), choice.stray->position, "R-SB-13",
                  joined_text("generation ", choice.stray->fields.generation,
                              " lies after generation ", choice.newest.fields.generation,
                              ", but does not follow it: a part of the file is lost; nmverify "
                              "--recover finds all blocks"));
  if (!choice.pending) return {};
  NMB_ASSIGN(const bool sound, is_sound(file, choice.reading, *choice.pending));
  if (!sound) return {};
  // A writer may have adopted the generation in the meantime.
  NMB_ASSIGN(const bool stays, is_unchanged(file, choice));
  if (!stays) return {};
  const std::string pending = std::to_string(choice.pending->fields.generation);
  return Status(
      Code::kDamaged, file.name(), choice.pending->position, "R-SB-13",
      joined_text("generation ", pending, " is complete, but the head refers to generation ",
                  choice.newest.fields.generation,
                  "; the newer generation may have been committed: accept it with "
                  "\"nmcat --append\", or check the file with nmverify"));
}

}  // namespace nmb
