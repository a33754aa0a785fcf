// Blocks of several inputs (see merge/block_unions.h).
#include "merge/block_unions.h"

#include <algorithm>
#include <map>
#include <utility>

#include "block/name_rules.h"
#include "merge/coordinate_order.h"

namespace nmb {

namespace {

constexpr std::string_view kFirstAxis = "axis:0";

UnionRules rules_of(const PackOptions& options) {
  UnionRules rules;
  if (options.mode == MergeMode::kJoin) {
    rules.complete = true;
    rules.along = options.along.empty()         ? UnionRules::Along::kRecords
                  : options.along == kFirstAxis ? UnionRules::Along::kFirstAxis
                                                : UnionRules::Along::kDimension;
    rules.dimension = options.along;
  }
  rules.equal_attributes = options.strict_attributes;
  rules.equal_values = !options.first_values;
  rules.fills = options.fill_missing;
  rules.skips = options.skip_mismatches;
  return rules;
}

// Shown of a list of names in a warning.
constexpr std::size_t kShownNames = 8;

}  // namespace

// A block that one input has is kept as it is until another one has it too.
struct BlockUnions::Entry {
  std::string name, group;
  std::vector<std::size_t> inputs;  // that have it
  std::optional<KeptBlock> whole;
  std::unique_ptr<DatasetUnion> united;
  std::optional<std::uint64_t> samples;  // of all inputs so far, if each has recorded some
};

BlockUnions::BlockUnions(const PackOptions& options, ConflictList& conflicts, PackReport& report,
                         std::shared_ptr<SourcePool> views)
    : options_(options), conflicts_(conflicts), report_(report), views_(std::move(views)) {}

BlockUnions::~BlockUnions() = default;

BlockUnions::Entry& BlockUnions::entry_of(const std::string& name, const std::string& group) {
  Entry*& entry = by_name_[name];
  if (!entry) {
    entry = entries_.emplace_back(std::make_unique<Entry>()).get();
    entry->name = name;
    entry->group = group;
  }
  return *entry;
}

void BlockUnions::take_note(const Entry& entry, UnionNote note) {
  const Occurrence at = conflicts_.next_object();
  std::string object = entry.name;
  if (!object.empty() && !note.object.starts_with('@')) object += '/';
  object += note.object;
  const std::size_t first = entry.inputs[note.first];
  const std::size_t second = first == at.input ? ConflictList::kNone : at.input;
  FoundConflict found = conflicts_.make(at, std::move(note.kind), std::move(object), first, second,
                                        std::move(note.found), std::move(note.expected));
  switch (note.what) {
    case UnionNote::What::kConflict:
      return conflicts_.add(std::move(found));
    case UnionNote::What::kLeftOut:
      report_.left_out.push_back(std::move(found.conflict));
      return;
    case UnionNote::What::kDiffers:
      report_.differing.push_back(std::move(found.conflict));
  }
}

DatasetUnion& BlockUnions::union_of(Entry& entry) {
  if (!entry.united)
    entry.united = std::make_unique<DatasetUnion>(
        rules_of(options_), [this, &entry](UnionNote note) { take_note(entry, std::move(note)); });
  return *entry.united;
}

Status BlockUnions::unite(Entry& entry, const InputBlock& block) {
  NMB_ASSIGN(const ClassicForm form, classic_form(block, views_));
  tell_losses(block, form, conflicts_);
  return union_of(entry).add(DatasetUnion::member_of(form.dataset, form.values));
}

// Of what was kept as it is.
Status BlockUnions::unite_whole(Entry& entry) {
  if (!entry.whole) return {};
  KeptBlock whole = std::move(*entry.whole);
  entry.whole.reset();
  NMB_ASSIGN(const std::shared_ptr<const Dataset> opened, whole.open());
  return unite(entry, InputBlock(*opened, std::move(whole)));
}

Status BlockUnions::add(const std::string& name, InputBlock& block) {
  Entry& entry = entry_of(name, block.group);
  const bool is_first = entry.inputs.empty();
  entry.inputs.push_back(conflicts_.here().input);
  if (is_first) {
    entry.samples = block.samples;
    entry.whole = std::move(static_cast<KeptBlock&>(block));
    return {};
  }
  if (!entry.samples || !block.samples)
    entry.samples.reset();
  else if (options_.mode == MergeMode::kJoin)
    *entry.samples += *block.samples;
  else
    entry.samples = std::max(*entry.samples, *block.samples);
  NMB_TRY(unite_whole(entry));
  return unite(entry, block);
}

Status BlockUnions::add(const std::string& name, const std::string& group,
                        const DatasetUnion::Member& member) {
  Entry& entry = entry_of(name, group);
  NMB_TRY(unite_whole(entry));
  entry.samples.reset();
  entry.inputs.push_back(conflicts_.here().input);
  return union_of(entry).add(member);
}

void BlockUnions::tell_absent(const Entry& entry, const std::vector<std::size_t>& inputs) {
  if (entry.inputs.size() == inputs.size()) return;
  for (const std::size_t input : inputs)
    if (!std::ranges::binary_search(entry.inputs, input))
      conflicts_.add_at({input, 0}, "missing block", entry.name.empty() ? "/" : entry.name,
                        entry.inputs.front(), input, "none", "one");
}

Status BlockUnions::finish(const std::vector<std::size_t>& inputs, const Visit& visit) {
  const bool joins = options_.mode == MergeMode::kJoin;
  if (joins && inputs.size() > 1 &&
      std::ranges::none_of(entries_, [](const std::unique_ptr<Entry>& entry) {
        return entry->united && entry->united->is_joined();
      }))
    conflicts_.add_at({inputs.back(), 0}, "dimension",
                      options_.along.empty() ? "of records" : options_.along, inputs.front(),
                      ConflictList::kNone, "no block of several inputs that has it",
                      options_.along.empty() ? "one at least, or --along" : "one at least");
  for (const std::unique_ptr<Entry>& entry : entries_) {
    if (joins && !options_.fill_missing) tell_absent(*entry, inputs);
    NMB_TRY(finish(*entry, visit));
    entry->united.reset();
    entry->whole.reset();
  }
  warn_of_notes();
  return {};
}

Status BlockUnions::finish(Entry& entry, const Visit& visit) {
  UnitedBlocks blocks{entry.name, entry.group, entry.inputs.front()};
  if (entry.whole) {
    NMB_ASSIGN(const std::shared_ptr<const Dataset> opened, entry.whole->open());
    InputBlock whole(*opened, std::move(*entry.whole));
    blocks.whole = &whole;
    return visit(blocks);
  }
  // What is told of it is of no use to whom it does not concern.
  if (conflicts_.size() > 0) return {};
  NMB_ASSIGN(const Dataset all, entry.united->take(conflicts_.input(entry.inputs.front())));
  if (entry.inputs.size() > 1) NMB_TRY(check_coordinates(entry, all));
  blocks.united = &all;
  blocks.samples = entry.samples;
  return visit(blocks);
}

Status BlockUnions::check_coordinates(const Entry& entry, const Dataset& all) {
  for (const DimId along : entry.united->joined()) {
    NMB_ASSIGN(const auto disorder, first_disorder(all, along));
    if (!disorder) continue;
    const std::size_t input = entry.inputs[entry.united->member_at(along, disorder->index)];
    const std::size_t before = entry.inputs[entry.united->member_at(along, disorder->index - 1)];
    FoundConflict found =
        conflicts_.make({input, 0}, "coordinate",
                        (entry.name.empty() ? "" : entry.name + "/") + disorder->coordinate, before,
                        input == before ? ConflictList::kNone : input,
                        disorder->found + " at index " + std::to_string(disorder->index) +
                            " behind " + disorder->before,
                        "values that go on in one direction");
    if (options_.monotonic)
      conflicts_.add(std::move(found));
    else
      report_.warnings.push_back(found.conflict.text());
  }
  return {};
}

// One line for all that is alike.
void BlockUnions::warn_of_notes() {
  const auto warn = [this](const std::vector<PackConflict>& notes, std::string text,
                           const auto& name_of) {
    if (notes.empty()) return;
    std::map<std::string, std::size_t> counts;
    for (const PackConflict& note : notes) ++counts[name_of(note)];
    text = std::to_string(notes.size()) + text;
    std::size_t shown = 0;
    for (const auto& [name, count] : counts) {
      if (shown == kShownNames) break;
      text += (shown++ == 0 ? ": " : ", ") + name + " (" + std::to_string(count) + ")";
    }
    if (counts.size() > shown) text += " and " + std::to_string(counts.size() - shown) + " more";
    report_.warnings.push_back(std::move(text));
  };
  warn(report_.differing, " values of attributes differ from the first, which is kept",
       [](const PackConflict& note) { return note.object.substr(note.object.rfind('@') + 1); });
  warn(report_.left_out, " objects that do not go with the first are left out",
       [](const PackConflict& note) { return note.object; });
}

void tell_losses(const InputBlock& block, const ClassicForm& form, ConflictList& conflicts) {
  constexpr std::string_view kFound = "found ";
  const std::string group = block.group.empty() ? "" : "group /" + block.group + ": ";
  for (const Loss& loss : form.losses) {
    std::string found = loss.text.substr(loss.text.starts_with(kFound) ? kFound.size() : 0);
    found.resize(std::min(found.size(), found.rfind("; ")));
    conflicts.add("loss", group + loss.object,
                  found + " (blocks are divided and united as classic netCDF)", "");
  }
}

}  // namespace nmb
