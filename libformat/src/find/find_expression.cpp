// Parses and evaluates expressions (see FindExpression in nmb/find.h).
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "nmb/find.h"

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
  using Compare = FindExpression::Compare;
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
    } else {
      NMB_TRY(parse_comparison());
    }
    --depth_;
    return {};
  }
  Status parse_comparison() {
    constexpr std::pair<std::string_view, Compare> kTokens[] = {
        {"==", Compare::kEqual},     {"!=", Compare::kNotEqual}, {"<=", Compare::kLessEqual},
        {">=", Compare::kMoreEqual}, {"<", Compare::kLess},      {">", Compare::kMore}};
    Node node;
    NMB_TRY(parse_operand(&node.left));
    const auto* const token =
        std::ranges::find_if(kTokens, [this](const auto& t) { return take(t.first); });
    if (token == std::end(kTokens)) return wrong("==, !=, <, <=, > or >=");
    node.compare = token->second;
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
    return parse_name(out);
  }
  Status parse_number(FindExpression::Operand* out) {
    const std::string rest(text_.substr(at_, 64));
    char* end = nullptr;
    const long double value = std::strtold(rest.c_str(), &end);
    const auto length = static_cast<std::size_t>(end - rest.c_str());
    if (length == 0 || length == 64 ||
        (at_ + length < text_.size() && is_word(text_[at_ + length])))
      return wrong("a number");
    out->constant = value;
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
    constexpr std::string_view kStatistics[] = {"elements", "missing", "nan", "min", "max"};
    const std::size_t begin = at_;
    FindName name;
    NMB_TRY(parse_word(&name.name));
    if (at_ < text_.size() && (text_[at_] == '@' || text_[at_] == '.')) {
      name.kind = text_[at_++] == '@' ? NameKind::kVariableAttribute : NameKind::kStatistic;
      name.variable = std::move(name.name);
      const std::size_t second = at_;
      NMB_TRY(parse_word(&name.name));
      if (name.kind == NameKind::kStatistic &&
          std::ranges::find(kStatistics, name.name) == std::end(kStatistics)) {
        at_ = second;
        return wrong("elements, missing, nan, min or max");
      }
    }
    name.text = text_.substr(begin, at_ - begin);
    std::vector<FindName>& names = out_.names_;
    const auto known = std::ranges::find_if(names, [&](const FindName& other) {
      return other.kind == name.kind && other.variable == name.variable && other.name == name.name;
    });
    out->name = static_cast<std::size_t>(known - names.begin());
    if (known == names.end()) names.push_back(std::move(name));
    return {};
  }

  const std::string_view text_;
  std::size_t at_ = 0, last_ = 0;
  int depth_ = 0;
  FindExpression out_;
};

Result<FindExpression> FindExpression::parse(std::string_view text) {
  return FindParser(text).parse();
}

Result<std::optional<bool>> FindExpression::holds(const ValueOf& value) const {
  return holds(nodes_.back(), value);
}

Result<std::optional<bool>> FindExpression::holds(const Node& node, const ValueOf& value) const {
  if (node.kind == Node::Kind::kCompare) return compared(node, value);
  if (node.kind == Node::Kind::kNot) {
    NMB_ASSIGN(const std::optional<bool> inner, holds(nodes_[node.children[0]], value));
    return inner ? std::optional(!*inner) : inner;
  }
  // Evaluates every child, although the first child may decide the result. Therefore every name is
  // looked up, and a name that no block has can be reported.
  const bool decides = node.kind == Node::Kind::kOr;
  bool unknown = false, decided = false;
  for (const std::size_t child : node.children) {
    NMB_ASSIGN(const std::optional<bool> part, holds(nodes_[child], value));
    unknown |= !part;
    decided |= part == decides;
  }
  if (decided) return std::optional(decides);
  return unknown ? std::nullopt : std::optional(!decides);
}

Result<std::optional<bool>> FindExpression::compared(const Node& node, const ValueOf& value) const {
  const auto value_of = [&](const Operand& operand) -> Result<std::optional<FindValue>> {
    return operand.constant ? operand.constant : value(operand.name);
  };
  NMB_ASSIGN(const std::optional<FindValue> left, value_of(node.left));
  NMB_ASSIGN(const std::optional<FindValue> right, value_of(node.right));
  if (!left || !right) return std::optional<bool>();
  if (left->index() != right->index()) {
    const Operand& name = node.left.constant ? node.right : node.left;
    return Status(Code::kUsage, "cannot compare a number with text" +
                                    (name.constant ? "" : ": " + names_[name.name].text) +
                                    "; compare two numbers or two texts");
  }
  const auto compare = [&](const auto& a, const auto& b) {
    switch (node.compare) {
      case Compare::kEqual:
        return a == b;
      case Compare::kNotEqual:
        return a != b;
      case Compare::kLess:
        return a < b;
      case Compare::kLessEqual:
        return a <= b;
      case Compare::kMore:
        return a > b;
      case Compare::kMoreEqual:
        break;
    }
    return a >= b;
  };
  if (const auto* number = std::get_if<long double>(&*left))
    return std::optional(compare(*number, std::get<long double>(*right)));
  return std::optional(compare(std::get<std::string>(*left), std::get<std::string>(*right)));
}

}  // namespace nmb
