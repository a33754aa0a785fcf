// Checks the chunks of a variable: each chunk must lie where the chunk table says, and it must be
// decodable (spec/extended.md, section 15.2, R-XC-1).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "client/damaged_chunks.h"
#include "model/dataset.h"
#include "model/extension.h"
#include "values/chunk_table.h"

namespace nmb {

// Counts variables with chunks that could not be checked, grouped by the unknown filter.
class NotDecoded {
 public:
  // chunks: number of chunks of the variable that could not be checked.
  void note(const Storage& storage, std::uint64_t chunks);
  // Reports one warning for each unknown filter.
  void tell(const std::function<void(std::string found, std::string expected)>& warn) const;
  // Returns these warnings as sentences.
  std::vector<std::string> texts() const;

 private:
  struct FilterCounts {
    std::uint64_t variables = 0, chunks = 0;
  };
  std::map<std::string, FilterCounts> by_filter_;
};

class ChunkChecker {
 public:
  // row: the chunk's row in the chunk table. The offset in a row counts from the first byte of the
  // variable's region.
  using Tell = std::function<void(const ChunkRow& row, const Status& status)>;

  explicit ChunkChecker(unsigned threads) : threads_(threads) {}

  // Checks the chunks in order, and calls tell() for every chunk that has an error. Fails if the
  // chunk table cannot be read. Returns the number of chunks that were only read: an unknown filter
  // was applied to them, and no checksum was added after it. All decoded chunks together may have
  // at most 1 GiB plus 1100 times the stored size of the variable; *left_out counts the chunks that
  // were not checked because of this limit.
  Result<std::uint64_t> check(const Dataset& block, const Storage& storage, const Tell& tell,
                              std::uint64_t* left_out);

 private:
  std::vector<Result<bool>> check_all(const ChunkTable& table, std::uint64_t first,
                                      const std::vector<ChunkRow>& rows) const;

  const unsigned threads_;
};

// Called for a variable with chunks that were not checked, because they are too large.
using OnChunksLeftOut = std::function<void(VarId variable, std::uint64_t chunks)>;

// Checks all chunks of a block on several threads. Returns the variables with damaged chunks, in
// the order of the storage section, and describes the first damaged chunk of each. Also returns
// marked variables whose chunks were not all decoded. Counts chunks with unknown filters in
// *not_decoded. Errors: kDamaged (R-H5-1), kIo.
Result<std::vector<hdf5::DamagedChunks>> find_damaged_chunks(const Dataset& block, unsigned threads,
                                                             const OnChunksLeftOut& on_left_out,
                                                             NotDecoded* not_decoded);

}  // namespace nmb
