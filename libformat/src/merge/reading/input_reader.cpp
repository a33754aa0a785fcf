// Reading inputs block by block (see merge/reading/input_reader.h).
#include "merge/reading/input_reader.h"

#include <algorithm>
#include <span>
#include <utility>

#include "format/table/kept_rows.h"
#include "hdf5/client/group_block.h"
#include "merge/reading/input_block.h"
#include "merge/reading/value_origin.h"
#include "model/name_rules.h"
#include "nmb/classic.h"
#include "nmb/convert.h"
#include "nmb/reader.h"
#include "nmb/verify.h"
#include "wire/owned_bytes.h"
#include "wire/pooled_file.h"
#include "wire/shared_range.h"

namespace nmb {

namespace {

// Of a header that is kept until it is written.
constexpr std::uint64_t kMostHeader = 8192;
// Of an NMB file whose blocks' definitions are kept likewise: of one of more, opening it once more
// is not what takes the time.
constexpr std::uint64_t kFewBlocks = 16;

// What a block is packed with that its definitions tell.
void count_objects(const Dataset& dataset, PackedBlock* block) {
  block->kind = dataset.layout.kind;
  block->dimensions = dataset.metadata.dimension_count();
  block->variables = dataset.metadata.variable_count();
  block->attributes = dataset.metadata.attribute_count();
  block->records = dataset.records;
}

bool is_extended(const BlockEntry& entry) {
  return entry.kind == static_cast<std::uint16_t>(Kind::kExtended);
}

Dataset dataset_of(ClassicHeader header, std::shared_ptr<const ByteSource> extent) {
  Dataset dataset;
  dataset.records = header.metadata.record_count(header.layout.records);
  dataset.metadata = std::move(header.metadata);
  dataset.layout = header.layout;
  dataset.extent = std::move(extent);
  return dataset;
}

}  // namespace

Status InputReader::read(std::size_t index, std::shared_ptr<const ByteSource> file,
                         const Visit& visit) {
  NMB_ASSIGN(const FileKind kind, kind_of(*file));
  lengths_.reset();
  is_surveyed_ = false;
  if (options_.only_block && kind != FileKind::kNmb)
    return Status(
        Code::kUnsupported, file->name(), kNoOffset, "",
        "a block is taken out of an NMB file; this is a " + std::string(kind_name(kind)) + " file");
  if (kind == FileKind::kNmb) return read_nmb(index, std::move(file), visit);
  if (kind == FileKind::kHdf5) return read_hdf5(index, std::move(file), visit);
  if (!is_classic(kind)) return refused_kind(*file, kind);
  return read_classic(index, std::move(file), visit);
}

// Nobody asks for it where there is one rank.
std::string InputReader::origin(std::size_t index, std::uint64_t begin,
                                std::optional<std::string_view> block) const {
  if (!options_.origins) return {};
  return ValueOrigin{static_cast<std::uint32_t>(index), begin, block}.text();
}

Status InputReader::read_classic(std::size_t index, std::shared_ptr<const ByteSource> file,
                                 const Visit& visit) {
  NMB_ASSIGN(ClassicHeader header, decode_classic_header(*file, {}, std::move(room_)));
  for (const HeaderRemark& remark : header.remarks) {
    if (remark.rule != "R-CH-6") continue;
    warnings_.push_back(file->name() + ": " + remark.text() + "; kept as it is");
    break;
  }
  const std::uint64_t header_length = header.layout.header_length;
  const auto values =
      std::make_shared<SharedRange>(file, header_length, file->size() - header_length);
  Dataset dataset = dataset_of(std::move(header), values);
  InputBlock block(dataset);
  count_objects(dataset, &block.packed);
  block.packed.extent = block.values = values;
  // The file is open now, and may not be when it is asked for.
  if (header_length <= std::min(kMostHeader, held_room_)) {
    std::vector<std::byte> body(header_length);
    NMB_TRY(file->read_at(0, body));
    held_room_ -= header_length;
    block.packed.body = std::make_shared<OwnedBytes>(std::move(body), file->name());
  } else {
    block.packed.body = std::make_shared<SharedRange>(file, 0, header_length);
  }
  block.packed.extent_length = values->size();
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

Status InputReader::read_nmb(std::size_t index, std::shared_ptr<const ByteSource> file,
                             const Visit& visit) {
  const std::string name = file->name();
  NMB_ASSIGN(std::unique_ptr<Reader> opened,
             Reader::open(file, {.cache_bytes = options_.cache_bytes,
                                 .verify_values = true,
                                 .external = options_.external}));
  const std::shared_ptr<const Reader> reader = std::move(opened);
  NMB_TRY(check_nothing_pending(*reader));
  // Somebody may add to the file meanwhile, but not where it is linked: a link has its length.
  if (const auto* const pooled = dynamic_cast<const PooledFile*>(file.get());
      pooled && !options_.links)
    pooled->set_unchanged(reader->generation_check());
  for (const Finding& finding : reader->warnings())
    warnings_.push_back(name + ": " + finding.text());
  if (options_.outputs) NMB_TRY(check_file_table(*options_.outputs, *reader));
  if (options_.provenance) NMB_TRY(read_provenance(*reader));
  NMB_TRY(read_rows(*reader));
  if (options_.only_block) {
    NMB_ASSIGN(const std::optional<BlockEntry> entry, reader->find(*options_.only_block));
    if (!entry)
      return Status(Code::kNotFound, name, kNoOffset, "",
                    "found no block " + in_quotes(*options_.only_block));
    const std::string below = entry->name.empty() ? "" : entry->name + "/";
    only_is_group_ = is_extended(*entry);
    // A group with nothing of its own is a classic block, but blocks lie below it.
    if (!only_is_group_ && entry->dimensions + entry->variables + entry->attributes == 0)
      NMB_TRY(reader->for_each_entry(below, [&](const BlockEntry& other) -> Result<bool> {
        only_is_group_ |= other.name != entry->name;
        return !only_is_group_;
      }));
    NMB_ASSIGN(const bool is_wanted, read_entry(index, file, reader, *entry, visit));
    if (!is_wanted || !only_is_group_) return {};
    return reader->for_each_entry(below, [&](const BlockEntry& other) -> Result<bool> {
      if (other.name == entry->name) return true;
      return read_entry(index, file, reader, other, visit);
    });
  }
  if (options_.shared_dimensions) NMB_TRY(note_lengths(*reader));
  dimensions_.reset();
  if (options_.made_up_names)
    dimensions_.emplace(
        FileBlocks{[reader](std::string_view block) { return reader->find(block); },
                   [reader](std::string_view prefix, const auto& visit_entry) {
                     return reader->for_each_entry(prefix, visit_entry);
                   },
                   [reader](const BlockEntry& entry) -> Result<std::shared_ptr<const Dataset>> {
                     NMB_ASSIGN(std::shared_ptr<const Block> block, reader->block(entry));
                     return std::shared_ptr<const Dataset>(std::move(block));
                   }});
  if (options_.survey) {
    bool any = false;
    NMB_TRY(reader->for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
      any = any || is_extended(entry);
      return !any;
    }));
    if (any)
      NMB_TRY(reader->for_each_entry("", [&](const BlockEntry& entry) {
        return read_entry(index, file, reader, entry, [&](InputBlock& block) -> Result<bool> {
          NMB_TRY(options_.survey(block));
          return true;
        });
      }));
    is_surveyed_ = any;
    // They count when they are visited.
    extras_.tagged = extras_.counted = 0;
  }
  NMB_TRY(reader->for_each_entry(
      "", [&](const BlockEntry& entry) { return read_entry(index, file, reader, entry, visit); }));
  return find_losses(*reader);
}

Status InputReader::read_rows(const Reader& reader) {
  extras_ = {};
  std::vector<Status> damaged;
  NMB_ASSIGN(extras_.rows, reader.kept_rows(options_.statistics, &damaged));
  for (const Status& status : damaged)
    extras_.losses.push_back({0,
                              {},
                              "statistics or tags",
                              "not kept, since their table cannot be read: " + status.text(),
                              PackLoss::Kind::kTable});
  return {};
}

// What the file has beside blocks, and no copy of these has.
Status InputReader::find_losses(const Reader& reader) {
  NMB_ASSIGN(const std::vector<ExternalFile> files, reader.external_files());
  for (const ExternalFile& file : files)
    if (file.is_original)
      extras_.losses.push_back(
          {0,
           {},
           "original " + in_quotes(file.path),
           "a file of " + std::to_string(file.size) +
               " bytes that lies whole in the input; values of blocks in it are copied, the file "
               "is not",
           PackLoss::Kind::kOriginal});
  NMB_ASSIGN(const std::vector<std::string> additions, reader.later_additions());
  for (const std::string& addition : additions)
    extras_.losses.push_back({0,
                              {},
                              addition,
                              "of a later version of the format; not copied",
                              PackLoss::Kind::kAddition});
  return {};
}

// Statistics and tags go with a block that is taken over whole.
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

// Dimensions that may grow are as long as the longest variable of all blocks that use them.
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

std::string InputReader::place_of(const std::string& group) const {
  if (placed_below_.empty()) return group;
  return group.empty() ? placed_below_ : placed_below_ + "/" + group;
}

// The definitions of all groups, one after the other.
template <class VisitGroup>
Status InputReader::for_each_group(const std::vector<hdf5::GroupBlock>& groups,
                                   const std::string& file, VisitGroup visit_group) {
  const auto values = std::make_shared<OwnedBytes>(std::vector<std::byte>(), file);
  for (const hdf5::GroupBlock& group : groups) {
    NMB_ASSIGN(ClassicHeader header,
               decode_classic_header(MemorySource(group.body, file), {.values_follow = false},
                                     std::move(room_)));
    Dataset dataset = dataset_of(std::move(header), values);
    dataset.name = group.name;
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
    group.name = place_of(group.name);
    add_dimension_lengths(group, lengths.get());
    return {};
  }));
  lengths_ = std::move(lengths);
  return {};
}

// What cannot be read of it hinders nobody.
Status InputReader::read_provenance(const Reader& reader) {
  const auto warn = [&](const std::string& why) {
    warnings_.push_back(reader.file().name() + ": its provenance is left out: " + why);
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
    warn("found more than " + std::to_string(kMostProvenance) + " bytes of a run");
  return {};
}

Result<bool> InputReader::read_entry(std::size_t index,
                                     const std::shared_ptr<const ByteSource>& file,
                                     const std::shared_ptr<const Reader>& reader,
                                     const BlockEntry& entry, const Visit& visit) {
  // What is not sound is not passed on.
  NMB_ASSIGN(std::shared_ptr<const Block> loaded, reader->block(entry));
  const std::shared_ptr<const Block> source = loaded;
  if (options_.outputs) NMB_TRY(check_references(*options_.outputs, *loaded, file->name()));
  std::shared_ptr<const ByteSource> values;
  if (entry.extent_length > 0) values = std::make_shared<LazyExtent>(reader, entry);
  NMB_ASSIGN(MovedBlock moved, moved_block(index, *loaded, values, file->name()));
  const bool moves = !moved.body.empty(), moves_values = moved.extent != nullptr;
  if (moves_values) values = moved.extent;
  std::shared_ptr<const ByteSource> body;
  if (moves) {
    body = std::make_shared<OwnedBytes>(moved.body, file->name());
    const std::uint64_t length = values ? values->size() : 0;
    NMB_ASSIGN(loaded, hdf5::decode_group({entry.name, std::move(moved.body), length, values, {}},
                                          file->name()));
  } else if (entry.raw_length <= std::min(kMostHeader, held_room_) &&
             reader->totals().blocks <= kFewBlocks) {
    NMB_ASSIGN(std::vector<std::byte> bytes, reader->body(entry));
    held_room_ -= bytes.size();
    body = std::make_shared<OwnedBytes>(std::move(bytes), file->name());
  } else {
    body = std::make_shared<LazyBody>(reader, entry);
  }
  InputBlock block(*loaded);
  const bool becomes_root = options_.only_block == entry.name && !only_is_group_;
  if (!becomes_root) block.group = entry.name;
  block.is_group = true;
  block.is_placed = moves || is_surveyed_;
  block.blocks = reader->totals().blocks;
  block.samples = entry.samples;
  // Of the block as it is in its file, which `lengths_` speaks of.
  if (dimensions_) {
    NMB_ASSIGN(const FileDimensions found, dimensions_->of(*source));
    block.first_made_up = found.first_made_up;
  }
  if (options_.sample_rule && source->metadata.extension())
    block.counted = counts_of(*options_.sample_rule, *source, lengths_.get());
  count_objects(*loaded, &block.packed);
  block.packed.body = std::move(body);
  block.values = values;
  block.packed.extent_length = values ? values->size() : 0;
  block.lengths = lengths_;
  block.load = loaded->metadata.memory() + entry.raw_length +
               std::min<std::uint64_t>(reader->piece_size(), entry.extent_length);
  if (moves)
    block.open = [loaded] { return Result<std::shared_ptr<const Dataset>>(loaded); };
  else
    block.open = [reader, entry]() -> Result<std::shared_ptr<const Dataset>> {
      NMB_ASSIGN(std::shared_ptr<const Block> again, reader->block(entry));
      return std::shared_ptr<const Dataset>(std::move(again));
    };
  if (moves_values && options_.links)
    return Status(Code::kConflict, file->name(), kNoOffset, "",
                  "block " + in_quotes(entry.name) +
                      ": references in its values follow its new name, so they cannot be linked; "
                      "use --block-name '{group}', which keeps names, or leave out --link");
  NMB_TRY(keep_rows(*source, &block.packed));
  if (moves_values) {
    block.packed.extent = std::move(values);
    return visit(block);
  }
  NMB_ASSIGN(block.packed.holes, reader->holes(entry));
  if (!entry.hole) block.packed.extent = block.values;
  if (options_.origins) block.packed.origin = origin(index, sum_of_entry(entry), entry.name);
  if (options_.coded_pieces) {
    NMB_ASSIGN(block.coded, coded_pieces(*reader, entry));
    for (const ExtentPiece& piece : block.coded) {
      std::shared_ptr<const ByteSource>& coded_in = block.coded_in[piece.file];
      if (!coded_in && piece.file == 0) coded_in = file;
      if (coded_in) continue;
      NMB_ASSIGN(coded_in, reader->open_external(piece.file));
    }
  }
  if (options_.links) {
    NMB_ASSIGN(block.links, options_.links->of_block(*reader, file, entry));
  }
  return visit(block);
}

// Of an NMB input, whose names become others; without a body: it stays as it is.
Result<MovedBlock> InputReader::moved_block(std::size_t index, const Block& block,
                                            const std::shared_ptr<const ByteSource>& values,
                                            const std::string& file) {
  if (is_surveyed_ && block.metadata.extension()) {
    Dataset dataset = block;
    if (values) dataset.extent = values;
    return mapped_block(dataset, block.entry.name, file);
  }
  if (!options_.move || !block.metadata.extension()) return MovedBlock();
  const PathMove move = options_.move(index, block.entry.name);
  if (move.is_none()) return MovedBlock();
  if (!moved_) {
    NMB_ASSIGN(moved_, SpoolFile::create());
  }
  Dataset dataset = block;
  if (values) dataset.extent = values;
  Result<MovedBlock> moved = move_paths(dataset, move, moved_);
  if (moved.ok()) return moved;
  const Status& status = moved.status();
  const bool keeps = status.code() == Code::kUnsupported;
  return Status(keeps ? Code::kConflict : status.code(),
                status.file().empty() ? file : status.file(), status.offset(), status.rule(),
                "block " + in_quotes(block.entry.name) + ": " + status.message() +
                    (keeps ? "; --block-name '{group}' keeps names" : ""));
}

// Behind the survey; without a body: it stays as it is.
Result<MovedBlock> InputReader::mapped_block(const Dataset& block, const std::string& name,
                                             const std::string& file) {
  const PathMap map = options_.map ? options_.map(name) : PathMap();
  if (!map) return MovedBlock();
  if (!moved_) {
    NMB_ASSIGN(moved_, SpoolFile::create());
  }
  Result<MovedBlock> moved = map_paths(block, map, moved_);
  const std::string of_block = "block " + in_quotes(name) + ": ";
  if (!moved.ok()) {
    const Status& status = moved.status();
    return Status(status.code() == Code::kUnsupported ? Code::kConflict : status.code(),
                  status.file().empty() ? file : status.file(), status.offset(), status.rule(),
                  of_block + status.message());
  }
  constexpr std::size_t kMostNamed = 10;
  std::string lost;
  for (std::size_t i = 0; i < std::min(kMostNamed, moved->lost.size()); ++i)
    lost += (i > 0 ? ", " : "") + moved->lost[i];
  if (moved->lost.size() > kMostNamed)
    lost += " and " + std::to_string(moved->lost.size() - kMostNamed) + " more";
  if (!lost.empty())
    warnings_.push_back(file + ": " + of_block +
                        "left out, since the objects they lead to become others: " + lost);
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

Status InputReader::read_hdf5(std::size_t index, std::shared_ptr<const ByteSource> file,
                              const Visit& visit) {
  std::unique_ptr<hdf5::StartedFile> started = std::move(started_);
  if (!started || started_index_ != index) {
    NMB_ASSIGN(started, start_hdf5(index, file->name()));
  }
  if (options_.ahead && index + 1 < std::min(end_, options_.ahead->size())) {
    // Of what kind it is, and what is wrong with it, is found when it is its turn.
    Result<std::unique_ptr<hdf5::StartedFile>> next =
        start_hdf5(index + 1, (*options_.ahead)[index + 1]);
    if (next.ok()) started_ = std::move(*next);
    started_index_ = index + 1;
  }
  is_placed_ = options_.move && !options_.move(index, "").is_none();
  placed_below_ = is_placed_ ? options_.move(index, "").to : std::string();
  std::vector<hdf5::GroupBlock> groups;
  bool is_wanted = true;
  const auto take = [&](hdf5::GroupBlock group) -> Status {
    if (options_.count_groups) {
      groups.push_back(std::move(group));
    } else if (is_wanted) {
      NMB_ASSIGN(is_wanted, read_group(file, std::move(group), 0, visit));
    }
    return {};
  };
  NMB_TRY(started->read(file, take));
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
    NMB_ASSIGN(is_wanted, read_group(file, std::move(groups[i]), groups.size(), visit));
  }
  return {};
}

Result<bool> InputReader::read_group(const std::shared_ptr<const ByteSource>& source,
                                     hdf5::GroupBlock group, std::uint64_t blocks,
                                     const Visit& visit) {
  const std::string& file = source->name();
  const auto decoded = [&]() -> Result<Dataset> {
    NMB_ASSIGN(ClassicHeader header,
               decode_classic_header(MemorySource(group.body, file), {.values_follow = false},
                                     std::move(room_)));
    Dataset all = dataset_of(std::move(header), group.extent);
    all.name = group.name;
    return all;
  };
  NMB_ASSIGN(Dataset dataset, decoded());
  if (is_surveyed_) {
    NMB_ASSIGN(MovedBlock moved, mapped_block(dataset, group.name, file));
    if (moved.extent && options_.links)
      return Status(Code::kConflict, file, kNoOffset, "",
                    "block " + in_quotes(group.name) +
                        ": references in its values follow the blocks that are divided, so they "
                        "cannot be linked; leave out --link");
    if (moved.extent) {
      group.extent_length = moved.extent->size();
      group.extent = std::move(moved.extent);
    }
    if (!moved.body.empty()) {
      group.body = std::move(moved.body);
      room_ = std::move(dataset.metadata);
      NMB_ASSIGN(dataset, decoded());
    }
  }
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
    std::string name = std::exchange(dataset.name, place_of(group.name));
    block.counted = counts_of(*options_.sample_rule, dataset, lengths_.get());
    dataset.name = std::move(name);
  }
  block.load = dataset.metadata.memory() + group.body.size();
  count_objects(dataset, &block.packed);
  const auto body = std::make_shared<OwnedBytes>(std::move(group.body), file);
  block.packed.body = body;
  block.packed.extent_length = group.extent_length;
  block.packed.extent = block.values = group.extent;
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
