#include "prove/prove_merge.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "compare/content_blocks.h"
#include "compare/value_pairs.h"
#include "files/files.h"
#include "merge/dividing/archive_inputs.h"
#include "merge/dividing/block_template.h"
#include "merge/reading/input_order.h"
#include "merge/uniting/union_input.h"
#include "model/name_rules.h"
#include "model/paths.h"
#include "prove/axis_places.h"
#include "prove/expected_values.h"
#include "prove/planned_content.h"
#include "prove/subset_places.h"
#include "prove/tile_places.h"
#include "prove/uncovered.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

using Lengths = std::vector<std::uint64_t>;

std::string shape_text(const std::vector<AxisContent>& axes) {
  std::string text = "(";
  for (const AxisContent& axis : axes)
    text += joined_text(text.size() > 1 ? ", " : "", axis.length);
  return text + ")";
}

struct OpenInput {
  std::string path;
  ProofInput file;
  DimensionLengths lengths;
};

// A variable of an input, and the variable of the merged file that has its values.
struct Counterpart {
  std::size_t input = 0;
  std::string block;  // of the merged file
  ContentVariable from{}, to{};
  std::vector<AxisContent> from_axes{}, to_axes{};
  std::vector<IndexRuns> selected{};  // for each dimension of `from`
  // Whether a subset may have changed its values by multiples of 360 degrees.
  bool is_turned = false;

  const std::string& name() const { return to.block->variable_name(to.number); }
  std::uint64_t length(std::size_t axis) const { return count_of(selected[axis]); }
  AxisPlaces::Key key(std::size_t axis) const {
    const std::string& dimension = to_axes[axis].dimension;
    return {block, dimension.empty() ? joined_text(name(), '\0', axis) : dimension};
  }
};

class MergeProver {
 public:
  MergeProver(const ContentFile& merged, const MergeProof& proof, const ProofVisitor& visitor,
              PackReport* report)
      : merged_(merged), proof_(proof), merge_(proof.merge), visitor_(visitor), report_(*report) {}

  Result<bool> run() {
    NMB_TRY(settle());
    NMB_TRY(compare_plan());
    NMB_ASSIGN(merged_lengths_, dimension_lengths(merged_.blocks));
    NMB_TRY(note_lengths());
    NMB_TRY(check_joined());
    NMB_TRY(check_order());
    for (std::size_t i = 0; i < merge_.inputs.size(); ++i) NMB_TRY(compare_input(i));
    if (is_complete_) NMB_TRY(compare_filled());
    return is_same_;
  }

 private:
  // Called with a block of an input, and the block of the merged file that has its values.
  using VisitBlocks = std::function<Status(const std::string& group, DatasetContent& from,
                                           const std::string& name, DatasetContent& to)>;

  // --- the merge ---

  Status settle() {
    if (!merge_.join().key.empty())
      return Status(Code::kUnsupported, "", kNoOffset, "",
                    "the numbers of events (Join::key) are not compared");
    if (merge_.choice() || merge_.block_by.by != BlockRule::By::kGroup || merge_.packs())
      return Status(Code::kUnsupported, "", kNoOffset, "",
                    "divided and chosen blocks are not compared");
    Communicator alone;
    NMB_TRY(check_options(merge_));
    NMB_TRY(divide_archives(alone, &merge_, &report_));
    NMB_TRY(order_inputs(alone, &merge_, &report_));
    merge_.divides_archives = false;
    merge_.classic = proof_.classic;
    NMB_ASSIGN(names_, BlockNames::make(merge_.block_name, merge_.unites()));
    return {};
  }

  Status differ(const DefinitionDifference& difference) {
    is_same_ = false;
    return visitor_.definition(difference);
  }

  // Compares all definitions with those of a merge that writes nothing.
  Status compare_plan() {
    NMB_ASSIGN(const PlannedContent planned,
               PlannedContent::of(merge_, merged_, proof_.is_hdf5, &report_));
    for (const PackConflict& conflict : report_.left_out)
      left_out_.emplace(conflict.second_file.empty() ? conflict.first_file : conflict.second_file,
                        conflict.object.substr(0, conflict.object.find('@')));
    ComparisonOptions options = proof_.comparison;
    options.values = false;
    return compare_files(
               planned.content(), merged_, options,
               {[this](const DefinitionDifference& difference) {
                  if (difference.kind == DifferenceKind::kOnlyInFirst && difference.object.empty())
                    missing_blocks_.insert(difference.block);
                  return differ(difference);
                },
                [](const ComparedVariable&) { return Status(); }})
        .status();
  }

  // --- blocks ---

  // Sets input_. The first inputs stay open, because each is visited several times.
  Status open(std::size_t input) {
    const std::string& path = merge_.inputs[input];
    if (input_ && input_->path == path) return {};
    input_.reset();
    const auto kept = std::ranges::find(kept_, path, [](const auto& one) { return one->path; });
    if (kept != kept_.end()) {
      input_ = *kept;
      return {};
    }
    NMB_ASSIGN(ProofInput file, proof_.open(path));
    NMB_ASSIGN(DimensionLengths lengths, dimension_lengths(file.content.blocks));
    input_ =
        std::make_shared<const OpenInput>(OpenInput{path, std::move(file), std::move(lengths)});
    const std::optional<std::uint64_t> memory = input_->file.memory;
    if (!memory || *memory > memory_left_ || kept_.size() == kMostKept) return {};
    memory_left_ -= *memory;
    kept_.push_back(input_);
    return {};
  }

  Status visit_blocks(std::size_t input, const VisitBlocks& visit) {
    NMB_TRY(open(input));
    if (merge_.subset) NMB_ASSIGN(subset_, subset_places(merge_, input));
    const std::vector<std::string>* const chosen = merge_.blocks_of(input);
    const auto visit_entry = [&](const BlockEntry& entry) -> Result<bool> {
      const std::string group(
          chosen ? without_slash(std::string_view(entry.name).substr(chosen->front().size()))
                 : std::string_view(entry.name));
      NMB_TRY(visit_block(input, entry, group, visit));
      return true;
    };
    if (!chosen) return input_->file.content.blocks.for_each_entry("", visit_entry);
    for (const std::string& name : *chosen) {
      NMB_ASSIGN(const std::optional<BlockEntry> entry, input_->file.content.blocks.find(name));
      if (entry) NMB_TRY(visit_entry(*entry).status());
    }
    return {};
  }

  Status visit_block(std::size_t input, const BlockEntry& entry, const std::string& group,
                     const VisitBlocks& visit) {
    const auto part = subset_.find(group);
    if (part != subset_.end() && part->second.is_outside) return {};
    const BlockTemplate& names = names_->of(input_->file.has_groups);
    NMB_ASSIGN(const std::string name, names.expand(merge_.inputs[input], input, group));
    NMB_ASSIGN(DatasetContent* const to, merged_block(name));
    if (!to) {
      has_unplaced_ |= missing_blocks_.contains(name);
      return {};
    }
    NMB_ASSIGN(DatasetContent from, content_of(input_->file.content, entry, input_->lengths));
    return visit(group, from, name, *to);
  }

  // Returns nullptr if there is no such block. The block stays valid until forget_blocks().
  Result<DatasetContent*> merged_block(const std::string& name) {
    const auto known = merged_blocks_.find(name);
    if (known != merged_blocks_.end()) return &known->second;
    NMB_ASSIGN(const std::optional<BlockEntry> entry, merged_.blocks.find(name));
    if (!entry) return nullptr;
    NMB_ASSIGN(DatasetContent block, content_of(merged_, *entry, merged_lengths_));
    return &merged_blocks_.emplace(name, std::move(block)).first->second;
  }
  void forget_blocks() {
    if (merged_blocks_.size() > kMostBlocksTogether) merged_blocks_.clear();
  }

  // Returns the common variables of two blocks. Leaves out those that the merge leaves out.
  Result<std::vector<Counterpart>> counterparts(std::size_t input, const std::string& group,
                                                DatasetContent& from, const std::string& name,
                                                DatasetContent& to) const {
    std::vector<Counterpart> out;
    const auto part = subset_.find(group);
    for (std::size_t v = 0; v < to.variable_count(); ++v) {
      const std::optional<std::size_t> number = find_variable(from, to.variable_name(v));
      if (!number || from.is_null(*number) || to.is_null(v) ||
          left_out_.contains({merge_.input_name(input), joined_path(name, to.variable_name(v))}))
        continue;
      const bool is_turned =
          part != subset_.end() && part->second.turned.contains(to.variable_name(v));
      // A variable that the part of another input brings.
      if (part != subset_.end() && !is_turned &&
          !part->second.variables.contains(to.variable_name(v)))
        continue;
      Counterpart& both = out.emplace_back(Counterpart{input, name, {&from, *number}, {&to, v}});
      NMB_ASSIGN(both.from_axes, from.axes(*number));
      NMB_ASSIGN(both.to_axes, to.axes(v));
      both.selected = selection(both, part == subset_.end() ? nullptr : &part->second);
      both.is_turned = is_turned;
    }
    return out;
  }

  static std::vector<IndexRuns> selection(const Counterpart& both, const BlockSubset* part) {
    std::vector<IndexRuns> out;
    const auto whole = part ? part->variables.find(both.name()) : SelectedIndexes::const_iterator();
    for (std::size_t d = 0; d < both.from_axes.size(); ++d) {
      const AxisContent& axis = both.from_axes[d];
      IndexRuns& indexes = out.emplace_back();
      if (axis.length > 0) indexes.push_back({0, axis.length, 1});
      if (!part) continue;
      if (whole != part->variables.end()) {
        indexes = whole->second[d];
      } else if (const auto known = part->dimensions.find(axis.dimension);
                 known != part->dimensions.end()) {
        indexes = known->second;
      }
    }
    return out;
  }

  // --- places ---

  Status note_lengths() {
    for (std::size_t i = 0; i < merge_.inputs.size(); ++i) {
      const Status noted = visit_blocks(
          i, [&](const std::string& group, DatasetContent& from, const std::string& name,
                 DatasetContent& to) { return note_block(i, group, from, name, to); });
      if (!noted.ok()) return noted.in_file(merge_.inputs[i]);
      forget_blocks();
    }
    places_.settle(merge_.fill_missing());
    return {};
  }

  Status note_block(std::size_t input, const std::string& group, DatasetContent& from,
                    const std::string& name, DatasetContent& to) {
    NMB_ASSIGN(const auto both, counterparts(input, group, from, name, to));
    for (const Counterpart& one : both) {
      if (one.from_axes.size() != one.to_axes.size()) continue;
      for (std::size_t d = 0; d < one.to_axes.size(); ++d)
        places_.add(one.key(d), input, one.length(d), one.to_axes[d].length,
                    one.from_axes[d].is_unlimited);
    }
    // Dimensions of which no variable is common.
    const auto part = subset_.find(group);
    for (const DimensionContent& dimension : to.dimensions()) {
      const auto found =
          std::ranges::find(from.dimensions(), dimension.name, &DimensionContent::name);
      if (found == from.dimensions().end() || places_.has({name, dimension.name}, input)) continue;
      if (part != subset_.end() && !part->second.named_dimensions.contains(dimension.name))
        continue;
      std::uint64_t length = found->length;
      if (part != subset_.end())
        if (const auto known = part->second.dimensions.find(dimension.name);
            known != part->second.dimensions.end())
          length = count_of(known->second);
      places_.add({name, dimension.name}, input, length, dimension.length, found->is_unlimited);
    }
    return {};
  }

  // Checks that values are joined only along dimensions that the merge may join.
  Status check_joined() {
    if (merge_.has_tiles()) return {};  // begin_of() checks each of them
    for (const AxisPlaces::Key& key : places_.joined()) {
      const std::string_view along = along_name(merge_);
      if (merge_.joins() &&
          (along == kFirstAxis || (along.empty() ? places_.grows(key) : key.dimension == along)))
        continue;
      NMB_TRY(differ({DifferenceKind::kDiffers, key.block, "dimension " + in_quotes(key.dimension),
                      "joined", "no", "yes"}));
    }
    return {};
  }

  // Checks that inputs that were sorted by values ascend.
  Status check_order() {
    SplitPath wanted = split_path(merge_.sort_by);
    const std::vector<AxisPlaces::Key> joined = places_.joined();
    const bool is_archive = !merge_.input_blocks.empty() && !merge_.sorts_blocks_by_name;
    if (merge_.sort_by.empty() && is_archive && merge_.joins() && !joined.empty() &&
        along_name(merge_) != kFirstAxis)
      wanted = {joined.front().block, joined.front().dimension};
    if (wanted.name.empty()) return {};
    NMB_ASSIGN(DatasetContent* const block, merged_block(std::string(wanted.parent)));
    const auto variable = block ? find_variable(*block, wanted.name) : std::nullopt;
    const auto type = variable ? classic_type_of(*block, *variable) : std::nullopt;
    if (!type || *type == Type::kChar) return {};
    return check_order(*block, *variable, *type);
  }

  Status check_order(DatasetContent& block, std::size_t variable, Type type) {
    NMB_ASSIGN(const std::vector<AxisContent> axes, block.axes(variable));
    if (axes.empty()) return {};
    const AxisPlaces::Key key{block.name(), axes.front().dimension};
    std::uint64_t row = 1;
    for (std::size_t d = 1; d < axes.size(); ++d) row *= axes[d].length;
    NMB_ASSIGN(const auto values,
               ContentValues::open(block, variable, std::make_shared<ChunkCache>(1 << 20)));
    std::optional<double> last;
    std::string last_text;
    std::vector<std::byte> bytes;
    for (std::size_t i = 0; i < merge_.inputs.size(); ++i) {
      const std::optional<std::uint64_t> begin = places_.joined_begin(key, i);
      if (!begin || row == 0) continue;
      NMB_TRY(values->read(*begin * row, 1, &bytes));
      const double first = number_of_canonical(type, bytes.data());
      if (last && first < *last)
        NMB_TRY(differ({DifferenceKind::kDiffers, block.name(),
                        "variable " + in_quotes(block.variable_name(variable)), "order of inputs",
                        "ascending from " + last_text,
                        canonical_text(type, bytes) + " in " + merge_.input_name(i)}));
      last = first;
      last_text = canonical_text(type, bytes);
    }
    return {};
  }

  // Returns the index at which the input's part begins along a dimension, or nullopt if the part
  // does not fit.
  Result<std::optional<std::uint64_t>> begin_of(const Counterpart& both, std::size_t axis) {
    const std::uint64_t length = both.length(axis), whole = both.to_axes[axis].length;
    if (merge_.has_tiles()) {
      NMB_ASSIGN(const std::optional<TilePart> tile,
                 tile_part(*both.from.block, both.from_axes[axis].dimension));
      if (tile)
        return tile->whole == whole && tile->count == length ? std::optional(tile->first)
                                                             : std::nullopt;
    }
    const AxisPlaces::Key key = both.key(axis);
    if (places_.kind(key) == AxisPlaces::Kind::kUnknown) return std::optional<std::uint64_t>();
    const bool is_joined = places_.kind(key) == AxisPlaces::Kind::kJoined;
    // Only sets of icebergs have tiles that are joined.
    if (is_joined && merge_.has_tiles() && !places_.grows(key))
      return std::optional<std::uint64_t>();
    if (is_joined && along_name(merge_) == kFirstAxis && axis > 0)
      return std::optional<std::uint64_t>();
    const std::uint64_t begin = places_.begin(key, both.input);
    return begin + length <= whole ? std::optional(begin) : std::nullopt;
  }

  // Returns nullopt if the values do not fit.
  Result<std::optional<ValuePlace>> place_of(const Counterpart& both) {
    ValuePlace place{both.selected, {}};
    if (both.from_axes.size() != both.to_axes.size()) return std::optional<ValuePlace>();
    for (std::size_t d = 0; d < both.to_axes.size(); ++d) {
      NMB_ASSIGN(const std::optional<std::uint64_t> begin, begin_of(both, d));
      if (!begin) return std::optional<ValuePlace>();
      place.to.first.push_back(*begin);
      place.to.count.push_back(both.length(d));
    }
    return std::optional(std::move(place));
  }

  // --- values ---

  Status compare_input(std::size_t input) {
    ProvedInput proved;
    proved.name = merge_.input_name(input);
    has_unplaced_ = false;
    proved.status = compare_values(input, &proved).in_file(merge_.inputs[input]);
    proved.is_unplaced = has_unplaced_;
    is_same_ = is_same_ && proved.different.empty() && proved.status.ok() && !has_unplaced_;
    is_complete_ = is_complete_ && proved.status.ok();
    forget_blocks();
    return visitor_.input(proved);
  }

  Status compare_values(std::size_t input, ProvedInput* proved) {
    NMB_TRY(open(input));
    std::deque<DatasetContent> blocks;  // of the input, while their values are compared
    ValuePairs pairs(std::max(merged_.size, input_->file.content.size), proof_.comparison);
    const auto finish = [&]() -> Status {
      NMB_TRY(pairs.compare());
      for (std::size_t i = 0; i < pairs.size(); ++i) {
        NMB_ASSIGN(ComparedVariable compared, pairs.result(i));
        if (compared.different > 0) proved->different.push_back(std::move(compared));
      }
      pairs.clear();
      blocks.clear();
      return {};
    };
    NMB_TRY(visit_blocks(
        input,
        [&](const std::string& group, DatasetContent& from, const std::string& name,
            DatasetContent& to) -> Status {
          proved->blocks.push_back(name);
          DatasetContent& block = blocks.emplace_back(std::move(from));
          NMB_ASSIGN(const auto both, counterparts(input, group, block, name, to));
          for (const Counterpart& one : both) {
            Result<std::vector<ValuePair>> found = pairs_of(one);
            if (!found.ok())
              return of_block(block.of_variable(found.status(), one.from.number), block);
            for (ValuePair& pair : *found) NMB_TRY(of_block(pairs.add(std::move(pair)), block));
          }
          return pairs.size() >= kMostVariablesTogether || blocks.size() >= kMostBlocksTogether
                     ? finish()
                     : Status();
        }));
    return finish();
  }

  // Returns no pairs if the values of this input are not compared.
  Result<std::vector<ValuePair>> pairs_of(const Counterpart& both) {
    NMB_ASSIGN(std::optional<ValuePlace> place, place_of(both));
    if (!place) {
      has_unplaced_ = true;
      if (unplaced_.emplace(both.block, both.name()).second)
        NMB_TRY(
            differ({DifferenceKind::kDiffers, both.block, "variable " + in_quotes(both.name()),
                    "shape", shape_text(both.from_axes) + " in " + merge_.input_name(both.input),
                    shape_text(both.to_axes) + ", into which it does not fit"}));
      return std::vector<ValuePair>();
    }
    ValuePair pair{both.from, both.to};
    NMB_ASSIGN(pair.convert, expected_values(*both.from.block, both.from.number, *both.to.block,
                                             both.to.number, merge_.join().rebase_times));
    std::vector<ElementBox>& filled = boxes_[{both.block, both.name()}];
    // Only the first values count where several inputs have them.
    const bool first_counts =
        merge_.agreement().first_values || merge_.on_mismatch() == Mismatch::kSkip;
    const bool is_known = std::ranges::count(filled, place->to) > 0;
    if (first_counts && is_known) return std::vector<ValuePair>();
    if (first_counts) pair.ignored = filled;
    if (!is_known) filled.push_back(place->to);
    pair.place = std::move(place);
    if (both.is_turned) return turned_pairs(both, std::move(pair));
    return std::vector<ValuePair>{std::move(pair)};
  }

  // Divides a pair of longitudes or bounds by the degrees that the subset adds to them.
  Result<std::vector<ValuePair>> turned_pairs(const Counterpart& both, ValuePair pair) const {
    const std::optional<Type> type = classic_type_of(*both.from.block, both.from.number);
    std::vector<TurnedRun> runs;
    if (type && *type != Type::kChar && !both.selected.empty())
      NMB_ASSIGN(runs, turned_runs(*both.from.block, both.from.number, *merge_.subset,
                                   both.selected.front()));
    std::vector<ValuePair> pairs;
    for (TurnedRun& run : runs) {
      ValuePair& part = pairs.emplace_back(pair);
      part.place->to.first.front() += run.first;
      part.place->to.count.front() = count_of(run.from);
      part.place->from.front() = std::move(run.from);
      part.convert = one_after_the_other(turned(*type, run.degrees), pair.convert);
    }
    if (pairs.empty()) pairs.push_back(std::move(pair));
    return pairs;
  }

  // Compares elements that no input has with the fill value.
  Status compare_filled() {
    ValuePairs pairs(merged_.size, proof_.comparison);
    for (const auto& [variable, boxes] : boxes_) {
      NMB_ASSIGN(DatasetContent* const block, merged_block(variable.first));
      const std::size_t number = *find_variable(*block, variable.second);
      NMB_ASSIGN(const std::vector<AxisContent> axes, block->axes(number));
      Lengths shape;
      for (const AxisContent& axis : axes) shape.push_back(axis.length);
      if (!merge_.has_tiles() && !has_gap(boxes, shape)) continue;
      for (ElementBox& box : uncovered(boxes, shape)) {
        ValuePair pair{{}, {block, number}};
        NMB_ASSIGN(pair.constant, missing_value_of(*block, number));
        std::vector<IndexRuns> all(shape.size());
        pair.place = ValuePlace{std::move(all), std::move(box)};
        NMB_TRY(of_block(pairs.add(std::move(pair)), *block));
      }
    }
    NMB_TRY(pairs.compare());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      NMB_ASSIGN(const ComparedVariable compared, pairs.result(i));
      if (compared.different == 0) continue;
      is_same_ = false;
      NMB_TRY(visitor_.filled(compared));
    }
    return {};
  }

  // Boxes of a join do not overlap unless they are the whole array.
  static bool has_gap(const std::vector<ElementBox>& boxes, const Lengths& shape) {
    std::uint64_t missing = 1;
    for (const std::uint64_t length : shape) missing *= length;
    for (const ElementBox& box : boxes) {
      std::uint64_t elements = 1;
      for (const std::uint64_t count : box.count) elements *= count;
      missing -= std::min(missing, elements);
    }
    return missing > 0;
  }

  static constexpr std::string_view kFirstAxis = "axis:0";
  // Limits for the inputs that stay open. Each has one or two open files.
  static constexpr std::size_t kMostKept = 64;
  static constexpr std::uint64_t kMemoryOfKept = std::uint64_t{64} << 20;

  const ContentFile& merged_;
  const MergeProof& proof_;
  PackOptions merge_;
  const ProofVisitor& visitor_;
  PackReport& report_;
  std::optional<BlockNames> names_;
  DimensionLengths merged_lengths_;
  std::map<std::string, DatasetContent> merged_blocks_;
  // Variables of inputs that the merge leaves out: the name of the input, and the path.
  std::set<std::pair<std::string, std::string>> left_out_;
  AxisPlaces places_;
  // For each variable, by block and name: the boxes that the inputs so far have filled.
  std::map<std::pair<std::string, std::string>, std::vector<ElementBox>> boxes_;
  // Variables that do not have the place for the values of an input: block and name.
  std::set<std::pair<std::string, std::string>> unplaced_;
  std::shared_ptr<const OpenInput> input_;  // the current input
  std::vector<std::shared_ptr<const OpenInput>> kept_;
  std::uint64_t memory_left_ = kMemoryOfKept;
  InputSubset subset_;
  std::set<std::string> missing_blocks_;  // blocks that the merged file should have
  bool has_unplaced_ = false;             // see ProvedInput::is_unplaced
  bool is_same_ = true, is_complete_ = true;
};

}  // namespace

Result<bool> prove_merge(const ContentFile& merged, const MergeProof& proof,
                         const ProofVisitor& visitor, PackReport* report) {
  return MergeProver(merged, proof, visitor, report).run();
}

}  // namespace nmb
