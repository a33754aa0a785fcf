#include "reader/file_reader.h"

#include <algorithm>
#include <list>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "extent/data_map.h"
#include "files/file_digester.h"
#include "files/files.h"
#include "model/name_rules.h"
#include "model/paths.h"
#include "model/sections.h"
#include "parallel/shared_reads.h"
#include "reader/extent_pieces.h"
#include "reader/later_additions.h"
#include "reader/reader_core.h"
#include "superblock/view_header.h"
#include "table/kept_rows.h"
#include "table/statistics_row.h"
#include "table/tag_row.h"
#include "wire/hash.h"
#include "wire/joined_text.h"
#include "wire/memory_budget.h"

namespace nmb {

namespace {

class Warnings final : public Findings {
 public:
  void report(Finding finding) override { list.push_back(std::move(finding)); }
  std::vector<Finding> list;
};

// Returns the range of the index and of the tables directly after it, which a query scans as a
// whole.
ByteRange run_of(const Superblock& s) {
  ByteRange run{s.index_position, s.index_position + s.index_length};
  for (const Place* place : {&s.statistics, &s.tags})
    if (s.index_position != 0 && place->position >= run.end)
      run.end = place->position + place->length;
  return run;
}

// Adds the position of a row to a finding about this row.
Status placed(const Status& status, const ByteSource& file, const FoundRow& row,
              const std::string& object = {}) {
  return {status.code(), file.name(), row.offset(), status.rule(), object + status.message()};
}

Result<std::vector<ExtentPiece>> pieces_of(const ReaderCore& core, const BlockEntry& entry,
                                           bool only_coded) {
  std::vector<ExtentPiece> pieces;
  NMB_TRY(core.for_each_piece(entry, [&](const Piece& piece) -> Status {
    if (!only_coded || piece.codec != PieceCodec::kNone)
      pieces.push_back({piece.logical, piece.length, piece.codec, piece.position,
                        piece.stored_length(), piece.sum, piece.file});
    return {};
  }));
  return pieces;
}

}  // namespace

// Everything that a reader and its blocks must keep alive.
struct FileReader::State {
  struct Shared {
    std::shared_ptr<const ByteSource> file;
    std::unique_ptr<ReaderCore> core;
  };
  std::shared_ptr<const SharedReads> together;  // the file if several ranks opened it together,
                                                // otherwise nullptr
  std::shared_ptr<const Shared> shared;
  ReadOptions options;
  std::vector<Finding> warnings;

  struct Cached {
    std::shared_ptr<const LoadedBlock> block;
    std::size_t bytes;
    std::list<std::uint64_t>::iterator use;
  };
  std::mutex mutex;
  std::unordered_map<std::uint64_t, Cached> cache;  // loaded blocks, by position
  std::list<std::uint64_t> uses;                    // most recently used first
  std::size_t cached_bytes = 0;

  const ReaderCore& core() const { return *shared->core; }
  const Superblock& superblock() const { return core().head().superblock; }
};

FileReader::FileReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
FileReader::~FileReader() = default;

Result<std::unique_ptr<FileReader>> FileReader::open(const std::string& path,
                                                     const ReadOptions& options) {
  NMB_ASSIGN(std::unique_ptr<FileSource> file, FileSource::open(path));
  return open(std::shared_ptr<const ByteSource>(std::move(file)), options);
}

Result<std::unique_ptr<FileReader>> FileReader::open(std::shared_ptr<const ByteSource> file,
                                                     const ReadOptions& options) {
  Warnings warnings;
  std::shared_ptr<FarSource> far;
  if (options.request_bytes > 0) {
    far = std::make_shared<FarSource>(std::move(file), options.request_bytes);
    file = far;
  }
  NMB_ASSIGN(Head head, read_head(*file, warnings));
  if (options.generation != 0) NMB_TRY(go_back(*file, options.generation, &head));
  if (far) far->set_run(run_of(head.superblock));
  auto shared = std::make_shared<State::Shared>();
  shared->core = std::make_unique<ReaderCore>(*file, std::move(head), options.external,
                                              options.unverified, far.get());
  shared->file = std::move(file);
  auto state = std::make_unique<State>();
  state->shared = std::move(shared);
  state->options = options;
  state->options.cache_bytes = memory_budget(options.cache_bytes);
  state->warnings = std::move(warnings.list);
  return std::unique_ptr<FileReader>(new FileReader(std::move(state)));
}

Result<std::unique_ptr<FileReader>> FileReader::open(const std::string& path,
                                                     const ReadOptions& options,
                                                     Communicator& ranks) {
  std::shared_ptr<const ByteSource> file;
  auto open_here = [&]() -> Status {
    NMB_ASSIGN(file, FileSource::open(path));
    return {};
  };
  NMB_TRY(ranks.agree(open_here(), "Reader()", 0, sum_of(std::as_bytes(std::span(path)))));
  return open(std::move(file), options, ranks);
}

Result<std::unique_ptr<FileReader>> FileReader::open(std::shared_ptr<const ByteSource> file,
                                                     const ReadOptions& options,
                                                     Communicator& ranks) {
  auto shared = std::make_shared<const SharedReads>(std::move(file), ranks);
  std::unique_ptr<FileReader> reader;
  NMB_TRY(shared->together([&]() -> Status {
    NMB_ASSIGN(reader, open(shared, options));
    return {};
  }));
  reader->state_->together = std::move(shared);
  return reader;
}

Result<std::vector<std::shared_ptr<const LoadedBlock>>> FileReader::open_blocks(
    std::span<const std::string_view> names) const {
  std::vector<std::shared_ptr<const LoadedBlock>> blocks(names.size());
  auto load = [&]() -> Status {
    for (std::size_t i = 0; i < names.size(); ++i) {
      NMB_ASSIGN(blocks[i], block(names[i]));
    }
    return {};
  };
  NMB_TRY(state_->together ? state_->together->together(load) : load());
  return blocks;
}

Status FileReader::get_all_same(const Object& object, const Hyperslab& slab,
                                MutableArray out) const {
  auto read = [&] { return object.block->read(object.variable, slab, out); };
  return state_->together ? state_->together->together(read) : read();
}

std::uint64_t FileReader::generation() const { return state_->superblock().generation; }
Digest FileReader::file_id() const { return state_->superblock().file_id; }
Digest FileReader::generation_digest() const { return digest_of(state_->superblock().encode()); }
std::uint32_t FileReader::piece_size() const { return state_->superblock().piece_size; }
bool FileReader::has_hdf5_view() const { return !state_->superblock().view.absent(); }
Result<std::uint64_t> FileReader::hdf5_view_generation() const {
  const Superblock& superblock = state_->superblock();
  if (superblock.view.absent()) return 0;
  if (view_is_newest(superblock)) return superblock.generation;
  NMB_ASSIGN(const std::optional<ViewHeader> header, ViewHeader::read(file(), superblock));
  return header ? header->generation : 0;
}
Result<ViewOptions> FileReader::hdf5_view_options() const {
  NMB_ASSIGN(const std::optional<ViewHeader> header,
             ViewHeader::read(file(), state_->superblock()));
  return header ? ViewOptions{header->dimensions, header->copies} : ViewOptions();
}
std::uint64_t FileReader::file_length() const { return state_->superblock().file_length; }
Result<std::vector<std::string>> FileReader::provenance() const {
  std::vector<std::string> texts;
  const Superblock& superblock = state_->superblock();
  NMB_TRY(read_sections(file(), superblock.global_sections, kMostSections, !superblock.all_known(),
                        [&](const SectionFrame& frame, std::string_view payload) -> Status {
                          if (frame.type == kSectionProvenance && frame.version == 1 &&
                              frame.codec == 0 && !payload.empty())
                            texts.emplace_back(payload);
                          return {};
                        }));
  return texts;
}

const Totals& FileReader::totals() const { return state_->superblock().totals; }
const std::vector<Finding>& FileReader::warnings() const { return state_->warnings; }
const ByteSource& FileReader::file() const { return *state_->shared->file; }

// Returns a function that checks whether a file still has the generation that was read. The
// function compares the superblock, because its checksums cover everything that a reader can reach.
// The superblock is stored in the trailer of its generation. A second copy stays in a slot until
// two generations later. The check succeeds if one of the two copies is unchanged.
std::function<Status(const ByteSource&)> FileReader::generation_check() const {
  const Head& head = state_->core().head();
  return [bytes = head.superblock_bytes, trailer = head.superblock.trailer_position(),
          slot = Superblock::slot_position(head.superblock.generation)](const ByteSource& now) {
    std::array<std::byte, kSlotUnit> found;
    for (const std::uint64_t at : {trailer, slot}) {
      const Status status = now.read_at(at, found);
      if (status.ok() && found == bytes) return Status();
      if (!status.ok() && status.code() != Code::kDamaged) return status;
    }
    return Status(Code::kDamaged, now.name(), kNoOffset, "",
                  "the file changed while it was read: it no longer has the generation that was "
                  "read");
  };
}

Result<Totals> FileReader::totals_of_subtree(std::string_view name) const {
  if (name.empty()) return totals();
  NMB_ASSIGN(Totals totals, totals_of_prefix(joined_text(name, "/")));
  NMB_ASSIGN(std::optional<BlockEntry> entry, find(name));
  if (entry) totals += entry->totals();
  return totals;
}

Result<Totals> FileReader::totals_of_prefix(std::string_view prefix) const {
  return state_->core().index().totals_in(prefix_range(prefix));
}

Status FileReader::for_each_entry(std::string_view prefix,
                                  const std::function<Result<bool>(const BlockEntry&)>& visit,
                                  std::string_view from) const {
  NameRange range = prefix_range(prefix);
  if (from > range.first) range.first = from;
  return state_->core().index().for_each(range, visit);
}

Status FileReader::for_each_wanted_entry(
    const std::function<Result<bool>(std::uint64_t order)>& wants,
    const std::function<Result<bool>(const BlockEntry&)>& visit) const {
  return state_->core().index().for_each_wanted(wants, visit);
}

Result<std::optional<BlockEntry>> FileReader::find(std::string_view block) const {
  return state_->core().index().find(block);
}

Result<std::optional<BlockEntry>> FileReader::at(std::uint64_t position) const {
  return state_->core().index().at(position);
}

Result<std::optional<CountedObject>> FileReader::counted(std::uint64_t BlockCounts::*count,
                                                         std::uint64_t number) const {
  return state_->core().index().counted(count, number);
}

Result<std::uint64_t> FileReader::global_id(std::string_view block) const {
  NMB_ASSIGN(std::optional<BlockEntry> entry, find(block));
  if (!entry)
    return Status(Code::kNotFound, file().name(), kNoOffset, "",
                  joined_text("found no block \"", block, "\""));
  return state_->core().index().rank_of(block);
}

Result<std::shared_ptr<const LoadedBlock>> FileReader::block(std::string_view name) const {
  NMB_ASSIGN(std::optional<BlockEntry> entry, find(name));
  if (!entry)
    return Status(Code::kNotFound, file().name(), kNoOffset, "",
                  joined_text("found no block \"", name, "\""));
  return block(*entry);
}

Result<std::vector<std::byte>> FileReader::body(const BlockEntry& entry) const {
  NMB_ASSIGN(StoredBlock stored, state_->core().load(entry, false));
  return std::move(stored.body);
}

Result<std::vector<ByteRange>> FileReader::holes(const BlockEntry& entry) const {
  std::vector<ByteRange> holes;
  NMB_TRY(state_->core().for_each_piece(entry, [&](const Piece& piece) -> Status {
    if (!piece.hole) return {};
    if (!holes.empty() && holes.back().end == piece.logical)
      holes.back().end = piece.end();
    else
      holes.push_back({piece.logical, piece.end()});
    return {};
  }));
  return holes;
}

Result<std::vector<ExtentPiece>> coded_pieces(const FileReader& reader, const BlockEntry& entry) {
  return pieces_of(reader.state_->core(), entry, true);
}

Result<std::vector<ExtentPiece>> extent_pieces(const FileReader& reader, const BlockEntry& entry) {
  return pieces_of(reader.state_->core(), entry, false);
}

Result<std::vector<ExternalFile>> FileReader::external_files() const {
  NMB_ASSIGN(const std::shared_ptr<const FileTable> table, state_->core().external().table());
  std::vector<ExternalFile> files;
  for (std::uint32_t row = 0; row < table->rows(); ++row) files.push_back(table->row(row));
  return files;
}

Result<std::shared_ptr<const ByteSource>> FileReader::open_external(std::uint32_t number) const {
  NMB_ASSIGN(std::shared_ptr<const ByteSource> source,
             state_->core().external().open_verified(number));
  // An original lies inside this file, so this file must stay open while the original is in use.
  using Held = std::pair<std::shared_ptr<const State::Shared>, std::shared_ptr<const ByteSource>>;
  const auto held = std::make_shared<const Held>(state_->shared, std::move(source));
  return std::shared_ptr<const ByteSource>(held, held->second.get());
}

Status FileReader::give_back(std::uint32_t number,
                             const std::function<Status(std::span<const std::byte>)>& sink) const {
  const ExternalFiles& files = state_->core().external();
  NMB_ASSIGN(const std::shared_ptr<const FileTable> table, files.table());
  if (number == 0 || number > table->rows() || !table->is_original(number - 1))
    return Status(
        Code::kUsage, file().name(), kNoOffset, "",
        joined_text("found file number ", number, ", expected the number of an original"));
  NMB_ASSIGN(const std::shared_ptr<const ByteSource> original, files.open_verified(number));
  // Reads windows of whole pieces, so that the checksums of the pieces are checked.
  const std::uint64_t window = piece_size();
  std::vector<std::byte> buffer;
  const std::optional<Sha256> recorded = table->sha256(number - 1);
  FileDigester digester(recorded.has_value());
  for (std::uint64_t at = 0; at < original->size(); at += buffer.size()) {
    buffer.resize(std::min(window, original->size() - at));
    NMB_TRY(original->read_at(at, buffer));
    digester.add(buffer);
    NMB_TRY(sink(buffer));
  }
  const FileDigests found = digester.digests();
  if (found.xxh3 == table->digest(number - 1)) {
    if (!recorded || found.sha256 == *recorded) return {};
    return Status(Code::kDamaged, file().name(), table->value_offset(number - 1, kBytesEnd),
                  "R-FT-15",
                  "found an original with a wrong SHA-256, expected the recorded SHA-256");
  }
  return Status(Code::kDamaged, file().name(), table->value_offset(number - 1, kDigest), "R-FT-7",
                "found an original with a wrong digest, expected the recorded digest");
}

Status FileReader::give_back(const BlockEntry& entry,
                             const std::function<Status(std::span<const std::byte>)>& sink) const {
  if (!entry.file_digests.has_xxh3() || entry.growth != 0)
    return Status(Code::kUsage, file().name(), kNoOffset, "",
                  joined_text("found block \"", entry.name,
                              "\", expected a block with the digest of a classic file"));
  std::vector<std::byte> buffer;
  NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> loaded, block(entry, &buffer));
  FileDigester digester(entry.file_digests.has_sha256());
  digester.add(buffer);
  NMB_TRY(sink(buffer));
  // Reads windows of whole pieces, so that the checksums of the pieces are checked.
  const std::uint64_t window = piece_size();
  for (std::uint64_t at = 0; at < entry.extent_length; at += buffer.size()) {
    buffer.resize(std::min(window, entry.extent_length - at));
    NMB_TRY(loaded->extent->read_at(at, buffer));
    digester.add(buffer);
    NMB_TRY(sink(buffer));
  }
  const FileDigests found = digester.digests();
  if (found == entry.file_digests) return {};
  const bool same = found.xxh3 == entry.file_digests.xxh3;
  return Status(Code::kDamaged, file().name(), kNoOffset, same ? "R-OD-3" : "R-OD-1",
                joined_text("block \"", entry.name, "\": found a file with another ",
                            same ? "SHA-256" : "digest", ", expected the recorded one"));
}

bool FileReader::has_statistics() const { return !state_->core().statistics().absent(); }

namespace {

StatisticsLevel level_of(const VariableStatistics& variable) {
  if (!variable.parts.parts.empty()) return StatisticsLevel::kParts;
  return variable.histogram.buckets.empty() ? StatisticsLevel::kBasic : StatisticsLevel::kHistogram;
}

}  // namespace

Result<std::optional<BlockStatistics>> FileReader::statistics(const LoadedBlock& block) const {
  std::optional<BlockStatistics> out;
  if (block.entry.growth != 0) return out;  // the statistics describe the block before it grew
  const BlockTable& table = state_->core().statistics();
  if (table.absent()) return out;
  BlockStatistics found;
  found.variables.resize(block.metadata.variable_count());
  bool any = false;
  for (VarId v = 0; v < found.variables.size(); ++v) {
    VariableStatistics& variable = found.variables[v];
    NMB_TRY(table.for_each_of(
        block.metadata.variable(v).name, block.entry.order,
        [&](const FoundRow& row) -> Result<bool> {
          Status status = add_statistics_row(row.value(), &variable);
          if (status.ok() && !fits_variable(block.metadata, row.value()))
            status = Status(Code::kDamaged, {}, kNoOffset, "R-ST-2",
                            "found statistics of a variable with another type");
          if (!status.ok())
            return placed(status, file(), row, "block \"" + block.name + "\": statistics: ");
          return true;
        }));
    any |= variable.computed || !variable.functions.empty();
    found.level = std::max(found.level, level_of(variable));
  }
  if (any) out = std::move(found);
  return out;
}

Status FileReader::for_each_statistics(
    std::string_view variable,
    const std::function<Result<bool>(std::uint64_t, const VariableStatistics&)>& visit) const {
  const Growth& growth = state_->core().index().growth();
  return state_->core().statistics().for_each(variable, [&](const FoundRow& found) -> Result<bool> {
    const TableRow row = found.value();
    NMB_ASSIGN(const bool has_grown, growth.has_rows(row.order));
    if (has_grown) return true;  // the statistics describe the block before it grew
    const Result<VariableStatistics> statistics = row_statistics(row);
    if (!statistics.ok()) return placed(statistics.status(), file(), found);
    return visit(row.order, *statistics);
  });
}

Result<std::optional<PartRanges>> FileReader::part_ranges(std::string_view variable,
                                                          std::uint64_t order) const {
  NMB_ASSIGN(const bool has_grown, state_->core().index().growth().has_rows(order));
  if (has_grown) return std::optional<PartRanges>();
  NMB_ASSIGN(const std::optional<FoundRow> row,
             state_->core().statistics().find(statistics_row_name(variable, {}), order));
  if (!row) return std::optional<PartRanges>();
  Result<PartRanges> ranges = row_parts(row->value());
  if (!ranges.ok()) return placed(ranges.status(), file(), *row);
  return std::optional<PartRanges>(*std::move(ranges));
}

Status FileReader::for_each_result(
    std::string_view variable, std::string_view function,
    const std::function<Result<bool>(std::uint64_t, const TagValue&)>& visit) const {
  const Growth& growth = state_->core().index().growth();
  return state_->core().statistics().for_each(
      statistics_row_name(variable, function), [&](const FoundRow& found) -> Result<bool> {
        const TableRow row = found.value();
        NMB_ASSIGN(const bool has_grown, growth.has_rows(row.order));
        if (has_grown) return true;  // the result describes the block before it grew
        const Result<FunctionResult> result = row_function(row);
        if (!result.ok()) return placed(result.status(), file(), found);
        return visit(row.order, result->value);
      });
}

Status FileReader::for_each_tag(
    std::string_view name,
    const std::function<Result<bool>(std::uint64_t, const TagValue&)>& visit) const {
  return state_->core().tags().for_each(name, [&](const FoundRow& found) -> Result<bool> {
    const TableRow row = found.value();
    const Result<TagValue> tag = row_tag(row);
    if (!tag.ok()) return placed(tag.status(), file(), found);
    return visit(row.order, *tag);
  });
}

Status FileReader::for_each_tag(
    const std::function<Result<bool>(std::uint64_t order, Tag tag)>& visit) const {
  return state_->core().tags().for_each(std::nullopt, [&](const FoundRow& found) -> Result<bool> {
    const TableRow row = found.value();
    Result<TagValue> value = row_tag(row);
    if (!value.ok()) return placed(value.status(), file(), found);
    return visit(row.order, {std::string(row.name), *std::move(value)});
  });
}

Result<TagCounts> FileReader::tag_counts(const std::optional<BlockEntry>& block) const {
  std::unordered_map<std::uint64_t, std::uint64_t> by_order;
  NMB_TRY(state_->core().tags().for_each(std::nullopt, [&](const FoundRow& found) -> Result<bool> {
    ++by_order[found.value().order];
    return true;
  }));
  TagCounts counts;
  const auto add = [&](const BlockEntry& entry) -> Result<bool> {
    const auto found = by_order.find(entry.order);
    if (found == by_order.end()) return true;
    counts.tags += found->second;
    ++counts.blocks;
    return true;
  };
  if (by_order.empty()) return counts;
  if (block) {
    NMB_TRY(add(*block).status());
  } else {
    NMB_TRY(for_each_entry("", add));
  }
  return counts;
}

Result<std::shared_ptr<const KeptRows>> FileReader::kept_rows(bool statistics,
                                                              std::vector<Status>* damaged) const {
  auto rows = std::make_shared<KeptRows>();
  const Growth& growth = state_->core().index().growth();
  const auto read = [&](PageUse use, const BlockTable& table) -> Status {
    const auto counts = [&](std::uint64_t order) -> Result<bool> {
      if (use == PageUse::kTags) return true;
      NMB_ASSIGN(const bool has_grown, growth.has_rows(order));
      return !has_grown;  // the statistics describe the block before it grew
    };
    const Status status = rows->read(use, table, file(), counts);
    if (status.code() != Code::kDamaged && status.code() != Code::kUnsupported) return status;
    damaged->push_back(status);
    return {};
  };
  if (statistics) NMB_TRY(read(PageUse::kStatistics, state_->core().statistics()));
  NMB_TRY(read(PageUse::kTags, state_->core().tags()));
  return std::shared_ptr<const KeptRows>(std::move(rows));
}

Result<std::vector<std::string>> FileReader::later_additions() const {
  return nmb::later_additions(state_->core());
}

Result<std::shared_ptr<const LoadedBlock>> FileReader::block(const BlockEntry& entry) const {
  {
    std::lock_guard lock(state_->mutex);
    if (auto it = state_->cache.find(entry.position); it != state_->cache.end()) {
      state_->uses.splice(state_->uses.begin(), state_->uses, it->second.use);
      return it->second.block;
    }
  }
  return block(entry, nullptr);
}

Result<std::shared_ptr<const LoadedBlock>> FileReader::block(const BlockEntry& entry,
                                                             std::vector<std::byte>* body) const {
  NMB_ASSIGN(StoredBlock stored, state_->core().load(entry, true));
  const std::size_t inline_bytes = stored.inline_extent ? stored.inline_extent->size() : 0;
  NMB_ASSIGN(std::shared_ptr<const LoadedBlock> block,
             state_->core().decode(entry, stored, state_->shared));
  if (body) *body = std::move(stored.body);
  const std::size_t bytes = sizeof(LoadedBlock) + block->metadata.memory() + inline_bytes;
  if (bytes > state_->options.cache_bytes) return block;
  std::lock_guard lock(state_->mutex);
  if (state_->cache.count(entry.position)) return block;
  state_->uses.push_front(entry.position);
  state_->cache[entry.position] = {block, bytes, state_->uses.begin()};
  state_->cached_bytes += bytes;
  while (state_->cached_bytes > state_->options.cache_bytes) {
    auto oldest = state_->cache.find(state_->uses.back());
    state_->cached_bytes -= oldest->second.bytes;
    state_->cache.erase(oldest);
    state_->uses.pop_back();
  }
  return block;
}

Result<Object> FileReader::object(std::string_view full_name) const {
  const auto [block_name, variable] = split_path(full_name);
  NMB_ASSIGN(std::shared_ptr<const LoadedBlock> found, block(block_name));
  std::optional<VarId> id = found->metadata.find_variable(variable);
  if (!id)
    return Status(
        Code::kNotFound, file().name(), kNoOffset, "",
        joined_text("found no variable \"", variable, "\" in block \"", block_name, "\""));
  return Object{std::move(found), *id};
}

}  // namespace nmb
