// Loads the content of blocks, and limits the memory and the time that a file takes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "compare/compare.h"
#include "compare/content_values.h"
#include "compare/dataset_content.h"
#include "netcdf/netcdf_view.h"
#include "wire/failure.h"

namespace nmb {

// Largest numbers of blocks and of variables whose values are read together. Threads share the work
// on all of them.
inline constexpr std::size_t kMostBlocksTogether = 64, kMostVariablesTogether = 4096;

// Limits the values that the variables of a file may claim, because values that were never written
// could keep the program busy for years, although the file has only a few bytes.
class ValueBudget {
 public:
  explicit ValueBudget(std::uint64_t file_size);
  // Subtracts values of this many bytes. Errors: kLimit.
  Status take(std::uint64_t bytes);

 private:
  std::uint64_t left_;
};

// Returns the memory for values of each file. All threads together read about as many values at
// once as the cache for chunks holds. files: the number of files that are read.
ContentValues::ReadBudget read_budget(const ContentOptions& options, unsigned files);

// Returns the lengths of the dimensions of a file. Loads all blocks that came from HDF5. Errors:
// those of the functions in `blocks`.
Result<DimensionLengths> dimension_lengths(const FileBlocks& blocks);

// Loads the content of a block. Errors: those of the functions in `blocks`; kDamaged. The message
// names the block.
Result<DatasetContent> content_of(const ContentFile& file, const BlockEntry& entry,
                                  const DimensionLengths& lengths);

// Adds the name of the block to a failure.
Status of_block(const Status& status, const DatasetContent& block);

}  // namespace nmb
