// FindExpression: an expression of `nminspect find`.
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
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "nmb/status.h"

namespace nmb::tools {

struct FindName {
  enum class Kind : std::uint8_t { kBlockAttribute, kVariableAttribute, kStatistic };
  Kind kind = Kind::kBlockAttribute;
  std::string variable;  // empty for an attribute of the block
  std::string name;      // name of the attribute or statistic
  std::string text;      // the whole name as the user wrote it
};

// A long double holds numbers of all types exactly, because its mantissa has at least 64 bits.
using FindValue = std::variant<long double, std::string>;

class FindExpression {
 public:
  // Errors: kUsage for invalid syntax; the message says what is wrong and where.
  static Result<FindExpression> parse(std::string_view text);

  // Returns all names in the expression, each once.
  const std::vector<FindName>& names() const { return names_; }
  // Evaluates the expression. value(i) returns the value of names()[i], or nullopt if this value is
  // missing. Returns nullopt if the result depends on a missing value. Errors: kUsage if a number
  // is compared with text.
  using ValueOf = std::function<Result<std::optional<FindValue>>(std::size_t)>;
  Result<std::optional<bool>> holds(const ValueOf& value) const;

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
  std::vector<Node> nodes_;  // children precede their parents
};

}  // namespace nmb::tools
