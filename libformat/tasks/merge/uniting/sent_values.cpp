// Sends sources to other ranks (see merge/uniting/sent_values.h).
#include "merge/uniting/sent_values.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "client/group_block.h"
#include "files/owned_bytes.h"
#include "files/repeated_value.h"
#include "files/spliced_source.h"
#include "files/spool_file.h"
#include "merge/reading/classic_form.h"
#include "merge/reading/held_values.h"
#include "merge/reading/lazy_block.h"
#include "merge/reading/value_origin.h"
#include "merge/uniting/member_array.h"
#include "merge/uniting/partition_key.h"
#include "netcdf/laid_values.h"
#include "netcdf/tiled_values.h"
#include "parallel/message_fields.h"

namespace nmb {

// An NMB file from which another rank sent blocks. Thread-safe.
class SentFile {
 public:
  SentFile(std::string path, const ReceivedFrom& from)
      : path_(std::move(path)), from_{from.files, from.views, from.read} {}

  const std::string& path() const { return path_; }
  Result<std::shared_ptr<const Reader>> reader() {
    const std::scoped_lock lock(mutex_);
    if (!reader_) {
      NMB_ASSIGN(const std::shared_ptr<PooledFile> opened,
                 PooledFile::open_and_keep(from_.files,
                                           [path = path_] { return FileSource::open(path); }));
      NMB_ASSIGN(reader_, Reader::open(opened, from_.read));
      opened->set_unchanged(reader_->generation_check());
    }
    return reader_;
  }

 private:
  const std::string path_;
  const ReceivedFrom from_;
  std::mutex mutex_;
  std::shared_ptr<const Reader> reader_;
};

// The fields of composed sources in messages. In a message, a composed source is followed by its
// component sources.
template <class Fields>
void fields(Fields& all, KeyColumn& column) {
  all(column.type, column.count);
}

template <class Fields>
void fields(Fields& all, MemberValues& parts) {
  all(parts.begin, parts.bytes, parts.records, parts.record_size, parts.is_record, parts.type,
      parts.to, parts.maps_fill);
}

template <class Fields>
void fields(Fields& all, LaidForm& form) {
  all(form.size, form.record_begin, form.record_size, form.in_record);
}

template <class Fields>
void fields(Fields& all, LaidSlice& slice) {
  all(slice.to, slice.length, slice.unit, slice.indexes);
}

template <class Fields>
void fields(Fields& all, LaidPart& part) {
  all(part.first, part.count, part.offset, part.step, part.row_step, part.record_step);
}

namespace {

Status changed(const std::string& path) {
  return Status(Code::kDamaged, path, kNoOffset, "", "the file changed while it was read");
}

// The values of a block that another rank sent. The file is opened only when the values are read,
// because there may be thousands of files.
struct ExtentOfSent {
  std::shared_ptr<SentFile> file;
  std::string block;
  std::uint64_t sum, length;  // sum: checksum of the block's entry
  bool is_sparse;
  mutable std::optional<BlockEntry> entry{};  // set when the entry was found

  std::uint64_t size() const { return length; }
  const std::string& name() const { return file->path(); }
  bool may_be_sparse() const { return is_sparse; }
  Result<Source> open() const {
    NMB_ASSIGN(const std::shared_ptr<const Reader> reader, file->reader());
    if (!entry) {
      NMB_ASSIGN(std::optional<BlockEntry> found, reader->find(block));
      if (!found || found->extent_length != length || sum_of_entry(*found) != sum)
        return changed(name());
      entry = std::move(found);
    }
    NMB_ASSIGN(std::shared_ptr<const Block> loaded, reader->block(*entry));
    return extent_with(std::move(loaded));
  }
};
using SentExtent = LazySource<ExtentOfSent>;

enum class SentKind : std::uint8_t {
  kNone,
  kAgain,  // the number of a source that was sent before
  kFile,
  kRange,
  kBytes,
  kRepeated,
  kSpliced,
  kBlock,  // the extent of a block of an NMB file
  kView,   // ReopenedSource
  kMember,
  kLaid,
  kTiled,
  kNumbers,
};

// The largest number of bytes of temporary files that are sent with one source.
constexpr std::uint64_t kMostBytes = 16 << 20;

class Sender {
 public:
  // Returns false if the source cannot be sent.
  Result<bool> send(const ByteSource* source, ByteRange wanted) {
    if (!source) return put(SentKind::kNone);
    if (const auto known = known_.find(source); known != known_.end()) {
      return put(SentKind::kAgain, known->second);
    }
    NMB_ASSIGN(const bool sent, send_new(*source, wanted));
    const std::uint32_t number = count_++;
    // If only the wanted range of a source was sent, the source cannot be reused for another range.
    if (!is_cut(*source)) known_.emplace(source, number);
    return sent;
  }
  std::vector<std::byte> take() { return out_.take(); }

 private:
  static bool is_cut(const ByteSource& source) {
    if (const auto* held = dynamic_cast<const HeldValues*>(&source)) return is_cut(*held->base());
    if (const auto* range = dynamic_cast<const RangeSource*>(&source))
      return is_cut(*range->base());
    return dynamic_cast<const LaidValues*>(&source) || dynamic_cast<const TiledValues*>(&source) ||
           dynamic_cast<const SplicedSource*>(&source);
  }

  template <class... T>
  bool put(const T&... values) {
    out_(values...);
    return true;
  }

  Result<bool> send_new(const ByteSource& source, ByteRange wanted) {
    if (const auto* held = dynamic_cast<const HeldValues*>(&source))
      return send_new(*held->base(), wanted);
    if (const auto* file = dynamic_cast<const PooledFile*>(&source))
      return put(SentKind::kFile, file->name(), file->stamp(), file->may_be_sparse());
    if (const auto* range = dynamic_cast<const RangeSource*>(&source)) return send(*range, wanted);
    if (const auto* value = dynamic_cast<const RepeatedValue*>(&source))
      return put(SentKind::kRepeated, value->value());
    if (const auto* bytes = dynamic_cast<const MemorySource*>(&source)) {
      put(SentKind::kBytes);
      return send_bytes(*bytes, {0, bytes->size()});
    }
    if (const auto* spliced = dynamic_cast<const SplicedSource*>(&source))
      return send(*spliced, wanted);
    if (const auto* extent = dynamic_cast<const LazyExtent*>(&source)) {
      const BlockEntry& entry = extent->opener().entry;
      return send_block(source, entry.name, sum_of_entry(entry));
    }
    // The block came from a third rank.
    if (const auto* sent = dynamic_cast<const SentExtent*>(&source))
      return send_block(source, sent->opener().block, sent->opener().sum);
    if (const auto* view = dynamic_cast<const ReopenedSource*>(&source)) return send(*view);
    if (const auto* member = dynamic_cast<const MemberArray*>(&source)) {
      put(SentKind::kMember, member->parts());
      return send_all(member->parts().values);
    }
    if (const auto* laid = dynamic_cast<const LaidValues*>(&source)) return send(*laid, wanted);
    if (const auto* tiled = dynamic_cast<const TiledValues*>(&source)) return send(*tiled, wanted);
    if (const auto numbers = PartitionKey::parts_of(source)) {
      const auto& [input, column] = *numbers;
      put(SentKind::kNumbers, input.first);
      NMB_ASSIGN(const bool has_events, send(input.events));
      NMB_ASSIGN(const bool has_column, send(column));
      return has_events && has_column;
    }
    return false;
  }

  bool send_block(const ByteSource& extent, const std::string& block, std::uint64_t sum) {
    return put(SentKind::kBlock, extent.name(), block, sum, extent.size(), extent.may_be_sparse());
  }

  Result<bool> send_all(const Source& source) {
    return send(source.get(), {0, source ? source->size() : 0});
  }

  Result<bool> send(const KeyColumn& column) {
    put(column);
    return send_all(column.values);
  }

  Result<bool> send_bytes(const ByteSource& source, ByteRange range) {
    if (range.length() > kMostBytes - bytes_) return false;
    bytes_ += range.length();
    out_.put_text(source.name());
    NMB_TRY(source.read_at(range.begin, out_.put_room(range.length())));
    return true;
  }

  Result<bool> send(const RangeSource& range, ByteRange wanted) {
    put(SentKind::kRange, range.offset(), range.size());
    return send(range.base().get(), {range.offset() + wanted.begin, range.offset() + wanted.end});
  }

  Result<bool> send(const SplicedSource& spliced, ByteRange wanted) {
    std::vector<SplicedSource::Run> runs;
    for (const SplicedSource::Run& run : spliced.runs())
      if (run.offset < wanted.end && run.end() > wanted.begin) runs.push_back(run);
    put(SentKind::kSpliced, spliced.name(), spliced.size(), std::uint64_t{runs.size()});
    for (const SplicedSource::Run& run : runs) {
      const ByteSource& source = *spliced.sources()[run.from];
      const ByteRange range{run.source, run.source + run.length};
      // Temporary files can be read only by this process, so their bytes are sent.
      const bool is_own = dynamic_cast<const SpoolFile*>(&source) != nullptr;
      put(run, is_own);
      NMB_ASSIGN(const bool sent, is_own ? send_bytes(source, range) : send(&source, range));
      if (!sent) return false;
    }
    return true;
  }

  Result<bool> send(const ReopenedSource& view) {
    const ViewOrigin& origin = view.origin();
    put(SentKind::kView, origin.block, view.name(), view.size());
    NMB_TRY(origin.body->read_at(0, out_.put_room(origin.body->size())));
    put(origin.lengths ? std::optional(*origin.lengths) : std::nullopt, origin.record);
    return send_all(origin.extent);
  }

  Result<bool> send(const LaidValues& laid, ByteRange wanted) {
    const LaidForm form = laid.form_of(wanted);
    put(SentKind::kLaid, laid.name(), form);
    NMB_ASSIGN(const bool fixed,
               send(form.fixed, [&](const LaidSlice& slice, const LaidPart& part) {
                 return wanted_of_fixed(slice, part, wanted);
               }));
    if (!fixed) return false;
    return send(form.record, [&](const LaidSlice& slice, const LaidPart& part) {
      return wanted_of_records(form, slice, part, wanted);
    });
  }

  template <class WantedOf>
  Result<bool> send(const std::vector<LaidSlice>& slices, const WantedOf& wanted_of) {
    put(std::uint64_t{slices.size()});
    for (const LaidSlice& slice : slices) {
      put(slice, std::uint64_t{slice.parts.size()});
      for (const LaidPart& part : slice.parts) {
        put(part);
        NMB_ASSIGN(const bool sent, send(part.source.get(), wanted_of(slice, part)));
        if (!sent) return false;
      }
    }
    return true;
  }

  // Returns a range of the part's source. The range contains all bytes of the part that lie in
  // `wanted`.
  static ByteRange wanted_of_fixed(const LaidSlice& slice, const LaidPart& part, ByteRange wanted) {
    // A variable that is not joined has all its values in one piece.
    if (part.count > 1 || slice.unit != slice.length) return {0, part.source->size()};
    const std::uint64_t from = std::max(wanted.begin, slice.to) - slice.to;
    const std::uint64_t end = std::min(wanted.end, slice.to + slice.length) - slice.to;
    return {part.offset + from, part.offset + end};
  }
  static ByteRange wanted_of_records(const LaidForm& form, const LaidSlice& slice,
                                     const LaidPart& part, ByteRange wanted) {
    if (slice.unit != 0) return {0, part.source->size()};
    const std::uint64_t begin = std::max(wanted.begin, form.record_begin) - form.record_begin;
    const std::uint64_t end = wanted.end - form.record_begin;
    const std::uint64_t first = std::max(part.first, begin / form.record_size);
    const std::uint64_t last = std::min(part.first + part.count, (end - 1) / form.record_size + 1);
    return {part.offset + (first - part.first) * part.step,
            part.offset + (last - 1 - part.first) * part.step + slice.length};
  }

  Result<bool> send(const TiledValues& tiled, ByteRange wanted) {
    const std::vector<Tile> tiles = tiled.tiles_in(wanted);
    const TileBoxes& boxes = tiled.boxes();
    put(SentKind::kTiled, tiled.name(), tiled.value_size(), boxes.shape);
    NMB_ASSIGN(bool sent, send_all(tiled.gaps()));
    put(std::uint64_t{tiles.size()});
    for (const Tile& tile : tiles) {
      out_.put_raw(std::as_bytes(std::span(boxes.firsts(tile.box), 2 * boxes.rank())));
      put(tile.offset, tile.record_step);
      NMB_ASSIGN(const bool here, send_all(tile.source));
      sent = sent && here;
    }
    return sent;
  }

  FieldsOut out_;
  std::unordered_map<const ByteSource*, std::uint32_t> known_;
  std::uint32_t count_ = 0;
  std::uint64_t bytes_ = 0;  // bytes of temporary files sent so far
};

class Receiver {
 public:
  Receiver(std::span<const std::byte> sent, const ReceivedFrom& from) : in_(sent), from_(from) {}

  Result<Source> receive() {
    const SentKind kind = in_.get<SentKind>();
    if (kind == SentKind::kNone) return Source();
    if (kind == SentKind::kAgain) return known_[in_.get<std::uint32_t>()];
    NMB_ASSIGN(Source made, make(kind));
    known_.push_back(made);
    return made;
  }

 private:
  using Numbers = std::uint64_t;

  std::string text() { return in_.next<std::string>(); }
  Numbers number() { return in_.get<Numbers>(); }

  Result<Source> make(SentKind kind) {
    switch (kind) {
      case SentKind::kNone:
      case SentKind::kAgain:
        break;
      case SentKind::kFile: {
        const std::string path = text();
        const auto stamp = in_.get<FileStamp>();
        return Source(PooledFile::as_seen(path, stamp, in_.get<bool>(), from_.files));
      }
      case SentKind::kRange: {
        const Numbers offset = number(), size = number();
        NMB_ASSIGN(Source base, receive());
        if (offset <= base->size() && size <= base->size() - offset)
          return Source(std::make_shared<RangeSource>(std::move(base), offset, size));
        return changed(base->name());
      }
      case SentKind::kBytes:
        return bytes();
      case SentKind::kRepeated:
        return Source(std::make_shared<RepeatedValue>(in_.get_list<std::byte>()));
      case SentKind::kSpliced:
        return spliced();
      case SentKind::kBlock:
        return block();
      case SentKind::kView:
        return view();
      case SentKind::kMember:
        return member();
      case SentKind::kLaid:
        return laid();
      case SentKind::kTiled:
        return tiled();
      case SentKind::kNumbers: {
        PartitionKey::Input input;
        input.first = number();
        NMB_ASSIGN(input.events, column());
        NMB_ASSIGN(KeyColumn values, column());
        return PartitionKey::numbers(std::move(input), std::move(values));
      }
    }
    return Status(Code::kUsage, "unknown kind of source");
  }

  Source bytes() {
    std::string name = text();
    return owned_bytes(in_.get_list<std::byte>(), std::move(name));
  }

  Result<Source> spliced() {
    std::string name = text();
    const Numbers size = number();
    std::vector<Source> sources;
    std::vector<SplicedSource::Run> runs(number());
    for (SplicedSource::Run& run : runs) {
      run = in_.get<SplicedSource::Run>();
      run.from = static_cast<std::uint32_t>(sources.size());
      if (in_.get<bool>()) {
        run.source = 0;
        sources.push_back(bytes());
        continue;
      }
      NMB_ASSIGN(Source source, receive());
      sources.push_back(std::move(source));
    }
    return Source(std::make_shared<SplicedSource>(std::move(sources), std::move(runs), size,
                                                  std::move(name)));
  }

  Source block() {
    std::string path = text(), name = text();
    const auto sum = number(), size = number();
    const bool may_be_sparse = in_.get<bool>();
    std::shared_ptr<SentFile>& file = (from_.known_files ? *from_.known_files : files_)[path];
    if (!file) file = std::make_shared<SentFile>(std::move(path), from_);
    return std::make_shared<SentExtent>(
        ExtentOfSent{file, std::move(name), sum, size, may_be_sparse});
  }

  Result<Source> view() {
    hdf5::GroupBlock group;
    group.name = text();
    std::string name = text();
    const Numbers size = number();
    const auto body = owned_bytes(in_.get_list<std::byte>(), name);
    std::shared_ptr<DimensionLengths> lengths;
    if (auto sent = in_.next<std::optional<DimensionLengths>>())
      lengths = std::make_shared<DimensionLengths>(*std::move(sent));
    std::string record = text();
    NMB_ASSIGN(group.extent, receive());
    group.extent_length = group.extent ? group.extent->size() : 0;
    ViewOrigin origin{group.name, body, group.extent, lengths, record};
    const auto open = [group = std::move(group), body, lengths, name,
                       record = std::move(record)]() -> Result<Source> {
      hdf5::GroupBlock again = group;
      again.body.resize(body->size());
      NMB_TRY(body->read_at(0, again.body));
      NMB_ASSIGN(std::shared_ptr<const Block> decoded, hdf5::decode_group(std::move(again), name));
      return open_view(std::move(decoded), lengths.get(), record);
    };
    return Source(
        std::make_shared<ReopenedSource>(name, size, open, from_.views, std::move(origin)));
  }

  Result<Source> member() {
    auto parts = in_.next<MemberValues>();
    NMB_ASSIGN(parts.values, receive());
    return Source(std::make_shared<MemberArray>(std::move(parts)));
  }

  Result<Source> laid() {
    std::string name = text();
    auto form = in_.next<LaidForm>();
    NMB_TRY(receive(&form.fixed));
    NMB_TRY(receive(&form.record));
    return Source(std::make_shared<LaidValues>(std::move(form), std::move(name)));
  }

  Status receive(std::vector<LaidSlice>* slices) {
    slices->resize(number());
    for (LaidSlice& slice : *slices) {
      in_(slice);
      slice.parts.resize(number());
      for (LaidPart& part : slice.parts) {
        in_(part);
        NMB_ASSIGN(part.source, receive());
      }
    }
    return {};
  }

  Result<Source> tiled() {
    std::string name = text();
    const Numbers value_size = number();
    auto boxes = std::make_shared<TileBoxes>();
    in_(boxes->shape);
    NMB_ASSIGN(Source gaps, receive());
    std::vector<Tile> tiles(number());
    for (std::uint32_t i = 0; i < tiles.size(); ++i) {
      for (std::size_t left = 2 * boxes->rank(); left > 0; --left)
        boxes->bounds.push_back(number());
      in_(tiles[i].offset, tiles[i].record_step);
      tiles[i].box = i;
      NMB_ASSIGN(tiles[i].source, receive());
    }
    return Source(std::make_shared<TiledValues>(std::move(boxes), value_size, std::move(tiles),
                                                std::move(gaps), std::move(name)));
  }

  Result<KeyColumn> column() {
    auto column = in_.next<KeyColumn>();
    NMB_ASSIGN(column.values, receive());
    return column;
  }

  FieldsIn in_;
  const ReceivedFrom& from_;
  std::vector<Source> known_;  // sources by their numbers
  std::map<std::string, std::shared_ptr<SentFile>> files_;
};

}  // namespace

Result<std::optional<std::vector<std::byte>>> send_values(const ByteSource& source,
                                                          ByteRange wanted) {
  Sender sender;
  NMB_ASSIGN(const bool sent, sender.send(&source, wanted));
  if (!sent) return std::optional<std::vector<std::byte>>();
  return std::optional(sender.take());
}

Result<Source> receive_values(std::span<const std::byte> sent, const ReceivedFrom& from) {
  return Receiver(sent, from).receive();
}

}  // namespace nmb
