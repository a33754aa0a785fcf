// Global sections: what generations were made of (spec/format.md, section 9).
#pragma once

#include <string_view>

#include "writer/writer_core.h"

namespace nmb {

// Kept on the first rank for the next commit.
Status add_provenance(WriterCore& w, std::string_view json);
// Sections that this version does not know may hinder a writer.
Status check_sections(const WriterCore& w, const Superblock& superblock);
// By the first rank, behind all else of the generation. Those of earlier generations stay where
// they are.
Status write_sections(WriterCore& w);

}  // namespace nmb
