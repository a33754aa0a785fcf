// Encodes the blocks of a file one after another (see view_encoder.h).
#include "hdf5/view/view_encoder.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <vector>

#include "format/superblock/view_header.h"
#include "hdf5/view/block_encoder.h"
#include "model/name_rules.h"
#include "model/paths.h"
#include "netcdf/shared_dimensions.h"
#include "nmb/text.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

constexpr std::uint64_t kAddressBytes = 8, kLengthBytes = 8;

// Returns half the number of children of a node in trees of chunks. The number follows from the
// average number of records of a block.
unsigned chunk_rank(const Totals& totals) {
  if (totals.blocks == 0) return 2;
  const std::uint64_t average = totals.records / totals.blocks;
  return static_cast<unsigned>(std::clamp<std::uint64_t>(
      std::bit_ceil(std::min<std::uint64_t>(average, 64) / 2 + 1), 2, 32));
}

class ViewEncoder {
 public:
  ViewEncoder(const ReaderCore& core, const ViewEncoding& how, ViewSink& sink)
      : core_(core), how_(how), sink_(sink) {}

  Result<EncodedView> encode() {
    const Superblock& superblock = core_.head().superblock;
    const unsigned rank = chunk_rank(superblock.totals);
    const std::uint64_t dimensions = superblock.totals.dimensions;
    constexpr std::uint64_t kMostDimensions = 0x7FFFFFFF;
    if (dimensions > kMostDimensions)
      return failure(Code::kUnsupported, "HDF5 view: found ", dimensions,
                     " dimensions, expected fewer than 2^31");
    ViewOutput head(sink_, how_.position);
    const ViewHeader header{superblock.file_id, how_.position, superblock.generation};
    NMB_TRY(head.append(header.encode()).status());
    EncodedView view;
    NMB_ASSIGN(view.extension, append_extension(rank, head));
    NMB_TRY(head.flush());
    DimensionReferences references(head.position(), dimensions);
    ViewOutput out(sink_, head.position() + DimensionReferences::bytes_for(dimensions));
    DataSetOutput shared{out, references, rank, 0, 0, how_.most_chunks};
    open_groups_.push_back({});
    open_groups_.back().is_root = true;
    lost_ = {};
    NMB_TRY(core_.index().for_each({}, [&](const BlockEntry& entry) -> Result<bool> {
      if (how_.cancel && how_.cancel->load()) return Status(Code::kIo, "interrupted");
      NMB_TRY(add_block(entry, shared));
      return true;
    }));
    if (shared.next_dimension != dimensions)
      return Status(Code::kDamaged, core_.file().name(), kNoOffset, "R-SB-8",
                    "found fewer dimensions than the superblock's totals say");
    while (open_groups_.size() > 1) NMB_TRY(close_newest(out));
    NMB_ASSIGN(view.root, encode_group(open_groups_.back(), out));
    NMB_TRY(out.flush());
    NMB_TRY(references.write(sink_));
    view.length = out.position() - how_.position;
    view.lost_records = std::move(lost_);
    return view;
  }

 private:
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
  // next name is greater than all names that begin with the group's name and a slash. The name of
  // the next open group begins with the name of the open group before it.
  Status add_block(const BlockEntry& entry, DataSetOutput& shared) {
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
    return encode(entry, shared, &open_groups_.back()).in_file(core_.file().name());
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

  Status encode(const BlockEntry& entry, DataSetOutput& shared, ViewGroup* group) {
    const auto refused = [&](const std::string& why) {
      return Status(Code::kUnsupported,
                    "HDF5 view: block \"" + printable(entry.name) + "\": " + why);
    };
    if (entry.kind == static_cast<std::uint16_t>(Kind::kExtended)) {
      NMB_ASSIGN(StoredBlock extended, core_.load(entry, true));
      NMB_ASSIGN(const std::shared_ptr<const Block> block,
                 core_.decode(entry, extended, nullptr, false));
      if (has_classic_values(block->metadata))
        return refused("a view of a block that uses dimensions of groups above is not supported");
      return is_classic_dataset(block->metadata)
                 ? refused("a view of a block whose values are stored in chunks is not supported")
                 : refused("a view of a block from HDF5 or netCDF-4 is not supported");
    }
    Result<ValuePlaces> places = ValuePlaces::of(core_, entry);
    if (!places.ok() && places.status().code() == Code::kUnsupported)
      return Status(Code::kUnsupported, "HDF5 view: block \"" + printable(entry.name) +
                                            "\": " + places.status().message());
    NMB_TRY(places.status());
    NMB_ASSIGN(const StoredBlock stored, core_.load(entry, false));
    NMB_ASSIGN(const ClassicHeader header,
               decode_body(entry, stored.header.records, stored.body, core_.file()));
    note_lost_records(entry, header.metadata);
    return BlockEncoder(entry, header, *places, shared).encode(group);
  }

  // Counts lost records like lost_records(), but for one block. No group of a view uses dimensions
  // of groups above it.
  void note_lost_records(const BlockEntry& entry, const Metadata& metadata) {
    const std::optional<DimId> dimension = metadata.record_dimension();
    if (entry.records == 0 || !dimension) return;
    for (VarId v = 0; v < metadata.variable_count(); ++v)
      if (metadata.is_record_variable(v)) return;
    if (++lost_.blocks > 1) return;
    lost_.block = entry.name;
    lost_.dimension = metadata.dimension(*dimension).name;
    lost_.records = entry.records;
  }

  Status close_newest(ViewOutput& out) {
    const ViewGroup group = std::move(open_groups_.back());
    open_groups_.pop_back();
    NMB_ASSIGN(const std::uint64_t address, encode_group(group, out));
    const auto [parent, own] = split_path(group.name);
    for (auto at = open_groups_.rbegin(); at != open_groups_.rend(); ++at)
      if (at->is_root ? parent.empty() : at->name == parent) {
        at->links.add(own, address);
        return {};
      }
    return Status(Code::kDamaged, core_.file().name(), kNoOffset, "R-NM-1",
                  "found block \"" + printable(group.name) + "\" without a group above it");
  }

  const ReaderCore& core_;
  const ViewEncoding& how_;
  ViewSink& sink_;
  LostRecords lost_;
  std::vector<ViewGroup>
      open_groups_;  // the root group, then all others by the length of their names
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
  return ViewEncoder(core, how, sink).encode();
}

}  // namespace nmb
