#include "merge/reading/block_chooser.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "merge/reading/input_selection.h"
#include "model/classic.h"
#include "model/find_above.h"
#include "model/name_rules.h"
#include "model/paths.h"
#include "model/text.h"
#include "wire/hash.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

// The largest number of missing blocks that a message names.
constexpr std::uint64_t kMostNamed = 10;

// Combines the bits of two texts of the same length.
std::string either(std::string a, const std::string& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<char>(a[i] | b[i]);
  return a;
}

}  // namespace

Result<BlockChooser> BlockChooser::make(const BlockChoice& choice, Groups groups) {
  BlockChooser out(choice, groups);
  if (choice.names) {
    out.names_.assign(choice.names->begin(), choice.names->end());
    std::ranges::sort(out.names_);
    out.names_.erase(std::unique(out.names_.begin(), out.names_.end()), out.names_.end());
    out.has_name_.assign(out.names_.size(), 0);
  }
  if (choice.where) {
    NMB_ASSIGN(out.where_, FindExpression::parse(*choice.where));
    out.has_value_.assign(out.where_->names().size(), 0);
    out.met_.assign(out.where_->parts(), 0);
  }
  out.restart(0);
  return out;
}

void BlockChooser::restart(std::uint64_t position) {
  position_ = position;
  chosen_ = left_out_ = looked_at_ = 0;
  inputs_without_.assign(has_value_.size(), 0);
}

Result<std::vector<bool>> BlockChooser::choose(const hdf5::NamedBlocks& blocks,
                                               const FileReader* reader, std::size_t prefix,
                                               const std::string& file,
                                               std::vector<std::string>* warnings) {
  NMB_TRY(begin(reader));
  std::vector<bool> chosen;
  NMB_TRY(blocks.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    const std::string_view name =
        std::string_view(entry.name).substr(std::min(prefix, entry.name.size()));
    const auto load = [&]() -> Result<std::shared_ptr<const Dataset>> {
      NMB_ASSIGN(std::shared_ptr<const LoadedBlock> block, blocks.block(entry));
      return std::shared_ptr<const Dataset>(std::move(block));
    };
    NMB_ASSIGN(const bool wanted, groups_ == Groups::kWithBelow
                                      ? wants_group(blocks, entry, name, load)
                                      : wants(name, entry.order, load));
    chosen.push_back(wanted);
    return true;
  }));
  end(file, warnings);
  return chosen;
}

Result<bool> BlockChooser::choose_classic(const Source& file, std::vector<std::string>* warnings) {
  NMB_TRY(begin(nullptr));
  NMB_ASSIGN(const bool wanted,
             wants(stem_of(file->name()), 0, [&] { return open_classic(file); }));
  end(file->name(), warnings);
  return wanted;
}

Status BlockChooser::begin(const FileReader* reader) {
  group_choices_.clear();
  if (!where_) return {};
  finder_.emplace(*where_, reader);
  return finder_->read_tables();
}

Result<bool> BlockChooser::wants(std::string_view name, std::uint64_t order,
                                 BlockFinder::Load load) {
  NMB_ASSIGN(bool holds, has_conditions(name, order, std::move(load)));
  if (holds) {
    if (choice_->shard) {
      const BlockShard& shard = *choice_->shard;
      const std::uint64_t number =
          shard.seed ? XXH3_64bits_withSeed(name.data(), name.size(), *shard.seed) : position_;
      // The difference is large if the block's shard comes before the first one.
      holds = number % shard.count - (shard.first - 1) < shard.width;
    }
    ++position_;
  }
  ++(holds ? chosen_ : left_out_);
  return holds;
}

// As wants(), for Groups::kWithBelow. Entries are in the order of names, so a group comes before
// the blocks below it.
Result<bool> BlockChooser::wants_group(const hdf5::NamedBlocks& blocks, const BlockEntry& entry,
                                       std::string_view name, BlockFinder::Load load) {
  NMB_ASSIGN(const bool excluded, is_excluded(name));
  bool chosen = false;
  std::optional<GroupChoice> group_choice;
  const auto above = find_at_or_above(group_choices_, entry.name, [](const auto&) { return true; });
  if (above != group_choices_.end()) {
    is_listed(name);
    group_choice =
        above->second == GroupChoice::kChosen && excluded ? GroupChoice::kExcluded : above->second;
    chosen = group_choice == GroupChoice::kChosen;
    ++(chosen ? chosen_ : left_out_);
  } else {
    const std::uint64_t before = position_;
    NMB_ASSIGN(chosen, wants(name, entry.order, std::move(load)));
    if (chosen)
      group_choice = GroupChoice::kChosen;
    else if (excluded)
      group_choice = GroupChoice::kExcluded;
    else if (position_ > before)
      group_choice = GroupChoice::kOfOtherShard;
  }
  if (!group_choice) return chosen;
  NMB_ASSIGN(const bool is_group, InputSelection::is_group(blocks, entry));
  if (is_group) group_choices_.emplace(entry.name, *group_choice);
  return chosen;
}

// Returns whether all conditions except the shard hold.
Result<bool> BlockChooser::has_conditions(std::string_view name, std::uint64_t order,
                                          BlockFinder::Load load) {
  if (!is_listed(name)) return false;
  NMB_ASSIGN(const bool excluded, is_excluded(name));
  if (excluded) return false;
  return finder_ ? finder_->holds(order, std::move(load)) : Result(true);
}

Result<bool> BlockChooser::is_excluded(std::string_view name) const {
  return choice_->excludes ? choice_->excludes(name) : Result(false);
}

// Returns whether BlockChoice::names has a block, or is not set.
bool BlockChooser::is_listed(std::string_view name) {
  if (!choice_->names) return true;
  const auto at = std::ranges::lower_bound(names_, name);
  if (at == names_.end() || *at != name) return false;
  has_name_[static_cast<std::size_t>(at - names_.begin())] = 1;
  return true;
}

void BlockChooser::end(const std::string& file, std::vector<std::string>* warnings) {
  if (!finder_) return;
  const std::vector<bool>& found = finder_->found();
  for (std::size_t i = 0; i < found.size() && finder_->blocks() > 0; ++i) {
    if (found[i]) has_value_[i] = 1;
    inputs_without_[i] += !found[i];
  }
  for (std::size_t i = 0; i < met_.size(); ++i)
    met_[i] = static_cast<char>(met_[i] | finder_->met()[i].alike | finder_->met()[i].unlike << 1);
  if (const std::string note = finder_->unlike_note(); !note.empty())
    warnings->push_back(file + ": " + note);
  looked_at_ += finder_->blocks();
  for (const std::string& warning : finder_->warnings(file))
    warnings->push_back(file + ": " + warning);
  finder_.reset();
}

Status BlockChooser::check(Communicator& ranks, const std::string& output, Status* failure,
                           PackReport* report) const {
  const auto fail = [&](const std::string& why) {
    if (failure->ok())
      *failure = Status(Code::kNotFound, output, kNoOffset, "", why + "; nothing was written");
  };
  NMB_ASSIGN(const std::string has_name, ranks.all_reduce(has_name_, either));
  NMB_ASSIGN(const std::string has_value, ranks.all_reduce(has_value_, either));
  NMB_ASSIGN(const std::string met, ranks.all_reduce(met_, either));
  NMB_ASSIGN(const std::uint64_t looked_at, ranks.all_reduce(looked_at_, std::plus<>()));
  NMB_ASSIGN(const std::uint64_t chosen, ranks.all_reduce(chosen_, std::plus<>()));
  NMB_ASSIGN(report->not_chosen, ranks.all_reduce(left_out_, std::plus<>()));
  if (const std::optional<std::string> missing = missing_names(has_name)) fail(*missing);
  for (std::size_t i = 0; i < has_value.size(); ++i) {
    NMB_ASSIGN(const std::uint64_t without, ranks.all_reduce(inputs_without_[i], std::plus<>()));
    const FindName& name = where_->names()[i];
    const bool is_statistic =
        name.kind == FindName::Kind::kStatistic || name.kind == FindName::Kind::kFunction;
    const std::string text = printable(name.text);
    if (has_value[i] == 0 && looked_at > 0)
      fail(joined_text("no block has the ", name.kind_text(), " ", text));
    if (has_value[i] == 0 || !is_statistic || without == 0 || ranks.rank() != 0) continue;
    report->warnings.push_back(joined_text(
        output, ": ", without, " of ", report->inputs, " inputs ", without == 1 ? "has" : "have",
        " no block with the statistic ", text, "; comparisons with it never hold there"));
  }
  if (where_) {
    std::vector<FindExpression::Met> pairs;
    for (const char bits : met) pairs.push_back({(bits & 1) != 0, (bits & 2) != 0});
    if (const std::string problem = where_->type_problem(pairs); !problem.empty()) fail(problem);
  }
  if (chosen == 0) fail("no block was chosen");
  return {};
}

// Returns a text about names that no input has, or nullopt if the inputs have all names.
std::optional<std::string> BlockChooser::missing_names(std::string_view found) const {
  const auto count = static_cast<std::uint64_t>(std::ranges::count(found, 0));
  if (count == 0) return std::nullopt;
  std::string text = count == 1 ? "no input has the block " : "no input has the blocks ";
  std::uint64_t named = 0;
  for (std::size_t i = 0; i < found.size() && named < kMostNamed; ++i)
    if (found[i] == 0) text += (named++ > 0 ? ", " : "") + in_quotes(names_[i]);
  if (count > named) text += joined_text(" and ", count - named, " more");
  return text;
}

}  // namespace nmb
