// Finds blocks by expressions over their tags, attributes and statistics. An expression has this
// syntax:
//
//   or         = and { "||" and }
//   and        = not { "&&" not }
//   not        = "!" not | "(" or ")" | operand ( "==" "!=" "<" "<=" ">" ">=" ) operand
//   operand    = number | 'text' | "text" | name
//   name       = word                an attribute of the block
//              | word "@" word       an attribute of a variable
//              | word "." statistic  of a variable: elements, missing, nan, min or max
//   word       = letters, digits, "_", "-", "/", ":", "+" and bytes above 127; or any bytes in ` `
//
// An operand that begins with a digit, "-", "+" or "." is a number.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "nmb/dataset.h"
#include "nmb/reader.h"
#include "nmb/statistics.h"
#include "nmb/status.h"

namespace nmb {

struct FindName {
  enum class Kind : std::uint8_t { kBlockAttribute, kVariableAttribute, kStatistic };
  Kind kind = Kind::kBlockAttribute;
  std::string variable;  // empty for an attribute of the block
  std::string name;      // name of the attribute or statistic
  std::string text;      // the whole name as the user wrote it
};

// A long double can hold the numbers of all types exactly, because its mantissa has at least 64
// bits.
using FindValue = std::variant<long double, std::string>;

class FindExpression {
 public:
  // Errors: kUsage for invalid syntax; the message says what is wrong and where.
  NMB_EXPORT static Result<FindExpression> parse(std::string_view text);

  // Returns all names in the expression, each once.
  const std::vector<FindName>& names() const { return names_; }
  // Evaluates the expression. value(i) returns the value of names()[i], or nullopt if this value is
  // missing. Returns nullopt if the result depends on a missing value. Errors: kUsage if a number
  // is compared with text.
  using ValueOf = std::function<Result<std::optional<FindValue>>(std::size_t)>;
  NMB_EXPORT Result<std::optional<bool>> holds(const ValueOf& value) const;

 private:
  friend class FindParser;
  enum class Compare : std::uint8_t { kEqual, kNotEqual, kLess, kLessEqual, kMore, kMoreEqual };
  struct Operand {
    std::optional<FindValue> constant;
    std::size_t name = 0;
  };
  struct Node {
    enum class Kind : std::uint8_t { kOr, kAnd, kNot, kCompare };
    Kind kind = Kind::kCompare;
    std::vector<std::size_t> children;
    Operand left, right;
    Compare compare = Compare::kEqual;
  };
  Result<std::optional<bool>> holds(const Node& node, const ValueOf& value) const;
  Result<std::optional<bool>> compared(const Node& node, const ValueOf& value) const;

  std::vector<FindName> names_;
  std::vector<Node> nodes_;  // each node comes after its children
};

// Decides for each block of one file whether an expression holds. The blocks are visited one after
// the other. Not thread-safe.
class BlockFinder {
 public:
  // reader: the NMB file; nullptr for a file of another kind, which has no tags and no statistics.
  // Both arguments must outlive the object.
  BlockFinder(const FindExpression& expression, const Reader* reader)
      : expression_(expression), reader_(reader), found_(expression.names().size()) {}

  // Reads the tags and statistics that the expression names, for all blocks at once, because the
  // file stores all rows of one name together. Call this function before the first block.
  NMB_EXPORT Status read_tables();
  // Returns whether the expression holds for a block. If the block lacks an attribute, a tag or a
  // statistic on which the result depends, returns false. order: BlockEntry::order of the block.
  // load: a function that reads the block; it is called only if the block must be read, and at most
  // once. Errors: those of `load`; kUsage if a number is compared with text; kUnsupported if an
  // attribute is neither text nor one number.
  using Load = std::function<Result<std::shared_ptr<const Dataset>>()>;
  NMB_EXPORT Result<bool> holds(std::uint64_t order, Load load);

  // Visits all blocks of the NMB file for which the expression holds, in the order of their names.
  // If tags and statistics decide for a block, neither the block nor its entry in the index need be
  // read. load: a function that reads the block with the given entry. Call read_tables() before.
  // Errors: as for holds(), and those of `visit`.
  NMB_EXPORT Status for_each_match(
      const std::function<Result<std::shared_ptr<const Dataset>>(const BlockEntry&)>& load,
      const std::function<Status(const BlockEntry&)>& visit);

  // Returns for each name of the expression whether at least one block has it.
  const std::vector<bool>& found() const { return found_; }
  // Returns the number of blocks for which the expression was evaluated.
  std::uint64_t blocks() const { return blocks_; }
  // Returns the text of a warning if some blocks have a variable of the expression, but no
  // statistics of this variable. file: the path of the file.
  NMB_EXPORT std::optional<std::string> warning(const std::string& file) const;

 private:
  Status read_tags();
  bool may_hold(std::uint64_t order);
  Result<std::optional<FindValue>> value(std::size_t i);
  const FindValue* tag_of(const FindName& name) const;
  std::optional<FindValue> statistic(const FindName& name, std::size_t i);
  Status note_missing(const FindName& name);
  Status load_block();
  Result<std::optional<FindValue>> attribute(VarId owner, const FindName& name) const;

  const FindExpression& expression_;
  const Reader* const reader_;
  std::vector<bool> found_;
  Load load_;
  std::shared_ptr<const Dataset> dataset_;  // nullptr if not read yet
  std::uint64_t order_ = 0;                 // order number of the current block
  std::uint64_t blocks_ = 0;
  bool reads_blocks_ = true;  // if false, value() does not load the current block
  bool needs_block_ = false;  // true if value() would have loaded the current block
  bool is_noted_ = false;     // true if without_statistics_ includes the current block
  // Number of blocks that have a variable of the expression, but no statistics of this variable.
  std::uint64_t without_statistics_ = 0;
  bool has_histograms_ = false;  // some block has a histogram of a variable of the expression
  // Statistics by two keys: the name of the variable, and the order number of the block.
  std::map<std::string, std::unordered_map<std::uint64_t, VariableStatistics>, std::less<>>
      statistics_;
  // Tags by two keys: the name of the tag, and the order number of the block.
  std::map<std::string, std::unordered_map<std::uint64_t, FindValue>, std::less<>> tags_;
};

}  // namespace nmb
