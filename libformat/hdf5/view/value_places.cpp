#include "view/value_places.h"

#include <algorithm>

#include "extent/data_map.h"
#include "wire/joined_text.h"

namespace nmb {

Result<ValuePlaces> ValuePlaces::of(const ReaderCore& core, const BlockEntry& entry, bool of_copy) {
  ValuePlaces places;
  if (entry.extent_length == 0) return places;
  if (entry.growth == 0 && (entry.extent_position != 0 || !entry.has_map())) {
    places.runs_.push_back({0, entry.extent_length, entry.extent_position});
    return places;
  }
  NMB_TRY(core.for_each_piece(entry, [&](const Piece& piece) -> Status {
    const bool is_coded = !piece.hole && piece.codec != PieceCodec::kNone;
    std::uint64_t position = piece.hole ? 0 : piece.position;
    if (!piece.hole && piece.file != 0) {
      NMB_ASSIGN(const std::shared_ptr<const FileTable> files, core.external().table());
      const bool is_original = piece.file <= files->rows() && files->is_original(piece.file - 1);
      if (!is_original && !of_copy)
        return Status(Code::kUnsupported, "a view cannot show values in other files");
      if (is_original) {
        NMB_ASSIGN(position, core.external().place_in_original(piece.file, piece.position,
                                                               piece.stored_length()));
        if (position == 0) return Status(Code::kUnsupported, "a view needs uncompressed values");
      }
    }
    if (is_coded) {
      places.has_coded_ = true;
      places.runs_.push_back(
          {piece.logical, piece.end(), position, piece.codec, piece.stored_length()});
      return {};
    }
    if (!places.runs_.empty() && places.runs_.back().codec == PieceCodec::kNone) {
      StoredRun& last = places.runs_.back();
      const std::uint64_t next =
          last.position == 0 ? 0 : last.position + (piece.logical - last.begin);
      if (next == position || (of_copy && next != 0 && !piece.hole)) {
        last.end = piece.end();
        return {};
      }
    }
    places.runs_.push_back({piece.logical, piece.end(), position});
    return {};
  }));
  return places;
}

Result<std::uint64_t> ValuePlaces::find(std::uint64_t offset, std::uint64_t length) const {
  const auto run = run_of(offset);
  const auto lacks = [](const char* found) {
    return failure(Code::kUnsupported, "found ", found,
                   ", expected values that are contiguous in the file");
  };
  if (run == runs_.end() || offset < run->begin) return lacks("values outside the extent");
  for (auto next = run; next != runs_.end() && next->begin < offset + length; ++next)
    if (next->codec != PieceCodec::kNone) return lacks("compressed values");
  if (length <= run->end - offset)
    return run->position == 0 ? 0 : run->position + (offset - run->begin);
  bool holes = false, stored = false;
  for (auto next = run; next != runs_.end() && next->begin < offset + length; ++next)
    (next->position == 0 ? holes : stored) = true;
  if (holes && stored) return lacks("values of which some were never written");
  return lacks("values in several places of the file");
}

std::vector<ValuePlaces::StoredRun>::const_iterator ValuePlaces::run_of(
    std::uint64_t offset) const {
  return std::ranges::upper_bound(runs_, offset, {}, &StoredRun::end);
}

std::uint64_t ValuePlaces::coded_length(std::uint64_t offset, std::uint64_t length) const {
  for (auto run = run_of(offset); run != runs_.end() && run->begin < offset + length; ++run)
    if (run->codec != PieceCodec::kNone) return run->end - run->begin;
  return 0;
}

Result<ValuePlaces::Stored> ValuePlaces::find_chunk(std::uint64_t offset,
                                                    std::uint64_t length) const {
  const auto run = run_of(offset);
  if (run != runs_.end() && run->codec != PieceCodec::kNone) {
    if (run->begin != offset || run->end != offset + length)
      return failure(Code::kUnsupported, "found compressed pieces that are not chunks of HDF5");
    if (run->codec != PieceCodec::kDeflate)
      return failure(Code::kUnsupported, "found values compressed with another codec than deflate");
    return Stored{run->position, run->stored_length, true};
  }
  NMB_ASSIGN(const std::uint64_t position, find(offset, length));
  return Stored{position, position == 0 ? 0 : length, false};
}

std::uint64_t ValuePlaces::run_end(std::uint64_t offset) const {
  const auto run = run_of(offset);
  return run == runs_.end() ? offset : run->end;
}

}  // namespace nmb
