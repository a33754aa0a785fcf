// Evaluates expressions for the blocks of a file (see BlockFinder in find/find.h).
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "find/attribute_value.h"
#include "find/count_where.h"
#include "find/find.h"
#include "model/text.h"
#include "netcdf/netcdf_view.h"
#include "values/statistics/count_block.h"
#include "values/stored_type.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

FindValue exact(long double number) { return FindNumber{number, number}; }

// Returns a number of the given type.
FindValue value_of(Type type, long double number) {
  return FindNumber{number, number,
                    type == Type::kFloat ? FindNumber::Form::kFloat : FindNumber::Form::kExact};
}

FindValue value_of(const TagValue& tag) {
  if (const auto* text = std::get_if<std::string>(&tag)) return *text;
  if (const auto* number = std::get_if<std::int64_t>(&tag))
    return exact(static_cast<long double>(*number));
  if (const auto* number = std::get_if<std::uint64_t>(&tag))
    return exact(static_cast<long double>(*number));
  return exact(static_cast<long double>(std::get<double>(tag)));
}

// Returns `text` as one word of a shell command line, without backslashes, because messages double
// them.
std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+=:,@%";
  // Without "./", a name that begins with - would be read as an option.
  const std::string word = text.starts_with('-') ? "./" + text : text;
  if (word.find_first_not_of(kPlain) == word.npos) return word;
  std::string quoted = "'";
  for (const char c : word)
    if (c == '\'')
      quoted += R"('"'"')";
    else
      quoted += c;
  return quoted + "'";
}

}  // namespace

Status BlockFinder::read_tables() {
  if (!reader_) return {};
  const std::vector<FindName>& names = expression_.names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const FindName& name = names[i];
    switch (name.kind) {
      case FindName::Kind::kVariableAttribute:
        break;
      case FindName::Kind::kBlockAttribute:
        NMB_TRY(read_tags(name));
        break;
      case FindName::Kind::kStatistic:
        NMB_TRY(read_statistics(name));
        break;
      case FindName::Kind::kFunction:
        NMB_TRY(read_results(name));
        break;
      case FindName::Kind::kCount:
        NMB_TRY(read_counts(i));
    }
  }
  return {};
}

namespace {

// Returns the names under which the values of a variable may be stored.
std::array<std::string, 2> stored_names(const std::string& variable) {
  return {variable, stored_as_no_coordinate(variable)};
}

}  // namespace

Status BlockFinder::read_tags(const FindName& name) {
  auto& rows = tags_[name.name];
  return reader_->for_each_tag(name.name,
                               [&](std::uint64_t order, const TagValue& tag) -> Result<bool> {
                                 rows.add(order, value_of(tag));
                                 return true;
                               });
}

Status BlockFinder::read_results(const FindName& name) {
  auto& rows = results_[name.text];
  for (std::size_t i = 0; i < rows.size(); ++i)
    NMB_TRY(reader_->for_each_result(stored_names(name.variable)[i], name.name,
                                     [&](std::uint64_t order, const TagValue& v) -> Result<bool> {
                                       rows[i].add(order, value_of(v));
                                       return true;
                                     }));
  return {};
}

Status BlockFinder::read_statistics(const FindName& name) {
  const auto inserted = statistics_.try_emplace(name.variable);
  if (!inserted.second) return {};
  auto& rows = inserted.first->second;
  for (std::size_t i = 0; i < rows.size(); ++i)
    NMB_TRY(reader_->for_each_statistics(
        stored_names(name.variable)[i],
        [&](std::uint64_t order, const VariableStatistics& v) -> Result<bool> {
          VariableStatistics row = v;
          row.histogram = {};
          rows[i].add(order, std::move(row));
          return true;
        }));
  return {};
}

Status BlockFinder::read_counts(std::size_t name) {
  const FindName& count = expression_.names()[name];
  for (std::size_t i = 0; i < counts_[name].size(); ++i)
    NMB_TRY(reader_->for_each_statistics(
        stored_names(count.variable)[i],
        [&](std::uint64_t order, const VariableStatistics& v) -> Result<bool> {
          if (v.type != Type::kChar) counts_[name][i].add(order, count_bounds(v, count.condition));
          return true;
        }));
  return {};
}

// Returns the row of the current block for a variable, or nullptr if there is none or the block
// must not be read yet. If a row has the second name, the definitions of the block decide which of
// the two names the variable has.
template <class Row>
Result<const Row*> BlockFinder::row_of(RowsOfVariable<Row>& rows, const FindName& name) {
  std::size_t which = 0;
  if (rows[1].find(order_)) {
    if (source_ == Source::kTables) {
      needs_block_ = true;
      return static_cast<const Row*>(nullptr);
    }
    NMB_TRY(load_block());
    const std::optional<VarId> variable = find_netcdf_variable(dataset_->metadata, name.variable);
    if (!variable) return static_cast<const Row*>(nullptr);
    which = dataset_->metadata.variable(*variable).name == name.variable ? 0 : 1;
  }
  return rows[which].find(order_);
}

void BlockFinder::begin(std::uint64_t order) {
  dataset_.reset();
  computed_.clear();
  order_ = order;
  needs_block_ = needs_values_ = has_read_values_ = has_uncounted_ = lacks_result_ = false;
  std::ranges::fill(met_here_, FindExpression::Met());
}

BlockFinder::Evaluated BlockFinder::evaluate(Source source) {
  source_ = source;
  return expression_.holds([this](std::size_t i) { return value(i); }, &met_here_);
}

// Adds what the comparisons have met in the current block. is_open: nothing decided the result.
void BlockFinder::note_met(bool is_open) {
  bool has_unlike = false;
  for (std::size_t i = 0; i < met_here_.size(); ++i) {
    met_[i].alike |= met_here_[i].alike;
    met_[i].unlike |= met_here_[i].unlike;
    has_unlike |= met_here_[i].unlike;
  }
  unlike_ += is_open && has_unlike;
}

Result<bool> BlockFinder::holds(std::uint64_t order, Load load) {
  load_ = std::move(load);
  begin(order);
  ++blocks_;
  NMB_ASSIGN(std::optional<bool> holds, evaluate(Source::kDefinitions));
  if (!holds && needs_values_ && options_.reads_values) {
    NMB_ASSIGN(holds, evaluate(Source::kValues));
  } else if (!holds && needs_values_) {
    ++undecided_;
    note_met(false);
    return false;
  }
  note_met(!holds);
  if (!holds) uncounted_ += has_uncounted_;
  if (!holds) without_result_ += lacks_result_;
  return holds.value_or(false);
}

// Returns false if tags and statistics show that the expression does not hold for a block.
bool BlockFinder::may_hold(std::uint64_t order) {
  begin(order);
  const Evaluated holds = evaluate(Source::kTables);
  if (needs_block_ || !holds.ok()) return true;
  const bool may = *holds ? **holds : needs_values_;
  if (!may) note_met(!*holds);
  return may;
}

Status BlockFinder::for_each_match(
    const std::function<Result<std::shared_ptr<const Dataset>>(const BlockEntry&)>& load,
    const std::function<Status(const BlockEntry&)>& visit) {
  NMB_TRY(reader_->for_each_wanted_entry(
      [this](std::uint64_t order) -> Result<bool> { return may_hold(order); },
      [&](const BlockEntry& entry) -> Result<bool> {
        NMB_ASSIGN(const bool is_match, holds(entry.order, [&] { return load(entry); }));
        if (is_match) NMB_TRY(visit(entry));
        return true;
      }));
  blocks_ = reader_->totals().blocks;
  return {};
}

std::vector<std::string> BlockFinder::warnings(const std::string& file) const {
  std::vector<std::string> out;
  if (undecided_ > 0)
    out.push_back(joined_text(
        undecided_, " of ", blocks_,
        " blocks cannot match, because stored statistics do not decide and values are not read; "
        "to store statistics: nmconvert ",
        reader_ ? "--repack " : "", "--stats histogram ", shell_word(file), " counted.nmb"));
  if (uncounted_ > 0)
    out.push_back(joined_text(
        uncounted_, " of ", blocks_,
        " blocks cannot match, because the values of a variable in the expression cannot be "
        "counted: they are neither numbers nor text, are stored in other files, are in chunks that "
        "NMB does not decode, or missing_value has several values"));
  if (without_result_ > 0)
    out.push_back(joined_text(
        without_result_, " of ", blocks_,
        " blocks cannot match, because the result of a function in the expression is not stored "
        "for them; the program that has the function can write these blocks again"));
  return out;
}

std::string BlockFinder::unlike_note() const {
  if (unlike_ == 0) return {};
  return joined_text(unlike_, " of ", blocks_, unlike_ == 1 ? " blocks does" : " blocks do",
                     " not match, because the expression compares a number with text there");
}

Status BlockFinder::load_block() {
  if (dataset_) return {};
  NMB_ASSIGN(dataset_, load_());
  return {};
}

Result<std::optional<FindValue>> BlockFinder::value(std::size_t i) {
  const FindName& name = expression_.names()[i];
  std::optional<FindValue> value;
  switch (name.kind) {
    case FindName::Kind::kBlockAttribute:
    case FindName::Kind::kVariableAttribute: {
      NMB_ASSIGN(value, attribute_or_tag(name));
      break;
    }
    case FindName::Kind::kFunction: {
      NMB_ASSIGN(value, result(name));
      break;
    }
    case FindName::Kind::kStatistic: {
      NMB_ASSIGN(value, statistic(i));
      break;
    }
    case FindName::Kind::kCount: {
      NMB_ASSIGN(value, count(i));
    }
  }
  if (value) found_[i] = true;
  return value;
}

Result<std::optional<FindValue>> BlockFinder::attribute_or_tag(const FindName& name) {
  if (const FindValue* const tag = tag_of(name)) return std::optional<FindValue>(*tag);
  if (source_ == Source::kTables) {
    needs_block_ = true;
    return std::optional<FindValue>();
  }
  NMB_TRY(load_block());
  if (name.kind == FindName::Kind::kBlockAttribute) return attribute(kGlobal, name);
  const std::optional<VarId> variable = find_netcdf_variable(dataset_->metadata, name.variable);
  return variable ? attribute(*variable, name) : std::optional<FindValue>();
}

// Returns the value of the block's tag, or nullptr if the block has no tag of this name.
const FindValue* BlockFinder::tag_of(const FindName& name) {
  if (name.kind != FindName::Kind::kBlockAttribute) return nullptr;
  const auto rows = tags_.find(name.name);
  if (rows == tags_.end()) return nullptr;
  return rows->second.find(order_);
}

// Returns the variable of a statistic or count of the current block, if its values may be counted;
// nullopt if there is no such variable or the block must not be read yet.
Result<std::optional<VarId>> BlockFinder::counted_variable(std::size_t i) {
  const FindName& name = expression_.names()[i];
  if (source_ == Source::kTables) {
    // As long as no block is known to have the variable, the current block itself must be read.
    if (found_[i])
      needs_values_ = true;
    else
      needs_block_ = true;
    return std::optional<VarId>();
  }
  NMB_TRY(load_block());
  const std::optional<VarId> variable = find_netcdf_variable(dataset_->metadata, name.variable);
  if (!variable) return variable;
  NMB_ASSIGN(bool counts, may_be_counted(dataset_->metadata, *variable));
  has_uncounted_ |= !counts;
  // The block has the variable, although its values cannot be counted.
  found_[i] = found_[i] || !counts;
  const bool takes_text = name.name == "elements" || name.name == "missing" || name.name == "nan";
  counts = counts && (takes_text || counted_type(dataset_->metadata, *variable) != Type::kChar);
  return counts ? variable : std::nullopt;
}

// Notes that values of the current block are read.
void BlockFinder::note_values_read() { values_read_ += !std::exchange(has_read_values_, true); }

std::optional<FindValue> BlockFinder::statistic_of(const VariableStatistics& v, std::size_t i) {
  const std::string_view which = expression_.names()[i].name;
  if (which == "elements") return exact(static_cast<long double>(v.elements));
  if (which == "missing") return exact(static_cast<long double>(v.missing));
  if (which == "nan") return exact(static_cast<long double>(v.nans));
  // The block has the variable, even if all values of the variable are missing.
  found_[i] = found_[i] || v.type != Type::kChar;
  if (!v.has_range) return std::nullopt;
  return value_of(v.type, number_of(v.type, (which == "min" ? v.minimum : v.maximum).data()));
}

Result<std::optional<FindValue>> BlockFinder::statistic(std::size_t i) {
  const FindName& name = expression_.names()[i];
  if (const auto rows = statistics_.find(name.variable); rows != statistics_.end()) {
    NMB_ASSIGN(const VariableStatistics* const row, row_of(rows->second, name));
    if (row) return statistic_of(*row, i);
  }
  NMB_ASSIGN(const std::optional<VarId> variable, counted_variable(i));
  if (!variable) return std::optional<FindValue>();
  if (source_ != Source::kValues) {
    found_[i] = true;
    needs_values_ = true;
    return std::optional<FindValue>();
  }
  const auto inserted = computed_.try_emplace(*variable);
  VariableStatistics& computed = inserted.first->second;
  if (inserted.second) {
    CountRequest request;
    request.only = *variable;
    note_values_read();
    NMB_ASSIGN(BlockStatistics statistics, count_block(*dataset_, {}, request, options_.threads));
    computed = std::move(statistics.variables[*variable]);
  }
  has_uncounted_ |= !computed.computed;
  return computed.computed ? statistic_of(computed, i) : std::optional<FindValue>();
}

// Returns the stored result of a function. Only the program that stored results has the function,
// so a block that has the variable without a result stays undecided.
Result<std::optional<FindValue>> BlockFinder::result(const FindName& name) {
  const auto rows = results_.find(name.text);
  if (rows == results_.end()) return std::optional<FindValue>();
  NMB_ASSIGN(const FindValue* const found, row_of(rows->second, name));
  if (found) return std::optional<FindValue>(*found);
  if (source_ == Source::kTables) {
    needs_block_ = true;
    return std::optional<FindValue>();
  }
  NMB_TRY(load_block());
  const std::optional<VarId> variable = find_netcdf_variable(dataset_->metadata, name.variable);
  lacks_result_ |= variable && counted_type(dataset_->metadata, *variable) != Type::kChar;
  return std::optional<FindValue>();
}

Result<std::optional<FindValue>> BlockFinder::count(std::size_t i) {
  const FindName& name = expression_.names()[i];
  std::optional<FindValue> bounds;
  NMB_ASSIGN(const FindNumber* const row, row_of(counts_[i], name));
  if (row) {
    found_[i] = true;
    bounds = *row;
    if (row->least == row->most) return bounds;
  }
  if (source_ == Source::kTables && row) {
    needs_values_ = true;
    return bounds;
  }
  NMB_ASSIGN(const std::optional<VarId> variable, counted_variable(i));
  if (!variable) return bounds;
  if (source_ != Source::kValues) {
    found_[i] = true;
    needs_values_ = true;
    return bounds;
  }
  std::optional<PartRanges> parts;
  if (reader_ && row) {
    NMB_ASSIGN(parts, reader_->part_ranges(dataset_->metadata.variable(*variable).name, order_));
  }
  note_values_read();
  NMB_ASSIGN(const std::optional<std::uint64_t> count,
             count_where(*dataset_, *variable, name.condition, parts ? &*parts : nullptr,
                         options_.threads));
  has_uncounted_ |= !count;
  if (!count) return bounds;
  return std::optional<FindValue>(exact(static_cast<long double>(*count)));
}

Result<std::optional<FindValue>> BlockFinder::attribute(VarId owner, const FindName& name) const {
  const std::optional<Attribute> found = dataset_->metadata.find_attribute(owner, name.name);
  if (!found) return std::optional<FindValue>();
  const Result<TagValue> value = attribute_value(dataset_->metadata, *found);
  if (value.status().code() == Code::kUnsupported)
    return Status(Code::kUnsupported,
                  joined_text("attribute ", printable(name.text), " has ", value.status().message(),
                              " in block \"", printable(dataset_->name),
                              "\"; a comparison needs text or one number"));
  if (!value.ok()) return value.status();
  const bool is_float = classic_of(dataset_->metadata, found->type) == Type::kFloat;
  if (const auto* number = std::get_if<double>(&*value); number && is_float)
    return std::optional<FindValue>(value_of(Type::kFloat, *number));
  return std::optional<FindValue>(value_of(*value));
}

}  // namespace nmb
