#include "merge/dividing/name_splitter.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "model/name_rules.h"

namespace nmb {

struct NameSplitter::Compiled {
  pcre2_code* code = nullptr;
  pcre2_match_data* match = nullptr;
  std::uint32_t captures = 0;
  bool jit = false;
  bool jit_partial = false;  // JIT code exists for partial matching
  ~Compiled() {
    pcre2_match_data_free(match);
    pcre2_code_free(code);
  }
};

NameSplitter::NameSplitter(std::unique_ptr<Compiled> compiled) : compiled_(std::move(compiled)) {}
NameSplitter::NameSplitter(NameSplitter&&) noexcept = default;
NameSplitter& NameSplitter::operator=(NameSplitter&&) noexcept = default;
NameSplitter::~NameSplitter() = default;

Result<NameSplitter> NameSplitter::compile(const std::string& expression) {
  auto compiled = std::make_unique<Compiled>();
  int error = 0;
  PCRE2_SIZE at = 0;
  // Characters match as in NamePattern::regex().
  constexpr std::uint32_t kOptions = PCRE2_NEVER_BACKSLASH_C | PCRE2_UTF | PCRE2_MATCH_INVALID_UTF;
  compiled->code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(),
                                 kOptions, &error, &at, nullptr);
  if (!compiled->code) {
    PCRE2_UCHAR text[256];
    pcre2_get_error_message(error, text, sizeof text);
    return Status(Code::kUsage, "invalid regular expression " + in_quotes(expression) +
                                    " at position " + std::to_string(at) + ": " +
                                    reinterpret_cast<char*>(text));
  }
  pcre2_pattern_info(compiled->code, PCRE2_INFO_CAPTURECOUNT, &compiled->captures);
  if (compiled->captures == 0)
    return Status(Code::kUsage, "found regular expression " + in_quotes(expression) +
                                    " without a capture, expected one for the group");
  // Without JIT, matching is slower but gives the same result.
  compiled->jit = pcre2_jit_compile(compiled->code, PCRE2_JIT_COMPLETE) == 0;
  compiled->jit_partial =
      compiled->jit && pcre2_jit_compile(compiled->code, PCRE2_JIT_PARTIAL_HARD) == 0;
  compiled->match = pcre2_match_data_create_from_pattern(compiled->code, nullptr);
  if (!compiled->match) throw std::bad_alloc();
  return NameSplitter(std::move(compiled));
}

SplitName NameSplitter::divide(std::string_view name, const Match& match) {
  return {name.substr(match.group, match.group_length), name.substr(match.end)};
}

// Runs the expression once more on the matched text, as if more text followed. If PCRE2 then
// reports a partial match, the first match depended on the text that followed, so the first match
// is not remembered.
void NameSplitter::remember(std::string_view name, const Match& match) {
  known_.clear();
  if (!compiled_->jit_partial || match.end == 0) return;
  const int found = pcre2_jit_match(compiled_->code, reinterpret_cast<PCRE2_SPTR>(name.data()),
                                    match.end, 0, PCRE2_PARTIAL_HARD, compiled_->match, nullptr);
  if (found < 2) return;
  const PCRE2_SIZE* offsets = pcre2_get_ovector_pointer(compiled_->match);
  // PCRE2 reports a partial match only if it consumed a character. So an empty match does not show
  // whether the expression depends on the following text.
  if (offsets[0] == offsets[1] || offsets[1] != match.end || offsets[2] != match.group ||
      offsets[3] != match.group + match.group_length)
    return;
  known_ = name.substr(0, match.end);
  known_match_ = match;
}

// Runs the expression. Returns one more than the number of the last capture that is part of the
// match, or 0 if the expression does not match.
Result<int> NameSplitter::match(std::string_view name) {
  const auto run = compiled_->jit ? pcre2_jit_match : pcre2_match;
  const int found = run(compiled_->code, reinterpret_cast<PCRE2_SPTR>(name.data()), name.size(), 0,
                        0, compiled_->match, nullptr);
  if (found == PCRE2_ERROR_NOMATCH) return 0;
  if (found < 0)
    return Status(Code::kLimit,
                  "the regular expression takes too many steps on name " + in_quotes(name));
  return found;
}

std::size_t NameSplitter::count() const { return compiled_->captures; }

Result<NameSplitter::Captures> NameSplitter::captures(std::string_view name) {
  Captures out;
  NMB_ASSIGN(const int found, match(name));
  if (found == 0) return out;
  out.resize(compiled_->captures);
  const PCRE2_SIZE* const offsets = pcre2_get_ovector_pointer(compiled_->match);
  for (std::size_t i = 1; i < static_cast<std::size_t>(found); ++i)
    if (offsets[2 * i] != PCRE2_UNSET)
      out[i - 1] = name.substr(offsets[2 * i], offsets[2 * i + 1] - offsets[2 * i]);
  return out;
}

Result<std::optional<SplitName>> NameSplitter::split(std::string_view name) {
  if (!known_.empty() && name.starts_with(known_)) {
    ++alike_;
    return std::optional<SplitName>(divide(name, known_match_));
  }
  NMB_ASSIGN(const int found, match(name));
  const PCRE2_SIZE* offsets = pcre2_get_ovector_pointer(compiled_->match);
  if (found < 2 || offsets[2] == PCRE2_UNSET) return std::optional<SplitName>();
  const Match taken{offsets[2], offsets[3] - offsets[2], offsets[1]};
  remember(name, taken);
  return std::optional<SplitName>(divide(name, taken));
}

}  // namespace nmb
