#include "merge/storing/value_coder.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "extent/piece_codec.h"
#include "origins/value_mover.h"
#include "parallel/workers.h"
#include "sources/value_source.h"
#include "wire/codecs.h"

namespace nmb {

namespace {

// Indexes of the sources in CodedValues::stored. kFiles is the index of the first input file.
enum StoredIn : std::uint32_t { kValues, kSpool, kFiles };

}  // namespace

std::vector<ValueCoder::Window> ValueCoder::windows_of(std::span<const ValuesToCode> all) const {
  std::vector<Window> out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].for_view) {
      add_view_windows(i, all[i], &out);
      continue;
    }
    const std::uint64_t length = all[i].values->size();
    const std::vector<ByteRange> holes = whole_windows(all[i].holes, length, piece_size_);
    auto hole = holes.begin();
    for (std::uint64_t at = 0; at < length; at = out.back().to) {
      if (hole != holes.end() && hole->begin == at) {
        out.push_back({i, at, (hole++)->end});
        continue;
      }
      out.push_back({i, at, std::min(length, at + piece_size_)});
      out.back().stored_length = out.back().to - at;
      out.back().source_offset = at;
    }
  }
  return out;
}

void ValueCoder::add_view_windows(std::size_t block, const ValuesToCode& values,
                                  std::vector<Window>* out) const {
  const std::uint64_t length = values.values->size();
  auto hole = values.holes.begin();
  const auto add = [&](std::uint64_t from, std::uint64_t to, bool may_code) {
    while (hole != values.holes.end() && hole->end <= from) ++hole;
    const bool is_hole = hole != values.holes.end() && hole->begin <= from && to <= hole->end;
    out->push_back({block, from, to});
    out->back().stored_length = is_hole ? 0 : to - from;
    out->back().source_offset = from;
    out->back().may_code = may_code;
  };
  auto range = values.for_view->begin();
  for (std::uint64_t at = 0; at < length;) {
    if (range != values.for_view->end() && range->begin == at) {
      for (; at < range->end; at += range->piece) add(at, at + range->piece, true);
      ++range;
      continue;
    }
    // Bytes outside of all ranges. Their windows end at multiples of the piece size.
    const std::uint64_t end = range == values.for_view->end() ? length : range->begin;
    const std::uint64_t to = std::min(end, (at / piece_size_ + 1) * piece_size_);
    add(at, to, false);
    at = to;
  }
}

// Encodes a window that is not a hole. values: a buffer for the window's bytes.
Status ValueCoder::code_window(const ValuesToCode& block, Window* window,
                               std::vector<std::byte>& values) {
  const std::uint64_t length = window->to - window->from;
  PieceCodec codec = block.codec;
  int level = block.level;
  const ExtentPiece* whole = nullptr;
  if (codec == PieceCodec::kNone) {
    const auto first = std::ranges::upper_bound(
        block.coded, window->from, {}, [](const ExtentPiece& p) { return p.offset + p.length; });
    if (first == block.coded.end() || first->offset >= window->to) return {};
    if (first->offset == window->from && first->length == length) whole = &*first;
    codec = first->codec;
    level = codec_row(codec).usual_level;
  }
  if (block.values->is_unallocated(window->from, length)) return {};
  values.resize(length);
  NMB_TRY(block.values->read_at(window->from, values));
  if (whole) {
    window->codec = codec;
    window->stored_length = whole->stored_length;
    window->source = kFiles + static_cast<std::uint32_t>(std::distance(
                                  block.files.begin(), block.files.find(whole->file)));
    window->source_offset = whole->position;
    return {};
  }
  const std::vector<std::byte> stored = encode_piece(codec, level, values);
  if (stored.empty()) return {};
  window->codec = codec;
  return spool(stored, window);
}

Status ValueCoder::spool(const std::vector<std::byte>& stored, Window* window) {
  window->stored_length = stored.size();
  window->source = kSpool;
  window->source_offset = spooled_.fetch_add(stored.size());
  return spool_->write_at(window->source_offset, stored);
}

CodedValues ValueCoder::put_together(const ValuesToCode& block,
                                     std::span<const Window> windows) const {
  CodedValues out;
  std::vector<form::Spliced::SourceRun> runs;
  std::uint64_t at = 0;
  for (const Window& w : windows) {
    if (w.stored_length == 0 || w.codec != PieceCodec::kNone) {
      out.pieces.push_back({w.to - w.from, w.codec, w.stored_length, at});
    } else {
      // A piece that is not coded must not cross a multiple of the piece size.
      for (std::uint64_t from = w.from; from < w.to;) {
        const std::uint64_t to = std::min(w.to, (from / piece_size_ + 1) * piece_size_);
        out.pieces.push_back({to - from, PieceCodec::kNone, to - from, at + (from - w.from)});
        from = to;
      }
    }
    if (w.stored_length == 0) continue;
    runs.push_back({at, w.stored_length, w.source_offset, w.source});
    at += w.stored_length;
  }
  std::vector<Source> sources{block.values, spool_};
  for (const auto& [number, file] : block.files) sources.push_back(file);
  out.stored =
      source_of(form::Spliced{std::move(sources), std::move(runs), at, block.values->name()});
  return out;
}

Result<std::vector<std::optional<CodedValues>>> ValueCoder::code(
    std::span<const ValuesToCode> all) {
  if (!spool_) {
    NMB_ASSIGN(spool_, SpoolFile::create());
  }
  std::vector<Window> windows = windows_of(all);
  std::atomic<std::size_t> next{0};
  NMB_TRY(share_work(std::min<std::size_t>(threads_, windows.size()),
                     [&](const std::atomic<bool>& stop) -> Status {
                       std::vector<std::byte> values;
                       for (std::size_t i; !stop && (i = next++) < windows.size();) {
                         if (cancel_ && cancel_->load()) return Status(Code::kIo, "interrupted");
                         if (windows[i].stored_length != 0 && windows[i].may_code)
                           NMB_TRY(code_window(all[windows[i].block], &windows[i], values));
                       }
                       return {};
                     }));
  std::vector<std::optional<CodedValues>> out(all.size());
  for (auto first = windows.begin(); first != windows.end();) {
    const auto end = std::find_if(first, windows.end(),
                                  [&](const Window& w) { return w.block != first->block; });
    if (std::any_of(first, end, [](const Window& w) { return w.codec != PieceCodec::kNone; }))
      out[first->block] = put_together(all[first->block], {first, end});
    first = end;
  }
  return out;
}

}  // namespace nmb
