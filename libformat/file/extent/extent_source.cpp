#include "extent/extent_source.h"

#include <algorithm>
#include <cstring>

#include "extent/external_files.h"
#include "extent/piece_codec.h"
#include "wire/hash.h"
#include "wire/joined_text.h"

namespace nmb {

ExtentSource::ExtentSource(const ByteSource& file, const ExternalFiles* external,
                           const Superblock& superblock, const BlockEntry& entry,
                           std::span<const GrowthRow> growth,
                           std::optional<std::vector<std::byte>> inline_bytes,
                           const FillPattern& fill, PieceCache& cache, Unverified unverified)
    : file_(file),
      external_(external),
      length_(entry.extent_length),
      settled_(entry.settled_length()),
      run_position_(entry.growth == 0 ? entry.extent_position : 0),
      run_sum_(entry.extent_sum),
      piece_size_(superblock.piece_size),
      mapped_(entry.has_map() || entry.growth != 0),
      hole_(entry.hole && !mapped_),
      unverified_(unverified),
      inline_bytes_(std::move(inline_bytes)),
      fill_(fill),
      cache_(cache),
      pieces_(file, external, superblock, entry, growth) {}

Status ExtentSource::check_offset(std::uint64_t offset, std::uint64_t length) const {
  if (offset <= length_ && length <= length_ - offset) return {};
  return Status(Code::kDamaged, file_.name(), kNoOffset, "R-BK-20",
                joined_text("found values of ", length_, " bytes, expected ", length,
                            " bytes at offset ", offset));
}

Status ExtentSource::check_piece(const Piece& piece, std::span<const std::byte> bytes) const {
  const std::uint64_t sum = sum_of(bytes);
  if (sum == piece.sum) return {};
  const char* const rule = piece.logical >= settled_ ? "R-GR-3"
                           : pieces_.has_map()       ? "R-EX-5"
                                                     : "R-EX-6";
  return piece_error(piece, Code::kDamaged, rule,
                     "found values with " + sum_text(sum) + ", expected " + sum_text(piece.sum));
}

// Returns a failure with the position of the piece and the name of the file that holds it.
Status ExtentSource::piece_error(const Piece& piece, Code code, const std::string& rule,
                                 const std::string& message) const {
  if (piece.file == 0) return Status(code, file_.name(), piece.position, rule, message);
  const Result<std::string> name = external_->name_of(piece.file);
  return Status(code, name.ok() ? *name : file_.name(), piece.position, rule,
                message + ", of " + file_.name());
}

// Returns whether [from, to) may contain a whole piece of an extent that is one run of the file.
bool ExtentSource::may_hold_piece(std::uint64_t from, std::uint64_t to) const {
  const std::uint64_t first_whole = (from + piece_size_ - 1) / piece_size_ * piece_size_;
  return first_whole < to && (first_whole + piece_size_ <= to || to == length_);
}

Result<const ByteSource*> ExtentSource::file_of(const Piece& piece,
                                                std::shared_ptr<const ByteSource>* keep) const {
  if (piece.file != 0) {
    NMB_ASSIGN(*keep, external_->open(piece.file));
    return keep->get();
  }
  // Pieces in other files were checked with the data map, against the size in the file table
  // (R-FT-10).
  const std::uint64_t size = file_.size();
  if (piece.position > size || piece.stored_length() > size - piece.position)
    return Status(Code::kDamaged, file_.name(), piece.position, "R-FL-5",
                  "found a piece that ends after the end of the file");
  return &file_;
}

Result<std::vector<std::byte>> ExtentSource::stored_of(const Piece& piece) const {
  std::shared_ptr<const ByteSource> keep;
  NMB_ASSIGN(const ByteSource* const file, file_of(piece, &keep));
  std::vector<std::byte> stored(piece.stored_length());
  NMB_TRY(file->read_at(piece.position, stored));
  NMB_TRY(check_piece(piece, stored));
  return stored;
}

Status ExtentSource::load_piece(const Piece& piece, std::span<std::byte> out) const {
  if (piece.codec == PieceCodec::kNone) {
    std::shared_ptr<const ByteSource> keep;
    NMB_ASSIGN(const ByteSource* const file, file_of(piece, &keep));
    NMB_TRY(file->read_at(piece.position, out));
    return check_piece(piece, out);
  }
  NMB_ASSIGN(const std::vector<std::byte> stored, stored_of(piece));
  const Status status = decode_piece(piece.codec, stored, out);
  if (status.ok()) return {};
  return piece_error(piece, status.code(), status.rule(), status.message());
}

Result<std::vector<std::byte>> ExtentSource::load_piece(const Piece& piece) const {
  NMB_ASSIGN(std::vector<std::byte> stored, stored_of(piece));
  if (piece.codec == PieceCodec::kNone) return stored;
  Result<std::vector<std::byte>> decoded = decode_piece(piece.codec, stored, piece.length);
  if (decoded.ok()) return decoded;
  const Status& status = decoded.status();
  return piece_error(piece, status.code(), status.rule(), status.message());
}

Status ExtentSource::read_piece(const Piece& piece, std::uint64_t offset,
                                std::span<std::byte> out) const {
  if (piece.file != 0 && piece.codec == PieceCodec::kNone &&
      unverified_ == Unverified::kLinkedValues) {
    std::shared_ptr<const ByteSource> keep;
    NMB_ASSIGN(const ByteSource* const file, file_of(piece, &keep));
    return file->read_at(piece.position + (offset - piece.logical), out);
  }
  if (offset == piece.logical && out.size() == piece.length) return load_piece(piece, out);
  if (piece.is_plain() && !verifies())
    return file_.read_at(piece.position + (offset - piece.logical), out);
  NMB_ASSIGN(const PieceCache::Bytes bytes, cache_.get(piece, [&] { return load_piece(piece); }));
  std::memcpy(out.data(), bytes->data() + (offset - piece.logical), out.size());
  return {};
}

Status ExtentSource::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  NMB_TRY(check_offset(offset, out.size()));
  if (out.empty()) return {};
  // Without a data map, the sum of these bytes was checked when they were loaded.
  if (inline_bytes_ && !(verifies() && mapped_)) {
    std::memcpy(out.data(), inline_bytes_->data() + offset, out.size());
    return {};
  }
  if (hole_) {
    fill_.fill(offset, out);
    return {};
  }
  const std::uint64_t end = offset + out.size();
  // A range without a whole piece can be read from the run; this needs no data map.
  if (mapped_ && run_position_ != 0 && !verifies() && !may_hold_piece(offset, end))
    return file_.read_at(run_position_ + offset, out);
  NMB_ASSIGN(const std::vector<Piece> pieces, pieces_in(offset, end));
  for (const Piece& piece : pieces) {
    const std::uint64_t from = std::max(offset, piece.logical);
    const std::uint64_t to = std::min(end, piece.end());
    auto part = out.subspan(from - offset, to - from);
    if (piece.hole)
      fill_.fill(from, part);
    else
      NMB_TRY(read_piece(piece, from, part));
  }
  return {};
}

Result<ExtentSource::ContiguousRange> ExtentSource::contiguous_at(std::uint64_t offset) const {
  NMB_TRY(check_offset(offset, 1));
  if (inline_bytes_ || hole_) return ContiguousRange{0, length_, 0};
  if (!mapped_) return ContiguousRange{0, length_, run_position_};
  if (run_position_ != 0) {
    const std::uint64_t begin = offset / piece_size_ * piece_size_;
    return ContiguousRange{begin, std::min(length_, begin + piece_size_), run_position_ + begin};
  }
  NMB_ASSIGN(const std::vector<Piece> pieces, pieces_in(offset, offset + 1));
  const Piece& piece = pieces.front();
  return ContiguousRange{piece.logical, piece.end(), piece.is_plain() ? piece.position : 0};
}

Status ExtentSource::check(std::uint64_t offset, std::uint64_t position,
                           std::span<const std::byte> bytes,
                           const std::function<void(const Piece&, const Status&)>& bad) const {
  const std::uint64_t end = offset + bytes.size();
  if (mapped_ && run_position_ != 0 && !may_hold_piece(offset, end)) return {};
  NMB_ASSIGN(const std::vector<Piece> pieces, pieces_in(offset, end));
  for (const Piece& piece : pieces) {
    if (piece.logical < offset || piece.end() > end) continue;
    const std::uint64_t from = piece.logical - offset;
    if (!piece.is_plain() || piece.position != position + from) {
      if (run_position_ != 0)
        bad(piece, Status(Code::kDamaged, file_.name(), piece.position, "R-EX-7",
                          joined_text("found values at another position, expected position ",
                                      position + from)));
      continue;
    }
    const Status status = check_piece(piece, bytes.subspan(from, piece.length));
    if (!status.ok()) bad(piece, status);
  }
  return {};
}

Result<std::vector<Piece>> ExtentSource::pieces_in(std::uint64_t from, std::uint64_t to) const {
  std::vector<Piece> pieces;
  if (!mapped_) {
    pieces.push_back({0, length_, false, run_position_, run_sum_});
    return pieces;
  }
  std::lock_guard lock(mutex_);
  NMB_TRY(pieces_.for_each(from, to, [&](const Piece& piece) -> Status {
    pieces.push_back(piece);
    return {};
  }));
  return pieces;
}

std::uint64_t ExtentSource::sum_of_zeros(std::uint64_t length) const {
  std::lock_guard lock(mutex_);
  if (zeros_length_ == length) return zeros_sum_;
  constexpr std::byte zeros[4096]{};
  SumStream stream;
  for (std::uint64_t left = length; left > 0;) {
    const std::uint64_t part = std::min<std::uint64_t>(left, sizeof zeros);
    stream.add(std::span(zeros).first(part));
    left -= part;
  }
  zeros_length_ = length;
  return zeros_sum_ = stream.sum();
}

bool ExtentSource::is_unallocated(std::uint64_t offset, std::uint64_t length) const {
  if (!may_be_sparse() || length == 0 || offset > length_ || length > length_ - offset)
    return false;
  // A damaged data map is not reported here, but when the values are read.
  const Result<std::vector<Piece>> pieces = pieces_in(offset, offset + length);
  return pieces.ok() && std::ranges::all_of(*pieces, [&](const Piece& piece) {
           return piece.is_plain() && file_.is_unallocated(piece.position, piece.length) &&
                  sum_of_zeros(piece.length) == piece.sum;
         });
}

}  // namespace nmb
