#include "merge/uniting/union_builder.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "client/decode_group.h"
#include "merge/reading/input_links.h"
#include "merge/reading/input_order.h"
#include "merge/uniting/chunk_plan.h"
#include "merge/uniting/chunk_union.h"
#include "merge/uniting/coordinate_order.h"
#include "merge/uniting/decomposition.h"
#include "merge/uniting/used_types.h"
#include "model/classic.h"
#include "model/name_rules.h"
#include "model/paths.h"
#include "netcdf/netcdf_view.h"
#include "netcdf/shared_dimensions.h"
#include "sources/value_message.h"
#include "sources/value_source.h"
#include "wire/joined_text.h"
#include "wire/whole_number.h"

namespace nmb {

namespace {

// Returns the number after the last dot of a file name. In a set of tiles, each file name ends with
// a number.
std::optional<std::uint64_t> number_of_file(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == name.npos ? std::nullopt : whole_number(name.substr(dot + 1));
}

std::string files(std::int64_t count) {
  if (count < 1) return "unknown size";
  return std::to_string(count) + (count == 1 ? " file" : " files");
}

bool selects_variables(const PackOptions& options) {
  return options.subset && !options.subset->variables.empty();
}

// first: the block's definitions in the first input.
UnionRules rules_of(const PackOptions& options, const Metadata& first) {
  UnionRules rules;
  if (options.joins()) {
    rules.complete = true;
    rules.along = options.join().along.empty()         ? UnionRules::Along::kRecords
                  : options.join().along == kFirstAxis ? UnionRules::Along::kFirstAxis
                                                       : UnionRules::Along::kDimension;
    rules.dimension = along_name(options);
    rules.drops_tracking_id = options.join().drop_tracking_id;
    rules.rebases_times = options.join().rebase_times;
  }
  if (options.has_tiles()) {
    rules.complete = rules.drops_parts = true;
    rules.along = is_iceberg(first) ? UnionRules::Along::kRecords : UnionRules::Along::kTiles;
  }
  rules.agreement = options.agreement();
  rules.fills = options.fill_missing();
  rules.skips = options.on_mismatch() == Mismatch::kSkip;
  rules.widens = options.on_mismatch() == Mismatch::kWiden;
  rules.grows_anywhere = keeps_chunks(options);
  rules.selects_types = selects_variables(options);
  rules.keeps_classic_model = options.hdf5 && !options.hdf5->plain;
  return rules;
}

// Returns whether values are compressed so that an HDF5 view can show them.
bool compresses_for_view(const PackOptions& options) {
  const Hdf5View view = options.writer.hdf5_view;
  return (view == Hdf5View::kOn || view == Hdf5View::kAuto) && options.compression &&
         options.compression->codec.value_or(PieceCodec::kNone) != PieceCodec::kNone;
}

// Returns whether the options require that values are stored in chunks.
bool needs_chunks(const PackOptions& options) {
  if (!options.compression) return false;
  const Compression& wanted = *options.compression;
  return wanted.shuffle || !wanted.chunk.empty() || compresses_for_view(options) ||
         (options.hdf5 && wanted.codec.value_or(PieceCodec::kNone) != PieceCodec::kNone);
}

// If values are compressed for a view, arrays of at most this size stay uncompressed, because they
// would need chunks.
constexpr std::uint64_t kSmallForView = 1024;

// The largest number of names shown in a warning.
constexpr std::size_t kShownNames = 8;

}  // namespace

// The state of all blocks with one name. The first block is kept unchanged until another input has
// a block with this name.
struct UnionBuilder::NamedUnion {
  OutputName name;
  Source file;                       // file of the first input
  std::vector<std::size_t> inputs;   // inputs that have the block
  std::vector<std::size_t> members;  // united inputs, in order
  // For each input that belongs to a set of files: the index of the input, and the size of the set
  // as recorded in the input.
  std::vector<std::pair<std::size_t, std::int64_t>> set_sizes;
  std::optional<InputFields> whole;
  std::shared_ptr<const UnionDescription> described;  // instead of `whole`
  std::unique_ptr<DatasetUnion> united;
  // Number of samples in all inputs so far; unset if an input records no number.
  std::optional<std::uint64_t> samples;
  bool is_iceberg = false;      // the inputs are a set of iceberg files
  bool has_wanted = false;      // see DatasetSubset
  bool has_used_types = false;  // see keep_used_types()
  bool has_gaps = false;        // inputs without the block get fill values
  // Inputs, each with an object that it has and the union cannot have (ConflictKind::kLoss).
  std::set<std::pair<std::size_t, std::string>> lost;
  // For each dimension: the number of levels from the block up to the group that defines the
  // dimension. 0 means that the block itself defines the dimension, or that inputs differ.
  std::map<std::string, std::uint32_t, std::less<>> levels;
  // Whether the block itself defines a dimension with the name in Join::along, and whether
  // this dimension may grow in one of the inputs.
  bool defines_along = false, along_grows = false;

  // Returns the block's name for messages.
  std::string shown() const { return name.name.empty() ? "/" : name.name; }
  // Returns the position of an input in `members`.
  std::optional<std::uint32_t> member_of(std::size_t input) const {
    const auto at = std::ranges::lower_bound(members, input);
    if (at == members.end() || *at != input) return std::nullopt;
    return static_cast<std::uint32_t>(at - members.begin());
  }
  void drop_kept() {
    whole.reset();
    described.reset();
  }
};

// Loads blocks that only one input has. Another rank has read that input before.
class UnionBuilder::Loader final : public MergeSink {
 public:
  Loader(UnionBuilder& unions, std::size_t input) : unions_(unions), input_(input) {}
  void begin_input(Source file) override { file_ = std::move(file); }
  Status take_whole(const OutputName& name, InputBlock& block) override {
    NamedUnion* const entry = unions_.find(name.name);
    if (!entry || !entry->described || entry->inputs.front() != input_) return {};
    entry->described.reset();
    entry->file = file_;
    entry->whole = std::move(static_cast<InputFields&>(block));
    return {};
  }
  Status take_part(const OutputName&, InputPart) override { return {}; }

 private:
  UnionBuilder& unions_;
  const std::size_t input_;
  Source file_;
};

UnionBuilder::UnionBuilder(const MergeStep& step, std::shared_ptr<SourcePool> views,
                           std::uint64_t held, ReadAgain read_again, ChunkHelpers* helpers)
    : MergeStep(step),
      views_(std::move(views)),
      held_budget_(held),
      read_again_(std::move(read_again)),
      helpers_(helpers) {}

UnionBuilder::~UnionBuilder() = default;

UnionBuilder::NamedUnion* UnionBuilder::find(const std::string& name) const {
  const auto known = by_name_.find(name);
  return known == by_name_.end() ? nullptr : known->second;
}

UnionBuilder::NamedUnion& UnionBuilder::entry_of(const OutputName& name) {
  NamedUnion*& entry = by_name_[name.name];
  if (!entry) {
    entry = entries_.emplace_back(std::make_unique<NamedUnion>()).get();
    entry->name = name;
    entry->file = file_;
  }
  return *entry;
}

void UnionBuilder::take_note(const NamedUnion& entry, UnionNote note) {
  const std::size_t input = entry.members[note.second], first = entry.members[note.first];
  // An object that was reported as lost is not missing too.
  const bool is_missing = note.kind == ConflictKind::kMissingVariable ||
                          note.kind == ConflictKind::kExtraVariable ||
                          note.kind == ConflictKind::kConstantVariable;
  const std::string variable = "variable " + in_quotes(note.object);
  if (is_missing &&
      (entry.lost.contains({input, variable}) || entry.lost.contains({first, variable})))
    return;
  const Occurrence at =
      input == conflicts_.here().input ? conflicts_.next_object() : Occurrence{input, 0};
  std::string object = note.object.starts_with('@') ? entry.name.name + note.object
                                                    : joined_path(entry.name.name, note.object);
  const std::size_t second = first == input ? ConflictList::kNone : input;
  FoundConflict found = conflicts_.make(at, note.kind, std::move(object), first, second,
                                        std::move(note.found), std::move(note.expected));
  if (note.what == UnionNote::What::kConflict) return conflicts_.add(std::move(found));
  // The lists, in the order of UnionNote::What.
  std::vector<PackConflict>* const lists[] = {
      nullptr,          &report_.left_out, &report_.filled,   &report_.shared,
      &report_.widened, &report_.rebased,  &report_.differing};
  lists[static_cast<std::size_t>(note.what)]->push_back(std::move(found.conflict));
}

// Reports an object that an input does not have.
void UnionBuilder::report_missing(FoundConflict found, bool may_fill) {
  if (may_fill && options_.fill_missing())
    report_.filled.push_back(std::move(found.conflict));
  else
    conflicts_.add(std::move(found));
}

DatasetUnion& UnionBuilder::union_of(NamedUnion& entry, const Metadata& first,
                                     const std::vector<std::uint32_t>& levels) {
  if (!entry.united) {
    UnionRules rules = rules_of(options_, first);
    if (rules.along == UnionRules::Along::kDimension && !is_along(entry, first, levels))
      rules.along = UnionRules::Along::kNothing;
    entry.united = std::make_unique<DatasetUnion>(
        std::move(rules), [this, &entry](UnionNote note) { take_note(entry, std::move(note)); });
  }
  return *entry.united;
}

// Returns whether a block's dimension with the name in Join::along is the dimension that
// Join::along means. A path means one dimension. A name means the dimension of the highest group: a
// group below it that defines a dimension of the same name has another dimension. If both
// dimensions may grow, or neither of them, the name could mean both; this is a conflict. first: the
// block's definitions in the first input; levels: see NamedUnion::levels.
bool UnionBuilder::is_along(const NamedUnion& entry, const Metadata& first,
                            const std::vector<std::uint32_t>& levels) {
  const std::string name(along_name(options_));
  const std::optional<DimId> id = first.find_dimension(name);
  const std::uint32_t level = id && !levels.empty() ? levels[*id] : 0;
  const std::optional<std::string> path = path_above(entry.name.name, level, name);
  if (!id || !path) return true;
  if (options_.join().along.starts_with('/')) return "/" + *path == options_.join().along;
  const std::string owner(split_path(*path).parent);
  const NamedUnion* const lower = find(owner);
  for (std::string above = owner; !above.empty();) {
    above = split_path(above).parent;
    const NamedUnion* const higher = find(above);
    if (!higher || !higher->defines_along) continue;
    const bool grows = lower && lower->along_grows;
    if (level == 0 && (grows || !higher->along_grows))
      conflicts_.add(ConflictKind::kDimension, name,
                     "a dimension of group /" + owner + " and one of group /" + above,
                     "one dimension; give its path: Join::along /" + joined_path(above, name) +
                         " or Join::along /" + *path);
    return false;
  }
  return true;
}

Status UnionBuilder::unite(NamedUnion& entry, const InputBlock& block) {
  // Small values are kept now, because the file may be closed when values are compared.
  return visit_union_input(block, entry.name, options_, views_, &held_budget_, &selections_,
                           [&](const UnionInput& united) { return unite(entry, united); });
}

Status UnionBuilder::unite(NamedUnion& entry, const UnionDescription& block) {
  NMB_TRY(block.failure);
  UnionInput united = *block.block;
  for (const std::uint64_t input : block.same_as)
    united.member.same_as.push_back(entry.member_of(input).value_or(DatasetUnion::kNobody));
  return unite(entry, united);
}

Status UnionBuilder::unite(NamedUnion& entry, const UnionInput& block) {
  subset_used_.resize(block.used.size());
  for (std::size_t i = 0; i < block.used.size(); ++i) subset_used_[i] |= block.used[i];
  if (block.is_outside) {
    ++report_.outside;
    return {};
  }
  entry.has_wanted |= block.has_wanted;
  for (const Loss& loss : block.losses) {
    conflicts_.add(ConflictKind::kLoss, loss.object, loss.text, "");
    entry.lost.emplace(conflicts_.here().input, loss.object);
  }
  for (const std::string& name : block.lost_fill_values) ++lost_fill_values_[name];
  const Metadata& metadata = block.member.metadata;
  entry.members.push_back(conflicts_.here().input);
  if (options_.has_tiles()) NMB_TRY(check_tile(entry, metadata));
  for (DimId d = 0; d < metadata.dimension_count(); ++d) {
    const auto [known, is_new] = entry.levels.emplace(metadata.dimension(d).name, block.levels[d]);
    if (known->second != block.levels[d]) known->second = 0;
    if (metadata.dimension(d).name != along_name(options_) || block.levels[d] > 0) continue;
    entry.defines_along = true;
    entry.along_grows |=
        metadata.record_dimension() == d || std::ranges::count(block.member.growing, d) > 0;
  }
  return union_of(entry, metadata, block.levels).add(block.member);
}

// Adds the block of the first input to the union, if this block is still kept unchanged.
Status UnionBuilder::unite_whole(NamedUnion& entry) {
  if (!entry.whole && !entry.described) return {};
  // Messages about this block belong to the first input.
  const Occurrence here = conflicts_.here();
  conflicts_.begin_input(entry.inputs.front());
  const Status status = unite_first(entry);
  conflicts_.look_at(here);
  return status;
}

Status UnionBuilder::unite_first(NamedUnion& entry) {
  if (const auto described = std::exchange(entry.described, nullptr))
    return unite(entry, *described);
  InputFields whole = std::move(*entry.whole);
  entry.whole.reset();
  NMB_ASSIGN(const std::shared_ptr<const Dataset> opened, whole.open());
  return unite(entry, InputBlock(*opened, std::move(whole)));
}

// If only one input has the block, and another rank has read that input, reads the input again.
// Then loads all blocks that only this input has. If the input cannot be used, the entry stays
// without a block.
Status UnionBuilder::load(NamedUnion& entry) {
  if (!entry.described) return {};
  const std::size_t input = entry.inputs.front();
  Loader loader(*this, input);
  const Status status = read_again_(input, loader);
  if (std::exchange(entry.described, nullptr) && status.ok())
    return file_changed(conflicts_.input(input));
  return {};
}

// Records that the current input has the block. Returns whether the block must be united now. keep:
// a function that is called if the block is the first with its name.
template <class Keep>
bool UnionBuilder::take(NamedUnion& entry, const InputFacts& facts, Keep keep) {
  const bool is_first = entry.inputs.empty(), is_tile = options_.has_tiles();
  entry.inputs.push_back(conflicts_.here().input);
  note_set_size(entry, facts);
  has_along_ |= facts.has_along;
  has_unlimited_ |= facts.has_unlimited;
  if (is_first) {
    entry.samples = facts.samples;
    // A tile is always united, even if it is the only one, and so is a classic block whose values
    // get chunks: only united blocks have them.
    if ((facts.is_classic && needs_chunks(options_) && keeps_chunks(options_)) ||
        options_.unite_single || options_.subset || (is_tile && !facts.has_no_icebergs))
      return true;
    keep();
    return false;
  }
  if (!options_.unites()) {
    conflicts_.add(ConflictKind::kBlockName, entry.shown(), "a second block with this name",
                   "one block");
    return false;
  }
  if (is_tile) {
    if (facts.has_no_icebergs) return false;
    if (!entry.united) entry.drop_kept();
  }
  if (!entry.samples || !facts.samples)
    entry.samples.reset();
  else if (options_.joins())
    *entry.samples += *facts.samples;
  else
    entry.samples = std::max(*entry.samples, *facts.samples);
  return true;
}

Status UnionBuilder::take_whole(const OutputName& name, InputBlock& block) {
  NamedUnion& entry = entry_of(name);
  if (!take(entry, facts_of(block, options_),
            [&] { entry.whole = std::move(static_cast<InputFields&>(block)); }))
    return {};
  NMB_TRY(unite_whole(entry));
  return unite(entry, block);
}

Status UnionBuilder::take_described(const OutputName& name,
                                    std::shared_ptr<const UnionDescription> block) {
  NamedUnion& entry = entry_of(name);
  if (!take(entry, block->facts, [&] { entry.described = block; })) return {};
  NMB_TRY(unite_whole(entry));
  return unite(entry, *block);
}

Status UnionBuilder::take_part(const OutputName& name, InputPart part) {
  NamedUnion& entry = entry_of(name);
  NMB_TRY(unite_whole(entry));
  entry.samples.reset();
  has_along_ |= part.metadata.find_dimension(along_name(options_)).has_value();
  entry.inputs.push_back(conflicts_.here().input);
  entry.members.push_back(conflicts_.here().input);
  return union_of(entry, part.metadata, {})
      .add({part.metadata, std::move(part.begins), part.record_size, part.records,
            std::move(part.values)});
}

// Checks that a block is a tile that can be united with other tiles.
Status UnionBuilder::check_tile(const NamedUnion& entry, const Metadata& metadata) {
  if (const auto gathered = gathered_variable(metadata))
    return Status(
        Code::kUnsupported,
        joined_text("variable ", in_quotes(metadata.variable(*gathered).name),
                    " lists the points of a grid (attribute compress); use MergeOptions::mode join "
                    "and Join::along ",
                    metadata.variable(*gathered).name, " to join the lists of all files"));
  if (!has_decomposition(metadata) && !is_iceberg(metadata))
    conflicts_.add(
        ConflictKind::kDecomposition, entry.shown(),
        "no attribute " + std::string(kDecompositionAttribute) + " of a coordinate variable",
        "at least one; use MergeOptions::mode join for files of time steps");
  return {};
}

void UnionBuilder::note_set_size(NamedUnion& entry, const InputFacts& facts) {
  if (!facts.set_size) return;
  entry.set_sizes.emplace_back(conflicts_.here().input, *facts.set_size);
  entry.is_iceberg = facts.is_iceberg_set;
}

// Checks that the inputs with this block are a complete set of files.
void UnionBuilder::check_set(const NamedUnion& entry) {
  if (entry.set_sizes.empty()) return;
  const std::size_t first = entry.set_sizes.front().first;
  const std::int64_t size = entry.set_sizes.front().second;
  const auto tell = [&](std::size_t input, std::string found, std::string expected, bool may_fill) {
    report_set(entry, input == first ? ConflictList::kNone : input, first, std::move(found),
               std::move(expected), may_fill);
  };
  std::int64_t largest = size;
  for (const auto& [input, other] : entry.set_sizes) {
    largest = std::max(largest, other);
    if (other != size) tell(input, "a set of " + files(other), "a set of " + files(size), true);
  }
  if (size < 1) tell(first, "a set of " + files(size), "a number of files in NumFilesInSet", true);
  if (entry.is_iceberg && check_icebergs(entry, largest)) return;
  const auto given = static_cast<std::int64_t>(entry.inputs.size());
  if (given < largest)
    tell(first, files(given) + missing_numbers(entry.inputs, largest),
         files(largest) + " (NumFilesInSet)", true);
  else if (given > largest && options_.has_tiles())
    tell(first, files(given), files(largest) + " (NumFilesInSet)", false);
}

// Reports a problem with a set of files. second: kNone if the problem concerns only the first
// input.
void UnionBuilder::report_set(const NamedUnion& entry, std::size_t second, std::size_t first,
                              std::string found, std::string expected, bool may_fill) {
  report_missing(
      conflicts_.make({second == ConflictList::kNone ? first : second, 0}, ConflictKind::kSetSize,
                      entry.shown(), first, second, std::move(found), std::move(expected)),
      may_fill);
}

// Checks sets of iceberg files. Iceberg files do not record which part of the set they are.
// Therefore file numbers are compared to find parts that are given twice. In mode join, files form
// a set if their names differ only in the number. size: number of files in each set; less than 1 if
// unknown. Returns true if the sets need no further check.
bool UnionBuilder::check_icebergs(const NamedUnion& entry, std::int64_t size) {
  std::vector<std::string> names;
  for (const std::size_t input : entry.inputs) names.push_back(conflicts_.input(input));
  // For tiles, files that are given twice are reported elsewhere.
  if (options_.joins())
    for (const auto& [first, second] : repeated_files(names))
      report_set(entry, entry.inputs[second], entry.inputs[first], "the same file twice",
                 "each file once", false);
  std::map<std::string, std::map<std::uint64_t, std::size_t>> sets;
  for (const std::size_t input : entry.inputs) {
    const std::string& name = conflicts_.input(input);
    const auto number = number_of_file(name);
    if (!number) return false;
    const bool is_one = options_.has_tiles();
    auto& set = sets[is_one ? std::string() : name.substr(0, name.rfind('.'))];
    const auto [known, is_new] = set.emplace(*number, input);
    if (!is_new)
      report_set(entry, input, known->second,
                 "a second file with number " + std::to_string(*number), "one file", false);
  }
  if (options_.has_tiles()) return false;
  for (const auto& [name, set] : sets) {
    if (static_cast<std::int64_t>(set.size()) >= size) continue;
    std::vector<std::size_t> inputs;
    for (const auto& [number, input] : set) inputs.push_back(input);
    report_set(entry, ConflictList::kNone, *std::ranges::min_element(inputs),
               files(static_cast<std::int64_t>(set.size())) + missing_numbers(inputs, size),
               files(size) + " (NumFilesInSet)", true);
  }
  return true;
}

// Returns the missing file numbers as a text like ", none whose name ends in .0001". The files must
// be numbered from 0.
std::string UnionBuilder::missing_numbers(const std::vector<std::size_t>& inputs,
                                          std::int64_t count) const {
  std::set<std::uint64_t> numbers;
  for (const std::size_t input : inputs) {
    const auto number = number_of_file(conflicts_.input(input));
    if (!number || *number >= static_cast<std::uint64_t>(count)) return "";
    numbers.insert(*number);
  }
  std::string out;
  std::size_t shown = 0;
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(count) && shown < kShownNames; ++i) {
    if (numbers.contains(i)) continue;
    std::string digits = std::to_string(i);
    digits.insert(0, 4 - std::min<std::size_t>(4, digits.size()), '0');
    out += (shown++ == 0 ? ", none whose name ends in ." : ", .") + digits;
  }
  return out;
}

void UnionBuilder::report_absent(const NamedUnion& entry, const std::vector<std::size_t>& inputs) {
  if (entry.inputs.size() == inputs.size()) return;
  for (const std::size_t input : inputs)
    if (!std::ranges::binary_search(entry.inputs, input)) {
      // has_no_rows: no other block of this input shares its rows with the missing block.
      const bool has_no_rows = options_.join().fill_missing && !entry.has_gaps;
      report_missing(
          conflicts_.make({input, 0},
                          has_no_rows ? ConflictKind::kMissingRows : ConflictKind::kMissingBlock,
                          entry.shown(), entry.inputs.front(), input, "none", "one"),
          true);
    }
}

// For Join::fill_missing, adds fill values where inputs lack a group or its variables. If the group
// shares a dimension with a group above it, an input without the group gets a fill value for each
// index of that dimension.
Status UnionBuilder::add_gaps(const std::vector<std::size_t>& inputs) {
  for (const std::unique_ptr<NamedUnion>& entry : entries_) {
    if (entry->inputs.size() < inputs.size()) NMB_TRY(load(*entry));
    if (entry->whole && entry->inputs.size() < inputs.size()) {
      NMB_ASSIGN(const std::shared_ptr<const Dataset> opened, entry->whole->open());
      const NetcdfView view = netcdf_view(*opened);
      if (std::ranges::any_of(view.dimensions, [&](const NetcdfView::Dimension& dimension) {
            return joined_above(*entry, dimension.name) != nullptr;
          }))
        NMB_TRY(unite_whole(*entry));
    }
    if (!entry->united) continue;
    for (const std::string& dimension : entry->united->joined_names())
      add_gaps(*entry, dimension, inputs);
  }
  return {};
}

void UnionBuilder::add_gaps(NamedUnion& entry, const std::string& dimension,
                            const std::vector<std::size_t>& inputs) {
  const NamedUnion* const above = joined_above(entry, dimension);
  // If the group has a coordinate variable for the dimension, the dimension belongs to the group.
  if (!above || entry.united->has_variable(dimension)) return;
  const auto count = [&](std::uint32_t m) { return *entry.united->joined_count(dimension, m); };
  const auto is_empty = [&](std::uint32_t m) {
    return count(m) == 0 && !entry.united->has_variable_along(dimension, m);
  };
  // If the lengths differ from those of the dimension in the group above, the two dimensions are
  // not the same.
  for (std::uint32_t m = 0; m < entry.members.size(); ++m) {
    const auto length = joined_length(*above, dimension, entry.members[m]);
    if (length && *length != count(m) && !is_empty(m)) return;
  }
  for (const std::size_t input : inputs) {
    const auto length = joined_length(*above, dimension, input);
    if (!length) continue;
    const auto at = std::ranges::lower_bound(entry.members, input);
    const auto m = static_cast<std::uint32_t>(at - entry.members.begin());
    if (at == entry.members.end() || *at != input)
      entry.united->add_gap(dimension, m, *length);
    else if (is_empty(m))
      entry.united->set_joined_count(dimension, m, *length);
  }
  entry.has_gaps = true;
}

// Returns the nearest block above this block that is joined along a dimension with this name.
// Returns nullptr if there is none.
const UnionBuilder::NamedUnion* UnionBuilder::joined_above(const NamedUnion& entry,
                                                           std::string_view dimension) const {
  for (std::string name = entry.name.name; !name.empty();) {
    name = split_path(name).parent;
    const NamedUnion* const known = find(name);
    if (known && known->united && known->united->joined_count(dimension, 0)) return known;
  }
  return nullptr;
}

// Returns the length of the dimension in an input. Returns nullopt if the input has none of the
// blocks that share the dimension.
std::optional<std::uint64_t> UnionBuilder::joined_length(const NamedUnion& entry,
                                                         std::string_view dimension,
                                                         std::size_t input) const {
  if (const auto member = entry.member_of(input))
    return entry.united->joined_count(dimension, *member);
  const NamedUnion* const above = joined_above(entry, dimension);
  return above ? joined_length(*above, dimension, input) : std::nullopt;
}

void UnionBuilder::report_key(std::size_t input, std::string object, std::string found,
                              std::string expected) {
  conflicts_.add_at({input, 0}, ConflictKind::kPartitionKey, std::move(object), input,
                    ConflictList::kNone, std::move(found), std::move(expected));
}

// Numbers the events of all inputs. Adds the event numbers (the partition key) to each block that
// has events. A missing variable is not reported if a conflict was already reported for the input.
Status UnionBuilder::add_keys(const std::vector<std::size_t>& inputs) {
  const bool names_block = options_.join().key.find('/') != std::string::npos;
  const SplitPath key = split_path(options_.join().key);
  const std::string variable(key.name);
  for (const auto& entry : entries_) NMB_TRY(unite_whole(*entry));
  std::set<std::size_t> in_conflict;
  for (const FoundConflict& found : conflicts_.all()) in_conflict.insert(found.occurrence.input);
  NMB_TRY(add_events(find(names_block ? std::string(key.parent) : "spill"), variable, inputs,
                     in_conflict));
  for (const auto& entry : entries_)
    if (entry->united) NMB_TRY(add_numbers(*entry, variable, in_conflict));
  return {};
}

// Returns a variable's values in one united input.
KeyColumn UnionBuilder::column_of(const NamedUnion& entry, VarId variable, std::uint32_t member) {
  KeyColumn column{nullptr, entry.united->type_of(variable)};
  column.values = entry.united->column(variable, member, &column.count);
  return column;
}

Status UnionBuilder::add_events(NamedUnion* events, const std::string& variable,
                                const std::vector<std::size_t>& inputs,
                                const std::set<std::size_t>& in_conflict) {
  std::optional<VarId> id;
  if (events && events->united) id = events->united->joined_column(variable);
  for (const std::size_t input : inputs) {
    const auto member = id ? events->member_of(input) : std::nullopt;
    KeyColumn column = member ? column_of(*events, *id, *member) : KeyColumn();
    if (!column.values && (!member || column.count > 0)) {
      if (!in_conflict.contains(input))
        report_key(input, options_.join().key,
                   "no joined variable of this name with one value per row", "one");
      continue;
    }
    NMB_ASSIGN(const auto problem, key_->add(input, std::move(column)));
    if (problem) report_key(input, options_.join().key, problem->found, problem->expected);
  }
  return {};
}

Status UnionBuilder::add_numbers(NamedUnion& entry, const std::string& variable,
                                 const std::set<std::size_t>& in_conflict) {
  const auto id = entry.united->joined_column(variable);
  if (!id) return {};
  const std::string object = joined_path(entry.name.name, variable);
  std::vector<Source> numbers;
  for (std::uint32_t m = 0; m < entry.members.size(); ++m) {
    const std::size_t input = entry.members[m];
    if (!key_->has(input)) continue;  // already reported
    KeyColumn column = column_of(entry, *id, m);
    if (!column.values && column.count > 0) {
      if (!in_conflict.contains(input)) report_key(input, object, "none", "one value for each row");
      continue;
    }
    NMB_ASSIGN(const auto problem, key_->check(input, column));
    if (problem) report_key(input, object, problem->found, problem->expected);
    numbers.push_back(source_of(form::Numbered{key_, input, std::move(column)}));
  }
  if (conflicts_.size() > 0) return {};
  return entry.united->add_column(variable + ".seq", *id, std::move(numbers));
}

Status UnionBuilder::finish(const std::vector<std::size_t>& inputs, MergeSink& sink) {
  const Join& join = options_.join();
  NMB_TRY(check_along());
  // A subset may lack the variables that have the dimension.
  const bool is_given = options_.subset && (!join.along.empty() || has_unlimited_);
  if (options_.joins() && inputs.size() > 1 && !is_given &&
      std::ranges::none_of(entries_, [](const std::unique_ptr<NamedUnion>& entry) {
        return entry->united && entry->united->is_joined();
      }))
    conflicts_.add_at(
        {inputs.back(), 0}, ConflictKind::kDimension,
        join.along.empty() ? "of records" : join.along, inputs.front(), ConflictList::kNone,
        "no block with this dimension in several inputs",
        join.along.empty() ? "at least one, or another dimension in Join::along" : "at least one");
  if (join.fill_missing && join.along != kFirstAxis) NMB_TRY(add_gaps(inputs));
  if (!join.key.empty()) NMB_TRY(add_keys(inputs));
  if (options_.subset) NMB_TRY(check_subset());
  if (selects_variables(options_)) keep_used_types();
  // Files of the classic model have no groups.
  if (entries_.size() > 1 || (!entries_.empty() && !entries_.front()->name.name.empty()))
    for (const std::unique_ptr<NamedUnion>& entry : entries_)
      if (entry->united) entry->united->forget_classic_model();
  for (const std::unique_ptr<NamedUnion>& entry : entries_) {
    if (!is_in_subset(*entry)) continue;
    if (options_.joins() || options_.has_tiles()) report_absent(*entry, inputs);
    check_set(*entry);
    NMB_TRY(finish(*entry, sink));
    entry->united.reset();
    entry->drop_kept();
  }
  warn_of_notes();
  return {};
}

// Checks that an input has the dimension that Join::along names. If none has it, drops the
// conflicts, because they would only say that nothing was joined.
Status UnionBuilder::check_along() {
  const std::string& along = options_.join().along;
  if (along.empty() || along == kFirstAxis || has_along_ || entries_.empty() ||
      !report_.unreadable.empty())
    return {};
  conflicts_.take();
  return Status(Code::kNotFound, options_.output, kNoOffset, "",
                "no input has dimension " + in_quotes(along) +
                    (options_.output.empty() ? "" : "; nothing was written"));
}

// Checks that each rule of the subset has an effect, and that the subset has values.
Status UnionBuilder::check_subset() {
  if (entries_.empty() || conflicts_.size() > 0 || !report_.unreadable.empty()) return {};
  const SubsetRules& rules = *options_.subset;
  subset_used_.resize(rules.count());
  for (std::size_t i = 0; i < subset_used_.size(); ++i)
    if (subset_used_[i] == 0)
      return Status(Code::kConflict, conflicts_.input(entries_.front()->inputs.front()), kNoOffset,
                    "", "no input has a " + rules.object_of(i) + "; nothing was written");
  if (report_.outside == 0 ||
      std::ranges::any_of(entries_, [](const auto& entry) { return entry->united != nullptr; }))
    return {};
  return Status(Code::kConflict, conflicts_.input(entries_.front()->inputs.front()), kNoOffset, "",
                "no input has values in the limits of the subset; nothing was written");
}

// Leaves only the named datatypes that variables and attributes of the subset use. A group may use
// the datatypes of other groups.
void UnionBuilder::keep_used_types() {
  UsedTypes types;
  for (const std::unique_ptr<NamedUnion>& entry : entries_)
    if (entry->united)
      types.add_group(entry->name.name, entry->inputs.front(), entry->united->named_types());
  if (!types.has_any()) return;
  for (const std::unique_ptr<NamedUnion>& entry : entries_)
    if (entry->united && is_in_subset(*entry))
      entry->united->visit_own_types(
          [&](const TypeTable& used) { types.use(entry->name.name, entry->inputs.front(), used); });
  for (const std::unique_ptr<NamedUnion>& entry : entries_) {
    if (!entry->united) continue;
    const std::set<std::size_t> used = types.used_in(entry->name.name);
    entry->has_used_types = !used.empty();
    entry->united->keep_named_types(used);
  }
}

// Returns whether a block is part of the subset: it has a wanted variable or a named datatype that
// the subset uses, or a block below it has one.
bool UnionBuilder::is_in_subset(const NamedUnion& entry) const {
  const auto is_needed = [](const NamedUnion& one) { return one.has_wanted || one.has_used_types; };
  if (!selects_variables(options_) || is_needed(entry)) return true;
  const std::string below = entry.name.name.empty() ? "" : entry.name.name + "/";
  return std::ranges::any_of(entries_, [&](const std::unique_ptr<NamedUnion>& other) {
    return is_needed(*other) && other->name.name.starts_with(below);
  });
}

Status UnionBuilder::finish(NamedUnion& entry, MergeSink& sink) {
  if (options_.has_tiles()) NMB_TRY(unite_whole(entry));
  NMB_TRY(load(entry));
  if (!entry.whole && !entry.united) return {};  // the input cannot be used
  if (entry.united) NMB_TRY(entry.united->check_tiles(conflicts_.size() == 0));
  if (entry.united && conflicts_.size() == 0) NMB_TRY(entry.united->check_times());
  // If there are conflicts, further messages about this block would not help.
  if (!entry.whole && conflicts_.size() > 0) return {};
  conflicts_.begin_input(entry.inputs.front());
  sink.begin_input(entry.file);
  if (entry.whole) {
    NMB_ASSIGN(const std::shared_ptr<const Dataset> opened, entry.whole->open());
    InputBlock whole(*opened, std::move(*entry.whole));
    return sink.take_whole(entry.name, whole);
  }
  std::vector<JoinedCoordinate> coordinates;
  if (options_.joins() && (entry.inputs.size() > 1 || options_.unite_single))
    coordinates = entry.united->coordinates();
  const bool joins_several = entry.inputs.size() > 1 || options_.unite_single || options_.subset;
  if (entry.name.name.empty() && !options_.join().history.empty() && joins_several)
    NMB_TRY(entry.united->add_history(options_.join().history));
  note_choice(entry);
  NMB_ASSIGN(const Dataset all, entry.united->take(entry.file->name()));
  NMB_TRY(check_coordinates(entry, coordinates));
  std::vector<std::uint32_t> levels;
  for (DimId d = 0; d < all.metadata.dimension_count(); ++d) {
    const auto known = entry.levels.find(all.metadata.dimension(d).name);
    levels.push_back(known == entry.levels.end() ? 0 : known->second);
  }
  if (keeps_chunks(options_)) {
    NMB_ASSIGN(std::optional<UnitedChunks> chunks,
               unite_chunks(*entry.united, all, levels,
                            {{options_.writer.threads, options_.writer.cancel, helpers_},
                             options_.compression ? &*options_.compression : nullptr,
                             needs_chunks(options_) || entry.united->has_growing(),
                             options_.hdf5.has_value(),
                             compresses_for_view(options_) ? kSmallForView : kSmallArray,
                             options_.on_block != nullptr},
                            &chunks_));
    if (chunks) {
      hdf5::Hdf5Group group{
          entry.name.name, chunks->body, chunks->extent_length, chunks->extent, {}};
      NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> block,
                 hdf5::decode_group(std::move(group), entry.file->name()));
      return take_group(entry, *block, std::move(chunks->body), std::move(chunks->wanted), sink);
    }
  }
  NMB_TRY(count_decompressed(entry, all));
  if (std::ranges::any_of(levels, [](std::uint32_t level) { return level > 0; })) {
    const Dataset group = with_dimensions_above(all, levels);
    NMB_ASSIGN(std::vector<std::byte> body, encode_extended_body(group.metadata, group.records));
    return take_group(entry, group, std::move(body), std::nullopt, sink);
  }
  InputPart part = laid_part(all);
  part.samples = entry.samples;
  return sink.take_part(entry.name, std::move(part));
}

// If a block has several unlimited dimensions, notes along which one it is joined.
void UnionBuilder::note_choice(const NamedUnion& entry) {
  if (!options_.joins() || !options_.join().along.empty() || entry.members.size() < 2 ||
      !report_.join_note.empty())
    return;
  const std::vector<std::string> joined = entry.united->joined_names();
  const std::vector<std::string> others = entry.united->other_growing();
  if (joined.empty() || others.empty()) return;
  std::string names;
  for (const std::string& name : others) names += (names.empty() ? "" : ", ") + in_quotes(name);
  report_.join_note = joined_text(
      entry.name.name.empty() ? "" : "block " + in_quotes(entry.name.name) + " is ",
      "joined along dimension ", in_quotes(joined.front()), "; unlimited, too: ", names);
}

// Counts variables that are compressed in the first input, but not in the output.
Status UnionBuilder::count_decompressed(const NamedUnion& entry, const Dataset& all) {
  if (keeps_chunks(options_)) return {};
  NMB_ASSIGN(const std::size_t compressed, count_compressed(*entry.united, all));
  report_.decompressed += compressed;
  return {};
}

// Passes a united block of kind 6 to `sink`.
Status UnionBuilder::take_group(const NamedUnion& entry, const Dataset& group,
                                std::vector<std::byte> body, std::optional<WantedChunks> wanted,
                                MergeSink& sink) {
  InputBlock block(group);
  block.group = entry.name.group;
  block.is_group = block.is_placed = true;
  block.samples = entry.samples;
  block.wanted_chunks = std::move(wanted);
  count_objects(group, &block.packed);
  block.packed.kind = Kind::kExtended;
  block.packed.body = owned_bytes(std::move(body), group.extent->name());
  block.packed.extent_length = group.extent->size();
  if (block.packed.extent_length > 0) block.values = group.extent;
  if (options_.link_united && block.values) {
    InputLinks links(options_.output, ExternalPaths::kAny, options_.writer.piece_size);
    NMB_ASSIGN(block.links, links.of_parts(block.values));
  }
  if (!block.links) block.packed.extent = block.values;
  return sink.take_whole(entry.name, block);
}

Status UnionBuilder::check_coordinates(const NamedUnion& entry,
                                       const std::vector<JoinedCoordinate>& coordinates) {
  for (const JoinedCoordinate& coordinate : coordinates) {
    NMB_ASSIGN(const auto disorder,
               first_disorder(coordinate.name, coordinate.type, coordinate.parts));
    if (!disorder) continue;
    const auto input_at = [&](std::uint64_t index) {
      return entry.members[entry.united->member_at(coordinate.along, index)];
    };
    const std::size_t input = input_at(disorder->index), before = input_at(disorder->index - 1);
    FoundConflict found = conflicts_.make(
        {input, 0}, ConflictKind::kCoordinate, joined_path(entry.name.name, disorder->coordinate),
        before, input == before ? ConflictList::kNone : input,
        "values are out of order at index " + std::to_string(disorder->index) + ": " +
            disorder->before + ", then " + disorder->found,
        "strictly monotonic values");
    if (options_.join().monotonic)
      conflicts_.add(std::move(found));
    else
      report_.warnings.push_back(found.conflict.text());
  }
  return {};
}
// Adds one warning for each kind of note.
void UnionBuilder::warn_of_notes() {
  const auto warn_of = [this](const std::map<std::string, std::size_t>& counts, std::string text) {
    std::size_t shown = 0;
    for (const auto& [name, count] : counts) {
      if (shown == kShownNames) break;
      text += (shown++ == 0 ? ": " : ", ") + name;
      if (count > 1) text += " (" + std::to_string(count) + ")";
    }
    if (counts.size() > shown) text += " and " + std::to_string(counts.size() - shown) + " more";
    report_.warnings.push_back(std::move(text));
  };
  const auto warn = [&](const std::vector<PackConflict>& notes, const std::string& text,
                        const char* one, const char* many, const auto& name_of) {
    if (notes.empty()) return;
    std::map<std::string, std::size_t> counts;
    for (const PackConflict& note : notes) ++counts[name_of(note)];
    warn_of(counts,
            text + " " + std::to_string(counts.size()) + " " + (counts.size() == 1 ? one : many));
  };
  if (!lost_fill_values_.empty())
    warn_of(lost_fill_values_,
            "the fill values of variables without an attribute _FillValue are not kept");
  warn(report_.differing, "kept the first value of", "attribute that differs",
       "attributes that differ",
       [](const PackConflict& note) { return note.object.substr(note.object.rfind('@') + 1); });
  const auto object = [](const PackConflict& note) { return note.object; };
  std::map<ConflictKind, std::vector<PackConflict>> filled;
  for (const PackConflict& note : report_.filled) {
    const bool is_apart = note.kind == ConflictKind::kConstantVariable ||
                          note.kind == ConflictKind::kMissingRows ||
                          note.kind == ConflictKind::kSetSize;
    filled[is_apart ? note.kind : ConflictKind::kMissingVariable].push_back(note);
  }
  warn(filled[ConflictKind::kMissingVariable], "used fill values for", "missing object",
       "missing objects", object);
  warn(filled[ConflictKind::kConstantVariable], "took from other files",
       "missing constant variable", "missing constant variables", object);
  warn(filled[ConflictKind::kMissingRows], "added no rows for", "missing block", "missing blocks",
       object);
  warn(filled[ConflictKind::kSetSize], "NumFilesInSet does not match the number of files in", "set",
       "sets", [](const PackConflict& note) { return note.first_file; });
  warn(report_.shared, "used the first file's values without comparing for", "variable",
       "variables", object);
  warn(report_.widened, "widened", "variable", "variables", object);
  warn(report_.rebased, "counted times from the day of the first file in", "variable", "variables",
       object);
  warn(report_.left_out, "left out", "object that differs from the first file",
       "objects that differ from the first file", object);
}

}  // namespace nmb
