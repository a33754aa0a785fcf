// FindExpression: an expression of `nminspect find`.
//
//   or         = and { "||" and }
//   and        = not { "&&" not }
//   not        = "!" not | "(" or ")" | operand ( "==" "!=" "<" "<=" ">" ">=" ) operand
//   operand    = number | 'text' | "text" | name
//   name       = word                an attribute of the block
//              | word "@" word       an attribute of a variable
//              | word "." statistic  of a variable: elements, missing, nan, min or max
//   word       = letters, digits, "_", "-", "/", ":", "+" and bytes above 127, beginning with any
//                of them but a digit; or any bytes in ` `
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
  std::string variable;  // empty: the block itself
  std::string name;      // of the attribute or statistic
  std::string text;      // as the user wrote it
};

// Numbers of all types are exact: a long double has at least 64 bits of mantissa.
using FindValue = std::variant<long double, std::string>;

class FindExpression {
 public:
  // Errors: kUsage, with the error in the text and its place.
  static Result<FindExpression> parse(std::string_view text);

  // Returns all names in the expression, each once.
  const std::vector<FindName>& names() const { return names_; }
  // Evaluates the expression; value(i) returns the value of names()[i], or nullopt if there is
  // none. A comparison without a value is neither true nor false, and so is everything that depends
  // on it: nullopt. Errors: kUsage for a comparison of a number with text.
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
