#include "origins/linked_pieces.h"

#include <algorithm>

#include "extent/external_path.h"
#include "model/name_rules.h"
#include "wire/checked.h"
#include "wire/hash.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

bool is_linked(const LinkedPiece& piece) {
  return piece.stored_length != 0 && piece.file != LinkedPiece::kCopied;
}

}  // namespace

Result<LinkedPieces> LinkedPieces::make(LinkedValues values, std::uint32_t piece_size,
                                        std::string_view block) {
  const auto wrong = [&](const std::string& found) {
    return Status(Code::kUsage, "found " + found + " for block " + in_quotes(block));
  };
  for (const ExternalFile& file : values.files)
    if (const char* error = values.original ? nullptr : external_path_error(file.path))
      return wrong(joined_text("a path of a linked file with ", error));
  LinkedPieces out;
  out.used_.resize(values.files.size());
  std::vector<std::vector<ByteRange>> ranges(values.files.size());
  for (const LinkedPiece& piece : values.pieces) {
    const std::uint64_t start = out.length_;
    if (const char* error = piece_error(piece, piece_size, *values.source, &out.length_))
      return wrong(error);
    const bool hole = piece.stored_length == 0, coded = piece.codec != PieceCodec::kNone;
    if (!values.origin.empty() &&
        (hole || coded || start % piece_size != 0 || piece.source_offset != start))
      return wrong("an origin, although the pieces are not the windows of the source");
    if (hole) continue;
    if (!is_linked(piece)) {
      if (coded || !values.origin.empty())
        return wrong("a codec or an origin of a piece that must be copied");
      add_window(piece, &out.copied_);
      continue;
    }
    if (piece.file >= values.files.size())
      return wrong("a piece whose file is not in the list of files");
    const std::uint64_t in_file = values.files[piece.file].size;
    if (in_file >> 63 || piece.position > in_file || piece.stored_length > in_file - piece.position)
      return wrong("a piece outside its file");
    out.used_[piece.file] = true;
    ranges[piece.file].push_back({piece.position, piece.position + piece.stored_length});
    out.linked_bytes_ += piece.stored_length;
  }
  for (std::vector<ByteRange>& of_file : ranges) {
    std::ranges::sort(of_file, {}, &ByteRange::begin);
    for (std::size_t i = 1; i < of_file.size(); ++i)
      if (of_file[i].begin < of_file[i - 1].end)
        return wrong("two pieces with the same byte of a file (R-EX-17)");
  }
  if (out.linked_bytes_ == 0) return wrong("no piece in another file");
  out.copied_.source = values.source;
  out.values_ = std::move(values);
  return out;
}

Status LinkedPieces::check(std::string_view block, std::uint64_t extent_length, bool shared) const {
  return check_pieces(block, length_, extent_length, shared);
}

Move LinkedPieces::reading_move() const {
  Move out;
  out.source = values_.source;
  out.origin = values_.origin;
  if (!values_.origin.empty()) {
    out.runs = {{0, 0, 0, 0, length_, 1}};
    out.length = length_;
    return out;
  }
  for (const LinkedPiece& piece : values_.pieces)
    if (is_linked(piece)) add_window(piece, &out);
  return out;
}

void LinkedPieces::want_sums(std::vector<WantedSum>* wanted) {
  const auto count = static_cast<std::size_t>(std::ranges::count_if(values_.pieces, is_linked));
  sums_.assign(count, kWidestSum);
  auto sum = sums_.begin();
  for (const LinkedPiece& piece : values_.pieces)
    if (is_linked(piece)) wanted->push_back({piece.position, piece.stored_length, &*sum++});
}

Status LinkedPieces::check_sums() const {
  auto sum = sums_.begin();
  for (const LinkedPiece& piece : values_.pieces) {
    if (!is_linked(piece)) continue;
    if (piece.sum && *piece.sum != *sum)
      return Status(Code::kDamaged, values_.source->name(), piece.position, "R-EX-5",
                    "found values with " + sum_text(*sum) + " in " +
                        in_quotes(values_.files[piece.file].path) + ", expected " +
                        sum_text(*piece.sum));
    ++sum;
  }
  return {};
}

Status LinkedPieces::take_sums(std::vector<std::uint64_t> sums, bool are_known) {
  sums_ = std::move(sums);
  return are_known ? check_sums() : Status();
}

Result<FinishedExtent> LinkedPieces::finish(const FinishContext& context) {
  if (values_.original && !context.dry_run) NMB_TRY(check_sums());
  FinishedExtent out;
  std::uint64_t at = 0, position = context.run_position;
  auto sum = sums_.begin();
  auto copied_sum = copied_.sums.begin();
  for (const LinkedPiece& piece : values_.pieces) {
    if (piece.stored_length == 0) {
      add_hole(at, piece.length, &out.pieces);
    } else if (piece.file == LinkedPiece::kCopied) {
      out.pieces.push_back({at, piece.length, false, position, *copied_sum++});
      position = round_up(position + piece.stored_length, 8);
    } else {
      const bool coded = piece.codec != PieceCodec::kNone;
      out.pieces.push_back({at, piece.length, false, piece.position, *sum++, piece.codec,
                            coded ? piece.stored_length : 0, numbers_[piece.file]});
    }
    at += piece.length;
  }
  return out;
}

Result<Counting> LinkedPieces::count(const CountContext& context) {
  return count_pieces(
      values_.pieces.size(), [&](std::size_t i) -> const StoredPiece& { return values_.pieces[i]; },
      *values_.source, context);
}

}  // namespace nmb
