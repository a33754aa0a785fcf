#include "merge/dividing/input_planner.h"

#include <algorithm>
#include <utility>

#include "hdf5_types/netcdf_marks.h"
#include "merge/reporting/pack_report.h"
#include "model/name_rules.h"
#include "model/paths.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

// The maximum total size of the cached blocks of all NMB inputs, in bytes.
constexpr std::size_t kCachedBytes = 64 << 20;
// The maximum number of blocks into which a dimension may divide a small file. For a file of more
// than 65,536 bytes, the limit is the size of the file in bytes. A small file may have many values,
// because values that HDF5 never wrote take no bytes.
constexpr std::uint64_t kBlocksOfSmallFile = 65536;

}  // namespace

Result<std::unique_ptr<InputPlanner>> InputPlanner::make(const MergeStep& step,
                                                         NoteGroup note_group,
                                                         std::shared_ptr<SourcePool> views,
                                                         BlockChooser* chooser) {
  std::unique_ptr<InputPlanner> planner(
      new InputPlanner(step, std::move(note_group), std::move(views)));
  NMB_TRY(planner->prepare_names());
  NMB_TRY(planner->prepare_division());
  planner->prepare_reader(chooser);
  return planner;
}

Status InputPlanner::prepare_names() {
  NMB_ASSIGN(names_, BlockNames::make(options_.block_name, options_.unites()));
  return {};
}

Status InputPlanner::prepare_division() {
  by_ = options_.block_by.by;
  if (by_ == By::kGroup || by_ == By::kOne) return {};
  NMB_ASSIGN(VariableAssigner rule, VariableAssigner::make(options_.block_by));
  if (!options_.block_name.empty() && !names_of(true).has_group())
    return Status(Code::kUsage, "found block name template \"" + options_.block_name +
                                    "\", expected one with {group} where blocks are divided");
  const bool keeps = by_ != By::kPrefix || options_.block_by.keep_unmatched;
  splitter_.emplace(
      std::move(rule), keeps, [this](DatasetPart part) { return take_part(std::move(part)); },
      [this](SplitConflict conflict) { note(std::move(conflict)); });
  return {};
}

void InputPlanner::prepare_reader(BlockChooser* chooser) {
  const auto in_process = static_cast<std::size_t>(ranks_.shares_memory() ? ranks_.size() : 1);
  InputOptions read{options_};
  read.cache_bytes =
      std::min(kCachedBytesOfInput, kCachedBytes / in_process / options_.inputs.size());
  read.coded_pieces = !options_.compression && !options_.pack().link;
  read.chooser = chooser;
  if (options_.pack().link)
    read.links.emplace(options_.output, options_.external, options_.writer.piece_size);
  read.originals = stores_originals(options_);
  if (read.originals) read.digests = options_.pack().digests;
  read.needs_originals = options_.originals == Originals::kNone && !options_.hdf5;
  // HDF5 and classic outputs have other losses.
  read.lists_undecoded = !options_.hdf5 && !options_.classic;
  // Chunks are checked for an HDF5 output, which other programs read, and for `source`, a file that
  // is recovered.
  read.checks_chunks = (options_.hdf5 && options_.hdf5->check) || options_.source.bytes != nullptr;
  read.origins = ranks_.size() > 1;
  // Groups may share dimensions. The lengths of shared dimensions are needed to divide or unite
  // blocks, and to count samples along a dimension.
  read.shared_dimensions =
      by_ != By::kGroup || !options_.packs() || options_.samples.by == SampleRule::By::kDimension;
  read.made_up_names =
      options_.compression &&
      std::ranges::any_of(options_.compression->chunk, [](const Compression::ChunkLength& asked) {
        return is_made_up(asked.dimension);
      });
  if (options_.samples.by != SampleRule::By::kDefault) read.sample_rule = &options_.samples;
  // Blocks that are divided or united become classic, so no paths refer to them.
  if (by_ == By::kGroup && options_.packs())
    read.move = [this](std::size_t index, std::string_view block) -> PathMove {
      return names_->move(options_.inputs[index], index, block);
    };
  // In other modes, paths need not be mapped, because united or joined blocks become classic.
  if (by_ != By::kGroup && options_.packs()) {
    read.survey = [this](const InputBlock& block) { return survey(block); };
    read.map = [this](std::string_view block) -> PathMap {
      end_survey();
      if (!division_.maps_paths(block)) return {};
      return [this](std::string_view path) { return division_.moved(path); };
    };
  }
  // In modes other than Pack, one thread plans, so idle threads of this process can read ahead.
  read.reads_ahead =
      !options_.packs() && std::max<std::size_t>(in_process, options_.writer.threads) > 1;
  reader_.emplace(read, &report_.warnings);
}

Status InputPlanner::plan(std::size_t index, Source file, MergeSink& sink) {
  input_ = {};
  input_.index = index;
  input_.file = file;
  input_.sink = &sink;
  sink.begin_input(file);
  division_.clear();
  taken_.clear();
  is_surveyed_ = is_surveying_ = false;
  if (by_ == By::kOne)
    united_.emplace(UnionRules{.distinct_variables = true}, [this](UnionNote note) {
      // Each group may have its own attributes.
      if (note.what == UnionNote::What::kDiffers) return;
      std::pair key(note.kind, note.object);
      const auto [known, is_new] = in_groups_.try_emplace(std::move(key), std::move(note), 0);
      if (!is_new) ++known->second.second;
    });
  NMB_TRY(reader_->read(index, std::move(file),
                        [this](InputBlock& block) { return plan_block(block); }));
  report_group_conflicts();
  if (by_ == By::kOne && united_->has_any()) return take_union();
  find_clashes();
  if (splitter_ && splitter_->rule().names_object() && input_.blocks > 0 && !input_.is_divided)
    conflicts_.add(by_ == By::kDimension ? ConflictKind::kDimension : ConflictKind::kAttribute,
                   splitter_->rule().name(), "no variable that has it", "at least one");
  return {};
}

// Reports conflicts between groups that become one block, once for each kind and object, because a
// file may have very many groups.
void InputPlanner::report_group_conflicts() {
  for (auto& [key, conflict] : in_groups_) {
    auto& [note, more] = conflict;
    if (more > 0)
      note.found +=
          joined_text(", and the same in ", more, more == 1 ? " more group" : " more groups");
    conflicts_.add(note.kind, std::move(note.object), std::move(note.found),
                   std::move(note.expected));
  }
  in_groups_.clear();
}

// Returns false if a conflict prevents planning the block.
Result<bool> InputPlanner::plan_block(InputBlock& block) {
  end_survey();
  input_.has_groups = block.is_group || splitter_;
  ++input_.blocks;
  counts().largest_load = std::max(counts().largest_load, block.load);
  if (by_ != By::kOne && !check_template(block)) return false;
  if (by_ == By::kOne && block.blocks > 1) {
    NMB_TRY(unite(block));
  } else if (splitter_) {
    NMB_TRY(divide(block));
  } else {
    NMB_TRY(take_whole(block, by_ == By::kOne ? std::string() : block.group));
  }
  return true;
}

// Reports a conflict and returns false if the template gives several blocks of an input the same
// name.
bool InputPlanner::check_template(const InputBlock& block) {
  if (names_of(block.is_group).has_group() || (block.blocks < 2 && input_.blocks < 2)) return true;
  conflicts_.add(ConflictKind::kBlockName, options_.block_name,
                 "a template without {group} for a file of " +
                     (block.blocks > 0 ? std::to_string(block.blocks) + " blocks"
                                       : std::string("several groups")),
                 "one with {group}");
  return false;
}

Result<OutputName> InputPlanner::name_of(const std::string& group) const {
  const BlockTemplate& names = names_of(input_.has_groups);
  NMB_ASSIGN(std::string name, names.expand(options_.inputs[input_.index], input_.index, group));
  return OutputName{std::move(name), group, names.has_input_name()};
}

void InputPlanner::note_group(const std::string& group) {
  if (options_.unique_groups && !group.empty()) note_name_(group);
}

// Takes a block unchanged. `group` is the path from which the block gets its new name.
Status InputPlanner::take_whole(InputBlock& block, const std::string& group) {
  NMB_ASSIGN(const OutputName name, name_of(group));
  note_group(group);
  note_names(group, block.dataset.metadata);
  return input_.sink->take_whole(name, block);
}

Result<ClassicForm> InputPlanner::form_of(const InputBlock& block) const {
  NMB_ASSIGN(ClassicForm form, classic_form(block, views_));
  if (options_.classic) form.own.clear();
  return form;
}

// Records in advance the result that divide() or unite() will have for a block.
Status InputPlanner::survey(const InputBlock& block) {
  is_surveying_ = is_surveyed_ = true;
  input_.has_groups = true;
  std::string group = by_ == By::kOne ? std::string() : block.group;
  bool is_divided = by_ == By::kOne && block.blocks > 1;
  if (splitter_) {
    NMB_ASSIGN(const ClassicForm form, form_of(block));
    NMB_ASSIGN(const std::optional<std::string> value, value_of(block, form));
    if (value) {
      group = joined_path(*value, block.group);
    } else {
      NMB_ASSIGN(is_divided, this->is_divided(block, form));
    }
  }
  NMB_ASSIGN(OutputName name, name_of(group));
  division_.add(block.group, block.dataset, std::move(name.name), is_divided);
  return {};
}

// Called before the first block is taken.
void InputPlanner::end_survey() {
  if (is_surveying_) division_.settle();
  is_surveying_ = false;
}

void InputPlanner::note_names(const std::string& group, const Metadata& metadata) {
  if (!is_surveyed_) return;
  std::set<std::string, std::less<>>& names = taken_[group];
  for (VarId v = 0; v < metadata.variable_count(); ++v) names.emplace(metadata.variable(v).name);
  // In blocks of kind 6, dimensions with a name are variables too.
  for (DimId d = 0; !metadata.extension() && d < metadata.dimension_count(); ++d)
    names.emplace(metadata.dimension(d).name);
}

// Reports blocks whose name is also the name of a variable or dimension in the parent group. An
// HDF5 group cannot hold two objects with one name, so such blocks could not be written back.
void InputPlanner::find_clashes() {
  std::set<std::string> clashes;
  for (const auto& [group, names] : taken_) {
    if (division_.has(group)) continue;
    for (std::size_t begin = 0, slash = 0; slash != group.npos; begin = slash + 1) {
      slash = group.find('/', begin);
      const auto above = taken_.find(group.substr(0, begin > 0 ? begin - 1 : 0));
      if (above != taken_.end() && above->second.contains(group.substr(begin, slash - begin)))
        clashes.insert(group.substr(0, slash));
    }
  }
  for (const std::string& clash : clashes)
    conflicts_.add(ConflictKind::kBlockName, clash,
                   "a block with the name of a variable or dimension",
                   "distinct names, because an HDF5 group cannot hold two objects with one name");
}

SplitDataset::Input InputPlanner::split_input(const std::string& group,
                                              const ClassicForm& form) const {
  SplitDataset::Input input{form.dataset.metadata, form.dataset.layout, form.dataset.records,
                            std::max(kBlocksOfSmallFile, input_.file->size())};
  // A classic file without content becomes an empty block.
  input.keeps_empty = division_.is_linked(group);
  return input;
}

// Sorts the objects of a block by the rule for dividing blocks. Returns whether any object moves to
// another block.
Result<bool> InputPlanner::is_divided(const InputBlock& block, const ClassicForm& form) {
  NMB_ASSIGN(bool is_divided, splitter_->sort(split_input(block.group, form)));
  for (const VarId variable : form.left_out) {
    NMB_ASSIGN(const bool moves, splitter_->rule().concerns(block.dataset.metadata, variable));
    is_divided |= moves;
  }
  return is_divided;
}

// Divides a block, or takes it unchanged if the rule moves no variable.
Status InputPlanner::divide(InputBlock& block) {
  NMB_ASSIGN(const ClassicForm form, form_of(block));
  NMB_ASSIGN(const std::optional<std::string> value, value_of(block, form));
  if (value) {
    input_.is_divided = true;
    const std::string group = joined_path(*value, block.group);
    return division_.forced_by(block.group) ? take_forced(block, form, group)
                                            : take_whole(block, group);
  }
  input_.group = block.group;
  NMB_ASSIGN(const bool is_divided, this->is_divided(block, form));
  input_.is_divided |= is_divided;
  counts().has_divided |= is_divided;
  if (!is_divided && division_.forced_by(block.group)) return take_forced(block, form, block.group);
  if (!is_divided && !is_parent(block)) return take_whole(block, block.group);
  report_losses(block, form, conflicts_);
  input_.divided = &form.dataset.metadata;
  input_.values = form.values;
  input_.origin = form.view ? std::string() : block.packed.origin;
  return splitter_->make(split_input(block.group, form));
}

// Takes a block that is not divided itself. The block becomes classic, because it uses dimensions
// of divided blocks.
Status InputPlanner::take_forced(const InputBlock& block, const ClassicForm& form,
                                 const std::string& group) {
  const std::optional<std::string>& dimension = division_.forced_by(block.group);
  report_losses(block, form, conflicts_,
                "the block uses dimension " + in_quotes(*dimension) +
                    ", which moves to other blocks, so the block becomes classic netCDF");
  counts().has_divided = true;
  note_group(group);
  note_names(group, form.dataset.metadata);
  NMB_ASSIGN(const OutputName name, name_of(group));
  InputPart part = laid_part(form.dataset);
  part.values = form.values;
  return input_.sink->take_part(name, std::move(part));
}

// If the file has several blocks, returns the value of the attribute by which blocks are divided. A
// block that has this attribute is moved as a whole.
Result<std::optional<std::string>> InputPlanner::value_of(const InputBlock& block,
                                                          const ClassicForm& form) {
  if (by_ != By::kAttribute || block.blocks < 2) return std::optional<std::string>();
  Result<std::optional<std::string>> value = splitter_->rule().of_dataset(form.dataset.metadata);
  if (value.ok() || value.status().code() != Code::kConflict) return value;
  if (is_surveying_) return std::optional<std::string>();
  conflicts_.add(ConflictKind::kAttributeValue, block.group + "@" + splitter_->rule().name(),
                 value.status().message(), "text or integers");
  return std::optional<std::string>();
}

// Returns whether the block has global attributes and nothing else. Several inputs may share such a
// block. If there are several inputs, also returns true for an empty block.
bool InputPlanner::is_parent(const InputBlock& block) const {
  const Metadata& metadata = block.dataset.metadata;
  return !metadata.extension() && (metadata.attribute_count() > 0 || options_.inputs.size() > 1) &&
         metadata.dimension_count() + metadata.variable_count() == 0 &&
         block.samples.value_or(0) == 0;
}

void InputPlanner::note(SplitConflict conflict) {
  if (is_surveying_) return;
  std::string object = joined_path(input_.group, conflict.object);
  if (conflict.group) {
    const Result<OutputName> name = name_of(joined_path(input_.group, *conflict.group));
    object = (name.ok() ? name->name : *conflict.group) + "/" + conflict.object;
  }
  conflicts_.add(conflict.kind, object.empty() ? "/" : std::move(object), std::move(conflict.found),
                 std::move(conflict.expected));
}

Status InputPlanner::take_part(DatasetPart part) {
  const std::string group = joined_path(input_.group, part.group);
  note_group(group);
  note_names(group, part.metadata);
  NMB_ASSIGN(const OutputName name, name_of(group));
  if (!part.is_whole) return {};
  InputPart taken{part.metadata, std::move(part.begins), part.record_size,
                  part.records,  input_.values,          input_.origin};
  taken.is_rest = part.group.empty();
  taken.divided = input_.divided;
  NMB_ASSIGN(taken.captures, captures_of(part));
  return input_.sink->take_part(name, std::move(taken));
}

// Returns the captures that tags of the part need. Only a part that was moved has captures.
Result<std::vector<NameCapture>> InputPlanner::captures_of(const DatasetPart& part) {
  std::vector<NameCapture> out;
  if (by_ != By::kPrefix || options_.tags.empty() || !options_.tag_names.empty() ||
      part.group.empty())
    return out;
  for (const VarId variable : part.variables) {
    NMB_ASSIGN(const NameSplitter::Captures found,
               splitter_->rule().captures(input_.divided->variable(variable).name));
    if (out.empty())
      for (const auto& text : found) out.push_back({std::optional<std::string>(text)});
    else
      for (std::size_t i = 0; i < out.size(); ++i) out[i].differs |= out[i].text != found[i];
  }
  return out;
}

Status InputPlanner::unite(const InputBlock& block) {
  NMB_ASSIGN(const ClassicForm form, form_of(block));
  report_losses(block, form, conflicts_);
  DatasetUnion::Member member = DatasetUnion::member_of(form.dataset, form.values);
  member.group = block.group;
  return united_->add(member);
}

Status InputPlanner::take_union() {
  NMB_ASSIGN(const Dataset all, united_->take(input_.file->name()));
  united_.reset();
  NMB_ASSIGN(const OutputName name, name_of(""));
  return input_.sink->take_part(name, laid_part(all));
}

}  // namespace nmb
