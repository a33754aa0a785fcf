// The definitions of a description, made with a writer of this library.
#pragma once

#include "description.h"
#include "wire/failure.h"
#include "writer/file_writer.h"

namespace nmb::bench {

// Returns the handle of the first block; those of the others count up.
inline Result<BlockId> define_all(FileWriter& writer, const Description& description) {
  BlockId first = 0;
  std::size_t variable = 0, dimension = 0;
  std::vector<DimId> ids;
  for (const Description::Block& block : description.blocks) {
    NMB_ASSIGN(const BlockId id, writer.define_block(description.text(block.name)));
    if (variable == 0) first = id;
    NMB_TRY(writer.set_field(id, &EntryFields::samples, 1));
    for (std::uint32_t i = 0; i < block.variables; ++i) {
      const Description::Variable& v = description.variables[variable++];
      ids.clear();
      for (std::uint8_t axis = 0; axis < v.rank; ++axis) {
        const Description::Dimension& d = description.dimensions[dimension++];
        NMB_ASSIGN(const DimId dim, writer.def_dim(id, description.text(d.name), d.length));
        ids.push_back(dim);
      }
      NMB_ASSIGN([[maybe_unused]] const VarId var,
                 writer.def_var(id, description.text(v.name), v.type, ids));
    }
  }
  return first;
}

}  // namespace nmb::bench
