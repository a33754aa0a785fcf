#include "encoding/chunk_tree.h"

namespace nmb {

namespace {

TreeShape shape_of(std::size_t rank, unsigned node_rank) {
  return {TreeUse::kChunks, node_rank, 8 + 8 * (rank + 1)};
}

}  // namespace

std::uint64_t chunk_tree_bytes(std::uint64_t chunks, std::size_t rank, unsigned node_rank) {
  return chunks == 0 ? 0 : tree_bytes(chunks, shape_of(rank, node_rank));
}

Result<std::uint64_t> append_chunk_tree(std::span<const ViewChunk> chunks, const ViewGrid& grid,
                                        unsigned node_rank, ViewOutput& out) {
  if (chunks.empty()) return kUndefinedAddress;
  const std::size_t rank = grid.chunk.size();
  std::vector<TreeChild> children;
  children.reserve(chunks.size());
  for (std::size_t i = 0; i < chunks.size(); ++i) children.push_back({i, chunks[i].address});
  std::vector<std::uint64_t> offsets(rank);
  const auto find_offsets = [&](std::uint64_t number) {
    for (std::size_t i = rank; i-- > 0; number /= grid.counts[i])
      offsets[i] = number % grid.counts[i] * grid.chunk[i];
  };
  // A key has the number of stored bytes, the mask of omitted filters, and the offsets of the
  // chunk's first element. The last offset is a byte offset within an element, and is always 0.
  const auto put_key = [&](Hdf5Bytes& to, std::uint64_t index, bool is_last) {
    const ViewChunk& chunk = chunks[is_last ? chunks.size() - 1 : index];
    find_offsets(chunk.number);
    to.put32(is_last ? 0 : chunk.bytes);
    to.put32(is_last ? 0 : chunk.filter_mask);
    for (std::size_t i = 0; i < rank; ++i)
      to.put64(!is_last ? offsets[i] : i == 0 ? offsets[0] + grid.chunk[0] : 0);
    to.zeros(8);
  };
  return append_tree(std::move(children), shape_of(rank, node_rank), chunks.size(), put_key, out);
}

}  // namespace nmb
