// Evaluates expressions for the blocks of a file (see BlockFinder in nmb/find.h).
#include <string_view>
#include <utility>

#include "find/attribute_value.h"
#include "nmb/find.h"
#include "nmb/netcdf_view.h"
#include "nmb/text.h"
#include "nmb/values.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

// Returns the exact value of a number of a classic type.
long double number_of(Type type, const std::byte* external) {
  const auto as = [&]<class T>(T value) {
    (void)convert_from_external(type, external, 1, memory_type_of<T>(), &value);
    return static_cast<long double>(value);
  };
  if (type == Type::kFloat || type == Type::kDouble) return as(double{});
  return type == Type::kUInt64 ? as(std::uint64_t{}) : as(std::int64_t{});
}

FindValue value_of(const TagValue& tag) {
  if (const auto* text = std::get_if<std::string>(&tag)) return *text;
  if (const auto* number = std::get_if<std::int64_t>(&tag))
    return static_cast<long double>(*number);
  if (const auto* number = std::get_if<std::uint64_t>(&tag))
    return static_cast<long double>(*number);
  return static_cast<long double>(std::get<double>(tag));
}

// Returns `text` as one word of a shell command line. Does not use backslashes, because messages
// double them.
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
  NMB_TRY(read_tags());
  for (const FindName& name : expression_.names()) {
    if (!reader_ || name.kind != FindName::Kind::kStatistic) continue;
    const auto inserted = statistics_.try_emplace(std::string(name.variable));
    if (!inserted.second) continue;
    auto& rows = inserted.first->second;
    // The values of a variable `x` may be stored as `x`, or under the name that
    // stored_as_no_coordinate(`x`) returns. If a block has both names, `x` is only a dimension in
    // this block. In this case, the row of the other name replaces the row of `x`.
    for (const std::string& stored :
         {std::string(name.variable), stored_as_no_coordinate(name.variable)})
      NMB_TRY(reader_->for_each_statistics(
          stored, [&](std::uint64_t order, const VariableStatistics& v) -> Result<bool> {
            has_histograms_ |= !v.histogram.buckets.empty();
            rows[order] = v;
            rows[order].histogram = {};
            return true;
          }));
  }
  return {};
}

Result<bool> BlockFinder::holds(std::uint64_t order, Load load) {
  load_ = std::move(load);
  dataset_.reset();
  order_ = order;
  is_noted_ = false;
  ++blocks_;
  NMB_ASSIGN(const std::optional<bool> holds,
             expression_.holds([this](std::size_t i) { return value(i); }));
  return holds.value_or(false);
}

// Returns false if tags and statistics show that the expression does not hold for a block.
bool BlockFinder::may_hold(std::uint64_t order) {
  dataset_.reset();
  order_ = order;
  is_noted_ = reads_blocks_ = needs_block_ = false;
  const Result<std::optional<bool>> holds =
      expression_.holds([this](std::size_t i) { return value(i); });
  reads_blocks_ = true;
  return needs_block_ || !holds.ok() || holds->value_or(false);
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

std::optional<std::string> BlockFinder::warning(const std::string& file) const {
  if (without_statistics_ == 0) return std::nullopt;
  return joined_text(without_statistics_, " of ", blocks_, " blocks ",
                     without_statistics_ == 1 ? "has" : "have",
                     " no statistics of a variable in the expression and cannot match; to add "
                     "statistics: nmconvert --repack --stats ",
                     has_histograms_ ? "histogram " : "basic ", shell_word(file), " counted.nmb");
}

Status BlockFinder::read_tags() {
  for (const FindName& name : expression_.names()) {
    if (!reader_ || name.kind != FindName::Kind::kBlockAttribute) continue;
    auto& rows = tags_[name.name];
    NMB_TRY(reader_->for_each_tag(name.name,
                                  [&](std::uint64_t order, const TagValue& tag) -> Result<bool> {
                                    rows.emplace(order, value_of(tag));
                                    return true;
                                  }));
  }
  return {};
}

Status BlockFinder::load_block() {
  if (dataset_) return {};
  NMB_ASSIGN(dataset_, load_());
  return {};
}

Result<std::optional<FindValue>> BlockFinder::value(std::size_t i) {
  const FindName& name = expression_.names()[i];
  std::optional<FindValue> value;
  if (name.kind == FindName::Kind::kStatistic) {
    value = statistic(name, i);
    if (!value) NMB_TRY(note_missing(name));
  } else if (const FindValue* const tag = tag_of(name)) {
    value = *tag;
  } else if (!reads_blocks_) {
    needs_block_ = true;
  } else {
    NMB_TRY(load_block());
    VarId variable = kGlobal;
    if (name.kind != FindName::Kind::kBlockAttribute) {
      const std::optional<VarId> id = find_netcdf_variable(dataset_->metadata, name.variable);
      if (!id) return std::optional<FindValue>();
      variable = *id;
    }
    NMB_ASSIGN(value, attribute(variable, name));
  }
  if (value) found_[i] = true;
  return value;
}

// Returns the value of the block's tag, or nullptr if the block has no tag of this name.
const FindValue* BlockFinder::tag_of(const FindName& name) const {
  if (name.kind != FindName::Kind::kBlockAttribute) return nullptr;
  const auto rows = tags_.find(name.name);
  if (rows == tags_.end()) return nullptr;
  const auto row = rows->second.find(order_);
  return row == rows->second.end() ? nullptr : &row->second;
}

std::optional<FindValue> BlockFinder::statistic(const FindName& name, std::size_t i) {
  const auto rows = statistics_.find(name.variable);
  if (rows == statistics_.end()) return std::nullopt;
  const auto row = rows->second.find(order_);
  if (row == rows->second.end()) return std::nullopt;
  const VariableStatistics& v = row->second;
  const std::string_view which = name.name;
  if (which == "elements") return static_cast<long double>(v.elements);
  if (which == "missing") return static_cast<long double>(v.missing);
  if (which == "nan") return static_cast<long double>(v.nans);
  // The block has the variable, even if all values of the variable are missing.
  found_[i] = found_[i] || v.type != Type::kChar;
  if (!v.has_range) return std::nullopt;
  return number_of(v.type, (which == "min" ? v.minimum : v.maximum).data());
}

// If the block has the variable but no statistics of the variable, counts the block. Reads the
// block only if the statistics are missing.
Status BlockFinder::note_missing(const FindName& name) {
  const auto rows = statistics_.find(name.variable);
  if (is_noted_ || rows == statistics_.end() || rows->second.empty() ||
      rows->second.contains(order_))
    return {};
  if (!reads_blocks_) {
    needs_block_ = true;
    return {};
  }
  NMB_TRY(load_block());
  is_noted_ = find_netcdf_variable(dataset_->metadata, name.variable).has_value();
  without_statistics_ += is_noted_;
  return {};
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
  return std::optional<FindValue>(value_of(*value));
}

}  // namespace nmb
