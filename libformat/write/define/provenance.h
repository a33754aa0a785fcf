// Writes the provenance of generations in global sections (spec/tables.md, section 9).
#pragma once

#include <string_view>

#include "state/writer_core.h"

namespace nmb {

// Adds a provenance to the next commit. Only rank 0 keeps the provenance.
Status add_provenance(WriterCore& w, std::string_view json);
// Fails if the file has an unknown section that forbids writing.
Status check_sections(const WriterCore& w, const Superblock& superblock);
// Writes the new sections after all other parts of the generation. Called only on rank 0. Sections
// of earlier generations keep their places.
Status write_sections(WriterCore& w);

}  // namespace nmb
