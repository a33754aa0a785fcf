// Finds blocks by expressions over their tags, attributes, statistics and values. An expression has
// this syntax:
//
//   or         = and { "||" and }
//   and        = not { "&&" not }
//   not        = "!" not | "(" or ")" | ( "any" | "all" ) values | operand compare operand
//   compare    = "==" | "!=" | "<" | "<=" | ">" | ">="
//   operand    = number | 'text' | "text" | name | "count" values
//   values     = "(" word compare number ")"   the values of a variable that match, without missing
//                                              values and NaN
//   name       = word                a tag of the block or, without such a tag, an attribute
//              | word "@" word       an attribute of a variable
//              | word "." word       a statistic of a variable: elements, missing, nan, min or max,
//                                    or a stored result of a function (ValueFunction)
//   word       = letters, digits, "_", "-", "/", ":", "+" and bytes above 127; or any bytes in ` `
//
// An operand that begins with a digit, "-", "+" or "." is a number. Integers are compared exactly.
// Other numbers are rounded to the nearest double or, if they are compared with a value of type
// float, to the nearest float: `x == 0.1` holds for the float and for the double nearest to 0.1.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "find/rows_by_order.h"
#include "model/dataset.h"
#include "nmb/statistics.h"
#include "reader/file_reader.h"
#include "wire/failure.h"

namespace nmb {

enum class Comparison : std::uint8_t { kEqual, kNotEqual, kLess, kLessEqual, kMore, kMoreEqual };

// A comparison of each value of a variable with a number. A long double can hold the numbers of all
// types exactly, because its mantissa has at least 64 bits.
struct ValueCondition {
  Comparison comparison = Comparison::kEqual;
  long double number = 0;
  bool is_integer = true;  // false: the number is rounded to float where values have this type
  friend bool operator==(const ValueCondition&, const ValueCondition&) = default;
};

struct FindName {
  enum class Kind : std::uint8_t {
    kBlockAttribute,
    kVariableAttribute,
    kStatistic,
    kFunction,  // the result of a function
    kCount,     // the number of values for which `condition` holds
  };
  Kind kind = Kind::kBlockAttribute;
  std::string variable;        // empty for an attribute of the block
  std::string name;            // name of the attribute, statistic or function; empty for kCount
  ValueCondition condition{};  // for kCount
  std::string text;            // the whole name as the user wrote it

  // Returns the kind of the name as a word for messages, for example "attribute".
  NMB_EXPORT const char* kind_text() const;
};

// A number that is at least `least` and at most `most`. It is known exactly if both are equal.
struct FindNumber {
  enum class Form : std::uint8_t {
    kExact,
    kFloat,    // a value of type float
    kRounded,  // a number of the expression that is not an integer; rounded to double
  };
  long double least = 0, most = 0;
  Form form = Form::kExact;
};
using FindValue = std::variant<FindNumber, std::string>;

class FindExpression {
 public:
  // Errors: kUsage for invalid syntax; the message says what is wrong and where.
  NMB_EXPORT static Result<FindExpression> parse(std::string_view text);

  // Returns all names in the expression, each once.
  const std::vector<FindName>& names() const { return names_; }
  std::size_t parts() const { return nodes_.size(); }
  // Which pairs of values a comparison has met.
  struct Met {
    bool alike = false;   // two numbers or two texts
    bool unlike = false;  // a number and a text
  };
  // Evaluates the expression. value(i) returns the value of names()[i], or nullopt if this value is
  // missing. Returns nullopt if the result depends on a missing value, on a number that is not
  // known exactly, or on a comparison of a number with text. *met: what each part of the expression
  // has met; parts() elements.
  using ValueOf = std::function<Result<std::optional<FindValue>>(std::size_t)>;
  NMB_EXPORT Result<std::optional<bool>> holds(const ValueOf& value, std::vector<Met>* met) const;
  // Returns a text if a comparison has met a number beside a text, but no two values of the same
  // kind. Otherwise, returns an empty text.
  NMB_EXPORT std::string type_problem(const std::vector<Met>& met) const;

 private:
  friend class FindParser;
  struct Operand {
    std::optional<FindValue> constant;
    std::size_t name = 0;
  };
  struct Node {
    enum class Kind : std::uint8_t { kOr, kAnd, kNot, kCompare };
    Kind kind = Kind::kCompare;
    std::vector<std::size_t> children;
    Operand left, right;
    Comparison comparison = Comparison::kEqual;
  };
  Result<std::optional<bool>> holds(std::size_t node, const ValueOf& value,
                                    std::vector<Met>* met) const;
  Result<std::optional<bool>> compared(std::size_t node, const ValueOf& value,
                                       std::vector<Met>* met) const;

  std::vector<FindName> names_;
  std::vector<Node> nodes_;  // each node comes after its children
};

// Decides for each block of one file whether an expression holds. The blocks are visited one after
// the other. Not thread-safe.
class BlockFinder {
 public:
  // reader: the NMB file; nullptr for a file of another kind, which has no tags and no stored
  // statistics. `expression` and *reader must outlive the object.
  BlockFinder(const FindExpression& expression, const FileReader* reader, FindOptions options = {})
      : expression_(expression),
        reader_(reader),
        options_(options),
        found_(expression.names().size()),
        met_(expression.parts()),
        met_here_(expression.parts()),
        counts_(expression.names().size()) {}

  // Reads the tags and statistics that the expression names, for all blocks at once, because the
  // file stores all rows of one name together. Call this function before the first block.
  NMB_EXPORT Status read_tables();
  // Returns whether the expression holds for a block. If the block lacks an attribute, a tag or a
  // statistic on which the result depends, or if the result depends on a comparison of a number
  // with text, returns false. order: BlockEntry::order of the block.
  // load: a function that reads the definitions of the block; it is called only if they are needed,
  // and at most once. Values are read only if nothing else decides. Errors: those of `load`;
  // kUnsupported if an attribute is neither text nor one number; kDamaged and kIo for values.
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
  // Returns what each comparison of the expression has met in all blocks.
  const std::vector<FindExpression::Met>& met() const { return met_; }
  // Returns a note about blocks that cannot match because they have text where the expression needs
  // a number, or a number where it needs text; empty if there are none.
  NMB_EXPORT std::string unlike_note() const;
  // Returns the number of blocks for which the expression was evaluated.
  std::uint64_t blocks() const { return blocks_; }
  // Returns the number of blocks of which values were read.
  std::uint64_t blocks_with_values_read() const { return values_read_; }
  // Returns warnings about blocks for which the expression could not be decided: because values
  // are not read, because the values of a variable cannot be counted, or because the result of a
  // function is not stored. file: the path of the file.
  NMB_EXPORT std::vector<std::string> warnings(const std::string& file) const;

 private:
  using Evaluated = Result<std::optional<bool>>;
  // The rows of a variable under its own name, and under the name that stored_as_no_coordinate()
  // returns.
  template <class Row>
  using RowsOfVariable = std::array<RowsByOrder<Row>, 2>;
  // Where values of names come from.
  enum class Source : std::uint8_t { kTables, kDefinitions, kValues };

  Status read_tags(const FindName& name);
  Status read_results(const FindName& name);
  Status read_statistics(const FindName& name);
  Status read_counts(std::size_t i);
  bool may_hold(std::uint64_t order);
  void note_met(bool is_open);
  void begin(std::uint64_t order);
  Evaluated evaluate(Source source);
  Result<std::optional<FindValue>> value(std::size_t i);
  Result<std::optional<FindValue>> attribute_or_tag(const FindName& name);
  Result<std::optional<FindValue>> statistic(std::size_t i);
  Result<std::optional<FindValue>> count(std::size_t i);
  Result<std::optional<FindValue>> result(const FindName& name);
  const FindValue* tag_of(const FindName& name);
  std::optional<FindValue> statistic_of(const VariableStatistics& v, std::size_t i);
  Result<std::optional<VarId>> counted_variable(std::size_t i);
  template <class Row>
  Result<const Row*> row_of(RowsOfVariable<Row>& rows, const FindName& name);
  void note_values_read();
  Status load_block();
  Result<std::optional<FindValue>> attribute(VarId owner, const FindName& name) const;

  const FindExpression& expression_;
  const FileReader* const reader_;
  const FindOptions options_;
  std::vector<bool> found_;
  Load load_;
  std::shared_ptr<const Dataset> dataset_;  // nullptr if not read yet
  std::uint64_t order_ = 0;                 // order number of the current block
  std::uint64_t blocks_ = 0;
  Source source_ = Source::kValues;  // what value() may read of the current block
  bool needs_block_ = false;         // true if value() would have loaded the current block
  bool needs_values_ = false;        // true if value() would have read values
  bool has_read_values_ = false;     // true if value() has read values of the current block
  std::uint64_t values_read_ = 0;
  bool has_uncounted_ = false;  // the current block has a variable that cannot be counted
  bool lacks_result_ = false;   // the current block has a variable without the result of a function
  // Numbers of blocks for which the expression is undecided: because values were not read, because
  // values cannot be counted, and because the result of a function is not stored.
  std::uint64_t undecided_ = 0, uncounted_ = 0, without_result_ = 0;
  // Statistics of the current block that were computed from its values.
  std::map<VarId, VariableStatistics> computed_;
  std::vector<FindExpression::Met> met_;
  std::vector<FindExpression::Met> met_here_;  // in the current block
  // Number of blocks where a number beside a text leaves the result open.
  std::uint64_t unlike_ = 0;
  std::vector<RowsOfVariable<FindNumber>> counts_;  // bounds, for each name of kind kCount
  std::map<std::string, RowsOfVariable<VariableStatistics>, std::less<>> statistics_;
  std::map<std::string, RowsOfVariable<FindValue>, std::less<>> results_;  // by FindName::text
  std::map<std::string, RowsByOrder<FindValue>, std::less<>> tags_;
};

}  // namespace nmb
