// Finds where the values of inputs are stored (see merge/reading/input_links.h).
#include "merge/reading/input_links.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "model/name_rules.h"
#include "reader/extent_pieces.h"
#include "wire/spliced_source.h"

namespace nmb {

Result<ExternalFile> InputLinks::named(const ByteSource& file) {
  auto known = paths_.find(file.name());
  if (known == paths_.end()) {
    NMB_ASSIGN(std::string path, external_path(file.name(), output_, allowed_));
    known = paths_.emplace(file.name(), std::move(path)).first;
  }
  return ExternalFile{known->second, file.size()};
}

Result<std::optional<LinkedValues>> InputLinks::behind(const Source& file, std::uint64_t begin,
                                                       Source values, std::string origin) {
  const std::uint64_t length = values->size();
  if (length == 0) return std::optional<LinkedValues>();
  LinkedValues out;
  NMB_ASSIGN(ExternalFile row, named(*file));
  out.files.push_back(std::move(row));
  for (std::uint64_t at = 0; at < length; at += piece_size_) {
    LinkedPiece& piece = out.pieces.emplace_back();
    piece.length = piece.stored_length = std::min<std::uint64_t>(piece_size_, length - at);
    piece.source_offset = at;
    piece.position = begin + at;
  }
  out.source = std::move(values);
  out.origin = std::move(origin);
  return std::optional<LinkedValues>(std::move(out));
}

Result<std::optional<LinkedValues>> InputLinks::in_runs(const Source& file,
                                                        std::span<const hdf5::RunInFile> runs,
                                                        Source values) {
  if (runs.empty()) return std::optional<LinkedValues>();
  LinkedValues out;
  NMB_ASSIGN(ExternalFile row, named(*file));
  out.files.push_back(std::move(row));
  std::uint64_t at = 0;
  // Adds pieces up to `end`; each piece lies within one window. position: position of the bytes in
  // the file, or nullopt if the file does not store them.
  const auto add = [&](std::uint64_t end, std::optional<std::uint64_t> position) {
    while (at < end) {
      LinkedPiece& piece = out.pieces.emplace_back();
      piece.length = piece.stored_length = std::min(end, (at / piece_size_ + 1) * piece_size_) - at;
      piece.source_offset = at;
      piece.file = position ? 0 : LinkedPiece::kCopied;
      if (position) {
        piece.position = *position;
        *position += piece.length;
      }
      at += piece.length;
    }
  };
  for (const hdf5::RunInFile& run : runs) {
    add(run.offset, std::nullopt);
    add(run.offset + run.length, run.position);
  }
  add(values->size(), std::nullopt);
  out.source = std::move(values);
  return std::optional<LinkedValues>(std::move(out));
}

Result<std::optional<LinkedValues>> InputLinks::of_block(const Reader& reader, const Source& file,
                                                         const BlockEntry& entry) {
  NMB_ASSIGN(const std::vector<ExtentPiece> pieces, extent_pieces(reader, entry));
  LinkedValues out;
  std::vector<Source> sources;
  std::vector<SplicedSource::Run> runs;
  std::map<std::uint32_t, std::uint32_t> numbers;  // index in `sources` for each file number
  std::uint64_t at = 0;
  std::vector<ExternalFile> rows;  // rows of the file table
  if (std::ranges::any_of(pieces, [](const ExtentPiece& piece) { return piece.file != 0; })) {
    NMB_ASSIGN(rows, reader.external_files());
  }
  for (const ExtentPiece& found : pieces) {
    LinkedPiece& piece = out.pieces.emplace_back();
    piece.length = found.length;
    if (found.stored_length == 0) continue;
    const bool coded = found.codec != PieceCodec::kNone;
    if (found.length > piece_size_ ||
        (!coded && found.offset / piece_size_ != (found.offset + found.length - 1) / piece_size_))
      return Status(Code::kUnsupported, file->name(), found.position, "",
                    "a piece of " + std::to_string(found.length) +
                        " bytes cannot be linked because it crosses a multiple of the piece size " +
                        std::to_string(piece_size_));
    if (found.file != 0 && rows[found.file - 1].is_original)
      return Status(Code::kUnsupported, file->name(), kNoOffset, "",
                    "the values of block " + in_quotes(entry.name) +
                        " are in an original and cannot be linked; leave out --link to copy "
                        "them");
    const auto [number, is_new] =
        numbers.emplace(found.file, static_cast<std::uint32_t>(sources.size()));
    if (is_new) {
      Source source = file;
      if (found.file != 0) {
        NMB_ASSIGN(source, reader.open_external(found.file));
      }
      NMB_ASSIGN(ExternalFile row, named(*source));
      out.files.push_back(std::move(row));
      sources.push_back(std::move(source));
    }
    piece.codec = found.codec;
    piece.stored_length = found.stored_length;
    piece.source_offset = at;
    piece.file = number->second;
    piece.position = found.position;
    piece.sum = found.sum;
    runs.push_back({at, found.stored_length, found.position, number->second});
    at += found.stored_length;
  }
  if (runs.empty()) return std::optional<LinkedValues>();
  out.source =
      std::make_shared<SplicedSource>(std::move(sources), std::move(runs), at, file->name());
  return std::optional<LinkedValues>(std::move(out));
}

}  // namespace nmb
