// Datasets whose values are LaidValues.
#pragma once

#include <cstdint>
#include <memory>

#include "model/dataset.h"
#include "sources/laid_values.h"

namespace nmb {

// Returns a dataset with these definitions and values, and with the name of `of`. The result keeps
// `of` alive.
std::shared_ptr<const Dataset> laid_dataset(std::shared_ptr<const Dataset> of, Metadata metadata,
                                            ClassicLayout layout, std::uint64_t records,
                                            std::shared_ptr<const LaidValues> values);

// Returns the values of a classic dataset in another layout of the same definitions. The result
// keeps the dataset's extent alive, but not the dataset. metadata: the definitions with the new
// layout.
Source relaid_values(const Dataset& dataset, const Metadata& metadata, const ClassicLayout& layout);

}  // namespace nmb
