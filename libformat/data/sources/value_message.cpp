#include "sources/value_message.h"

#include <cstdint>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "parallel/message_fields.h"
#include "sources/laid_values.h"
#include "sources/partition_key.h"
#include "sources/selected_values.h"
#include "sources/tiled_values.h"
#include "sources/type_widening.h"
#include "sources/value_rebasing.h"
#include "sources/value_source.h"

namespace nmb {

namespace {

// The most bytes, from memory and temporary files, that are sent with one source.
constexpr std::uint64_t kMostBytes = 16 << 20;

// How a source is sent.
enum class Sent : std::uint8_t {
  kNone,
  kAgain,  // the number of a source that was sent before
  kFile,
  kForm,  // the index of the form in SourceForm, then its fields
};

}  // namespace

// The fields of each form. `all` also sends and receives sources. Some of its functions matter in
// one direction only. Sending: all.stays() means that no other rank can rebuild the values,
// all.has_room() is false if the values have too many bytes, and all.whole() sends all bytes of a
// source. Receiving: all.check() checks a run.
template <class Fields>
void fields(Fields& all, form::Slice& run) {
  all(run.offset, run.bytes, run.base);
  all.check(run);
}
template <class Fields>
void fields(Fields& all, form::Bytes& bytes) {
  if (all.has_room(bytes)) all(bytes.text, bytes.bytes);
}
template <class Fields>
void fields(Fields& all, form::Repeated& value) {
  all(value.value, value.bytes, value.text);
}
template <class Fields>
void fields(Fields& all, form::Spliced& spliced) {
  all(spliced.text, spliced.bytes, spliced.runs, spliced.sources);
}
template <class Fields>
void fields(Fields& all, form::Strided& strided) {
  all(strided.runs, strided.bytes, strided.source);
}
template <class Fields>
void fields(Fields& all, ValueConversion& conversion) {
  std::optional<Widening>& how = conversion.widening;
  std::optional<Rebasing>& moved = conversion.rebasing;
  all(how, moved);
  if (!how && !moved) return all.stays();
  if constexpr (Fields::kReceives)
    if (all.ok()) conversion = how ? widening(*how) : rebasing(*moved);
}
template <class Fields>
void fields(Fields& all, form::Converted& converted) {
  all(converted.conversion, converted.source);
}
template <class Fields>
void fields(Fields& all, form::Moved& moved) {
  all(moved.value_bytes, moved.places, moved.heap, moved.heap_bytes, moved.new_heap, moved.source);
}
template <class Fields>
void fields(Fields& all, form::Named& named) {
  all(named.object, named.source);
}
// Values in memory are sent as values of the base.
template <class Fields>
void fields(Fields& all, form::Held& held) {
  all(held.base);
}
template <class Fields>
void fields(Fields& all, form::Called&) {
  all.stays();
}
template <class Fields>
void fields(Fields& all, KeyColumn& column) {
  all(column.type, column.count, column.values);
}
template <class Fields>
void fields(Fields& all, PartitionKey::Input& input) {
  all(input.first, input.events);
}
template <class Fields>
void fields(Fields& all, form::Numbered& numbered) {
  auto input = numbered.key ? numbered.key->input(numbered.input) : PartitionKey::Input();
  all(input, numbered.column);
  if constexpr (Fields::kReceives)
    numbered.key = std::make_shared<const PartitionKey>(std::move(input));
}
template <class Fields>
void fields(Fields& all, LaidPart& part) {
  all(part.first, part.count, part.offset, part.step, part.row_step, part.record_step, part.source);
}
template <class Fields>
void fields(Fields& all, LaidSlice& slice) {
  all(slice.to, slice.length, slice.unit, slice.indexes, slice.parts);
}
template <class Fields>
void fields(Fields& all, LaidValues& laid) {
  all(laid.text, laid.bytes, laid.record_begin, laid.record_size, laid.in_record, laid.fixed,
      laid.record);
}
template <class Fields>
void fields(Fields& all, SelectedValues::Axis& axis) {
  all(axis.step, axis.runs);
}
template <class Fields>
void fields(Fields& all, SelectedValues& selected) {
  all(selected.begin, selected.value_size, selected.axes, selected.source);
}
template <class Fields>
void fields(Fields& all, TileBoxes& boxes) {
  all(boxes.shape, boxes.bounds);
}
template <class Fields>
void fields(Fields& all, Tile& tile) {
  all(tile.offset, tile.record_step, tile.box, tile.source);
}
template <class Fields>
void fields(Fields& all, TiledValues& tiled) {
  all(tiled.text, tiled.value_size, tiled.boxes, tiled.gaps, tiled.tiles);
}
template <class Fields>
void fields(Fields& all, std::monostate&) {
  all.stays();
}
template <class Fields>
void fields(Fields& all, StoredOrigin& origin) {
  all(origin.path, origin.block, origin.sum);
}
template <class Fields>
void fields(Fields& all, ViewOrigin& origin) {
  all(origin.block);
  all.whole(origin.body);
  all(origin.lengths, origin.record, origin.own_types, origin.extent);
}
template <class Fields>
void fields(Fields& all, LateForm& form) {
  all(form.name, form.size, form.may_be_sparse, form.origin);
}

namespace {

class SourceOut : public FieldsOutOf<SourceOut> {
 public:
  friend void fields(SourceOut& all, Source& source) {
    all.send(source.get(), {0, source ? source->size() : 0});
  }
  friend void fields(SourceOut& all, std::shared_ptr<const LateValues>& late) {
    all(LateForm{late->name(), late->size(), late->may_be_sparse(), late->opener().origin()});
  }
  void send(const ByteSource* source, ByteRange wanted) {
    if (!is_complete_) return;  // the message is not sent
    while (const auto* held = form_of<form::Held>(source)) source = held->base.get();
    if (!source) return put(Sent::kNone);
    if (const auto known = known_.find(source); known != known_.end())
      return (*this)(Sent::kAgain, known->second);
    const Result<Source> shorter = shortened(*source, wanted, &room_);
    if (!shorter.ok()) return fail(shorter.status());
    send_whole(*shorter ? **shorter : *source);
    kept_.push_back(*shorter);
    // A shortened source cannot serve for another range.
    const std::uint32_t number = count_++;
    if (!*shorter) known_.emplace(source, number);
  }
  void stays() { is_complete_ = false; }
  void check(const form::Slice&) {}
  bool has_room(const form::Bytes& bytes) {
    bytes_ += bytes.size();
    if (bytes_ > kMostBytes) stays();
    return is_complete_;
  }
  void whole(const Source& source) {
    (*this)(source->name());
    fail(source->read_at(0, put_room(source->size())));
  }

  Result<std::optional<std::vector<std::byte>>> result() {
    NMB_TRY(failure_);
    return is_complete_ ? std::optional(take()) : std::nullopt;
  }

 private:
  void fail(const Status& status) {
    if (failure_.ok()) failure_ = status;
    if (!status.ok()) stays();
  }
  void send_whole(const ByteSource& source) {
    std::visit(
        [&](const auto known) {
          using Known = std::remove_cv_t<decltype(known)>;
          if constexpr (std::is_same_v<Known, const ValueSource*>)
            (*this)(Sent::kForm, known->form());
          else if constexpr (std::is_same_v<Known, const PooledFile*>)
            (*this)(Sent::kFile, known->name(), known->stamp(), known->may_be_sparse());
          else
            stays();
        },
        source.known());
  }

  Status failure_;
  bool is_complete_ = true;
  std::unordered_map<const ByteSource*, std::uint32_t> known_;
  std::vector<Source> kept_;  // so that no new source gets an address in known_
  std::uint32_t count_ = 0;
  std::uint64_t bytes_ = 0;          // bytes sent so far
  std::uint64_t room_ = kMostBytes;  // for bytes of temporary files
};

class SourceIn : public FieldsInOf<SourceIn> {
 public:
  SourceIn(std::span<const std::byte> sent, const RebuildWith& with)
      : FieldsInOf(sent), with_(with) {}

  friend void fields(SourceIn& all, Source& source) { all.receive(&source); }
  friend void fields(SourceIn& all, std::shared_ptr<const LateValues>& late) {
    const auto form = all.next<LateForm>();
    if (all.ok()) late = all.with_.late(form);
  }
  void stays() { fail(); }
  void check(const form::Slice& run) {
    if (!ok() || !failure_.ok()) return;
    const std::uint64_t size = run.base->size();
    if (run.offset > size || run.bytes > size - run.offset)
      failure_ = file_changed(run.base->name());
  }
  bool has_room(const form::Bytes&) { return true; }
  void whole(Source& source) { source = source_of(next<form::Bytes>()); }

  Result<Source> result() {
    auto source = next<Source>();
    NMB_TRY(status());
    NMB_TRY(failure_);
    return source;
  }

 private:
  void receive(Source* source) {
    switch (next<Sent>()) {
      case Sent::kNone:
        return;
      case Sent::kAgain: {
        const auto number = next<std::uint32_t>();
        if (number >= known_.size()) return fail();
        *source = known_[number];
        return;
      }
      case Sent::kFile: {
        const auto path = next<std::string>();
        const auto stamp = next<FileStamp>();
        *source = PooledFile::as_seen(path, stamp, next<bool>(), with_.files);
        break;
      }
      case Sent::kForm:
        *source = source_of(next<SourceForm>());
        break;
    }
    known_.push_back(*source);
  }

  const RebuildWith& with_;
  Status failure_;
  std::vector<Source> known_;  // sources by their numbers
};

}  // namespace

Result<std::optional<std::vector<std::byte>>> send_values(const ByteSource& source,
                                                          ByteRange wanted) {
  SourceOut out;
  out.send(&source, wanted);
  return out.result();
}

Status file_changed(const std::string& path) {
  return Status(Code::kDamaged, path, kNoOffset, "", "the file changed while it was read");
}

Result<Source> rebuild_values(std::span<const std::byte> sent, const RebuildWith& with) {
  return SourceIn(sent, with).result();
}

}  // namespace nmb
