// Parses and evaluates expressions (see FindExpression in find/find.h).
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "find/comparison.h"
#include "find/count_where.h"
#include "find/find.h"
#include "model/text.h"

namespace nmb {

class FindParser {
 public:
  explicit FindParser(std::string_view text) : text_(text) {}

  Result<FindExpression> parse() {
    NMB_TRY(parse_or());
    skip_blanks();
    if (at_ < text_.size()) return wrong("&&, || or the end");
    return std::move(out_);
  }

 private:
  using Node = FindExpression::Node;
  static constexpr int kMostDepth = 100;

  Status wrong(const std::string& expected) const {
    const std::string found =
        at_ < text_.size() ? "\"" + std::string(text_.substr(at_, 16)) + "\"" : "its end";
    return Status(Code::kUsage, "expression: at " + std::to_string(at_) + ": found " + found +
                                    ", expected " + expected);
  }
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n'))
      ++at_;
  }
  bool take(std::string_view token) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  void add(Node node) {
    out_.nodes_.push_back(std::move(node));
    last_ = out_.nodes_.size() - 1;
  }

  Status parse_or() {
    return parse_list("||", Node::Kind::kOr, [this] { return parse_and(); });
  }
  Status parse_and() {
    return parse_list("&&", Node::Kind::kAnd, [this] { return parse_not(); });
  }
  template <class Part>
  Status parse_list(std::string_view token, Node::Kind kind, Part part) {
    Node list;
    list.kind = kind;
    do {
      NMB_TRY(part());
      list.children.push_back(last_);
    } while (take(token));
    if (list.children.size() > 1) add(std::move(list));
    return {};
  }
  Status parse_not() {
    if (++depth_ > kMostDepth) return wrong("at most 100 levels");
    skip_blanks();
    if (!text_.substr(at_).starts_with("!=") && take("!")) {
      NMB_TRY(parse_not());
      Node node;
      node.kind = Node::Kind::kNot;
      node.children = {last_};
      add(std::move(node));
    } else if (take("(")) {
      NMB_TRY(parse_or());
      if (!take(")")) return wrong("\")\"");
    } else if (take_call("any")) {
      NMB_TRY(parse_quantified(false));
    } else if (take_call("all")) {
      NMB_TRY(parse_quantified(true));
    } else {
      NMB_TRY(parse_comparison());
    }
    --depth_;
    return {};
  }
  // Takes `name` and "(".
  bool take_call(std::string_view name) {
    skip_blanks();
    std::size_t at = at_ + name.size();
    if (!text_.substr(at_).starts_with(name)) return false;
    while (at < text_.size() && text_[at] == ' ') ++at;
    if (at >= text_.size() || text_[at] != '(') return false;
    call_ = at_;
    at_ = at + 1;
    return true;
  }
  // any(C) holds if the count of C is more than 0, all(C) if the count of the opposite of C is 0.
  Status parse_quantified(bool all) {
    Node node;
    NMB_TRY(parse_condition(all, &node.left));
    node.comparison = all ? Comparison::kEqual : Comparison::kMore;
    node.right.constant = FindNumber();
    add(std::move(node));
    return {};
  }
  // Parses a condition of values after "(". opposite: whether to count the values for which the
  // condition does not hold.
  Status parse_condition(bool opposite, FindExpression::Operand* out) {
    const std::size_t begin = call_;
    FindName name;
    name.kind = FindName::Kind::kCount;
    skip_blanks();
    NMB_TRY(parse_word(&name.variable));
    NMB_TRY(parse_token(&name.condition.comparison));
    if (opposite) name.condition.comparison = opposite_of(name.condition.comparison);
    skip_blanks();
    FindExpression::Operand number;
    NMB_TRY(parse_number(&number));
    const FindNumber value = std::get<FindNumber>(*number.constant);
    name.condition.number = value.least;
    name.condition.is_integer = value.form == FindNumber::Form::kExact;
    if (!take(")")) return wrong("\")\"");
    name.text = text_.substr(begin, at_ - begin);
    out->name = add_name(std::move(name));
    return {};
  }
  static Comparison opposite_of(Comparison comparison) {
    switch (comparison) {
      case Comparison::kEqual:
        return Comparison::kNotEqual;
      case Comparison::kNotEqual:
        return Comparison::kEqual;
      case Comparison::kLess:
        return Comparison::kMoreEqual;
      case Comparison::kLessEqual:
        return Comparison::kMore;
      case Comparison::kMore:
        return Comparison::kLessEqual;
      case Comparison::kMoreEqual:
        break;
    }
    return Comparison::kLess;
  }
  Status parse_token(Comparison* out) {
    constexpr std::pair<std::string_view, Comparison> kTokens[] = {
        {"==", Comparison::kEqual},     {"!=", Comparison::kNotEqual},
        {"<=", Comparison::kLessEqual}, {">=", Comparison::kMoreEqual},
        {"<", Comparison::kLess},       {">", Comparison::kMore}};
    const auto* const token =
        std::ranges::find_if(kTokens, [this](const auto& t) { return take(t.first); });
    if (token == std::end(kTokens)) return wrong("==, !=, <, <=, > or >=");
    *out = token->second;
    return {};
  }
  Status parse_comparison() {
    Node node;
    NMB_TRY(parse_operand(&node.left));
    NMB_TRY(parse_token(&node.comparison));
    NMB_TRY(parse_operand(&node.right));
    add(std::move(node));
    return {};
  }
  Status parse_operand(FindExpression::Operand* out) {
    skip_blanks();
    if (at_ >= text_.size()) return wrong("a name, a number or a text");
    const char c = text_[at_];
    if (c == '"' || c == '\'') {
      const std::size_t end = text_.find(c, at_ + 1);
      if (end == text_.npos) return wrong("a closing quote");
      out->constant = std::string(text_.substr(at_ + 1, end - at_ - 1));
      at_ = end + 1;
      return {};
    }
    if ((c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.') return parse_number(out);
    NMB_TRY(refuse_function());
    return take_call("count") ? parse_condition(false, out) : parse_name(out);
  }
  // Refuses max(VARIABLE) and the like, and says how statistics are written.
  Status refuse_function() const {
    for (const std::string_view name : kStatistics) {
      std::string_view rest = text_.substr(at_);
      if (!rest.starts_with(name)) continue;
      rest.remove_prefix(name.size());
      rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
      const std::size_t end = rest.find(')');
      if (!rest.starts_with('(') || end == rest.npos) continue;
      std::string_view variable = rest.substr(1, end - 1);
      variable.remove_prefix(std::min(variable.find_first_not_of(' '), variable.size()));
      variable = variable.substr(0, variable.find_last_not_of(' ') + 1);
      const bool is_plain = std::ranges::all_of(variable, is_word) || variable.starts_with('`');
      const std::string quote = is_plain ? "" : "`";
      return Status(Code::kUsage, "expression: at " + std::to_string(at_) + ": found " +
                                      std::string(name) + "(" + printable(variable) +
                                      "), expected " + quote + printable(variable) + quote + "." +
                                      std::string(name));
    }
    return {};
  }
  static constexpr std::string_view kStatistics[] = {"elements", "missing", "nan", "min", "max"};
  Status parse_number(FindExpression::Operand* out) {
    const std::string rest(text_.substr(at_, 64));
    char* end = nullptr;
    const double rounded = std::strtod(rest.c_str(), &end);
    const auto length = static_cast<std::size_t>(end - rest.c_str());
    if (length == 0 || length == 64 || !std::isfinite(rounded) ||
        (at_ + length < text_.size() && is_word(text_[at_ + length])))
      return wrong("a number");
    if (rest.find_first_not_of("+-0123456789") >= length) {
      const long double integer = std::strtold(rest.c_str(), nullptr);
      out->constant = FindNumber{integer, integer};
    } else {
      out->constant = FindNumber{rounded, rounded, FindNumber::Form::kRounded};
    }
    at_ += length;
    return {};
  }
  static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '/' || c == ':' || c == '+' || static_cast<unsigned char>(c) > 127;
  }
  Status parse_word(std::string* out) {
    if (at_ < text_.size() && text_[at_] == '`') {
      const std::size_t end = text_.find('`', at_ + 1);
      if (end == text_.npos) return wrong("a closing backquote");
      *out = text_.substr(at_ + 1, end - at_ - 1);
      at_ = end + 1;
      return {};
    }
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    if (begin == at_) return wrong("a name, a number or a text");
    *out = text_.substr(begin, at_ - begin);
    return {};
  }
  Status parse_name(FindExpression::Operand* out) {
    using NameKind = FindName::Kind;
    const std::size_t begin = at_;
    FindName name;
    NMB_TRY(parse_word(&name.name));
    if (at_ < text_.size() && (text_[at_] == '@' || text_[at_] == '.')) {
      const bool is_attribute = text_[at_++] == '@';
      name.variable = std::move(name.name);
      NMB_TRY(parse_word(&name.name));
      name.kind = is_attribute ? NameKind::kVariableAttribute
                  : std::ranges::find(kStatistics, name.name) != std::end(kStatistics)
                      ? NameKind::kStatistic
                      : NameKind::kFunction;
    }
    name.text = text_.substr(begin, at_ - begin);
    out->name = add_name(std::move(name));
    return {};
  }
  std::size_t add_name(FindName name) {
    std::vector<FindName>& names = out_.names_;
    const auto known = std::ranges::find_if(names, [&](const FindName& other) {
      return other.kind == name.kind && other.variable == name.variable &&
             other.name == name.name && other.condition == name.condition;
    });
    const auto at = static_cast<std::size_t>(known - names.begin());
    if (known == names.end()) names.push_back(std::move(name));
    return at;
  }

  const std::string_view text_;
  std::size_t at_ = 0, last_ = 0;
  std::size_t call_ = 0;  // where the name of the last call begins
  int depth_ = 0;
  FindExpression out_;
};

namespace {

// Returns the value of `number` for a comparison with `other`. It may be rounded if `other` is a
// float.
FindNumber rounded_for(const FindNumber& number, const FindNumber& other) {
  if (number.form != FindNumber::Form::kRounded || other.form != FindNumber::Form::kFloat)
    return number;
  const long double rounded = rounded_to_float(number.least);
  return {rounded, rounded};
}

// Compares two numbers that may not be known exactly. Returns nullopt if the result is not known
// either.
std::optional<bool> compare_numbers(Comparison comparison, const FindNumber& left,
                                    const FindNumber& right) {
  const FindNumber a = rounded_for(left, right), b = rounded_for(right, left);
  const auto is_exact = [](const FindNumber& n) { return !(n.least < n.most); };
  if (is_exact(a) && is_exact(b)) return compare(comparison, a.least, b.least);
  const bool is_disjoint = a.most < b.least || b.most < a.least;
  if (comparison == Comparison::kEqual || comparison == Comparison::kNotEqual)
    return is_disjoint ? std::optional(comparison == Comparison::kNotEqual) : std::nullopt;
  // Compare the ends that differ most in each direction.
  const bool low = compare(comparison, a.least, b.most);
  const bool high = compare(comparison, a.most, b.least);
  return low == high ? std::optional(low) : std::nullopt;
}

}  // namespace

Result<FindExpression> FindExpression::parse(std::string_view text) {
  return FindParser(text).parse();
}

Result<std::optional<bool>> FindExpression::holds(const ValueOf& value,
                                                  std::vector<Met>* met) const {
  return holds(nodes_.size() - 1, value, met);
}

Result<std::optional<bool>> FindExpression::holds(std::size_t number, const ValueOf& value,
                                                  std::vector<Met>* met) const {
  const Node& node = nodes_[number];
  if (node.kind == Node::Kind::kCompare) return compared(number, value, met);
  if (node.kind == Node::Kind::kNot) {
    NMB_ASSIGN(const std::optional<bool> inner, holds(node.children[0], value, met));
    return inner ? std::optional(!*inner) : inner;
  }
  // Every child is evaluated, even if the first one decides the result, so that every name is
  // looked up and a name that no block has can be reported.
  const bool decides = node.kind == Node::Kind::kOr;
  bool unknown = false, decided = false;
  for (const std::size_t child : node.children) {
    NMB_ASSIGN(const std::optional<bool> part, holds(child, value, met));
    unknown |= !part;
    decided |= part == decides;
  }
  if (decided) return std::optional(decides);
  return unknown ? std::nullopt : std::optional(!decides);
}

Result<std::optional<bool>> FindExpression::compared(std::size_t part, const ValueOf& value,
                                                     std::vector<Met>* met) const {
  const Node& node = nodes_[part];
  const auto value_of = [&](const Operand& operand) -> Result<std::optional<FindValue>> {
    return operand.constant ? operand.constant : value(operand.name);
  };
  NMB_ASSIGN(const std::optional<FindValue> left, value_of(node.left));
  NMB_ASSIGN(const std::optional<FindValue> right, value_of(node.right));
  if (!left || !right) return std::optional<bool>();
  const bool are_alike = left->index() == right->index();
  ((*met)[part].*(are_alike ? &Met::alike : &Met::unlike)) = true;
  if (!are_alike) return std::optional<bool>();
  const Comparison comparison = node.comparison;
  if (const auto* number = std::get_if<FindNumber>(&*left))
    return compare_numbers(comparison, *number, std::get<FindNumber>(*right));
  return std::optional(
      compare(comparison, std::get<std::string>(*left), std::get<std::string>(*right)));
}

std::string FindExpression::type_problem(const std::vector<Met>& met) const {
  for (std::size_t i = 0; i < met.size(); ++i) {
    if (!met[i].unlike || met[i].alike) continue;
    const Operand& name = nodes_[i].left.constant ? nodes_[i].right : nodes_[i].left;
    return "cannot compare a number with text" +
           (name.constant ? "" : ": " + printable(names_[name.name].text)) +
           "; compare two numbers or two texts";
  }
  return {};
}

const char* FindName::kind_text() const {
  switch (kind) {
    case Kind::kBlockAttribute:
      return "tag or attribute";
    case Kind::kVariableAttribute:
      return "attribute";
    case Kind::kStatistic:
      return "statistic";
    case Kind::kFunction:
      return "statistic or stored result of a function";
    case Kind::kCount:
      break;
  }
  return "numeric variable for";
}

}  // namespace nmb
