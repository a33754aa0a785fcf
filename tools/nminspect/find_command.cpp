// nminspect find (see find_command.h).
#include "nminspect/find_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "common/find_expression.h"
#include "common/json_document.h"
#include "common/table.h"
#include "nmb/dump.h"
#include "nmb/netcdf_view.h"
#include "nmb/text.h"
#include "nminspect/block_name.h"
#include "nminspect/ls_rows.h"

namespace nmb::tools {

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

// Finds the values of the names in an expression: tags, attributes and statistics. The blocks are
// visited one after the other. Remembers for each name whether at least one block has it.
class BlockValues {
 public:
  BlockValues(const FindExpression& expression, const Reader* reader)
      : expression_(expression), reader_(reader), found_(expression.names().size()) {}

  // Reads the tags and statistics that the expression names, for all blocks at once, because the
  // file stores all rows of one name together.
  Status read_tables() {
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
  // Begins the next block. order: the order number of the block. load: a function that reads the
  // block; it is called only if the block must be read, and at most once.
  using Load = std::function<Result<std::shared_ptr<const Dataset>>()>;
  void begin(Load load, std::uint64_t order) {
    load_ = std::move(load);
    dataset_.reset();
    order_ = order;
    is_noted_ = false;
  }
  Result<std::optional<FindValue>> value(std::size_t i) {
    const FindName& name = expression_.names()[i];
    std::optional<FindValue> value;
    if (name.kind == FindName::Kind::kStatistic) {
      value = statistic(name, i);
      if (!value) NMB_TRY(note_missing(name));
    } else if (const FindValue* const tag = tag_of(name)) {
      value = *tag;
    } else {
      if (!dataset_) {
        NMB_ASSIGN(dataset_, load_());
      }
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
  // Returns the number of blocks that have a variable of the expression, but no statistics of this
  // variable.
  std::uint64_t without_statistics() const { return without_statistics_; }
  // Returns whether any block has a histogram of a variable that the expression names.
  bool has_histograms() const { return has_histograms_; }
  // Returns the first name in the expression that no block has, or nullptr.
  const FindName* nowhere() const {
    const auto missing = std::ranges::find(found_, false);
    return missing == found_.end()
               ? nullptr
               : &expression_.names()[static_cast<std::size_t>(missing - found_.begin())];
  }

 private:
  Status read_tags() {
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
  // Returns the value of the block's tag, or nullptr if the block has no tag of this name.
  const FindValue* tag_of(const FindName& name) const {
    if (name.kind != FindName::Kind::kBlockAttribute) return nullptr;
    const auto rows = tags_.find(name.name);
    if (rows == tags_.end()) return nullptr;
    const auto row = rows->second.find(order_);
    return row == rows->second.end() ? nullptr : &row->second;
  }
  std::optional<FindValue> statistic(const FindName& name, std::size_t i) {
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
  Status note_missing(const FindName& name) {
    const auto rows = statistics_.find(name.variable);
    if (is_noted_ || rows == statistics_.end() || rows->second.empty() ||
        rows->second.contains(order_))
      return {};
    if (!dataset_) {
      NMB_ASSIGN(dataset_, load_());
    }
    is_noted_ = find_netcdf_variable(dataset_->metadata, name.variable).has_value();
    without_statistics_ += is_noted_;
    return {};
  }
  Result<std::optional<FindValue>> attribute(VarId owner, const FindName& name) const {
    const std::optional<Attribute> found = dataset_->metadata.find_attribute(owner, name.name);
    if (!found) return std::optional<FindValue>();
    NMB_ASSIGN(std::optional<std::string> text, attribute_text(dataset_->metadata, *found));
    if (text) return std::optional<FindValue>(std::move(*text));
    std::vector<std::byte> value(found->values.begin(), found->values.end());
    std::optional<Type> type = found->type;
    if (TypeTable::is_extended(*type)) {
      const TypeTable& types = dataset_->metadata.extension()->types;
      if (types.is_swapped(*type)) std::ranges::reverse(value);
      type = types.classic(*type);
    }
    if (!type || type == Type::kChar || found->count != 1)
      return Status(
          Code::kUnsupported,
          fmt::format("attribute {} has {} values of type {} in block \"{}\"; "
                      "a comparison needs text or one number",
                      printable(name.text), found->count,
                      type_text(dataset_->metadata, found->type), printable(dataset_->name)));
    return std::optional<FindValue>(number_of(*type, value.data()));
  }

  const FindExpression& expression_;
  const Reader* const reader_;
  std::vector<bool> found_;
  Load load_;
  std::shared_ptr<const Dataset> dataset_;  // nullptr if not read yet
  std::uint64_t order_ = 0;                 // order number of the current block
  bool is_noted_ = false;  // true if without_statistics_ includes the current block
  std::uint64_t without_statistics_ = 0;
  bool has_histograms_ = false;
  // Statistics by two keys: the name of the variable, and the order number of the block.
  std::map<std::string, std::unordered_map<std::uint64_t, VariableStatistics>, std::less<>>
      statistics_;
  // Tags by two keys: the name of the tag, and the order number of the block.
  std::map<std::string, std::unordered_map<std::uint64_t, FindValue>, std::less<>> tags_;
};

}  // namespace

FindCommand::FindCommand(Tool& tool)
    : InspectCommand(
          tool, "find",
          {"Lists blocks whose attributes and statistics match an expression.",
           std::string(
               "EXPR compares numbers, texts in ' ' or \" \", and names with == != < <= > >=. "
               "Combine comparisons with &&, ||, ! and ( ). A name is a tag of the block or, if "
               "the block has no such tag, an attribute of the block. VARIABLE@NAME is an "
               "attribute of a variable: text of any kind or one number. VARIABLE.min, .max, "
               ".elements, .missing and .nan are statistics of a variable; only an NMB file "
               "written with --stats has them. Put ` ` around a name that has characters other "
               "than letters, digits and _-/:+.\n"
               "If EXPR names attributes, every block is read. Tags and statistics are read by "
               "name, without the blocks. Values are not read. A block without the named attribute "
               "or statistic never matches. A name that no block has is an error (exit code 2), so "
               "that an empty answer always means that no block matches.\n\n") +
               PatternOption::kHelp,
           "  nminspect find run.nmb 'energy.max > 10 && run == 4952'\n"
           "  nminspect find run.nmb 'tas@units == \"K\" && tas.min < 200' 'r4952/**'\n"
           "  nminspect find run.nmb 'tas.nan > 0 || tas.missing == tas.elements'"}) {
  command_.add_option("EXPR", expression_, "the expression")->required();
  pattern_.offer(command_, "blocks to search");
  tool.offer_json(command_);
}

Status FindCommand::run(const InspectedFile& file) {
  NMB_ASSIGN(const FindExpression expression, FindExpression::parse(expression_));
  NMB_ASSIGN(const NamePattern pattern, pattern_.names());
  BlockValues values(expression, file.reader());
  NMB_TRY(values.read_tables());
  std::vector<BlockEntry> found;
  std::uint64_t looked_at = 0;
  NMB_TRY(for_each_block(file, pattern, [&](const BlockEntry& entry) -> Result<bool> {
    ++looked_at;
    values.begin([&] { return file.dataset(entry); }, entry.order);
    NMB_ASSIGN(const std::optional<bool> holds,
               expression.holds([&](std::size_t i) { return values.value(i); }));
    if (holds.value_or(false)) found.push_back(entry);
    return true;
  }));
  if (looked_at == 0) return Status(Code::kNotFound, "found no block that matches");
  if (const FindName* name = values.nowhere())
    return Status(
        Code::kNotFound,
        fmt::format(
            "{} {} {}{}",
            looked_at == 1 ? "the block has no" : fmt::format("none of {} blocks has", looked_at),
            name->kind == FindName::Kind::kStatistic ? "statistic" : "attribute",
            printable(name->text),
            name->kind == FindName::Kind::kStatistic ? "; --stats writes statistics" : ""));
  if (values.without_statistics() > 0)
    tool_.diagnostics().warning(
        file.file().name(),
        fmt::format(
            "{} of {} blocks {} no statistics of a variable in the expression and cannot match; "
            "to add statistics: nmconvert --repack --stats {} {} counted.nmb",
            values.without_statistics(), looked_at,
            values.without_statistics() == 1 ? "has" : "have",
            values.has_histograms() ? "histogram" : "basic", shell_word(file.file().name())));
  if (tool_.options().json) {
    Json json = json_document("find");
    json["file"] = json_text(file.file().name());
    json["blocks_looked_at"] = looked_at;
    json["blocks"] = json_texts(found, &BlockEntry::name);
    return write_json(tool_.out(), json);
  }
  Table table(tool_.out(), {{""}});
  for (const BlockEntry& entry : found)
    NMB_TRY(table.row({std::string(name_for_user(entry.name))}));
  return table.finish();
}

}  // namespace nmb::tools
