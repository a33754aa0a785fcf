#include "merge/reading/hdf5_input.h"

#include <algorithm>
#include <utility>

#include "client/damaged_chunks.h"
#include "client/decode_group.h"
#include "client/named_blocks.h"
#include "convert/convert.h"
#include "model/classic.h"
#include "model/name_rules.h"
#include "model/paths.h"
#include "netcdf/needed_in_groups.h"
#include "sources/value_source.h"
#include "wire/joined_text.h"

namespace nmb {

Result<std::unique_ptr<hdf5::StartedFile>> Hdf5Starter::start(std::size_t index,
                                                              const std::string& path) {
  std::unique_ptr<hdf5::StartedFile> started = std::move(started_);
  if (started && started_index_ == index) return started;
  std::shared_ptr<const SpoolFile>& spool = spools_[index % 2];
  if (!spool) NMB_ASSIGN(spool, SpoolFile::create());
  hdf5::ReadOptions read{hdf5::other_files(options_.merge.external)};
  if (options_.move) read.place = options_.move(index, "").to;
  return hdf5::StartedFile::start(path, spool, read);
}

void Hdf5Starter::start_next(std::size_t index) {
  const std::vector<std::string>& inputs = options_.merge.inputs;
  if (!options_.reads_ahead || index + 1 >= std::min(end_, inputs.size())) return;
  started_index_ = index + 1;
  auto next = start(started_index_, inputs[started_index_]);
  if (next.ok()) started_ = *std::move(next);
}

Hdf5Input::Hdf5Input(InputContext& context, Hdf5Starter& starter, std::size_t index, Source file)
    : context_(context),
      options_(context.options),
      starter_(starter),
      index_(index),
      file_(std::move(file)),
      move_(options_.move ? options_.move(index, "") : PathMove()),
      changes_(context, file_->name()),
      is_original_(options_.originals),
      becomes_original_(options_.originals),
      damage_(file_->name()) {}

Status Hdf5Input::choose() {
  NMB_ASSIGN(const auto started, starter_.start(index_, file_->name()));
  NMB_ASSIGN(const Groups groups, read_groups(*started));
  return choose_groups(groups).status();
}

Status Hdf5Input::read(const VisitBlock& visit) {
  NMB_ASSIGN(const auto started, starter_.start(index_, file_->name()));
  starter_.start_next(index_);
  bool is_wanted = true;
  if (!options_.counts_groups()) {
    NMB_TRY(started->read(file_, [&](hdf5::Hdf5Group group) -> Status {
      if (is_wanted) NMB_ASSIGN(is_wanted, read_checked(std::move(group), 0, visit));
      return {};
    }));
    ++context_.counts.whole_files;
    return {};
  }
  NMB_ASSIGN(Groups groups, read_groups(*started));
  if (options_.chooser) {
    NMB_ASSIGN(const std::vector<bool> chosen, choose_groups(groups));
    if (std::ranges::find(chosen, true) == chosen.end()) return {};
    const bool is_parted = changes_.is_selection();
    context_.counts.parted_originals += is_original_ && is_parted;
    becomes_original_ = is_original_ = is_original_ && !is_parted;
  }
  ++context_.counts.whole_files;
  if (options_.shared_dimensions) NMB_TRY(note_lengths(groups));
  if (options_.made_up_names) NMB_TRY(note_made_up(groups));
  if (options_.selects_variables()) NMB_TRY(note_needed(groups));
  if (options_.survey) {
    for (const hdf5::Hdf5Group& group : groups)
      NMB_TRY(read_group(group, groups.size(), [&](InputBlock& block) -> Result<bool> {
                NMB_TRY(options_.survey(block));
                return true;
              }).status());
    changes_.end_survey();
  }
  for (hdf5::Hdf5Group& group : groups) {
    if (!is_wanted) break;
    bool is_selected = true;
    if (changes_.is_selection()) NMB_ASSIGN(is_selected, changes_.is_selected(placed(group.name)));
    if (is_selected) NMB_ASSIGN(is_wanted, read_checked(std::move(group), groups.size(), visit));
  }
  return {};
}

Result<Hdf5Input::Groups> Hdf5Input::read_groups(hdf5::StartedFile& started) const {
  Groups groups;
  NMB_TRY(started.read(file_, [&](hdf5::Hdf5Group group) -> Status {
    groups.push_back(std::move(group));
    return {};
  }));
  return groups;
}

std::string Hdf5Input::placed(const std::string& group) const {
  return joined_path(move_.is_none() ? std::string() : move_.to, group);
}

// Selects the chosen groups. Returns for each group, in the order of names, whether
// InputOptions::chooser chooses it.
Result<std::vector<bool>> Hdf5Input::choose_groups(const Groups& groups) {
  std::vector<std::shared_ptr<const LoadedBlock>> blocks;
  for (const hdf5::Hdf5Group& group : groups) {
    hdf5::Hdf5Group block = group;
    block.name = placed(group.name);
    NMB_ASSIGN(blocks.emplace_back(), hdf5::decode_group(std::move(block), file_->name()));
  }
  std::ranges::sort(blocks, {},
                    [](const auto& block) -> const std::string& { return block->name; });
  const hdf5::NamedBlocks named(std::move(blocks));
  const std::string above = placed("");
  NMB_ASSIGN(std::vector<bool> chosen,
             options_.chooser->choose(named, nullptr, above.empty() ? 0 : above.size() + 1,
                                      file_->name(), &context_.warnings));
  NMB_TRY(changes_.select(named, chosen));
  return chosen;
}

// Visits the definitions of all groups.
template <class VisitGroup>
Status Hdf5Input::for_each_group(const Groups& groups, VisitGroup visit_group) {
  for (const hdf5::Hdf5Group& group : groups) {
    NMB_ASSIGN(Dataset dataset, decoded(group));
    NMB_TRY(visit_group(dataset));
    context_.spare_metadata = std::move(dataset.metadata);
  }
  return {};
}

Status Hdf5Input::note_lengths(const Groups& groups) {
  if (groups.size() < 2) return {};
  auto lengths = std::make_shared<DimensionLengths>();
  NMB_TRY(for_each_group(groups, [&](Dataset& group) -> Status {
    group.name = placed(group.name);
    add_dimension_lengths(group, lengths.get());
    return {};
  }));
  lengths_ = std::move(lengths);
  return {};
}

Status Hdf5Input::note_made_up(const Groups& groups) {
  MadeUpNumbers numbers;
  NMB_TRY(for_each_group(groups, [&](const Dataset& group) { return numbers.add(group); }));
  made_up_ = numbers.first();
  return {};
}

Status Hdf5Input::note_needed(const Groups& groups) {
  NeededInGroups needed;
  NMB_TRY(for_each_group(groups, [&](Dataset& group) -> Status {
    const std::string path = std::exchange(group.name, placed(group.name));
    needed.add(path, group);
    return {};
  }));
  NMB_ASSIGN(NeededPaths paths, needed.needed_by(options_.merge.subset->variables));
  needed_ = std::make_shared<const NeededPaths>(std::move(paths));
  return {};
}

Result<bool> Hdf5Input::read_group(hdf5::Hdf5Group group, std::uint64_t blocks,
                                   const VisitBlock& visit) {
  const std::string& file = file_->name();
  NMB_ASSIGN(Dataset dataset, decoded(group));
  if (changes_.may_change({})) NMB_TRY(change(&group, &dataset));
  if (options_.merge.outputs) NMB_TRY(check_references(*options_.merge.outputs, dataset, file));
  InputBlock block(dataset);
  block.group = group.name;
  block.is_group = true;
  block.is_placed = !move_.is_none() || changes_.is_surveyed();
  block.blocks = blocks;
  block.lengths = lengths_;
  block.needed = needed_;
  if (const auto first = made_up_.find(group.name); first != made_up_.end())
    block.first_made_up = first->second;
  if (options_.sample_rule) {
    std::string name = std::exchange(dataset.name, placed(group.name));
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
    block.originals.push_back({0, original_path(file), file_});
  if (is_original_ && group.extent) {
    block.links = linked_to_original({0, file_, group.in_file}, group.extent,
                                     options_.merge.writer.piece_size);
    block.stored_twice = copied_values(block.links, group.extent->size(), dataset.metadata);
  }
  if (options_.links && group.extent) {
    NMB_ASSIGN(block.links, options_.links->in_runs(file_, group.in_file, group.extent));
  }
  block.open = [body, file, name = group.name,
                extent = group.extent]() -> Result<std::shared_ptr<const Dataset>> {
    NMB_ASSIGN(std::shared_ptr<const LoadedBlock> again,
               hdf5::decode_group(name, *body, extent, file));
    return std::shared_ptr<const Dataset>(std::move(again));
  };
  Result<bool> more = visit(block);
  context_.spare_metadata = std::move(dataset.metadata);
  return more;
}

Result<bool> Hdf5Input::read_checked(hdf5::Hdf5Group group, std::uint64_t blocks,
                                     const VisitBlock& visit) {
  NMB_TRY(check_chunks(&group));
  for (const std::string& lost : group.lost_references)
    context_.warnings.push_back(file_->name() + ": " + lost +
                                ": a reference to a deleted object is not kept");
  return read_group(std::move(group), blocks, visit);
}

// Reports chunks that cannot be decoded, and marks their variables. Such chunks are no error,
// because they are copied without being decoded, and an output may hold all that is left of the
// values. If a subset is merged, its chunks are decoded later.
Status Hdf5Input::check_chunks(hdf5::Hdf5Group* group) {
  NMB_ASSIGN(Dataset dataset, decoded(*group));
  if (options_.lists_undecoded) NMB_TRY(note_undecoded(dataset));
  std::vector<hdf5::DamagedChunks> damaged;
  if (!options_.merge.subset)
    NMB_ASSIGN(damaged, damage_.check(dataset, group->name, options_.merge.writer.threads,
                                      &context_.warnings));
  NMB_TRY(hdf5::mark_damaged_chunks(damaged, &dataset.metadata).in_file(file_->name()));
  bool forgets = false;
  if (options_.lists_undecoded && !is_original_)
    NMB_ASSIGN(forgets, hdf5::forget_originals(&dataset.metadata));
  if (!damaged.empty() || forgets) {
    const Metadata& metadata = dataset.metadata;
    NMB_ASSIGN(group->body,
               encode_extended_body(metadata, metadata.record_dimension() ? dataset.records : 0));
  }
  context_.spare_metadata = std::move(dataset.metadata);
  return {};
}

std::vector<PackLoss> Hdf5Input::take_losses() {
  damage_.tell(&losses_, &context_.warnings);
  return std::move(losses_);
}

// Reports variables whose values were not decoded. These values are lost unless the output stores
// the file as an original. A damaged chunk is reported in any case.
Status Hdf5Input::note_undecoded(const Dataset& dataset) {
  NMB_ASSIGN(const std::vector<hdf5::Undecoded> found, hdf5::undecoded_variables(dataset));
  for (const hdf5::Undecoded& one : found) {
    const std::string variable = "variable " + in_quotes("/" + one.path);
    const std::string text = "its values " + one.why;
    if (is_original_ && one.is_lost)
      losses_.push_back({0,
                         {},
                         variable,
                         text + "; the original, which is kept, has the same damage; use an "
                                "undamaged copy of this file",
                         PackLoss::Kind::kDamage});
    else if (is_original_)
      context_.warnings.push_back(file_->name() + ": " + variable + ": " + text +
                                  "; they are only in the original, which is kept");
    else
      losses_.push_back(
          {0, {}, variable, text + "; only the HDF5 file has them", PackLoss::Kind::kValues});
  }
  return {};
}

// Returns the definitions of a group.
Result<Dataset> Hdf5Input::decoded(const hdf5::Hdf5Group& group) {
  NMB_ASSIGN(ClassicHeader header,
             decode_classic_header(MemorySource(group.body, file_->name()),
                                   {.values_follow = false}, std::move(context_.spare_metadata)));
  Dataset dataset = dataset_of(std::move(header), group.extent);
  dataset.name = group.name;
  return dataset;
}

// Changes the paths in a group after the survey, or if some groups are not chosen.
Status Hdf5Input::change(hdf5::Hdf5Group* group, Dataset* dataset) {
  const std::string& file = file_->name();
  dataset->name = placed(group->name);
  if (!dataset->extent) dataset->extent = owned_bytes({}, file);
  NMB_ASSIGN(MovedContent moved, changes_.change(*dataset, {}));
  if (moved.extent && options_.links && changes_.is_whole(dataset->name))
    return Status(
        Code::kConflict, file, kNoOffset, "",
        "block " + in_quotes(group->name) +
            ": its values cannot be linked, because they contain references that change; leave "
            "out Pack::link");
  dataset->name = group->name;
  if (moved.extent) {
    group->in_file.clear();
    group->extent_length = moved.extent->size();
    group->extent = std::move(moved.extent);
  }
  if (moved.body.empty()) return {};
  group->body = std::move(moved.body);
  context_.spare_metadata = std::move(dataset->metadata);
  NMB_ASSIGN(*dataset, decoded(*group));
  return {};
}

}  // namespace nmb
