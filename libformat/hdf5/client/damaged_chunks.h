// DamagedChunks: the chunks of a variable from HDF5 that cannot be decoded. NMB copies chunks
// without decoding them, so the hdf5 section marks the variables that have such chunks
// (spec/hdf5_section.md, property 14).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/metadata.h"
#include "wire/failure.h"

namespace nmb::hdf5 {

struct DamagedChunks {
  VarId variable = 0;
  std::uint64_t chunks = 0;  // number of chunks; 0 if the variable is marked, but was not decoded
  std::string first{};       // number and fault of the first chunk; empty if `chunks` is 0

  // Returns "2 chunks cannot be decoded (first: chunk 1: REASON); ..." with the consequences.
  std::string text() const;
};

// Returns the marked variables, without decoding chunks. Errors: kDamaged (R-H5-1).
Result<std::vector<DamagedChunks>> marked_chunks(const Metadata& metadata);

// Marks the variables in the hdf5 section. Errors: kDamaged (R-H5-1).
Status mark_damaged_chunks(const std::vector<DamagedChunks>& damaged, Metadata* metadata);

}  // namespace nmb::hdf5
