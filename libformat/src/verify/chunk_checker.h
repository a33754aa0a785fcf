// Chunks of a variable: whether each is where its table says and decodes (spec/format.md, section
// 15.2, R-XC-1).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "nmb/extension.h"
#include "nmb/reader.h"
#include "values/chunk_table.h"

namespace nmb {

// Variables whose chunks were read, not decoded, by the filter that is not known here.
class NotDecoded {
 public:
  // chunks: there are so many of the variable.
  void note(const Storage& storage, std::uint64_t chunks);
  // A warning for each filter.
  void tell(const std::function<void(std::string found, std::string expected)>& warn) const;

 private:
  struct Kept {
    std::uint64_t variables = 0, chunks = 0;
  };
  std::map<std::string, Kept> by_filter_;
};

class ChunkChecker {
 public:
  // row: of the chunk; its offset counts from the variable's begin.
  using Tell = std::function<void(const ChunkRow& row, const Status& status)>;

  explicit ChunkChecker(unsigned threads) : threads_(threads) {}

  // Calls tell() for what is wrong with chunks, in their order, and returns how many there are. Not
  // ok: the table cannot be read. Chunks of filters that are not known here are read, not decoded.
  // `left_out`: chunks that were not looked at because all together would decode to more than 1 GiB
  // and 1100 times what the extent has.
  Result<std::uint64_t> check(const Block& block, const Storage& storage, const Tell& tell,
                              std::uint64_t* left_out);

 private:
  std::vector<Status> load_all(const ChunkTable& table, std::uint64_t first,
                               const std::vector<ChunkRow>& rows, bool decode) const;

  const unsigned threads_;
};

}  // namespace nmb
