#include "handles/json_object.h"

#include <cstddef>

#include "model/name_rules.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

// Reads JSON from the beginning of a text. Each function returns whether it has found its part, and
// moves `at` behind this part, or to the first wrong byte.
class JsonText {
 public:
  explicit JsonText(std::string_view text) : text_(text) {}

  bool object_alone() {
    spaces();
    if (next() != '{' || !value(0)) return false;
    spaces();
    return at_ == text_.size();
  }
  std::size_t at() const { return at_; }

 private:
  static constexpr int kMostLevels = 1000;

  char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool word(std::string_view expected) {
    if (!text_.substr(at_).starts_with(expected)) return false;
    at_ += expected.size();
    return true;
  }
  void spaces() {
    while (at_ < text_.size() && std::string_view(" \t\n\r").find(text_[at_]) != text_.npos) ++at_;
  }
  bool digits() {
    const std::size_t first = at_;
    while (next() >= '0' && next() <= '9') ++at_;
    return at_ > first;
  }

  // level: how many objects and arrays enclose the value.
  bool value(int level) {
    spaces();
    if (level > kMostLevels) return false;
    switch (next()) {
      case '{':
        return list('}', [&] {
          spaces();
          if (!string()) return false;
          spaces();
          return take(':') && value(level + 1);
        });
      case '[':
        return list(']', [&] { return value(level + 1); });
      case '"':
        return string();
      case 't':
        return word("true");
      case 'f':
        return word("false");
      case 'n':
        return word("null");
      default:
        return number();
    }
  }
  // Reads items with commas between them, from a bracket to `end`.
  template <class Item>
  bool list(char end, Item item) {
    ++at_;
    spaces();
    if (take(end)) return true;
    do {
      if (!item()) return false;
      spaces();
    } while (take(','));
    return take(end);
  }
  bool string() {
    if (!take('"')) return false;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (static_cast<unsigned char>(c) < 0x20) return false;
      ++at_;
      if (c == '"') return true;
      if (c == '\\' && !escaped()) return false;
    }
    return false;
  }
  bool escaped() {
    if (!take('u')) {
      if (at_ == text_.size() || std::string_view("\"\\/bfnrt").find(text_[at_]) == text_.npos)
        return false;
      ++at_;
      return true;
    }
    for (int i = 0; i < 4; ++i, ++at_)
      if (std::string_view("0123456789abcdefABCDEF").find(next()) == text_.npos) return false;
    return true;
  }
  bool number() {
    take('-');
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    if (!take('e') && !take('E')) return true;
    if (!take('+')) take('-');
    return digits();
  }

  const std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Status check_json_object(std::string_view text) {
  if (!is_utf8(text)) return Status(Code::kUsage, "expected one JSON object, found no UTF-8");
  JsonText json(text);
  if (json.object_alone()) return {};
  return Status(Code::kUsage, joined_text("expected one JSON object; the text is wrong at byte ",
                                          json.at(), " of ", text.size()));
}

}  // namespace nmb
