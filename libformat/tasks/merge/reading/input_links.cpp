#include "merge/reading/input_links.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "files/pooled_file.h"
#include "model/name_rules.h"
#include "reader/extent_pieces.h"
#include "sources/value_source.h"
#include "values/chunk_grid.h"

namespace nmb {

namespace {

// The smallest lengths in bytes for which links to an original take less space than a copy.
// kLeastRun applies to each run, kLeastLinked to all runs together.
constexpr std::uint64_t kLeastRun = 64, kLeastLinked = 512;

// Makes the pieces of an extent, in order. A piece that is not a hole never crosses a multiple of
// the piece size.
class LinkedPieceMaker {
 public:
  LinkedPieceMaker(std::uint32_t piece_size, std::vector<LinkedPiece>* pieces)
      : piece_size_(piece_size), pieces_(*pieces) {}
  // Returns the end of the last piece.
  std::uint64_t end() const { return at_; }
  // Adds pieces up to `end`. position: position of the bytes in the file, or nullopt if they must
  // be copied. file: index of the file in LinkedValues::files.
  void add(std::uint64_t end, std::optional<std::uint64_t> position, std::uint32_t file = 0) {
    while (at_ < end) {
      LinkedPiece& piece = pieces_.emplace_back();
      piece.length = piece.stored_length =
          std::min(end, (at_ / piece_size_ + 1) * piece_size_) - at_;
      piece.source_offset = at_;
      piece.file = position ? file : LinkedPiece::kCopied;
      if (position) {
        piece.position = *position;
        *position += piece.length;
      }
      at_ += piece.length;
    }
  }
  // Adds a hole up to `end`.
  void add_hole(std::uint64_t end) {
    pieces_.emplace_back().length = end - at_;
    at_ = end;
  }

 private:
  const std::uint32_t piece_size_;
  std::vector<LinkedPiece>& pieces_;
  std::uint64_t at_ = 0;
};

}  // namespace

std::string original_path(const std::string& input) {
  return input.starts_with('/') ? input.substr(input.rfind('/') + 1) : input;
}

std::optional<LinkedValues> linked_to_original(ValuesInOriginal places, Source values,
                                               std::uint32_t piece_size) {
  std::erase_if(places.runs, [](const hdf5::RunInFile& run) { return run.length < kLeastRun; });
  std::uint64_t linked = 0;
  for (const hdf5::RunInFile& run : places.runs) linked += run.length;
  if (linked < kLeastLinked) return std::nullopt;
  LinkedValues out;
  out.files.push_back({places.file->name(), places.file->size()});
  out.original = places.number;
  LinkedPieceMaker maker(piece_size, &out.pieces);
  auto hole = places.holes.begin();
  const auto copy_to = [&](std::uint64_t end) {
    for (; hole != places.holes.end() && hole->begin < end; ++hole) {
      maker.add(hole->begin, std::nullopt);
      maker.add_hole(hole->end);
    }
    maker.add(end, std::nullopt);
  };
  for (const hdf5::RunInFile& run : places.runs) {
    copy_to(run.offset);
    maker.add(run.offset + run.length, run.position);
  }
  copy_to(values->size());
  out.source = std::move(values);
  return out;
}

std::uint64_t copied_values(const std::optional<LinkedValues>& links, std::uint64_t extent_length,
                            const Metadata& metadata) {
  std::uint64_t copied = links ? 0 : extent_length;
  if (links)
    for (const LinkedPiece& piece : links->pieces)
      if (piece.file == LinkedPiece::kCopied) copied += piece.stored_length;
  if (!metadata.extension()) return copied;
  for (const Storage& storage : metadata.extension()->storage) {
    if (storage.kind != StorageKind::kChunked) continue;
    std::uint64_t table = ChunkRow::kLength;
    const std::span<const DimId> dimensions = metadata.variable(storage.variable).dimensions;
    for (std::size_t i = 0; i < dimensions.size(); ++i)
      table *= chunks_along(metadata.dimension(dimensions[i]).length, storage.chunk[i]);
    copied -= std::min(copied, table);
  }
  return copied;
}

Result<std::optional<ValuesInOriginal>> values_in_original(
    const FileReader& reader, const BlockEntry& entry, const std::set<std::uint32_t>& originals) {
  std::optional<ValuesInOriginal> out;
  if (!entry.has_map()) return out;
  NMB_ASSIGN(const std::vector<ExtentPiece> pieces, extent_pieces(reader, entry));
  ValuesInOriginal found;
  for (const ExtentPiece& piece : pieces) {
    if (piece.codec != PieceCodec::kNone) return out;
    if (piece.stored_length == 0) {
      found.holes.push_back({piece.offset, piece.offset + piece.length});
      continue;
    }
    if (piece.file == 0) continue;
    if (!originals.contains(piece.file)) return out;
    if (found.number != 0 && found.number != piece.file) return out;
    found.number = piece.file;
    std::vector<hdf5::RunInFile>& runs = found.runs;
    if (!runs.empty() && runs.back().offset + runs.back().length == piece.offset &&
        runs.back().position + runs.back().length == piece.position)
      runs.back().length += piece.length;
    else
      runs.push_back({piece.offset, piece.length, piece.position});
  }
  if (found.number == 0) return out;
  NMB_ASSIGN(found.file, reader.open_external(found.number));
  out = std::move(found);
  return out;
}

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
  LinkedPieceMaker maker(piece_size_, &out.pieces);
  for (const hdf5::RunInFile& run : runs) {
    maker.add(run.offset, std::nullopt);
    maker.add(run.offset + run.length, run.position);
  }
  maker.add(values->size(), std::nullopt);
  out.source = std::move(values);
  return std::optional<LinkedValues>(std::move(out));
}

Result<std::optional<LinkedValues>> InputLinks::of_parts(const Source& values) {
  // Reading many short pieces takes longer than copying the values.
  constexpr std::uint64_t kLeastPiece = 64 << 10;
  LinkedValues out;
  std::map<std::string, std::uint32_t> numbers;  // index in `out.files` for each path
  LinkedPieceMaker maker(piece_size_, &out.pieces);
  const auto link = [&](const PooledFile* file, std::uint64_t offset,
                        std::uint64_t length) -> Status {
    if (!file) {
      maker.add(maker.end() + length, std::nullopt);
      return {};
    }
    const auto [number, is_new] =
        numbers.emplace(file->name(), static_cast<std::uint32_t>(out.files.size()));
    if (is_new) {
      NMB_ASSIGN(ExternalFile row, named(*file));
      out.files.push_back(std::move(row));
    }
    maker.add(maker.end() + length, offset, number->second);
    return {};
  };
  const Status status = visit_stored(*values, {0, values->size()}, link);
  if (status.code() == Code::kUnsupported) return std::optional<LinkedValues>();
  NMB_TRY(status);
  std::uint64_t linked = 0;
  for (const LinkedPiece& piece : out.pieces)
    if (piece.file != LinkedPiece::kCopied) linked += piece.length;
  if (linked == 0 || linked / out.pieces.size() < kLeastPiece) return std::optional<LinkedValues>();
  out.source = values;
  return std::optional<LinkedValues>(std::move(out));
}

Result<std::optional<LinkedValues>> InputLinks::of_block(const FileReader& reader,
                                                         const Source& file,
                                                         const BlockEntry& entry) {
  NMB_ASSIGN(const std::vector<ExtentPiece> pieces, extent_pieces(reader, entry));
  LinkedValues out;
  std::vector<Source> sources;
  std::vector<form::Spliced::SourceRun> runs;
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
                        " are in an original and cannot be linked; leave out Pack::link to copy "
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
  out.source = source_of(form::Spliced{std::move(sources), std::move(runs), at, file->name()});
  return std::optional<LinkedValues>(std::move(out));
}

}  // namespace nmb
