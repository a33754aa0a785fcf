#include "merge/reading/nmb_input.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "client/damaged_chunks.h"
#include "client/decode_group.h"
#include "convert/convert.h"
#include "files/pooled_file.h"
#include "merge/reading/late_extent.h"
#include "merge/reading/sample_counts.h"
#include "model/name_rules.h"
#include "model/paths.h"
#include "netcdf/needed_in_groups.h"
#include "reader/extent_pieces.h"
#include "sources/value_message.h"
#include "sources/value_source.h"
#include "table/kept_rows.h"
#include "verify/verify.h"

namespace nmb {

namespace {

Result<std::shared_ptr<const Dataset>> dataset_of(const FileReader& reader,
                                                  const BlockEntry& entry) {
  NMB_ASSIGN(std::shared_ptr<const LoadedBlock> block, reader.block(entry));
  return std::shared_ptr<const Dataset>(std::move(block));
}

using VisitEntry = std::function<Result<bool>(const BlockEntry&)>;

// blocks: names of the visited blocks; nullptr for all blocks.
Status for_each_entry(const FileReader& reader, std::string_view prefix,
                      const std::vector<std::string>* blocks, const VisitEntry& visit) {
  if (!blocks) return reader.for_each_entry(prefix, visit);
  for (const std::string& name : *blocks) {
    if (!name.starts_with(prefix)) continue;
    NMB_ASSIGN(const std::optional<BlockEntry> entry, reader.find(name));
    if (!entry) return file_changed(reader.file().name());
    NMB_ASSIGN(const bool goes_on, visit(*entry));
    if (!goes_on) break;
  }
  return {};
}

FileBlocks file_blocks(const std::shared_ptr<const FileReader>& reader,
                       const std::vector<std::string>* blocks) {
  return {[reader](std::string_view name) { return reader->find(name); },
          [reader, blocks](std::string_view prefix, const auto& visit) {
            return for_each_entry(*reader, prefix, blocks, visit);
          },
          [reader](const BlockEntry& entry) { return dataset_of(*reader, entry); }};
}

}  // namespace

NmbInput::NmbInput(InputContext& context, std::size_t index, Source file)
    : context_(context),
      options_(context.options),
      index_(index),
      file_(std::move(file)),
      blocks_(options_.merge.blocks_of(index)),
      changes_(context, file_->name()),
      damage_(file_->name()) {}

Status NmbInput::choose() {
  NMB_TRY(open());
  return choose_blocks().status();
}

Result<InputExtras> NmbInput::read(const VisitBlock& visit) {
  NMB_TRY(open());
  is_first_ = options_.merge.is_first_of_file(index_);
  if (options_.merge.provenance && is_first_) NMB_TRY(read_provenance());
  NMB_TRY(blocks_ ? share_archive() : read_rows());
  NMB_TRY(options_.merge.only_block ? read_only_block(visit) : read_blocks(visit));
  damage_.tell(&extras_.losses, &context_.warnings);
  return std::move(extras_);
}

Status NmbInput::read_blocks(const VisitBlock& visit) {
  if (options_.shared_dimensions) NMB_TRY(note_lengths());
  if (options_.selects_variables()) NMB_TRY(note_needed());
  std::vector<bool> chosen;  // for each block; empty if all blocks are chosen
  if (options_.chooser) {
    NMB_ASSIGN(chosen, choose_blocks());
    NMB_TRY(changes_.select(*reader_, chosen));
  }
  if (!blocks_) {
    NMB_ASSIGN(*originals_, InputOriginals::find(*reader_, chosen, options_.originals,
                                                 options_.merge.source.lost_originals));
    context_.counts.whole_files += originals_->chosen();
    context_.counts.parted_originals += originals_->parted();
  }
  if (options_.made_up_names) dimensions_.emplace(file_blocks(reader_, blocks_));
  if (options_.survey) NMB_TRY(survey());
  if (options_.merge.wants_block) NMB_TRY(changes_.select(*reader_, options_.merge.wants_block));
  NMB_TRY(visit_blocks(chosen, visit));
  return options_.merge.wants_block || !is_first_ ? Status() : find_losses();
}

// Opens the file, or takes it from the previous input.
Status NmbInput::open() {
  if (blocks_ && context_.archive && context_.archive->file == file_) {
    reader_ = context_.archive->reader;
    return {};
  }
  NMB_ASSIGN(reader_, FileReader::open(file_, {.cache_bytes = options_.cache_bytes,
                                               .external = options_.merge.external}));
  NMB_TRY(check_nothing_pending(*reader_));
  // If the file is not linked, another process may add data to the file during the merge. A linked
  // file must not grow, because a link records the file's length.
  const KnownSource known = file_->known();
  if (const auto* const pooled = std::get_if<const PooledFile*>(&known); pooled && !options_.links)
    (*pooled)->set_unchanged(reader_->generation_check());
  if (options_.merge.source.lacks_objects) changes_.drop_dangling(*reader_);
  for (const Finding& finding : reader_->warnings())
    context_.warnings.push_back(file_->name() + ": " + finding.text());
  return options_.merge.outputs ? check_file_table(*options_.merge.outputs, *reader_) : Status();
}

// Reads the provenance. Provenance that cannot be read is a loss.
Status NmbInput::read_provenance() {
  const auto lose = [&](const std::string& why) {
    extras_.losses.push_back({0, {}, "provenance", "not kept: " + why, PackLoss::Kind::kTable});
  };
  Result<std::vector<std::string>> texts = reader_->provenance();
  if (texts.ok()) {
    extras_.provenance = std::move(*texts);
  } else if (texts.status().code() == Code::kDamaged || texts.status().code() == Code::kLimit) {
    lose(texts.status().text());
  } else {
    return texts.status();
  }
  if (std::erase_if(extras_.provenance,
                    [](const std::string& text) { return text.size() > kMostProvenance; }) > 0)
    lose("the text of a run has more than " + std::to_string(kMostProvenance) + " bytes");
  return {};
}

// Takes the rows and originals of the file from the previous input, or finds them for this input
// and all later ones.
Status NmbInput::share_archive() {
  std::optional<OpenArchive>& archive = context_.archive;
  if (!archive || archive->file != file_) {
    archive.reset();
    NMB_TRY(read_rows());
    NMB_ASSIGN(*originals_, InputOriginals::find(*reader_, {}, false, {}));
    archive = OpenArchive{file_, reader_, extras_.rows, originals_};
  }
  extras_.rows = archive->rows;
  originals_ = archive->originals;
  return {};
}

Status NmbInput::read_rows() {
  std::vector<Status> damaged;
  NMB_ASSIGN(extras_.rows, reader_->kept_rows(options_.merge.keep_statistics, &damaged));
  for (const Status& status : damaged)
    extras_.losses.push_back({0,
                              {},
                              "statistics or tags",
                              "not kept because their table cannot be read: " + status.text(),
                              PackLoss::Kind::kTable});
  return {};
}

// --- choosing blocks ---

Status NmbInput::read_only_block(const VisitBlock& visit) {
  NMB_ASSIGN(const std::optional<BlockEntry> entry, reader_->find(*options_.merge.only_block));
  if (!entry)
    return Status(Code::kNotFound, file_->name(), kNoOffset, "",
                  "found no block " + in_quotes(*options_.merge.only_block));
  NMB_ASSIGN(const bool is_group, InputSelection::is_group(*reader_, *entry));
  becomes_root_ = !is_group;
  if (becomes_root_) return read_entry(*entry, visit).status();
  NMB_TRY(changes_.select(
      *reader_, [&](std::string_view block) -> Result<bool> { return block == entry->name; }));
  return visit_blocks({}, visit);
}

// Returns for each block, in the order of names, whether InputOptions::chooser chooses it.
Result<std::vector<bool>> NmbInput::choose_blocks() {
  return options_.chooser->choose(*reader_, reader_.get(), 0, file_->name(), &context_.warnings);
}

// Records the lengths of the dimensions. An unlimited dimension gets the length of the longest
// variable that uses the dimension. The variables of all blocks are compared.
Status NmbInput::note_lengths() {
  std::uint64_t count = 0;
  auto lengths = std::make_shared<DimensionLengths>();
  NMB_TRY(for_each_entry(*reader_, "", blocks_, [&](const BlockEntry& entry) -> Result<bool> {
    if (!is_from_hdf5(entry)) return true;
    NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> block, reader_->block(entry));
    add_dimension_lengths(*block, lengths.get());
    ++count;
    return true;
  }));
  if (count > 1) lengths_ = std::move(lengths);
  return {};
}

// Finds the variables that the variables of a subset need. Classic blocks need none of other
// blocks.
Status NmbInput::note_needed() {
  bool has_groups = false;
  NMB_TRY(for_each_entry(*reader_, "", blocks_, [&](const BlockEntry& entry) -> Result<bool> {
    has_groups = is_from_hdf5(entry);
    return !has_groups;
  }));
  if (!has_groups) return {};
  NeededInGroups needed;
  NMB_TRY(for_each_entry(*reader_, "", blocks_, [&](const BlockEntry& entry) -> Result<bool> {
    NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> block, reader_->block(entry));
    needed.add(group_of(entry), *block);
    return true;
  }));
  NMB_ASSIGN(NeededPaths paths, needed.needed_by(options_.merge.subset->variables));
  needed_ = std::make_shared<const NeededPaths>(std::move(paths));
  return {};
}

// Returns the path of a block in the input.
std::string NmbInput::group_of(const BlockEntry& entry) const {
  if (!blocks_) return entry.name;
  return std::string(without_slash(std::string_view(entry.name).substr(blocks_->front().size())));
}

// If some blocks came from HDF5, passes all blocks to InputOptions::survey before the first block
// is visited.
Status NmbInput::survey() {
  bool any = false;
  NMB_TRY(reader_->for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    any = any || is_from_hdf5(entry);
    return !any;
  }));
  if (!any) return {};
  is_surveying_ = true;
  NMB_TRY(visit_blocks({}, [&](InputBlock& block) -> Result<bool> {
    NMB_TRY(options_.survey(block));
    return true;
  }));
  is_surveying_ = false;
  changes_.end_survey();
  // Blocks with tags or statistics are counted later, when they are visited.
  extras_.tagged = extras_.counted = 0;
  return {};
}

// Visits the selected or chosen blocks. chosen: empty if all blocks are chosen.
Status NmbInput::visit_blocks(const std::vector<bool>& chosen, const VisitBlock& visit) {
  auto wanted = chosen.begin();
  return for_each_entry(*reader_, "", blocks_, [&](const BlockEntry& entry) -> Result<bool> {
    bool is_wanted = chosen.empty() || *wanted++;
    if (changes_.is_selection()) NMB_ASSIGN(is_wanted, changes_.is_selected(entry.name));
    return is_wanted ? read_entry(entry, visit) : Result(true);
  });
}

// Finds contents that a copy of the file would lose: originals, and additions from later versions
// of the format.
Status NmbInput::find_losses() {
  const bool needs_originals = options_.needs_originals && !options_.originals;
  NMB_ASSIGN(const std::vector<ExternalFile> files, reader_->external_files());
  std::uint32_t number = 0;
  for (const ExternalFile& file : files)
    if (++number; needs_originals && originals_->has_block(number))
      extras_.losses.push_back(
          {0,
           {},
           "original " + in_quotes(file.path),
           "a file of " + std::to_string(file.size) +
               " bytes inside the input; the values of blocks in it are copied, but the "
               "original itself is not",
           PackLoss::Kind::kOriginal});
  NMB_ASSIGN(const std::vector<std::string> additions, reader_->later_additions());
  for (const std::string& addition : additions)
    extras_.losses.push_back({0,
                              {},
                              addition,
                              "not copied because it belongs to a later version of the format",
                              PackLoss::Kind::kAddition});
  return {};
}

// --- reading a block ---

Result<bool> NmbInput::read_entry(const BlockEntry& entry, const VisitBlock& visit) {
  const std::string& file = file_->name();
  // Damaged blocks are not passed on.
  NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> source, reader_->block(entry));
  if (options_.merge.outputs) NMB_TRY(check_references(*options_.merge.outputs, *source, file));
  Source values;
  if (entry.extent_length > 0) values = late_source<LateExtent>(reader_, entry);
  NMB_ASSIGN(MovedContent moved, changed(*source, values));
  NMB_TRY(forget_originals(*source, &moved));
  const bool moves = !moved.body.empty(), moves_values = moved.extent != nullptr;
  if (moves_values) values = moved.extent;
  const std::uint64_t length = values ? values->size() : 0;
  std::shared_ptr<const LoadedBlock> loaded = source;
  Source body;
  if (moves) {
    body = owned_bytes(moved.body, file);
    NMB_ASSIGN(loaded,
               hdf5::decode_group({entry.name, std::move(moved.body), length, values, {}}, file));
  } else {
    NMB_ASSIGN(body, body_of(entry));
  }
  if (!is_surveying_) {
    context_.counts.has_classic |= !is_from_hdf5(entry);
    NMB_TRY(note_undecoded(*source));
    NMB_TRY(note_damage(*source));
  }
  InputBlock block(*loaded);
  NMB_TRY(describe(*source, &block));
  block.is_placed = moves || changes_.is_surveyed();
  block.originals = originals_->take(entry.order);
  count_objects(*loaded, &block.packed);
  block.packed.names = Metadata::Names::kAsFound;
  block.packed.body = std::move(body);
  block.values = values;
  block.packed.extent_length = length;
  block.load = loaded->metadata.memory() + entry.raw_length +
               std::min<std::uint64_t>(reader_->piece_size(), entry.extent_length);
  if (moves)
    block.open = [loaded] { return Result<std::shared_ptr<const Dataset>>(loaded); };
  else
    block.open = [reader = reader_, entry] { return dataset_of(*reader, entry); };
  // If a block has few variables, its values are copied.
  const bool is_whole = changes_.is_whole(entry.name);
  if (moves_values && options_.links && is_whole)
    return Status(
        Code::kConflict, file, kNoOffset, "",
        "block " + in_quotes(entry.name) +
            (changes_.is_selection()
                 ? ": its values cannot be linked, because they contain references that change; "
                   "leave out Pack::link"
                 : ": its values cannot be linked, because they contain references that change "
                   "with the block's new name; use MergeOptions::block_name '{group}', which keeps "
                   "names, or "
                   "leave out Pack::link"));
  if (is_whole) NMB_TRY(keep_rows(*source, &block.packed));
  if (is_whole && !moves && entry.growth == 0) block.packed.file_digests = entry.file_digests;
  if (moves_values)
    block.packed.extent = std::move(values);
  else
    NMB_TRY(add_stored_values(entry, &block));
  return visit(block);
}

// Reports variables whose values were not decoded. These values are lost if the input has the
// original and the output does not keep it. Each copy reports damaged chunks.
Status NmbInput::note_undecoded(const LoadedBlock& block) {
  if (!options_.lists_undecoded) return {};
  const std::optional<bool> keeps = originals_->keeps_file_of(block.entry);
  NMB_ASSIGN(const std::vector<hdf5::Undecoded> found, hdf5::undecoded_variables(block));
  for (const hdf5::Undecoded& one : found) {
    const std::string variable = "variable " + in_quotes("/" + one.path);
    const std::string text = "its values " + one.why;
    if (one.is_lost)
      extras_.losses.push_back({0,
                                {},
                                variable,
                                text + "; use an undamaged copy of the source",
                                PackLoss::Kind::kDamage});
    else if (keeps == true)
      continue;
    else if (keeps)
      extras_.losses.push_back(
          {0, {}, variable, text + "; only the original has them", PackLoss::Kind::kValues});
    else
      context_.warnings.push_back(file_->name() + ": " + variable + ": " + text +
                                  "; this file does not have them");
  }
  return {};
}

// If values were not decoded and the output lacks the original that has them, records this in the
// definitions.
Status NmbInput::forget_originals(const LoadedBlock& block, MovedContent* moved) {
  if (!options_.lists_undecoded || !block.metadata.extension() ||
      originals_->keeps_file_of(block.entry) == true)
    return {};
  NMB_ASSIGN(const std::vector<hdf5::Undecoded> found, hdf5::undecoded_variables(block));
  if (std::ranges::all_of(found, &hdf5::Undecoded::is_lost)) return {};
  Metadata metadata = block.metadata;
  if (!moved->body.empty()) {
    NMB_ASSIGN(ClassicHeader header, decode_classic_header(MemorySource(moved->body, file_->name()),
                                                           {.values_follow = false}));
    metadata = std::move(header.metadata);
  }
  NMB_TRY(hdf5::forget_originals(&metadata).status());
  NMB_ASSIGN(moved->body,
             encode_extended_body(metadata, metadata.record_dimension() ? block.records : 0));
  return {};
}

// Reports chunks that cannot be decoded. Chunks are decoded only if options request it: a copy of a
// block does not decode them, and only reads the marks in its definitions. If a subset is merged,
// its chunks are decoded later.
Status NmbInput::note_damage(const LoadedBlock& block) {
  if (options_.merge.subset) return {};
  if (options_.checks_chunks)
    return damage_.check(block, block.name, options_.merge.writer.threads, &context_.warnings)
        .status();
  NMB_ASSIGN(const std::vector<hdf5::DamagedChunks> marked, hdf5::marked_chunks(block.metadata));
  damage_.add(block.metadata, block.name, marked);
  return {};
}

// Returns a block with the paths that its objects have in the output. Returns a result without a
// body if the block stays unchanged.
Result<MovedContent> NmbInput::changed(const LoadedBlock& block, const Source& values) {
  if (!block.metadata.extension()) return MovedContent();
  const PathMove move = options_.move ? options_.move(index_, block.name) : PathMove();
  if (!changes_.may_change(move)) return MovedContent();
  Dataset dataset = static_cast<const Dataset&>(block);
  if (values) dataset.extent = values;
  Result<MovedContent> moved = changes_.change(dataset, move);
  std::ranges::move(changes_.take_dangling(), std::back_inserter(extras_.losses));
  return moved;
}

// Returns the block's definitions. The definitions are kept in memory if they are short and the
// file has few blocks. If a file has more blocks, reopening the file takes only a small part of the
// total time.
Result<Source> NmbInput::body_of(const BlockEntry& entry) {
  constexpr std::uint64_t kFewBlocks = 16;
  if (reader_->totals().blocks > kFewBlocks || !context_.holds_header(entry.raw_length))
    return late_source<LateBody>(reader_, entry);
  NMB_ASSIGN(std::vector<std::byte> bytes, reader_->body(entry));
  return Source(owned_bytes(std::move(bytes), file_->name()));
}

// Sets the fields that describe the block. The block still has its original name here, because
// `lengths_` contains original names.
Status NmbInput::describe(const LoadedBlock& source, InputBlock* block) {
  if (blocks_ || !becomes_root_) block->group = group_of(source.entry);
  block->is_group = true;
  block->blocks = blocks_ ? blocks_->size() : reader_->totals().blocks;
  block->samples = source.entry.samples;
  block->lengths = lengths_;
  block->needed = needed_;
  if (dimensions_) {
    NMB_ASSIGN(const FileDimensions found, dimensions_->of(source));
    block->first_made_up = found.first_made_up;
  }
  if (options_.sample_rule && source.metadata.extension())
    block->counted = counts_of(*options_.sample_rule, source, lengths_.get());
  return {};
}

// Records where the values of a block are stored. The merge does not change these values.
Status NmbInput::add_stored_values(const BlockEntry& entry, InputBlock* block) {
  NMB_ASSIGN(block->packed.holes, reader_->holes(entry));
  if (!entry.hole) block->packed.extent = block->values;
  if (options_.origins)
    block->packed.origin = context_.origin(index_, sum_of_entry(entry), entry.name);
  if (options_.originals && !originals_->kept().empty()) {
    NMB_ASSIGN(std::optional<ValuesInOriginal> places,
               values_in_original(*reader_, entry, originals_->kept()));
    if (places)
      block->links =
          linked_to_original(*std::move(places), block->values, options_.merge.writer.piece_size);
    if (block->links) {
      block->stored_twice =
          copied_values(block->links, block->values->size(), block->dataset.metadata);
      return {};
    }
  }
  if (options_.coded_pieces) {
    NMB_ASSIGN(block->coded, coded_pieces(*reader_, entry));
    for (const ExtentPiece& piece : block->coded) {
      Source& coded_in = block->coded_in[piece.file];
      if (!coded_in && piece.file == 0) coded_in = file_;
      if (coded_in) continue;
      NMB_ASSIGN(coded_in, reader_->open_external(piece.file));
    }
  }
  if (options_.links) {
    NMB_ASSIGN(block->links, options_.links->of_block(*reader_, file_, entry));
  }
  return {};
}

// Keeps the statistics and tags of a block that is copied whole.
Status NmbInput::keep_rows(const LoadedBlock& block, PackedBlock* packed) {
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

}  // namespace nmb
