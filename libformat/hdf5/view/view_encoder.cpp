#include "view/view_encoder.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <vector>

#include "hdf5_types/netcdf_marks.h"
#include "model/name_rules.h"
#include "model/paths.h"
#include "model/text.h"
#include "netcdf/shared_dimensions.h"
#include "superblock/view_header.h"
#include "view/data_set_encoder.h"
#include "view/extended_encoder.h"
#include "view/united_encoder.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

constexpr std::uint64_t kAddressBytes = 8, kLengthBytes = 8;

// Returns half the maximum number of children of a node in a chunk tree. The result follows from
// the average number of records of a block.
unsigned chunk_rank(const Totals& totals) {
  if (totals.blocks == 0) return 2;
  const std::uint64_t average = totals.records / totals.blocks;
  return static_cast<unsigned>(std::clamp<std::uint64_t>(
      std::bit_ceil(std::min<std::uint64_t>(average, 64) / 2 + 1), 2, 32));
}

// Discards the bytes of passes that only compute addresses.
class NoSink final : public ViewSink {
 public:
  Status write_at(std::uint64_t, std::span<const std::byte>) override { return {}; }
};

// Facts about the blocks, from the index.
struct IndexFacts {
  std::uint64_t dimensions = 0;  // total of all classic blocks
  bool has_extended = false;     // whether there are blocks of kind 6
};

bool is_extended(const BlockEntry& entry) {
  return entry.kind == static_cast<std::uint16_t>(Kind::kExtended);
}

// Encodes the blocks once.
class ViewPass {
 public:
  // A pass without a sink only computes addresses.
  ViewPass(const ReaderCore& core, const ViewEncoding& how, const IndexFacts& kinds,
           const KnownObjects& before, ViewSink* sink)
      : core_(core),
        how_(how),
        kinds_(kinds),
        before_(before),
        sink_(sink ? *sink : no_sink_),
        writes_(sink != nullptr) {}

  // *now gets the facts that the next pass needs.
  Result<EncodedView> encode(KnownObjects* now) {
    now_ = now;
    const unsigned rank = before_.node_rank();
    ViewOutput head(sink_, how_.position);
    const Superblock& superblock = core_.head().superblock;
    ViewHeader header{superblock.file_id, how_.position, superblock.generation,
                      how_.options.dimensions, how_.options.copies};
    header.set_numbers(before_.numbers());
    NMB_TRY(head.append(header.encode()).status());
    EncodedView view;
    NMB_ASSIGN(view.extension, append_extension(rank, head));
    NMB_TRY(head.flush());
    DimensionReferences references(head.position(), kinds_.dimensions);
    ViewOutput out(sink_, head.position() + DimensionReferences::bytes_for(
                                                kinds_.dimensions + before_.extended_dimensions()));
    GlobalHeap heap(sink_, before_.heap_position());
    DataSetOutput shared{out, references, how_.options.dimensions, on_left_out(), rank, 0,
                         0,   0,          how_.most_chunks};
    ExtendedOutput extended{out,     heap,          before_,
                            *now_,   on_left_out(), how_.options.copies,
                            writes_, shared.chunks, how_.most_chunks};
    open_groups_.push_back({});
    open_groups_.back().is_root = true;
    NMB_TRY(core_.index().for_each({}, [&](const BlockEntry& entry) -> Result<bool> {
      if (how_.cancel && how_.cancel->load()) return Status(Code::kIo, "interrupted");
      NMB_TRY(add_block(entry, shared, extended));
      NMB_TRY(check_length(out.position() - how_.position));
      return true;
    }));
    if (shared.next_dimension != kinds_.dimensions + now_->extended_dimensions())
      return Status(Code::kDamaged, core_.file().name(), kNoOffset, "R-SB-8",
                    "found fewer dimensions than the index says");
    while (open_groups_.size() > 1) NMB_TRY(close_newest(out));
    NMB_ASSIGN(view.root, close(open_groups_.back(), out));
    NMB_TRY(out.flush());
    NMB_TRY(references.write(sink_));
    NMB_TRY(now_->settle(out.position()));
    view.length = out.position() - how_.position;
    NMB_ASSIGN(const std::uint64_t end, heap.finish());
    view.length += end - before_.heap_position();
    const std::vector<std::byte> numbers = before_.numbers().table();
    if (!numbers.empty()) NMB_TRY(sink_.write_at(how_.position + view.length, numbers));
    view.length += numbers.size();
    NMB_TRY(check_length(view.length));
    view.lost_records = lost_records();
    return view;
  }

 private:
  const OnLeftOut& on_left_out() const { return how_.on_left_out; }

  Status check_length(std::uint64_t length) const {
    if (length <= how_.most_bytes) return {};
    return Status(Code::kLimit, joined_text("HDF5 view: a view would take more than ",
                                            how_.most_bytes, " bytes"));
  }

  Result<std::uint64_t> append_extension(unsigned rank, ViewOutput& out) {
    ObjectHeader header;
    header.begin(HeaderMessage::kTreeRanks);
    header.bytes().put8(0);
    header.bytes().put16(rank);
    header.bytes().put16(kNodeRank);
    header.bytes().put16(kLeafRank);
    (void)header.end();
    constexpr unsigned kFailIfUnknownAndOpenForWrite = 8;
    header.begin(HeaderMessage::kReadOnly, kFailIfUnknownAndOpenForWrite);
    header.bytes().put("NMB1");
    (void)header.end();
    return out.append(header.finish());
  }

  // Adds a block. Blocks come in the order of their names. A group is therefore complete when the
  // next name is greater than all names that begin with the group's name and a slash. In the list
  // of open groups, each name begins with the name of the group before it.
  Status add_block(const BlockEntry& entry, DataSetOutput& shared, ExtendedOutput& extended) {
    const std::string& name = entry.name;
    while (open_groups_.size() > 1 && name.compare(open_groups_.back().name + "0") >= 0)
      NMB_TRY(close_newest(shared.out));
    constexpr std::size_t kMostParts = 256;
    const auto parts = static_cast<std::size_t>(std::ranges::count(name, '/'));
    if (parts >= kMostParts)
      return failure(Code::kUnsupported, "HDF5 view: block \"", printable(name.substr(0, 80)),
                     "...\": found a path of ", parts + 1, " groups, expected at most 256");
    for (std::size_t slash = name.find('/'); slash != name.npos; slash = name.find('/', slash + 1))
      open(name.substr(0, slash));
    if (!name.empty()) open(name);
    ViewGroup* const group = &open_groups_.back();
    return (is_extended(entry) ? encode_extended(entry, shared, extended, group)
                               : encode_classic(entry, shared, group))
        .in_file(core_.file().name());
  }

  void open(std::string name) {
    const auto longer = std::ranges::find_if(open_groups_, [&](const ViewGroup& group) {
      return !group.is_root && group.name.size() >= name.size();
    });
    if (longer != open_groups_.end() && longer->name == name) return;
    ViewGroup group;
    group.name = std::move(name);
    open_groups_.insert(longer, std::move(group));
  }

  static Status refused(const BlockEntry& entry, const std::string& why) {
    return Status(Code::kUnsupported, "HDF5 view: block \"" + printable(entry.name) + "\": " + why);
  }

  Status encode_extended(const BlockEntry& entry, DataSetOutput& shared, ExtendedOutput& extended,
                         ViewGroup* group) {
    NMB_ASSIGN(StoredBlock stored, core_.load(entry, true));
    NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> block,
               core_.decode(entry, stored, nullptr));
    const Result<ValuePlaces> places = ValuePlaces::of(core_, entry, how_.of_copy);
    if (!places.ok() && places.status().code() != Code::kUnsupported) return places.status();
    const Status status = is_classic_dataset(block->metadata)
                              ? encode_united(entry, *block, places, shared, extended, group)
                              : encode_other(entry, *block, places, extended, group);
    constexpr std::string_view kAbout = "HDF5 view: ";
    return status.code() == Code::kUnsupported && !status.message().starts_with(kAbout)
               ? Status(Code::kUnsupported, joined_text(kAbout, status.message()))
               : status;
  }

  // Encodes a block of kind 6 that is no classic dataset.
  Status encode_other(const BlockEntry& entry, const LoadedBlock& block,
                      const Result<ValuePlaces>& places, ExtendedOutput& extended,
                      ViewGroup* group) {
    std::vector<std::optional<std::int64_t>> own = scale_numbers(block.metadata);
    const std::vector<ScaleNumbers> scales = scales_of(entry, own, group);
    return ExtendedEncoder(block, places, scales, extended).encode(std::move(own), group);
  }

  // Encodes a classic dataset of kind 6.
  Status encode_united(const BlockEntry& entry, const LoadedBlock& block,
                       const Result<ValuePlaces>& places, DataSetOutput& shared,
                       ExtendedOutput& extended, ViewGroup* group) {
    add_dimensions_of(entry, block.metadata, shared);
    const std::vector<std::optional<ViewDimension>> above = dimensions_above(entry, block.metadata);
    note_lost_records(entry, block.metadata, above);
    return UnitedEncoder(entry, block, places, shared, extended).encode(above, group);
  }

  // Gives the dimensions of a classic dataset their numbers.
  void add_dimensions_of(const BlockEntry& entry, const Metadata& metadata, DataSetOutput& shared) {
    const std::size_t source = now_->add_source(entry.order);
    if (how_.options.dimensions) now_->count_dimensions(source, metadata.dimension_count());
    shared.first_number = before_.first_dimension(source);
  }

  // Returns for each dimension of a classic dataset the dimension of a block above that it
  // represents. Both must have the same length, and both or neither may grow.
  std::vector<std::optional<ViewDimension>> dimensions_above(const BlockEntry& entry,
                                                             const Metadata& metadata) const {
    const std::vector<std::uint32_t> levels = levels_above(metadata);
    std::vector<std::optional<ViewDimension>> above(levels.size());
    for (DimId d = 0; d < levels.size(); ++d) {
      if (levels[d] == 0) continue;
      const Dimension own = metadata.dimension(d);
      const std::optional<std::string> path = path_above(entry.name, levels[d], own.name);
      if (!path) continue;
      const ViewDimension* const found = find_dimension(*path);
      const std::uint64_t length = own.is_record() ? entry.records : own.length;
      if (found && found->length == length && found->grows == may_grow(metadata, d))
        above[d] = *found;
    }
    return above;
  }

  // Returns a dimension that an open group defines, or nullptr.
  const ViewDimension* find_dimension(std::string_view path) const {
    const auto [parent, name] = split_path(path);
    for (const ViewGroup& group : open_groups_) {
      if (group.is_root ? !parent.empty() : group.name != parent) continue;
      const auto found = std::ranges::find(group.dimensions, name, &ViewDimension::name);
      return found == group.dimensions.end() ? nullptr : &*found;
    }
    return nullptr;
  }

  // Returns the number of each dimension scale of a block, or nullopt for a scale without one.
  static std::vector<std::optional<std::int64_t>> scale_numbers(const Metadata& metadata) {
    std::vector<std::optional<std::int64_t>> numbers;
    for (VarId id = 0; id < metadata.variable_count(); ++id) {
      if (!is_dimension_scale(metadata, id)) continue;
      const std::vector<std::int64_t> number = integers(metadata, id, kDimensionId, 1);
      numbers.push_back(!number.empty() && number[0] >= 0 ? std::optional(number[0])
                                                          : std::nullopt);
    }
    return numbers;
  }

  // Finds the source of a block. Returns the scales of the block, then the scales of the blocks of
  // kind 6 above it, nearest block first. Only blocks that are older than the block count, so
  // blocks that are added later change nothing. The block normally has the same source as the
  // nearest of these blocks. If one of the block's scale numbers already occurs in that source, the
  // block came from another file and starts a new source.
  std::vector<ScaleNumbers> scales_of(const BlockEntry& entry,
                                      const std::vector<std::optional<std::int64_t>>& own_numbers,
                                      ViewGroup* group) {
    std::vector<std::int64_t> own;
    for (const std::optional<std::int64_t>& number : own_numbers)
      if (number) own.push_back(*number);
    const std::span<const std::int64_t> numbers = before_.scale_numbers(entry.name);
    group->numbers = numbers.empty() ? own : std::vector(numbers.begin(), numbers.end());
    std::ranges::sort(group->numbers);
    std::vector<ScaleNumbers> scales{{group->numbers, 0}};
    for (auto above = open_groups_.rbegin(); above != open_groups_.rend(); ++above)
      if (above->is_extended && above->created < entry.order && &*above != group &&
          (above->is_root || entry.name.starts_with(above->name + "/")))
        scales.push_back({above->numbers, above->source});
    const bool is_new = scales.size() == 1 || now_->has_number(scales[1].source, own);
    group->created = entry.order;
    group->source = is_new ? now_->add_source(entry.order) : scales[1].source;
    scales[0].source = group->source;
    return scales;
  }

  Status encode_classic(const BlockEntry& entry, DataSetOutput& shared, ViewGroup* group) {
    const Result<ValuePlaces> places = ValuePlaces::of(core_, entry, how_.of_copy);
    if (!places.ok() && places.status().code() == Code::kUnsupported)
      return refused(entry, places.status().message());
    NMB_TRY(places.status());
    NMB_ASSIGN(const StoredBlock stored, core_.load(entry, false));
    NMB_ASSIGN(const ClassicHeader header,
               decode_body(entry, stored.header.records, stored.body, core_.file()));
    note_lost_records(entry, header.metadata, {});
    add_dimensions_of(entry, header.metadata, shared);
    DataSetEncoder encoder(entry, header, *places, shared);
    NMB_TRY(encoder.encode(group));
    if (!kinds_.has_extended) return {};
    group->dimensions = encoder.dimensions();
    for (std::size_t i = 0; i < group->links.size(); ++i)
      now_->place(KnownObjects::key_of_path(joined_path(entry.name, group->links.name(i))),
                  group->links.address(i));
    return {};
  }

  // Finds lost records as lost_records() does, in the same order of blocks.
  void note_lost_records(const BlockEntry& entry, const Metadata& metadata,
                         const std::vector<std::optional<ViewDimension>>& above) {
    const std::optional<DimId> dimension = first_growing(metadata);
    if (entry.records == 0 || !dimension) return;
    bool is_used = false;
    for (VarId v = 0; v < metadata.variable_count() && !is_used; ++v)
      is_used = std::ranges::count(metadata.variable(v).dimensions, *dimension) > 0;
    const bool is_above = *dimension < above.size() && above[*dimension];
    const std::string_view name = metadata.dimension(*dimension).name;
    if (!is_used && !is_above)
      lost_[joined_path(entry.name, name)] = {1, entry.name, std::string(name), entry.records};
    else if (is_used && is_above && !lost_.empty())
      lost_.erase(*path_above(entry.name, levels_above(metadata)[*dimension], name));
  }

  LostRecords lost_records() const {
    if (lost_.empty()) return {};
    LostRecords lost = lost_.begin()->second;
    lost.blocks = lost_.size();
    return lost;
  }

  Status close_newest(ViewOutput& out) {
    ViewGroup group = std::move(open_groups_.back());
    open_groups_.pop_back();
    NMB_ASSIGN(const std::uint64_t address, close(group, out));
    const auto [parent, own] = split_path(group.name);
    for (auto at = open_groups_.rbegin(); at != open_groups_.rend(); ++at)
      if (at->is_root ? parent.empty() : at->name == parent) {
        at->links.add(own, address);
        return {};
      }
    return Status(Code::kDamaged, core_.file().name(), kNoOffset, "R-NM-1",
                  "found block \"" + printable(group.name) + "\" without a group above it");
  }

  // Sorts the links of a complete group into their order, and writes the group.
  Result<std::uint64_t> close(ViewGroup& group, ViewOutput& out) {
    if (group.is_extended) {
      for (const std::string& missing : group.links.arrange(group.order))
        NMB_TRY(leave_out_link(group, missing,
                               "the view does not show the object to which the link leads"));
      if (group.links.size() > kMostOrderedLinks)
        for (const std::string& dropped : group.links.keep_hard())
          NMB_TRY(leave_out_link(group, dropped,
                                 "the link is not hard, and its group has too many links"));
    }
    NMB_ASSIGN(const std::uint64_t address, encode_group(group, out));
    if (kinds_.has_extended) now_->place(KnownObjects::key_of_path(group.name), address);
    return address;
  }

  Status leave_out_link(const ViewGroup& group, const std::string& name, const char* why) {
    if (!how_.on_left_out) return {};
    return how_.on_left_out({.kind = LeftOutKind::kLink,
                             .path = joined_path(group.name, name),
                             .reason = LeftOutReason::kLink,
                             .why = why});
  }

  const ReaderCore& core_;
  const ViewEncoding& how_;
  const IndexFacts& kinds_;
  const KnownObjects& before_;
  NoSink no_sink_;
  ViewSink& sink_;
  const bool writes_;
  KnownObjects* now_ = nullptr;
  std::map<std::string, LostRecords> lost_;  // by the path of the dimension
  std::vector<ViewGroup>
      open_groups_;  // the root group, then all others in the order of the lengths of their names
};

}  // namespace

std::array<std::byte, kHdf5Size> EncodedView::superblock(std::uint64_t file_length) const {
  Hdf5Bytes bytes;
  bytes.put(std::string_view("\x89HDF\r\n\x1a\n", 8));
  bytes.put8(2);
  bytes.put8(kAddressBytes);
  bytes.put8(kLengthBytes);
  bytes.put8(0);
  bytes.put64(0);
  bytes.put64(extension);
  bytes.put64(file_length);
  bytes.put64(root);
  bytes.put_checksum();
  std::array<std::byte, kHdf5Size> out;
  std::copy(bytes.bytes().begin(), bytes.bytes().end(), out.begin());
  return out;
}

Result<EncodedView> encode_view(const ReaderCore& core, const ViewEncoding& how, ViewSink& sink) {
  const Totals& totals = core.head().superblock.totals;
  constexpr std::uint64_t kMostDimensions = 0x7FFFFFFF;
  if (totals.dimensions > kMostDimensions)
    return failure(Code::kUnsupported, "HDF5 view: found ", totals.dimensions,
                   " dimensions, expected fewer than 2^31");
  IndexFacts kinds;
  KnownObjects known(how.numbers);
  NMB_TRY(core.index().for_each({}, [&](const BlockEntry& entry) -> Result<bool> {
    kinds.has_extended = kinds.has_extended || is_extended(entry);
    if (!is_extended(entry) && how.options.dimensions) kinds.dimensions += entry.dimensions;
    if (kinds.has_extended) return true;
    const std::size_t source = known.add_source(entry.order);
    if (how.options.dimensions) known.count_dimensions(source, entry.dimensions);
    return true;
  }));
  if (kinds.dimensions > totals.dimensions)
    return Status(Code::kDamaged, core.file().name(), kNoOffset, "R-SB-8",
                  "found more dimensions than the superblock's totals say");
  if (!kinds.has_extended) {
    known.set_node_rank(chunk_rank(totals));
    NMB_TRY(known.number_sources());
    KnownObjects unused(how.numbers);
    return ViewPass(core, how, kinds, known, &sink).encode(&unused);
  }
  ViewEncoding quiet = how;
  quiet.on_left_out = nullptr;
  known = KnownObjects(how.numbers);
  bool settled = false;
  // Sizes depend on facts that the first pass does not have yet.
  for (int pass = 0; pass < 3 && !settled; ++pass) {
    KnownObjects now(how.numbers);
    NMB_TRY(ViewPass(core, quiet, kinds, known, nullptr).encode(&now).status());
    settled = now.same_sizes(known);
    known = std::move(now);
  }
  if (!settled)
    return failure(Code::kUnsupported,
                   "HDF5 view: the sizes of objects still change after three passes");
  KnownObjects unused(how.numbers);
  return ViewPass(core, how, kinds, known, &sink).encode(&unused);
}

std::string_view left_out_word(LeftOutReason reason) {
  constexpr std::array<std::string_view, kLeftOutReasons> kWords{"variable length",
                                                                 "virtual data set",
                                                                 "values elsewhere",
                                                                 "pieces",
                                                                 "unwritten values",
                                                                 "too large",
                                                                 "datatype",
                                                                 "name",
                                                                 "link",
                                                                 "user block",
                                                                 "reference"};
  return kWords[static_cast<std::size_t>(reason)];
}

std::string_view left_out_word(LeftOutKind kind) {
  switch (kind) {
    case LeftOutKind::kVariable:
      return "variable";
    case LeftOutKind::kDatatype:
      return "named datatype";
    case LeftOutKind::kLink:
      return "link";
    case LeftOutKind::kAttribute:
      return "attribute";
    case LeftOutKind::kComment:
      return "comment";
    case LeftOutKind::kUserBlock:
      return "user block";
  }
  return "";
}

std::string LeftOut::object() const {
  const std::string of = joined_text("\"", printable(path), "\"");
  const std::string_view word = left_out_word(kind);
  switch (kind) {
    case LeftOutKind::kAttribute:
      return joined_text(word, " \"", printable(attribute.substr(0, 80)), "\" of ", of);
    case LeftOutKind::kComment:
      return joined_text(word, " of ", of);
    case LeftOutKind::kUserBlock:
      return std::string(word);
    default:
      return joined_text(word, " ", of);
  }
}

std::vector<std::string> LeftOutList::lines() const {
  std::vector<std::string> lines;
  for (const LeftOut& object : first)
    lines.push_back(joined_text("the HDF5 view leaves out ", object.object(), " (",
                                left_out_word(object.reason), "): ", object.why));
  if (count > first.size())
    lines.push_back(joined_text("the HDF5 view leaves out ", count - first.size(),
                                " more objects; nminspect view lists all of them"));
  return lines;
}

bool ViewCost::is_large() const {
  constexpr std::uint64_t kLeast = std::uint64_t{1} << 20, kSmallPart = 50;
  return bytes > kLeast && bytes > file_bytes / kSmallPart;
}

std::string ViewCost::text() const {
  // With so many objects, netCDF-C needs 10 seconds or more to open a file.
  constexpr std::uint64_t kManyObjects = 20'000;
  std::string text;
  if (is_large())
    text = joined_text("the HDF5 view takes ", bytes, " bytes, ",
                       static_cast<std::uint64_t>(
                           100 * (static_cast<double>(bytes) / static_cast<double>(file_bytes))),
                       " % of the file without it");
  if (objects > kManyObjects)
    text += joined_text(text.empty() ? "" : "; ",
                        "netCDF-C reads all definitions when it opens a file, which may take "
                        "minutes for ",
                        objects,
                        " dimensions and variables; h5py, and xarray with engine=\"h5netcdf\", "
                        "read those that they use");
  return text;
}

Status for_each_left_out(const ByteSource& file, const OnLeftOut& visit) {
  class NoFindings final : public Findings {
    void report(Finding) override {}
  };
  NoFindings findings;
  NMB_ASSIGN(Head head, read_head(file, findings));
  ViewEncoding how;
  how.position = round_up(head.superblock.file_length, 8);
  NMB_ASSIGN(const std::optional<ViewHeader> header, ViewHeader::read(file, head.superblock));
  if (header) how.options = {header->dimensions, header->copies};
  how.on_left_out = visit;
  NoSink none;
  return encode_view(ReaderCore(file, std::move(head)), how, none).status();
}

}  // namespace nmb
