// Reads inputs block by block (see merge/reading/input_reader.h).
#include "merge/reading/input_reader.h"

#include <algorithm>
#include <utility>

#include "format/table/kept_rows.h"
#include "hdf5/client/group_block.h"
#include "merge/reading/input_block.h"
#include "merge/reading/value_origin.h"
#include "model/name_rules.h"
#include "model/paths.h"
#include "nmb/classic.h"
#include "nmb/convert.h"
#include "nmb/reader.h"
#include "nmb/verify.h"
#include "wire/owned_bytes.h"
#include "wire/pooled_file.h"

namespace nmb {

namespace {

using Groups = BlockSelection::Groups;

// A header with at most kMostHeader bytes is kept in memory until it is written.
constexpr std::uint64_t kMostHeader = 8192;
// If an NMB file has at most kFewBlocks blocks, short definitions of its blocks are also kept in
// memory. If a file has more blocks, reopening the file takes only a small part of the total time.
constexpr std::uint64_t kFewBlocks = 16;

bool is_extended(const BlockEntry& entry) {
  return entry.kind == static_cast<std::uint16_t>(Kind::kExtended);
}

Dataset dataset_of(ClassicHeader header, Source extent) {
  Dataset dataset;
  dataset.records = header.metadata.record_count(header.layout.records);
  dataset.metadata = std::move(header.metadata);
  dataset.layout = header.layout;
  dataset.extent = std::move(extent);
  return dataset;
}

// Returns the error for a block whose paths cannot be changed. remedy: text that is added if the
// block could be copied unchanged.
Status not_moved(const Status& status, const std::string& block, const std::string& file,
                 const char* remedy) {
  const bool could_stay = status.code() == Code::kUnsupported;
  return Status(could_stay ? Code::kConflict : status.code(),
                status.file().empty() ? file : status.file(), status.offset(), status.rule(),
                "block " + in_quotes(block) + ": " + status.message() + (could_stay ? remedy : ""));
}

FileBlocks file_blocks(const std::shared_ptr<const Reader>& reader) {
  return {[reader](std::string_view name) { return reader->find(name); },
          [reader](std::string_view prefix, const auto& visit) {
            return reader->for_each_entry(prefix, visit);
          },
          [reader](const BlockEntry& entry) -> Result<std::shared_ptr<const Dataset>> {
            NMB_ASSIGN(std::shared_ptr<const Block> block, reader->block(entry));
            return std::shared_ptr<const Dataset>(std::move(block));
          }};
}

}  // namespace

void count_objects(const Dataset& dataset, PackedBlock* block) {
  block->kind = dataset.layout.kind;
  dataset.metadata.count(block);
  block->records = dataset.records;
}

Status InputReader::read(std::size_t index, Source file, const Visit& visit) {
  NMB_ASSIGN(const FileKind kind, kind_of(*file));
  lengths_.reset();
  selection_.reset();
  is_surveyed_ = false;
  if (options_.only_block && kind != FileKind::kNmb)
    return Status(Code::kUnsupported, file->name(), kNoOffset, "",
                  "a single block can only be taken from an NMB file; this is a " +
                      std::string(kind_name(kind)) + " file");
  if (kind == FileKind::kNmb) return read_nmb(index, std::move(file), visit);
  if (kind == FileKind::kHdf5) return read_hdf5(index, std::move(file), visit);
  if (!is_classic(kind)) return refused_kind(*file, kind);
  return read_classic(index, std::move(file), visit);
}

// Returns the origin of values for other ranks, or an empty text if there is only one rank.
std::string InputReader::origin(std::size_t index, std::uint64_t begin,
                                std::optional<std::string_view> block) const {
  if (!options_.origins) return {};
  return ValueOrigin{static_cast<std::uint32_t>(index), begin, block}.text();
}

Status InputReader::choose(std::size_t index, Source file) {
  const std::size_t warnings = warnings_.size();
  NMB_ASSIGN(const FileKind kind, kind_of(*file));
  if (kind == FileKind::kNmb) {
    NMB_ASSIGN(std::shared_ptr<const Reader> reader, open_nmb(file));
    NMB_TRY(choose_blocks({index, std::move(file), std::move(reader)}).status());
  } else if (kind == FileKind::kHdf5) {
    NMB_ASSIGN(const std::unique_ptr<hdf5::StartedFile> started, start_hdf5(index, file->name()));
    note_place(index);
    std::vector<hdf5::GroupBlock> groups;
    NMB_TRY(started->read(file, [&](hdf5::GroupBlock group) -> Status {
      groups.push_back(std::move(group));
      return {};
    }));
    NMB_TRY(choose_groups(groups, file->name()).status());
  } else if (is_classic(kind)) {
    NMB_TRY(chooses_classic(file).status());
  }
  // read() reports the warnings again.
  warnings_.resize(warnings);
  return {};
}

Result<bool> InputReader::chooses_classic(const Source& file) {
  if (!options_.chooser) return true;
  NMB_TRY(options_.chooser->begin(nullptr));
  NMB_ASSIGN(const bool wanted,
             options_.chooser->wants(stem_of(file->name()), 0, [&] { return open_classic(file); }));
  (void)options_.chooser->end(file->name());
  return wanted;
}

Status InputReader::read_classic(std::size_t index, Source file, const Visit& visit) {
  NMB_ASSIGN(const bool is_chosen, chooses_classic(file));
  if (!is_chosen) return {};
  NMB_ASSIGN(ClassicHeader header, decode_classic_header(*file, {}, std::move(room_)));
  for (const HeaderRemark& remark : header.remarks) {
    if (remark.rule != "R-CH-6") continue;
    warnings_.push_back(file->name() + ": " + remark.text() + "; kept as it is");
    break;
  }
  const std::uint64_t header_length = header.layout.header_length;
  const auto values =
      std::make_shared<RangeSource>(file, header_length, file->size() - header_length);
  Dataset dataset = dataset_of(std::move(header), values);
  InputBlock block(dataset);
  count_objects(dataset, &block.packed);
  block.packed.extent = block.values = values;
  // The header is read now, because the file may be closed later.
  if (header_length <= std::min(kMostHeader, held_room_)) {
    std::vector<std::byte> body(header_length);
    NMB_TRY(file->read_at(0, body));
    held_room_ -= header_length;
    block.packed.body = owned_bytes(std::move(body), file->name());
  } else {
    block.packed.body = std::make_shared<RangeSource>(file, 0, header_length);
  }
  block.packed.extent_length = values->size();
  block.packed.new_digests = options_.digests;
  block.packed.origin = origin(index, header_length);
  if (options_.links) {
    NMB_ASSIGN(block.links,
               options_.links->behind(file, header_length, values, block.packed.origin));
  }
  block.open = [file] { return open_classic(file); };
  const Result<bool> visited = visit(block);
  room_ = std::move(dataset.metadata);
  return visited.status();
}

Status InputReader::read_nmb(std::size_t index, Source file, const Visit& visit) {
  NMB_ASSIGN(std::shared_ptr<const Reader> reader, open_nmb(file));
  const NmbInput in{index, std::move(file), std::move(reader)};
  originals_.clear();
  placed_.clear();
  stored_.clear();
  if (options_.only_block) return read_only_block(in, visit);
  if (options_.shared_dimensions) NMB_TRY(note_lengths(*in.reader));
  std::vector<bool> chosen;
  if (options_.chooser) {
    NMB_ASSIGN(chosen, choose_blocks(in));
    NMB_TRY(select_chosen(*in.reader, in.file->name(), chosen));
  }
  NMB_TRY(find_originals(in, chosen));
  dimensions_.reset();
  if (options_.made_up_names) dimensions_.emplace(file_blocks(in.reader));
  if (options_.survey) NMB_TRY(survey(in));
  if (options_.wants_block) {
    NMB_ASSIGN(selection_, BlockSelection::of(*in.reader, in.file->name(), Groups::kWithBelow,
                                              options_.wants_block));
    return read_selected(in, visit);
  }
  NMB_TRY(read_chosen(in, chosen, visit));
  return find_losses(*in.reader);
}

// Visits the blocks of `selection_`.
Status InputReader::read_selected(const NmbInput& in, const Visit& visit) {
  return in.reader->for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    NMB_ASSIGN(const BlockSelection::Use use, selection_->use_of(entry.name));
    return use == BlockSelection::Use::kNone ? Result(true) : read_entry(in, entry, visit);
  });
}

// Returns for each block, in the order of the index, whether Options::chooser wants it.
Result<std::vector<bool>> InputReader::choose_blocks(const NmbInput& in) {
  BlockChooser& chooser = *options_.chooser;
  NMB_TRY(chooser.begin(in.reader.get()));
  std::vector<bool> chosen;
  NMB_TRY(in.reader->for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    NMB_ASSIGN(
        const bool wanted,
        chooser.wants(entry.name, entry.order, [&]() -> Result<std::shared_ptr<const Dataset>> {
          NMB_ASSIGN(std::shared_ptr<const Block> block, in.reader->block(entry));
          return std::shared_ptr<const Dataset>(std::move(block));
        }));
    chosen.push_back(wanted);
    return true;
  }));
  const std::string& file = in.file->name();
  if (const std::optional<std::string> warning = chooser.end(file))
    warnings_.push_back(file + ": " + *warning);
  return chosen;
}

// Sets `selection_` if some of the chosen blocks came from HDF5 and some blocks are not chosen.
// chosen: for each block, in the order of names, whether it is chosen.
Status InputReader::select_chosen(const hdf5::NamedBlocks& blocks, const std::string& file,
                                  const std::vector<bool>& chosen) {
  if (std::ranges::find(chosen, false) == chosen.end()) return {};
  bool has_extended = false;
  const auto for_each_chosen = [&](const auto& visit_chosen) {
    auto wanted = chosen.begin();
    return blocks.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
      return !*wanted++ || visit_chosen(entry);
    });
  };
  NMB_TRY(for_each_chosen([&](const BlockEntry& entry) {
    has_extended = is_extended(entry);
    return !has_extended;
  }));
  if (!has_extended) return {};
  std::vector<std::string> names;
  NMB_TRY(for_each_chosen([&](const BlockEntry& entry) {
    names.push_back(entry.name);
    return true;
  }));
  NMB_ASSIGN(selection_,
             BlockSelection::of(blocks, file, Groups::kAlone,
                                [names = std::move(names)](std::string_view name) -> Result<bool> {
                                  return std::ranges::binary_search(names, name);
                                }));
  return {};
}

// Visits the chosen blocks and the groups above them that they need. chosen: empty if all blocks
// are chosen.
Status InputReader::read_chosen(const NmbInput& in, const std::vector<bool>& chosen,
                                const Visit& visit) {
  if (selection_) return read_selected(in, visit);
  auto wanted = chosen.begin();
  return in.reader->for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    if (!chosen.empty() && !*wanted++) return true;
    return read_entry(in, entry, visit);
  });
}

Result<std::shared_ptr<const Reader>> InputReader::open_nmb(const Source& file) {
  NMB_ASSIGN(const std::shared_ptr<const Reader> reader,
             Reader::open(file, {.cache_bytes = options_.cache_bytes,
                                 .verify_values = true,
                                 .external = options_.external}));
  NMB_TRY(check_nothing_pending(*reader));
  // If the file is not linked, another process may add data to the file during the merge. A linked
  // file must not grow, because a link records the file's length.
  if (const auto* const pooled = dynamic_cast<const PooledFile*>(file.get());
      pooled && !options_.links)
    pooled->set_unchanged(reader->generation_check());
  for (const Finding& finding : reader->warnings())
    warnings_.push_back(file->name() + ": " + finding.text());
  if (options_.outputs) NMB_TRY(check_file_table(*options_.outputs, *reader));
  if (options_.provenance) NMB_TRY(read_provenance(*reader));
  NMB_TRY(read_rows(*reader));
  return reader;
}

Status InputReader::read_only_block(const NmbInput& in, const Visit& visit) {
  NMB_ASSIGN(const std::optional<BlockEntry> entry, in.reader->find(*options_.only_block));
  if (!entry)
    return Status(Code::kNotFound, in.file->name(), kNoOffset, "",
                  "found no block " + in_quotes(*options_.only_block));
  NMB_ASSIGN(only_is_group_, BlockSelection::is_group(*in.reader, *entry));
  if (!only_is_group_) return read_entry(in, *entry, visit).status();
  NMB_ASSIGN(selection_,
             BlockSelection::of(*in.reader, in.file->name(), Groups::kWithBelow,
                                [name = entry->name](std::string_view block) -> Result<bool> {
                                  return block == name;
                                }));
  return read_selected(in, visit);
}

// If some blocks came from HDF5, passes all blocks to Options::survey before the first block is
// visited.
Status InputReader::survey(const NmbInput& in) {
  bool any = false;
  NMB_TRY(in.reader->for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    any = any || is_extended(entry);
    return !any;
  }));
  if (any)
    NMB_TRY(in.reader->for_each_entry("", [&](const BlockEntry& entry) {
      return read_entry(in, entry, [&](InputBlock& block) -> Result<bool> {
        NMB_TRY(options_.survey(block));
        return true;
      });
    }));
  is_surveyed_ = any;
  // Blocks with tags or statistics are counted later, when they are visited.
  extras_.tagged = extras_.counted = 0;
  return {};
}

Status InputReader::read_rows(const Reader& reader) {
  extras_ = {};
  std::vector<Status> damaged;
  NMB_ASSIGN(extras_.rows, reader.kept_rows(options_.statistics, &damaged));
  for (const Status& status : damaged)
    extras_.losses.push_back({0,
                              {},
                              "statistics or tags",
                              "not kept because their table cannot be read: " + status.text(),
                              PackLoss::Kind::kTable});
  return {};
}

// Finds the originals of an NMB input. Each original is stored together with the block that was
// made from it. chosen: for each block whether it is chosen; empty if all blocks are chosen.
Status InputReader::find_originals(const NmbInput& in, const std::vector<bool>& chosen) {
  NMB_ASSIGN(const std::vector<ExternalFile> files, in.reader->external_files());
  std::multimap<std::uint64_t, std::uint32_t> numbers;  // by order
  for (std::uint32_t i = 0; i < files.size(); ++i)
    if (files[i].is_original) numbers.emplace(files[i].order, i + 1);
  if (numbers.empty()) return {};
  std::map<std::string, std::uint64_t, std::less<>> owners;  // orders of blocks with originals
  auto wanted = chosen.begin();
  NMB_TRY(in.reader->for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    const bool is_chosen = chosen.empty() || *wanted++;
    const auto [begin, end] = numbers.equal_range(entry.order);
    if (begin != end && !chosen.empty()) owners.emplace(entry.name, entry.order);
    for (auto at = begin; at != end; ++at) {
      const ExternalFile& file = files[at->second - 1];
      placed_.insert(at->second);
      stored_.insert(at->second);
      whole_files_ += is_chosen;
      if (!options_.originals) continue;
      NMB_ASSIGN(Source bytes, in.reader->open_external(at->second));
      originals_.emplace(entry.order, InputOriginal{at->second, file.path, std::move(bytes),
                                                    file.digest, file.sha256});
    }
    return true;
  }));
  return options_.originals ? drop_parted_originals(in, chosen, owners) : Status();
}

// Drops each original of which some blocks are not chosen. These are the blocks at and below the
// block that owns the original.
Status InputReader::drop_parted_originals(
    const NmbInput& in, const std::vector<bool>& chosen,
    const std::map<std::string, std::uint64_t, std::less<>>& owners) {
  std::set<std::uint64_t> parted, used;  // orders of owners
  auto wanted = chosen.begin();
  NMB_TRY(in.reader->for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    if (owners.empty()) return false;
    const bool is_chosen = *wanted++;
    for (std::string_view at = entry.name;; at = split_path(at).parent) {
      if (const auto owner = owners.find(at); owner != owners.end())
        (is_chosen ? used : parted).insert(owner->second);
      if (at.empty()) return true;
    }
  }));
  for (const std::uint64_t order : parted) {
    const auto [begin, end] = originals_.equal_range(order);
    for (auto at = begin; at != end; ++at) {
      stored_.erase(at->second.number);
      parted_originals_ += used.contains(order);
    }
    originals_.erase(begin, end);
  }
  return {};
}

bool InputReader::is_lost(std::uint32_t number) const {
  using Lost = Options::LostOriginals;
  if (placed_.contains(number)) return !options_.originals && options_.lost_originals == Lost::kAll;
  return options_.lost_originals != Lost::kNone;
}

// Finds contents that a copy of the file would lose: originals, and additions from later versions
// of the format.
Status InputReader::find_losses(const Reader& reader) {
  NMB_ASSIGN(const std::vector<ExternalFile> files, reader.external_files());
  std::uint32_t number = 0;
  for (const ExternalFile& file : files)
    if (++number; file.is_original && is_lost(number))
      extras_.losses.push_back(
          {0,
           {},
           "original " + in_quotes(file.path),
           "a file of " + std::to_string(file.size) +
               " bytes inside the input; the values of blocks in it are copied, but the "
               "original itself is not",
           PackLoss::Kind::kOriginal});
  NMB_ASSIGN(const std::vector<std::string> additions, reader.later_additions());
  for (const std::string& addition : additions)
    extras_.losses.push_back({0,
                              {},
                              addition,
                              "not copied because it belongs to a later version of the format",
                              PackLoss::Kind::kAddition});
  return {};
}

// Keeps the statistics and tags of a block that is copied whole.
Status InputReader::keep_rows(const Block& block, PackedBlock* packed) {
  const KeptRows& rows = *extras_.rows;
  const std::uint64_t order = block.entry.order;
  const std::size_t tags = rows.count(PageUse::kTags, order);
  const std::size_t statistics = rows.count(PageUse::kStatistics, order);
  if (statistics > 0) NMB_TRY(rows.check_statistics(block.metadata, order));
  if (tags + statistics == 0) return {};
  extras_.tagged += tags > 0;
  extras_.counted += statistics > 0;
  packed->kept = extras_.rows;
  packed->kept_order = order;
  return {};
}

// Records the lengths of the dimensions. An unlimited dimension gets the length of the longest
// variable that uses the dimension. The variables of all blocks are compared.
Status InputReader::note_lengths(const Reader& reader) {
  std::uint64_t count = 0;
  auto lengths = std::make_shared<DimensionLengths>();
  NMB_TRY(reader.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    if (!is_extended(entry)) return true;
    NMB_ASSIGN(const std::shared_ptr<const Block> block, reader.block(entry));
    add_dimension_lengths(*block, lengths.get());
    ++count;
    return true;
  }));
  if (count > 1) lengths_ = std::move(lengths);
  return {};
}

// Visits the definitions of all groups.
template <class VisitGroup>
Status InputReader::for_each_group(const std::vector<hdf5::GroupBlock>& groups,
                                   const std::string& file, VisitGroup visit_group) {
  for (const hdf5::GroupBlock& group : groups) {
    NMB_ASSIGN(Dataset dataset, decoded(group, file));
    NMB_TRY(visit_group(dataset));
    room_ = std::move(dataset.metadata);
  }
  return {};
}

Status InputReader::note_made_up(const std::vector<hdf5::GroupBlock>& groups,
                                 const std::string& file) {
  MadeUpNumbers numbers;
  NMB_TRY(for_each_group(groups, file, [&](const Dataset& group) { return numbers.add(group); }));
  made_up_ = numbers.first();
  return {};
}

Status InputReader::note_lengths(const std::vector<hdf5::GroupBlock>& groups,
                                 const std::string& file) {
  if (groups.size() < 2) return {};
  auto lengths = std::make_shared<DimensionLengths>();
  NMB_TRY(for_each_group(groups, file, [&](Dataset& group) -> Status {
    group.name = joined_path(placed_below_, group.name);
    add_dimension_lengths(group, lengths.get());
    return {};
  }));
  lengths_ = std::move(lengths);
  return {};
}

// Reads the provenance. Provenance that cannot be read causes only a warning.
Status InputReader::read_provenance(const Reader& reader) {
  const auto warn = [&](const std::string& why) {
    warnings_.push_back(reader.file().name() + ": provenance left out: " + why);
  };
  Result<std::vector<std::string>> told = reader.provenance();
  if (told.ok()) {
    provenance_ = std::move(*told);
  } else if (told.status().code() == Code::kDamaged || told.status().code() == Code::kLimit) {
    warn(told.status().message());
  } else {
    return told.status();
  }
  if (std::erase_if(provenance_,
                    [](const std::string& text) { return text.size() > kMostProvenance; }) > 0)
    warn("the text of a run has more than " + std::to_string(kMostProvenance) + " bytes");
  return {};
}

Result<bool> InputReader::read_entry(const NmbInput& in, const BlockEntry& entry,
                                     const Visit& visit) {
  const std::string& file = in.file->name();
  // Damaged blocks are not passed on.
  NMB_ASSIGN(const std::shared_ptr<const Block> source, in.reader->block(entry));
  if (options_.outputs) NMB_TRY(check_references(*options_.outputs, *source, file));
  Source values;
  if (entry.extent_length > 0)
    values = std::make_shared<LazyExtent>(ExtentOfBlock{in.reader, entry});
  const bool is_whole = !selection_ || selection_->is_whole(entry.name);
  NMB_ASSIGN(MovedBlock moved, moved_block(in.index, *source, values, file));
  const bool moves = !moved.body.empty(), moves_values = moved.extent != nullptr;
  if (moves_values) values = moved.extent;
  std::shared_ptr<const Block> loaded = source;
  Source body;
  if (moves) {
    body = owned_bytes(moved.body, file);
    const std::uint64_t length = values ? values->size() : 0;
    NMB_ASSIGN(loaded,
               hdf5::decode_group({entry.name, std::move(moved.body), length, values, {}}, file));
  } else {
    NMB_ASSIGN(body, body_of(in, entry));
  }
  InputBlock block(*loaded);
  NMB_TRY(describe(in, *source, &block));
  block.is_placed = moves || is_surveyed_;
  for (auto at = originals_.find(entry.order); at != originals_.end();
       at = originals_.find(entry.order)) {
    block.originals.push_back(std::move(at->second));
    originals_.erase(at);
  }
  count_objects(*loaded, &block.packed);
  block.packed.names = Metadata::Names::kAsFound;
  block.packed.body = std::move(body);
  block.values = values;
  block.packed.extent_length = values ? values->size() : 0;
  block.load = loaded->metadata.memory() + entry.raw_length +
               std::min<std::uint64_t>(in.reader->piece_size(), entry.extent_length);
  if (moves)
    block.open = [loaded] { return Result<std::shared_ptr<const Dataset>>(loaded); };
  else
    block.open = [reader = in.reader, entry]() -> Result<std::shared_ptr<const Dataset>> {
      NMB_ASSIGN(std::shared_ptr<const Block> again, reader->block(entry));
      return std::shared_ptr<const Dataset>(std::move(again));
    };
  // If a block has few variables, its values are copied.
  if (moves_values && options_.links && is_whole)
    return Status(
        Code::kConflict, file, kNoOffset, "",
        "block " + in_quotes(entry.name) +
            (selection_
                 ? ": its values cannot be linked, because they contain references that change; "
                   "leave out --link"
                 : ": its values cannot be linked, because they contain references that change "
                   "with the block's new name; use --block-name '{group}', which keeps names, or "
                   "leave out --link"));
  if (is_whole) NMB_TRY(keep_rows(*source, &block.packed));
  if (is_whole && !moves && entry.growth == 0) block.packed.file_digests = entry.file_digests;
  if (moves_values)
    block.packed.extent = std::move(values);
  else
    NMB_TRY(add_stored_values(in, entry, &block));
  return visit(block);
}

// Returns the block's definitions. The definitions are kept in memory if they are short and the
// file has few blocks.
Result<Source> InputReader::body_of(const NmbInput& in, const BlockEntry& entry) {
  if (entry.raw_length > std::min(kMostHeader, held_room_) ||
      in.reader->totals().blocks > kFewBlocks)
    return Source(std::make_shared<LazyBody>(BodyOfBlock{in.reader, entry}));
  NMB_ASSIGN(std::vector<std::byte> bytes, in.reader->body(entry));
  held_room_ -= bytes.size();
  return Source(owned_bytes(std::move(bytes), in.file->name()));
}

// Sets the fields that describe the block. The block still has its original name here, because
// `lengths_` contains original names.
Status InputReader::describe(const NmbInput& in, const Block& source, InputBlock* block) {
  const bool becomes_root = options_.only_block == source.entry.name && !only_is_group_;
  if (!becomes_root) block->group = source.entry.name;
  block->is_group = true;
  block->blocks = in.reader->totals().blocks;
  block->samples = source.entry.samples;
  block->lengths = lengths_;
  if (dimensions_) {
    NMB_ASSIGN(const FileDimensions found, dimensions_->of(source));
    block->first_made_up = found.first_made_up;
  }
  if (options_.sample_rule && source.metadata.extension())
    block->counted = counts_of(*options_.sample_rule, source, lengths_.get());
  return {};
}

// Records where the values of a block are stored. The merge does not change these values.
Status InputReader::add_stored_values(const NmbInput& in, const BlockEntry& entry,
                                      InputBlock* block) {
  NMB_ASSIGN(block->packed.holes, in.reader->holes(entry));
  if (!entry.hole) block->packed.extent = block->values;
  if (options_.origins) block->packed.origin = origin(in.index, sum_of_entry(entry), entry.name);
  if (options_.originals && !stored_.empty()) {
    NMB_ASSIGN(std::optional<ValuesInOriginal> places,
               values_in_original(*in.reader, entry, stored_));
    if (places)
      block->links = linked_to_original(*std::move(places), block->values, options_.piece_size);
    if (block->links) {
      block->stored_twice =
          copied_values(block->links, block->values->size(), block->dataset.metadata);
      return {};
    }
  }
  if (options_.coded_pieces) {
    NMB_ASSIGN(block->coded, coded_pieces(*in.reader, entry));
    for (const ExtentPiece& piece : block->coded) {
      Source& coded_in = block->coded_in[piece.file];
      if (!coded_in && piece.file == 0) coded_in = in.file;
      if (coded_in) continue;
      NMB_ASSIGN(coded_in, in.reader->open_external(piece.file));
    }
  }
  if (options_.links) {
    NMB_ASSIGN(block->links, options_.links->of_block(*in.reader, in.file, entry));
  }
  return {};
}

// Changes the paths in a block of an NMB input if the blocks of that input get new names, or if
// some of them are not packed. Returns a result without a body if the block stays unchanged.
Result<MovedBlock> InputReader::moved_block(std::size_t index, const Block& block,
                                            const Source& values, const std::string& file) {
  if (!block.metadata.extension()) return MovedBlock();
  const PathMove move =
      options_.move && !is_surveyed_ ? options_.move(index, block.entry.name) : PathMove();
  if (!is_surveyed_ && !selection_ && move.is_none()) return MovedBlock();
  Dataset dataset = static_cast<const Dataset&>(block);
  if (values) dataset.extent = values;
  if (is_surveyed_) return mapped_block(dataset, block.entry.name, file);
  // A block that is packed with all blocks below it keeps its paths.
  if (selection_ && (selection_->groups() == Groups::kAlone || !selection_->is_whole(block.name)))
    return selected_block(dataset, move, file);
  if (!moved_) {
    NMB_ASSIGN(moved_, SpoolFile::create());
  }
  Result<MovedBlock> moved = move_paths(dataset, move, moved_);
  if (moved.ok()) return moved;
  return not_moved(moved.status(), block.entry.name, file,
                   "; use --block-name '{group}' to keep names");
}

// Returns a block of `selection_` without its references to objects that are not packed, and
// without the variables that are not packed. Returns a result without a body if the block stays
// unchanged.
Result<MovedBlock> InputReader::selected_block(const Dataset& block, const PathMove& move,
                                               const std::string& file) {
  const bool is_whole = selection_->is_whole(block.name);
  NMB_ASSIGN(const bool refers, refers_to_objects(block.metadata));
  if (is_whole && !refers) return MovedBlock();
  if (!moved_) {
    NMB_ASSIGN(moved_, SpoolFile::create());
  }
  const PathMap kept = selection_->map();
  bool is_lost = false;
  const PathMap map = [&](std::string_view path) {
    std::optional<std::string> to = kept(path);
    is_lost = is_lost || !to;
    if (to) to = move.moved(*to);
    return to;
  };
  Result<MovedBlock> out = is_whole
                               ? map_paths(block, map, moved_)
                               : keep_variables(block, BlockSelection::kept(block), map, moved_);
  if (out.ok() && is_whole && !is_lost) out = move_paths(block, move, moved_);
  if (!out.ok()) return not_moved(out.status(), block.name, file, "");
  if (is_whole) warn_of_lost(*out, block.name, file, "the referenced objects are not chosen");
  return out;
}

// Reports links and references that a block has lost.
void InputReader::warn_of_lost(const MovedBlock& moved, const std::string& block,
                               const std::string& file, const std::string& reason) {
  constexpr std::size_t kMostShown = 10;
  std::string lost;
  for (std::size_t i = 0; i < std::min(kMostShown, moved.lost.size()); ++i)
    lost += (i > 0 ? ", " : "") + moved.lost[i];
  if (moved.lost.size() > kMostShown)
    lost += " and " + std::to_string(moved.lost.size() - kMostShown) + " more";
  if (!lost.empty())
    warnings_.push_back(file + ": block " + in_quotes(block) + ": left out because " + reason +
                        ": " + lost);
}

// Changes the paths in a block after the survey. Returns a result without a body if the block stays
// unchanged.
Result<MovedBlock> InputReader::mapped_block(const Dataset& block, const std::string& name,
                                             const std::string& file) {
  const PathMap map = options_.map ? options_.map(name) : PathMap();
  if (!map) return MovedBlock();
  if (!moved_) {
    NMB_ASSIGN(moved_, SpoolFile::create());
  }
  Result<MovedBlock> moved = map_paths(block, map, moved_);
  if (!moved.ok()) return not_moved(moved.status(), name, file, "");
  warn_of_lost(*moved, name, file, "the referenced objects are divided or united");
  return moved;
}

Result<std::unique_ptr<hdf5::StartedFile>> InputReader::start_hdf5(std::size_t index,
                                                                   const std::string& path) {
  std::shared_ptr<const SpoolFile>& spool = spools_[index % 2];
  if (!spool) {
    NMB_ASSIGN(spool, SpoolFile::create());
  }
  hdf5::ReadOptions read{options_.other_files};
  if (options_.move) read.place = options_.move(index, "").to;
  return hdf5::StartedFile::start(path, spool, read);
}

void InputReader::note_place(std::size_t index) {
  is_placed_ = options_.move && !options_.move(index, "").is_none();
  placed_below_ = is_placed_ ? options_.move(index, "").to : std::string();
}

Status InputReader::read_hdf5(std::size_t index, Source file, const Visit& visit) {
  std::unique_ptr<hdf5::StartedFile> started = std::move(started_);
  if (!started || started_index_ != index) {
    NMB_ASSIGN(started, start_hdf5(index, file->name()));
  }
  if (options_.ahead && index + 1 < std::min(end_, options_.ahead->size())) {
    // An error of the next input is reported when that input is read.
    Result<std::unique_ptr<hdf5::StartedFile>> next =
        start_hdf5(index + 1, (*options_.ahead)[index + 1]);
    if (next.ok()) started_ = std::move(*next);
    started_index_ = index + 1;
  }
  note_place(index);
  std::vector<hdf5::GroupBlock> groups;
  bool is_wanted = true;
  const auto take = [&](hdf5::GroupBlock group) -> Status {
    if (options_.count_groups || options_.chooser) {
      groups.push_back(std::move(group));
    } else if (is_wanted) {
      NMB_ASSIGN(is_wanted, read_group(file, std::move(group), 0, visit));
    }
    return {};
  };
  becomes_original_ = is_original_ = options_.originals;
  NMB_TRY(started->read(file, take));
  bool is_any_chosen = true;
  if (options_.chooser) {
    NMB_ASSIGN(const std::vector<bool> chosen, choose_groups(groups, file->name()));
    is_any_chosen = std::ranges::find(chosen, true) != chosen.end();
    const bool is_parted = std::ranges::find(chosen, false) != chosen.end();
    parted_originals_ += is_original_ && is_parted && is_any_chosen;
    becomes_original_ = is_original_ = is_original_ && !is_parted;
  }
  whole_files_ += is_any_chosen;
  if (!is_any_chosen) return {};
  if (options_.shared_dimensions) NMB_TRY(note_lengths(groups, file->name()));
  if (options_.made_up_names) NMB_TRY(note_made_up(groups, file->name()));
  if (options_.survey) {
    for (const hdf5::GroupBlock& group : groups)
      NMB_TRY(read_group(file, group, groups.size(), [&](InputBlock& block) -> Result<bool> {
                NMB_TRY(options_.survey(block));
                return true;
              }).status());
    is_surveyed_ = true;
  }
  for (std::size_t i = 0; i < groups.size() && is_wanted; ++i) {
    if (selection_) {
      NMB_ASSIGN(const BlockSelection::Use use,
                 selection_->use_of(joined_path(placed_below_, groups[i].name)));
      if (use == BlockSelection::Use::kNone) continue;
    }
    NMB_ASSIGN(is_wanted, read_group(file, std::move(groups[i]), groups.size(), visit));
  }
  return {};
}

// Returns the definitions of a group.
Result<Dataset> InputReader::decoded(const hdf5::GroupBlock& group, const std::string& file) {
  NMB_ASSIGN(ClassicHeader header,
             decode_classic_header(MemorySource(group.body, file), {.values_follow = false},
                                   std::move(room_)));
  Dataset dataset = dataset_of(std::move(header), group.extent);
  dataset.name = group.name;
  return dataset;
}

// Passes the groups to Options::chooser, and sets `selection_` if some groups are not chosen.
// Returns for each group, in the order of names, whether it is chosen. The paths in the groups
// begin with `placed_below_`.
Result<std::vector<bool>> InputReader::choose_groups(const std::vector<hdf5::GroupBlock>& groups,
                                                     const std::string& file) {
  std::vector<const hdf5::GroupBlock*> by_name;
  for (const hdf5::GroupBlock& group : groups) by_name.push_back(&group);
  std::ranges::sort(by_name, {}, &hdf5::GroupBlock::name);
  NMB_TRY(options_.chooser->begin(nullptr));
  std::vector<bool> chosen;
  std::vector<std::shared_ptr<const Block>> blocks;
  for (const hdf5::GroupBlock* group : by_name) {
    hdf5::GroupBlock placed = *group;
    placed.name = joined_path(placed_below_, group->name);
    NMB_ASSIGN(blocks.emplace_back(), hdf5::decode_group(std::move(placed), file));
    NMB_ASSIGN(const bool wanted, options_.chooser->wants(group->name, 0, [&] {
      return Result<std::shared_ptr<const Dataset>>(blocks.back());
    }));
    chosen.push_back(wanted);
  }
  (void)options_.chooser->end(file);
  NMB_TRY(select_chosen(hdf5::NamedBlocks(std::move(blocks)), file, chosen));
  return chosen;
}

// Changes the paths in a group after the survey, or if some groups are not chosen.
Status InputReader::map_group(const std::string& file, hdf5::GroupBlock* group, Dataset* dataset) {
  MovedBlock moved;
  bool is_whole = true;
  if (selection_) {
    dataset->name = joined_path(placed_below_, group->name);
    if (!dataset->extent) dataset->extent = owned_bytes({}, file);
    is_whole = selection_->is_whole(dataset->name);
    NMB_ASSIGN(moved, selected_block(*dataset, {}, file));
    dataset->name = group->name;
    if (moved.extent) group->in_file.clear();
  } else {
    NMB_ASSIGN(moved, mapped_block(*dataset, group->name, file));
  }
  if (moved.extent && options_.links && is_whole)
    return Status(
        Code::kConflict, file, kNoOffset, "",
        "block " + in_quotes(group->name) +
            ": its values cannot be linked, because they contain references that change; leave "
            "out --link");
  if (moved.extent) {
    group->extent_length = moved.extent->size();
    group->extent = std::move(moved.extent);
  }
  if (moved.body.empty()) return {};
  group->body = std::move(moved.body);
  room_ = std::move(dataset->metadata);
  NMB_ASSIGN(*dataset, decoded(*group, file));
  return {};
}

Result<bool> InputReader::read_group(const Source& source, hdf5::GroupBlock group,
                                     std::uint64_t blocks, const Visit& visit) {
  const std::string& file = source->name();
  NMB_ASSIGN(Dataset dataset, decoded(group, file));
  if (is_surveyed_ || selection_) NMB_TRY(map_group(file, &group, &dataset));
  if (options_.outputs) NMB_TRY(check_references(*options_.outputs, dataset, file));
  InputBlock block(dataset);
  block.group = group.name;
  block.is_group = true;
  block.is_placed = is_placed_ || is_surveyed_;
  block.blocks = blocks;
  block.lengths = lengths_;
  if (const auto first = made_up_.find(group.name); first != made_up_.end())
    block.first_made_up = first->second;
  if (options_.sample_rule) {
    std::string name = std::exchange(dataset.name, joined_path(placed_below_, group.name));
    block.counted = counts_of(*options_.sample_rule, dataset, lengths_.get());
    dataset.name = std::move(name);
  }
  block.load = dataset.metadata.memory() + group.body.size();
  count_objects(dataset, &block.packed);
  const auto body = owned_bytes(std::move(group.body), file);
  block.packed.body = body;
  block.packed.extent_length = group.extent_length;
  block.packed.extent = block.values = group.extent;
  if (std::exchange(becomes_original_, false))
    block.originals.push_back({0, original_path(file), source});
  if (is_original_ && group.extent) {
    block.links = linked_to_original({0, source, group.in_file}, group.extent, options_.piece_size);
    block.stored_twice = copied_values(block.links, group.extent->size(), dataset.metadata);
  }
  if (options_.links && group.extent) {
    NMB_ASSIGN(block.links, options_.links->in_runs(source, group.in_file, group.extent));
  }
  block.open = [body, file, name = group.name, extent = group.extent,
                length = group.extent_length]() -> Result<std::shared_ptr<const Dataset>> {
    std::vector<std::byte> bytes(body->size());
    NMB_TRY(body->read_at(0, bytes));
    NMB_ASSIGN(std::shared_ptr<const Block> again,
               hdf5::decode_group({name, std::move(bytes), length, extent, {}}, file));
    return std::shared_ptr<const Dataset>(std::move(again));
  };
  Result<bool> more = visit(block);
  room_ = std::move(dataset.metadata);
  return more;
}

}  // namespace nmb
