// MissingChunks: chunks that HDF5 cannot read, because they were never written and their fill value
// has variable length. To read such a chunk, the HDF5 library would have to write the fill value to
// the file.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hdf5_types/hdf5_section.h"
#include "model/extension.h"
#include "slabs.h"
#include "values/chunk_grid.h"
#include "wire/failure.h"

namespace nmb::hdf5 {

// Maximum number of chunks of a data set. The table of these chunks takes 1 GiB.
inline constexpr std::uint64_t kMostChunksOfDataSet = (std::uint64_t{1} << 30) / ChunkRow::kLength;

struct MissingChunks {
  ChunkGrid grid;
  std::vector<bool> is_missing;  // by number of the chunk
  hid_t plist = -1;              // the creation properties, which contain the fill value
};

// Returns whether a data set has storage for values. Errors: kDamaged, also if the index of the
// chunks cannot be read.
Result<bool> has_storage(hid_t data_set, const std::string& object);

// Returns whether HDF5 1.10 may report wrong positions of chunks. This happens if exactly one
// dimension is unlimited and it is not the first dimension, because HDF5 then uses a special chunk
// index.
bool has_misplaced_chunks(const Space& space);

// Returns the failure of a data set whose index has `present` chunks, of which only `found` are at
// positions inside the data set.
Status chunks_elsewhere(const std::string& object, std::uint64_t found, std::uint64_t present);

// Returns the number of chunks of a data set that are stored.
Result<std::uint64_t> chunks_present(hid_t data_set, const std::string& object);

// Finds the chunks that HDF5 cannot read in a data set with values of variable length. Returns
// nullopt if HDF5 can read the whole data set. Errors: kLimit for more than kMostChunksOfDataSet
// chunks.
Result<std::optional<MissingChunks>> missing_chunks(hid_t data_set, hid_t plist, const Space& space,
                                                    const Creation& creation,
                                                    const std::string& object);

// Reads the elements of a slab that are in stored chunks into `to`, which must have zeros for the
// whole slab. Returns for each element of the slab whether its chunk is missing.
Result<std::vector<bool>> read_stored_chunks(const MissingChunks& missing, hid_t data_set,
                                             hid_t type, const Slab& slab, std::byte* to,
                                             const std::string& object);

}  // namespace nmb::hdf5
