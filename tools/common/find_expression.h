// FindExpression: what `nminspect find` looks for.
//
//   or         = and { "||" and }
//   and        = not { "&&" not }
//   not        = "!" not | "(" or ")" | operand ( "==" "!=" "<" "<=" ">" ">=" ) operand
//   operand    = number | 'text' | "text" | name
//   name       = word                an attribute of the block
//              | word "@" word       an attribute of a variable
//              | word "." statistic  of a variable: elements, missing, nan, min or max
//   word       = letters, digits, "_", "-", "/", ":", "+" and bytes past 127, not a digit first;
//                or any bytes in ` `
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
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
  std::string variable;  // empty: of the block
  std::string name;      // of the attribute, or which statistic
  std::string text;      // as it was written
};

// Numbers of all types are exact: a long double has 64 bits of mantissa and more.
using FindValue = std::variant<long double, std::string>;

class FindExpression {
 public:
  // kUsage: what is wrong with the text, and where.
  static Result<FindExpression> parse(std::string_view text);

  // All that are looked for, each once.
  const std::vector<FindName>& names() const { return names_; }
  // Whether it is so, where value(i) is that of names()[i], or nullopt: there is none. A comparison
  // with nothing is neither true nor false, and nor is what depends on it: nullopt. kUsage: a
  // number compared with text.
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
  std::vector<Node> nodes_;  // children ahead of their parents
};

}  // namespace nmb::tools
