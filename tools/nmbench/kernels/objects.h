// Small objects that all processes describe, and the values that belong to a name.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "backend.h"

namespace nmb::bench {

// A description of all processes' objects, in order of ranks, and where this process's begin.
struct Gathered {
  Description all;
  std::size_t first_block = 0, first_variable = 0;
};
// Collective.
Gathered gather_descriptions(const Description& mine, int rank, int size);

// The definitions as read_metadata() sums them. flat: without names of blocks.
MetadataSum sum_of(const Description& objects, bool flat);

// Values that depend on the name alone, exact in every type.
std::vector<std::byte> values_of_name(const std::string& name, Type type, std::uint64_t count);

}  // namespace nmb::bench
