#include "sources/value_source.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "files/spool_file.h"
#include "sources/laid_values.h"
#include "sources/partition_key.h"
#include "sources/selected_values.h"
#include "sources/tiled_values.h"
#include "wire/endian.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

constexpr std::uint64_t kBuffer = 1 << 20;

template <class Kind>
const Kind& kind_of(const Kind& kind) {
  return kind;
}
template <class Kind>
const Kind& kind_of(const std::shared_ptr<const Kind>& kind) {
  return *kind;
}

template <class Visit>
decltype(auto) visit_kind(const SourceForm& form, const Visit& visit) {
  return std::visit([&](const auto& kind) -> decltype(auto) { return visit(kind_of(kind)); }, form);
}

}  // namespace

std::uint64_t ValueSource::size() const {
  return visit_kind(form_, [](const auto& kind) -> std::uint64_t { return kind.size(); });
}

const std::string& ValueSource::name() const {
  return visit_kind(form_, [](const auto& kind) -> const std::string& { return kind.name(); });
}

Status ValueSource::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  const std::uint64_t end = size();
  if (offset > end || out.size() > end - offset)
    return Status(Code::kDamaged, name(), end, "R-FL-1",
                  joined_text("cut: found ", end, " bytes, expected ", out.size(), " at ", offset));
  return visit_kind(form_, [&](const auto& kind) -> Status { return kind.read_at(offset, out); });
}

const std::string* ValueSource::path() const {
  return visit_kind(form_, [](const auto& kind) -> const std::string* {
    if constexpr (requires { kind.path(); }) return kind.path();
    return nullptr;
  });
}

bool ValueSource::may_be_sparse() const {
  return visit_kind(form_, [](const auto& kind) -> bool {
    if constexpr (requires { kind.may_be_sparse(); }) return kind.may_be_sparse();
    return false;
  });
}

bool ValueSource::is_unallocated(std::uint64_t offset, std::uint64_t length) const {
  return visit_kind(form_, [&](const auto& kind) -> bool {
    if constexpr (requires { kind.is_unallocated(offset, length); })
      return kind.is_unallocated(offset, length);
    return false;
  });
}

namespace form {

Status Bytes::read_at(std::uint64_t at, std::span<std::byte> out) const {
  if (!out.empty()) std::memcpy(out.data(), bytes.data() + at, out.size());
  return {};
}

Status Repeated::read_at(std::uint64_t at, std::span<std::byte> out) const {
  if (out.empty()) return {};
  std::size_t in_value = at % value.size(), done = 0;
  for (; done < std::min(value.size(), out.size()); ++done) {
    out[done] = value[in_value];
    if (++in_value == value.size()) in_value = 0;
  }
  // Copy the filled part of `out` until `out` is full.
  while (done < out.size()) {
    const std::size_t more = std::min(done, out.size() - done);
    std::memcpy(out.data() + done, out.data(), more);
    done += more;
  }
  return {};
}

template <class Visit>
Status Spliced::visit(ByteRange range, const Visit& visit) const {
  auto run = std::ranges::upper_bound(runs, range.begin, {}, &SourceRun::offset);
  if (run != runs.begin()) --run;
  for (std::uint64_t at = range.begin; at < range.end;) {
    while (run != runs.end() && run->end() <= at) ++run;
    const bool between = run == runs.end() || at < run->offset;
    const std::uint64_t end = run == runs.end() ? range.end : between ? run->offset : run->end();
    const std::uint64_t length = std::min(end, range.end) - at;
    if (between)
      NMB_TRY(visit(nullptr, 0, length));
    else
      NMB_TRY(visit(&*run, run->source + (at - run->offset), length));
    at += length;
  }
  return {};
}

Status Spliced::read_at(std::uint64_t at, std::span<std::byte> out) const {
  return visit({at, at + out.size()},
               [&](const SourceRun* run, std::uint64_t from, std::uint64_t length) -> Status {
                 const auto part = out.first(length);
                 out = out.subspan(length);
                 if (run) return sources[run->from]->read_at(from, part);
                 std::ranges::fill(part, std::byte{0});
                 return {};
               });
}

const std::string* Spliced::path() const {
  for (const SourceRun& run : runs)
    if (run.offset == run.source)
      if (const std::string* const path = sources[run.from]->path()) return path;
  return nullptr;
}

bool Spliced::may_be_sparse() const {
  return std::ranges::any_of(sources, [](const Source& one) { return one->may_be_sparse(); });
}

bool Spliced::is_unallocated(std::uint64_t at, std::uint64_t length) const {
  auto run = std::ranges::upper_bound(runs, at, {}, &SourceRun::offset);
  if (run == runs.begin()) return false;
  --run;
  const std::uint64_t from = at - run->offset;
  return from <= run->length && length <= run->length - from &&
         sources[run->from]->is_unallocated(run->source + from, length);
}

Status Converted::read_at(std::uint64_t at, std::span<std::byte> out) const {
  // Reads whole values, from value number `first` on.
  const auto read_whole = [&](std::uint64_t first, std::span<std::byte> to) -> Status {
    const std::uint64_t begin = first * conversion.from_bytes;
    if (conversion.in_place) {
      NMB_TRY(source->read_at(begin, to));
      conversion.convert(to, to);
      return {};
    }
    const std::size_t length = to.size() / conversion.to_bytes * conversion.from_bytes;
    const auto buffer = std::make_unique_for_overwrite<std::byte[]>(length);
    const std::span<std::byte> from(buffer.get(), length);
    NMB_TRY(source->read_at(begin, from));
    conversion.convert(from, to);
    return {};
  };
  const std::uint64_t to_bytes = conversion.to_bytes;
  while (!out.empty()) {
    const std::uint64_t first = at / to_bytes, within = at % to_bytes;
    const std::uint64_t count = (within + out.size() + to_bytes - 1) / to_bytes;
    const bool is_whole = within == 0 && out.size() % to_bytes == 0;
    const std::uint64_t most =
        is_whole && conversion.in_place ? count : kBuffer / conversion.from_bytes;
    const std::uint64_t length = std::clamp<std::uint64_t>(most, 1, count) * to_bytes;
    std::size_t part = length;
    if (is_whole) {
      NMB_TRY(read_whole(first, out.first(length)));
    } else {
      const auto values = std::make_unique_for_overwrite<std::byte[]>(length);
      NMB_TRY(read_whole(first, {values.get(), length}));
      part = std::min<std::size_t>(out.size(), length - within);
      std::copy_n(values.get() + within, part, out.begin());
    }
    at += part;
    out = out.subspan(part);
  }
  return {};
}

Status Moved::read_at(std::uint64_t at, std::span<std::byte> out) const {
  const auto move = [&](std::span<std::byte> values) -> Status {
    for (std::size_t from = 0; from < values.size(); from += value_bytes)
      for (const HeapPlace& place : places) {
        std::byte* const value = values.data() + from + place.offset;
        const HeapValue found = HeapValue::load(value);
        if (found.is_null()) continue;
        const std::uint64_t begin = found.offset - heap;
        if (found.offset < heap || begin > heap_bytes ||
            found.count > (heap_bytes - begin) / place.element_bytes)
          return Status(
              Code::kDamaged, name(), kNoOffset, "R-XV-1",
              joined_text("found a value of ", found.count, " elements at offset ", found.offset,
                          "; expected a place in the ", heap_bytes, " bytes after the array"));
        store_le(value + sizeof found.count, new_heap + begin);
      }
    return {};
  };
  while (!out.empty()) {
    const std::uint64_t within = at % value_bytes;
    std::size_t part = out.size() / value_bytes * value_bytes;
    if (within == 0 && part > 0) {
      NMB_TRY(source->read_at(at, out.first(part)));
      NMB_TRY(move(out.first(part)));
    } else {
      std::vector<std::byte> value(value_bytes);
      part = std::min<std::size_t>(out.size(), value_bytes - within);
      NMB_TRY(source->read_at(at - within, value));
      NMB_TRY(move(value));
      std::copy_n(value.begin() + static_cast<std::ptrdiff_t>(within), part, out.begin());
    }
    at += part;
    out = out.subspan(part);
  }
  return {};
}

Status Held::read_at(std::uint64_t at, std::span<std::byte> out) const {
  auto piece = pieces.upper_bound(at);
  if (piece != pieces.begin()) {
    --piece;
    const std::uint64_t from = at - piece->first, held = piece->second.size();
    if (from <= held && out.size() <= held - from) {
      std::copy_n(piece->second.begin() + static_cast<std::ptrdiff_t>(from), out.size(),
                  out.begin());
      return {};
    }
  }
  return base->read_at(at, out);
}

Status Numbered::read_at(std::uint64_t at, std::span<std::byte> out) const {
  return key->read_numbers(input, column, at, out);
}

}  // namespace form

Result<Source> range_of(Source extent, std::uint64_t begin, std::uint64_t length,
                        std::string_view object) {
  const std::uint64_t size = extent->size();
  if (begin > size || length > size - begin)
    return failure(Code::kDamaged, object, ": found ", size, " bytes of values, expected ", length,
                   " from offset ", begin, " on");
  return run_of(std::move(extent), begin, length);
}

Result<Source> variable_array(Source extent, const VariableShape& shape, std::string_view object) {
  const bool is_record = shape.record_size > 0;
  std::uint64_t slice = shape.element_size;
  for (std::size_t i = is_record; i < shape.lengths.size(); ++i) slice *= shape.lengths[i];
  if (!is_record) return range_of(std::move(extent), shape.begin, slice, object);
  const std::uint64_t records = shape.lengths.front();
  return Source(
      source_of(form::Strided{std::move(extent),
                              {{shape.begin, shape.record_size, 0, slice, slice, records}},
                              records * slice}));
}

std::span<const ValueRuns>::iterator run_at(std::span<const ValueRuns> runs, std::uint64_t offset) {
  return std::ranges::upper_bound(runs, offset, {}, [](const ValueRuns& r) {
    return r.extent_offset + (r.count - 1) * r.extent_stride + r.length;
  });
}

Status read_runs(const ByteSource& source, std::span<const ValueRuns> runs, std::uint64_t offset,
                 std::span<std::byte> out, bool* stored) {
  if (out.empty()) return {};
  const std::uint64_t end = offset + out.size();
  std::uint64_t filled = offset;
  std::uint64_t read_source = 0, read_from = 0, read_to = 0;
  auto flush = [&]() -> Status {
    if (read_to == read_from) return {};
    auto part = out.subspan(read_from - offset, read_to - read_from);
    read_from = read_to;
    if (stored != nullptr && source.is_unallocated(read_source, part.size())) {
      std::memset(part.data(), 0, part.size());
      return {};
    }
    if (stored) *stored = true;
    return source.read_at(read_source, part);
  };
  for (auto run = run_at(runs, offset); run != runs.end() && run->extent_offset < end; ++run) {
    std::uint64_t i = 0;
    if (run->count > 1 && offset > run->extent_offset)
      i = std::min((offset - run->extent_offset) / run->extent_stride, run->count - 1);
    for (; i < run->count; ++i) {
      const std::uint64_t begin = run->extent_offset + i * run->extent_stride;
      const std::uint64_t from = std::max(begin, offset);
      const std::uint64_t to = std::min(begin + run->length, end);
      if (begin >= end) break;
      if (from >= to) continue;
      const std::uint64_t in_source = run->source_offset + i * run->source_stride + (from - begin);
      if (from == read_to && in_source == read_source + (read_to - read_from) && from > read_from) {
        read_to = to;
      } else {
        NMB_TRY(flush());
        std::memset(out.data() + (filled - offset), 0, from - filled);
        read_source = in_source;
        read_from = from;
        read_to = to;
      }
      filled = to;
    }
  }
  NMB_TRY(flush());
  std::memset(out.data() + (filled - offset), 0, end - filled);
  return {};
}

Status visit_stored(const ByteSource& source, ByteRange range, const VisitStored& visit) {
  if (const auto* run = form_of<form::Slice>(&source))
    return visit_stored(*run->base, {run->offset + range.begin, run->offset + range.end}, visit);
  if (const auto* spliced = form_of<form::Spliced>(&source))
    return spliced->visit(
        range, [&](const form::Spliced::SourceRun* run, std::uint64_t from, std::uint64_t length) {
          if (!run) return visit(nullptr, 0, length);
          return visit_stored(*spliced->sources[run->from], {from, from + length}, visit);
        });
  const KnownSource known = source.known();
  const auto* const file = std::get_if<const PooledFile*>(&known);
  return visit(file ? *file : nullptr, range.begin, range.length());
}

const LateValues* view_in(const ByteSource* source) {
  if (const auto* held = form_of<form::Held>(source)) return view_in(held->base.get());
  if (const auto* spliced = form_of<form::Spliced>(source))
    for (const Source& one : spliced->sources)
      if (const LateValues* view = view_in(one.get())) return view;
  const auto* const late = form_of<std::shared_ptr<const LateValues>>(source);
  if (!late || !std::holds_alternative<ViewOrigin>((*late)->opener().origin())) return nullptr;
  return late->get();
}

namespace {

template <class T, class... Others>
concept OneOf = (std::is_same_v<T, Others> || ...);

// Shortens a form to the wanted bytes.
class Shortener {
 public:
  Shortener(ByteRange wanted, std::uint64_t* room) : wanted_(wanted), room_(room) {}

  Result<Source> operator()(const form::Slice& run) const {
    NMB_ASSIGN(Source base,
               shortened(*run.base, {run.offset + wanted_.begin, run.offset + wanted_.end}, room_));
    return base ? run_of(std::move(base), run.offset, run.bytes) : base;
  }
  Result<Source> operator()(const form::Held& held) const {
    return shortened(*held.base, wanted_, room_);
  }
  Result<Source> operator()(const form::Spliced& spliced) const {
    form::Spliced out{{}, {}, spliced.bytes, spliced.text};
    for (form::Spliced::SourceRun run : spliced.runs) {
      if (run.offset >= wanted_.end || run.end() <= wanted_.begin) continue;
      NMB_ASSIGN(Source source, part_of(spliced.sources[run.from], &run));
      run.from = static_cast<std::uint32_t>(out.sources.size());
      out.sources.push_back(std::move(source));
      out.runs.push_back(run);
    }
    return Source(source_of(std::move(out)));
  }
  Result<Source> operator()(const std::shared_ptr<const LaidValues>& laid) const {
    NMB_ASSIGN(LaidValues less,
               laid->shortened(wanted_, [&](const Source& source, ByteRange range) {
                 return shorter(source, range);
               }));
    return Source(source_of(std::make_shared<const LaidValues>(std::move(less))));
  }
  Result<Source> operator()(const std::shared_ptr<const TiledValues>& tiled) const {
    return Source(source_of(std::make_shared<const TiledValues>(tiled->shortened(wanted_))));
  }
  // Sources of these forms are always sent whole.
  template <OneOf<form::Bytes, form::Repeated, form::Strided, form::Converted, form::Moved,
                  form::Named, form::Called, form::Numbered, std::shared_ptr<const SelectedValues>,
                  std::shared_ptr<const LateValues>>
                Kind>
  Result<Source> operator()(const Kind&) const {
    return Source();
  }

 private:
  Result<Source> shorter(const Source& source, ByteRange range) const {
    NMB_ASSIGN(Source part, shortened(*source, range, room_));
    return part ? part : source;
  }
  // Only this process can read its temporary files, so their bytes are copied.
  Result<Source> part_of(const Source& source, form::Spliced::SourceRun* run) const {
    if (!std::holds_alternative<const SpoolFile*>(source->known()) || run->length > *room_)
      return shorter(source, {run->source, run->source + run->length});
    std::vector<std::byte> bytes(run->length);
    NMB_TRY(source->read_at(std::exchange(run->source, 0), bytes));
    *room_ -= bytes.size();
    return owned_bytes(std::move(bytes), source->name());
  }

  const ByteRange wanted_;
  std::uint64_t* const room_;
};

}  // namespace

Result<Source> shortened(const ByteSource& source, ByteRange wanted, std::uint64_t* room) {
  const KnownSource known = source.known();
  const auto* const values = std::get_if<const ValueSource*>(&known);
  if (!values) return Source();
  return std::visit(Shortener(wanted, room), (*values)->form());
}

}  // namespace nmb
