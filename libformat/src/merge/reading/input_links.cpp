// Finds where the values of inputs are stored (see merge/reading/input_links.h).
#include "merge/reading/input_links.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "model/name_rules.h"
#include "reader/extent_pieces.h"
#include "wire/pooled_file.h"
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
  for (const hdf5::RunInFile& run : runs) {
    add_pieces(run.offset - at, std::nullopt, 0, &out);
    add_pieces(run.length, run.position, 0, &out);
    at = run.offset + run.length;
  }
  add_pieces(values->size() - at, std::nullopt, 0, &out);
  out.source = std::move(values);
  return std::optional<LinkedValues>(std::move(out));
}

// Adds pieces for a range of a source. Each piece lies within one window of the output.
Status InputLinks::link_parts(const ByteSource& source, std::uint64_t from, std::uint64_t length,
                              std::unordered_map<std::string, std::uint32_t>* numbers,
                              LinkedValues* out) {
  if (const auto* range = dynamic_cast<const RangeSource*>(&source))
    return link_parts(*range->base(), range->offset() + from, length, numbers, out);
  if (const auto* spliced = dynamic_cast<const SplicedSource*>(&source)) {
    const auto& runs = spliced->runs();
    auto run = std::ranges::upper_bound(runs, from, {}, &SplicedSource::Run::offset);
    if (run != runs.begin()) --run;
    for (const std::uint64_t end = from + length; from < end;) {
      while (run != runs.end() && run->end() <= from) ++run;
      const bool between = run == runs.end() || from < run->offset;
      const std::uint64_t part = std::min(end, run == runs.end() ? end
                                               : between         ? run->offset
                                                                 : run->end()) -
                                 from;
      if (between)
        add_pieces(part, std::nullopt, 0, out);
      else
        NMB_TRY(link_parts(*spliced->sources()[run->from], run->source + (from - run->offset), part,
                           numbers, out));
      from += part;
    }
    return {};
  }
  const auto* file = dynamic_cast<const PooledFile*>(&source);
  if (!file) {
    add_pieces(length, std::nullopt, 0, out);
    return {};
  }
  const auto [number, is_new] =
      numbers->emplace(file->name(), static_cast<std::uint32_t>(out->files.size()));
  if (is_new) {
    NMB_ASSIGN(ExternalFile row, named(*file));
    out->files.push_back(std::move(row));
  }
  add_pieces(length, from, number->second, out);
  return {};
}

// Adds pieces of `length` bytes. position: position of the bytes in the file, or nullopt if they
// must be copied.
void InputLinks::add_pieces(std::uint64_t length, std::optional<std::uint64_t> position,
                            std::uint32_t file, LinkedValues* out) const {
  std::uint64_t at =
      out->pieces.empty() ? 0 : out->pieces.back().source_offset + out->pieces.back().length;
  for (const std::uint64_t end = at + length; at < end;) {
    LinkedPiece& piece = out->pieces.emplace_back();
    piece.length = piece.stored_length = std::min(end, (at / piece_size_ + 1) * piece_size_) - at;
    piece.source_offset = at;
    piece.file = position ? file : LinkedPiece::kCopied;
    if (position) {
      piece.position = *position;
      *position += piece.length;
    }
    at += piece.length;
  }
}

Result<std::optional<LinkedValues>> InputLinks::of_parts(const Source& values) {
  // Many short pieces take longer than a copy.
  constexpr std::uint64_t kLeastPiece = 64 << 10;
  LinkedValues out;
  std::unordered_map<std::string, std::uint32_t> numbers;
  const Status status = link_parts(*values, 0, values->size(), &numbers, &out);
  if (status.code() == Code::kUnsupported) return std::optional<LinkedValues>();
  NMB_TRY(status);
  std::uint64_t linked = 0;
  for (const LinkedPiece& piece : out.pieces)
    if (piece.file != LinkedPiece::kCopied) linked += piece.length;
  if (linked == 0 || linked / out.pieces.size() < kLeastPiece) return std::optional<LinkedValues>();
  out.source = values;
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
