#include "merge/storing/view_pieces.h"

#include <algorithm>
#include <optional>
#include <span>

namespace nmb {

namespace {

// Variables of fewer bytes than the first limit, and records in which a variable has fewer bytes
// than the second limit, are not encoded. Each record needs a piece of its own, so the second limit
// also limits the number of pieces.
constexpr std::uint64_t kLeastVariable = 1024, kLeastRecord = 16 * 1024;
// The minimum length of a piece that does not have a whole variable or record.
constexpr std::uint64_t kLeastPiece = 4096;

// Returns the length of the pieces of an array, or 0 if no length is suitable. A piece has whole
// rows: its elements differ only in the index of one dimension and in the indexes of the dimensions
// after it.
std::uint64_t piece_length(std::span<const std::uint64_t> lengths, std::uint64_t element,
                           std::uint32_t piece_size) {
  std::uint64_t bytes = element;
  for (std::size_t i = lengths.size(); i-- > 0;) {
    const std::uint64_t row = bytes;
    bytes *= lengths[i];
    if (bytes <= piece_size) continue;
    std::uint64_t rows = piece_size / row;
    while (lengths[i] % rows != 0) --rows;
    return rows * row >= kLeastPiece ? rows * row : 0;
  }
  return bytes;
}

}  // namespace

std::vector<EqualPieces> pieces_for_view(const Metadata& metadata, const ClassicLayout& layout,
                                         std::uint64_t records, std::uint64_t length,
                                         std::uint32_t piece_size) {
  std::vector<EqualPieces> all;
  for (VarId id = 0; id < metadata.variable_count(); ++id) {
    const Variable variable = metadata.variable(id);
    const bool has_records = metadata.is_record_variable(id);
    const std::optional<std::uint64_t> bytes = metadata.array_bytes(id);
    if (!bytes || *bytes < (has_records ? kLeastRecord : kLeastVariable) || *bytes > length)
      continue;
    std::vector<std::uint64_t> lengths;
    for (const DimId dimension : variable.dimensions.subspan(has_records ? 1 : 0))
      lengths.push_back(metadata.dimension(dimension).length);
    const std::uint64_t piece =
        piece_length(lengths, metadata.value_size(variable.type), piece_size);
    if (piece == 0) continue;
    std::uint64_t begin = metadata.begin(id) - layout.header_length;
    for (std::uint64_t n = has_records ? records : 1; n > 0 && begin <= length - *bytes; --n) {
      all.push_back({begin, begin + *bytes, piece});
      begin += layout.record_size;
    }
  }
  std::ranges::sort(all, {}, &EqualPieces::begin);
  std::uint64_t end = 0;
  std::erase_if(all, [&](const EqualPieces& range) {
    if (range.begin < end) return true;  // variables of a file may overlap
    end = range.end;
    return false;
  });
  return all;
}

std::uint64_t bytes_outside(const std::vector<EqualPieces>& ranges, std::uint64_t length) {
  for (const EqualPieces& range : ranges) length -= range.end - range.begin;
  return length;
}

}  // namespace nmb
