// Verifies generations that the head of the file does not name (see verify/sound_generation.h).
#include "verify/sound_generation.h"

#include <memory>
#include <string>

#include "format/superblock/choosing.h"
#include "format/superblock/settled_head.h"
#include "nmb/reader.h"
#include "nmb/verify.h"
#include "wire/joined_text.h"

namespace nmb {

Result<bool> is_sound(const ByteSource& file, const HeadReading& reading,
                      const FoundSuperblock& generation) {
  NMB_ASSIGN(const std::unique_ptr<const ByteSource> committed,
             as_committed(file, reading, generation));
  FirstFinding ignored;
  NMB_ASSIGN(const VerifySummary summary, verify(*committed, {}, ignored));
  const Code incomplete = summary.incomplete.code();
  if (incomplete != Code::kOk && incomplete != Code::kUnsupported) return summary.incomplete;
  return summary.findings == 0;
}

Status check_nothing_pending(const Reader& reader) {
  const ByteSource& file = reader.file();
  if (file.size() <= reader.file_length()) return {};
  NMB_ASSIGN(const Choice first, choose_newest(file, Lookout::kAll));
  if (file.has_writer()) return {};
  if (first.stray)
    return Status(Code::kDamaged, file.name(), first.stray->position, "R-SB-13",
                  joined_text("generation ", first.stray->fields.generation,
                              " lies after generation ", first.newest.fields.generation,
                              ", but does not follow it: a part of the file is lost; nmverify "
                              "--recover finds all blocks"));
  if (!first.pending) return {};
  // After choose_newest() read the file, a writer may have committed the generation and ended. So
  // the head is read again.
  file.forget();
  NMB_ASSIGN(const Choice again, choose_newest(file, Lookout::kAll));
  if (!again.pending || again.pending->bytes != first.pending->bytes) return {};
  NMB_ASSIGN(const bool sound, is_sound(file, again.reading, *again.pending));
  if (!sound) return {};
  const std::string pending = std::to_string(again.pending->fields.generation);
  return Status(
      Code::kDamaged, file.name(), again.pending->position, "R-SB-13",
      joined_text("generation ", pending, " is complete, but the head refers to generation ",
                  again.newest.fields.generation,
                  "; the newer generation may have been committed: accept it with "
                  "\"nmcat --append\", or check the file with nmverify"));
}

}  // namespace nmb
