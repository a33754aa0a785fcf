// Finds where a tile lies along a dimension, from the attribute domain_decomposition alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "compare/dataset_content.h"
#include "wire/failure.h"

namespace nmb {

struct TilePart {
  std::uint64_t whole = 0;             // length of the whole dimension
  std::uint64_t first = 0, count = 0;  // the part, from 0
};

// Returns nullopt if the coordinate variable of the dimension has no such attribute. Errors: those
// of DatasetContent.
Result<std::optional<TilePart>> tile_part(DatasetContent& tile, const std::string& dimension);

}  // namespace nmb
