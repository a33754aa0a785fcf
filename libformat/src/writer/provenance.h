// Global sections: from what the generations were made (spec/format.md, section 9).
#pragma once

#include <string_view>

#include "writer/writer_core.h"

namespace nmb {

// The first rank keeps it for the next commit.
Status add_provenance(WriterCore& w, std::string_view json);
// Fails if a section that this version does not know forbids writing.
Status check_sections(const WriterCore& w, const Superblock& superblock);
// The first rank writes them after all else of the generation. Sections of earlier generations keep
// their places.
Status write_sections(WriterCore& w);

}  // namespace nmb
