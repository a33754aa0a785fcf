#include "merge/storing/value_coder.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "extent/piece_codec.h"
#include "merge/reading/input_shares.h"
#include "merge/storing/window_jobs.h"
#include "origins/value_mover.h"
#include "parallel/workers.h"
#include "sources/value_source.h"
#include "wire/codecs.h"
#include "wire/memory_budget.h"

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

Status ValueCoder::code_here(std::span<const ValuesToCode> all, const Windows& windows) {
  std::atomic<std::size_t> next{0};
  return share_work(std::min<std::size_t>(rules_.threads, windows.size()),
                    [&](const std::atomic<bool>& stop) -> Status {
                      std::vector<std::byte> values;
                      for (std::size_t i; !stop && (i = next++) < windows.size();) {
                        if (rules_.cancel && rules_.cancel->load())
                          return Status(Code::kIo, "interrupted");
                        NMB_TRY(code_window(all[windows[i]->block], windows[i], values));
                      }
                      return {};
                    });
}

Result<std::vector<std::byte>> ValueCoder::job_of(std::span<const ValuesToCode> all,
                                                  const Windows& windows) const {
  std::vector<WindowJob> jobs;
  for (auto first = windows.begin(); first != windows.end();) {
    const ValuesToCode& block = all[(*first)->block];
    const auto end = std::find_if(first, windows.end(),
                                  [&](const Window* w) { return w->block != (*first)->block; });
    const ByteRange wanted{(*first)->from, (*(end - 1))->to};
    NMB_ASSIGN(auto sent, send_values(*block.values, wanted));
    if (!sent) return std::vector<std::byte>();
    WindowJob& job = jobs.emplace_back(WindowJob{block.codec, block.level, {}, *std::move(sent)});
    for (; first != end; ++first) job.windows.push_back({(*first)->from, (*first)->to});
  }
  return message_of(jobs);
}

Status ValueCoder::share(std::span<const ValuesToCode> all, std::span<Window* const> windows) {
  const std::size_t helpers = rules_.helpers ? rules_.helpers->count() : 0;
  Windows own, shared;
  for (Window* const window : windows) {
    const ValuesToCode& block = all[window->block];
    const bool is_shared = helpers > 0 && block.codec != PieceCodec::kNone &&
                           !block.values->is_unallocated(window->from, window->to - window->from);
    (is_shared ? shared : own).push_back(window);
  }
  std::vector<std::uint64_t> bytes;
  for (const Window* window : shared) bytes.push_back(window->to - window->from);
  const std::vector<std::size_t> ends = share_ends(bytes, helpers + 1);
  own.insert(own.end(), shared.begin(), shared.begin() + static_cast<std::ptrdiff_t>(ends[0]));
  std::vector<std::vector<std::byte>> jobs(helpers);
  std::vector<Windows> sent(helpers);
  for (std::size_t i = 0; i < helpers; ++i) {
    Windows part(shared.begin() + static_cast<std::ptrdiff_t>(ends[i]),
                 shared.begin() + static_cast<std::ptrdiff_t>(ends[i + 1]));
    // If the values cannot be described, this rank reads them and reports the error.
    if (Result<std::vector<std::byte>> job = job_of(all, part); !part.empty() && job.ok())
      jobs[i] = *std::move(job);
    if (jobs[i].empty())
      own.insert(own.end(), part.begin(), part.end());
    else
      sent[i] = std::move(part);
  }
  if (std::ranges::all_of(jobs, [](const auto& job) { return job.empty(); }))
    return code_here(all, own);
  NMB_TRY(rules_.helpers->send(std::move(jobs)));
  const Status status = code_here(all, own);
  NMB_ASSIGN(const auto results, rules_.helpers->receive());
  NMB_TRY(status);
  Windows again;
  for (std::size_t i = 0; i < helpers; ++i)
    for (std::size_t k = 0; k < sent[i].size(); ++k) {
      if (k >= results[i].size() || !results[i][k]) {
        again.push_back(sent[i][k]);
      } else if (const std::vector<std::byte>& stored = results[i][k]->bytes; !stored.empty()) {
        sent[i][k]->codec = all[sent[i][k]->block].codec;
        NMB_TRY(spool(stored, sent[i][k]));
      }
    }
  return code_here(all, again);
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
  // The results of the helpers are in memory, so the windows are encoded in several rounds.
  const bool helped = rules_.helpers && rules_.helpers->count() > 0;
  const std::uint64_t most = helped ? memory_budget(kCodedAtOnce) : ~std::uint64_t{0};
  Windows round;
  std::uint64_t bytes = 0;
  for (Window& window : windows) {
    if (window.stored_length == 0 || !window.may_code) continue;
    round.push_back(&window);
    bytes += window.to - window.from;
    if (bytes < most) continue;
    NMB_TRY(share(all, round));
    round.clear();
    bytes = 0;
  }
  NMB_TRY(share(all, round));
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
