// Translates name patterns into regular expressions and compiles them with PCRE2.
#define PCRE2_CODE_UNIT_WIDTH 8
#include "handles/glob.h"

#include <pcre2.h>

#include <algorithm>
#include <mutex>

namespace nmb {
namespace {

// A regular expression that matches one whole character except '/'. An invalid byte counts as a
// character.
constexpr std::string_view kCharacter = "(?>[^/][\\x80-\\xbf]{0,3})";

void put_literal(std::string* expression, char c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  *expression += "\\x";
  *expression += kDigits[byte >> 4];
  *expression += kDigits[byte & 15];
}

// Translates a glob into a regular expression, and determines the glob's literal prefix.
class GlobTranslator {
 public:
  explicit GlobTranslator(std::string_view glob) : glob_(glob) {}

  Status translate() {
    expression = "\\A";
    while (at_ < glob_.size()) {
      switch (glob_[at_]) {
        case '*':
          stars();
          break;
        case '?':
          ++at_;
          wildcard(kCharacter);
          break;
        case '[':
          NMB_TRY(set());
          break;
        case '\\':
          if (at_ + 1 == glob_.size()) return wrong("a character after the backslash");
          ++at_;
          [[fallthrough]];
        default:
          literal(glob_[at_++]);
      }
    }
    expression += "\\z";
    return {};
  }

  std::string expression;
  std::string prefix;
  bool has_wildcard = false;
  bool whole_prefix = false;  // the only wildcard is "**" at the end

 private:
  Status wrong(const std::string& expected) const {
    return Status(Code::kUsage, "pattern \"" + std::string(glob_) + "\": expected " + expected +
                                    " at character " + std::to_string(at_ + 1));
  }
  void literal(char c) {
    if (!has_wildcard) prefix += c;
    put_literal(&expression, c);
  }
  void wildcard(std::string_view translated) {
    has_wildcard = true;
    expression += translated;
  }
  void stars() {
    const bool part_begins = at_ == 0 || glob_[at_ - 1] == '/';
    std::size_t count = 0;
    while (at_ < glob_.size() && glob_[at_] == '*') ++at_, ++count;
    if (count == 1) return wildcard("[^/]*");
    if (part_begins && at_ < glob_.size() && glob_[at_] == '/') {
      ++at_;
      return wildcard("(?:.*/)?");
    }
    whole_prefix = !has_wildcard && at_ == glob_.size();
    wildcard(".*");
  }
  Status set() {
    const std::size_t open = at_++;
    const bool negated = at_ < glob_.size() && (glob_[at_] == '!' || glob_[at_] == '^');
    if (negated) ++at_;
    std::string members;
    for (bool first = true; at_ == glob_.size() || glob_[at_] != ']' || first; first = false) {
      char low = 0, high = 0;
      NMB_TRY(member(open, &low));
      high = low;
      if (at_ + 1 < glob_.size() && glob_[at_] == '-' && glob_[at_ + 1] != ']') {
        ++at_;
        NMB_TRY(member(open, &high));
        if (high < low) return wrong("an ascending range in a set");
      }
      put_literal(&members, low);
      members += '-';
      put_literal(&members, high);
    }
    ++at_;
    // A set never matches '/'.
    wildcard(negated ? "(?>[^/" + members + "][\\x80-\\xbf]{0,3})" : "(?!/)[" + members + "]");
    return {};
  }
  Status member(std::size_t open, char* c) {
    if (at_ < glob_.size() && glob_[at_] == '\\') ++at_;
    if (at_ >= glob_.size()) {
      at_ = open;
      return wrong("a ']' for the '['");
    }
    *c = glob_[at_];
    if (static_cast<unsigned char>(*c) > 127)
      return wrong("only ASCII characters in a set (use a regular expression for others)");
    ++at_;
    return {};
  }

  std::string_view glob_;
  std::size_t at_ = 0;
};

// Returns a literal text with which every match of the expression begins: the plain characters
// after "^", without the last one if a quantifier follows it. Returns an empty text if the
// expression has alternatives.
std::string literal_prefix_of(std::string_view expression) {
  if (expression.empty() || expression[0] != '^' || expression.find('|') != expression.npos)
    return {};
  const std::string_view rest = expression.substr(1);
  const std::size_t end = std::min(rest.find_first_of("\\^$.[]|()?*+{}"), rest.size());
  std::string prefix(rest.substr(0, end));
  if (end < rest.size() && !prefix.empty() &&
      std::string_view("?*+{").find(rest[end]) != std::string_view::npos) {
    // The quantifier applies to a whole UTF-8 character, which may have several bytes.
    while (!prefix.empty() && (static_cast<unsigned char>(prefix.back()) & 0xC0) == 0x80)
      prefix.pop_back();
    if (!prefix.empty()) prefix.pop_back();
  }
  return prefix;
}

std::string error_text(int error) {
  PCRE2_UCHAR text[256];
  pcre2_get_error_message(error, text, sizeof text);
  return reinterpret_cast<const char*>(text);
}

}  // namespace

struct NamePattern::Compiled {
  ~Compiled() {
    pcre2_match_data_free(match);
    pcre2_code_free(code);
  }
  pcre2_code* code = nullptr;
  std::mutex mutex;  // protects `match`
  pcre2_match_data* match = nullptr;
};

Status NamePattern::compile(const std::string& expression, bool utf, std::string_view shown) {
  auto compiled = std::make_shared<Compiled>();
  int error = 0;
  PCRE2_SIZE offset = 0;
  const std::uint32_t options =
      PCRE2_NEVER_BACKSLASH_C | (utf ? PCRE2_UTF | PCRE2_MATCH_INVALID_UTF : PCRE2_DOTALL);
  compiled->code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(),
                                 options, &error, &offset, nullptr);
  if (!compiled->code)
    return Status(Code::kUsage, "regular expression \"" + std::string(shown) +
                                    "\": " + error_text(error) + " at character " +
                                    std::to_string(offset + 1));
  // Without JIT, matching is slower but gives the same results. JIT is not available if PCRE2 does
  // not support the processor, or if the system forbids executable memory.
  (void)pcre2_jit_compile(compiled->code, PCRE2_JIT_COMPLETE);
  compiled->match = pcre2_match_data_create(1, nullptr);
  if (!compiled->match) return Status(Code::kLimit, "no memory for a pattern");
  compiled_ = std::move(compiled);
  return {};
}

Result<NamePattern> NamePattern::glob(std::string_view pattern) {
  GlobTranslator translator(pattern);
  NMB_TRY(translator.translate());
  NamePattern out;
  out.prefix_ = std::move(translator.prefix);
  out.literal_ = !translator.has_wildcard;
  out.whole_prefix_ = translator.whole_prefix;
  if (!out.literal_ && !out.whole_prefix_)
    NMB_TRY(out.compile(translator.expression, false, pattern));
  return out;
}

Result<NamePattern> NamePattern::regex(std::string_view expression) {
  NamePattern out;
  out.whole_prefix_ = false;
  NMB_TRY(out.compile(std::string(expression), true, expression));
  out.prefix_ = literal_prefix_of(expression);
  return out;
}

Result<bool> NamePattern::matches(std::string_view name) const {
  if (literal_) return name == prefix_;
  if (!name.starts_with(prefix_)) return false;
  if (whole_prefix_) return true;
  const std::scoped_lock lock(compiled_->mutex);
  const int found = pcre2_match(compiled_->code, reinterpret_cast<PCRE2_SPTR>(name.data()),
                                name.size(), 0, 0, compiled_->match, nullptr);
  if (found == PCRE2_ERROR_NOMATCH) return false;
  if (found < 0)
    return Status(Code::kLimit, "cannot match the regular expression against \"" +
                                    std::string(name) + "\": " + error_text(found));
  return true;
}

}  // namespace nmb
