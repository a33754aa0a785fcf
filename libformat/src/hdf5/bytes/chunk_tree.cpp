// Writes the chunk trees of record variables (see chunk_tree.h).
#include "hdf5/bytes/chunk_tree.h"

namespace nmb {

Result<std::uint64_t> append_chunk_tree(std::vector<TreeChild> chunks, std::size_t rank,
                                        std::uint64_t chunk_bytes, unsigned node_rank,
                                        ViewOutput& out) {
  if (chunks.empty()) return kUndefinedAddress;
  const std::uint64_t behind_last = chunks.back().key + 1;
  // A key has the number of stored bytes, the mask of omitted filters, and the offsets of the
  // chunk's first element. The offset in the last place is within an element.
  const auto put_key = [&](Hdf5Bytes& to, std::uint64_t record, bool is_last) {
    to.put32(is_last ? 0 : chunk_bytes);
    to.put32(0);
    to.put64(record);
    to.zeros(8 * rank);
  };
  const std::size_t key_bytes = 8 + 8 * (rank + 1);
  return append_tree(std::move(chunks), {TreeUse::kChunks, node_rank, key_bytes}, behind_last,
                     put_key, out);
}

}  // namespace nmb
