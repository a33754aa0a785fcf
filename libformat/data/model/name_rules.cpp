#include "model/name_rules.h"

#include <algorithm>
#include <cstring>

#include "wire/joined_text.h"

namespace nmb {

bool is_utf8(std::string_view text) {
  const auto* at = reinterpret_cast<const unsigned char*>(text.data());
  const auto* const end = at + text.size();
  while (at != end) {
    if (end - at >= 8) {
      std::uint64_t word;
      std::memcpy(&word, at, sizeof word);
      if ((word & 0x8080808080808080u) == 0) {
        at += 8;
        continue;
      }
    }
    const unsigned lead = *at++;
    if (lead < 0x80) continue;
    if (lead < 0xC2 || lead > 0xF4) return false;
    const std::ptrdiff_t more = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    if (end - at < more) return false;
    // The range of the second byte excludes overlong forms, surrogates and code points above
    // U+10FFFF.
    const unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (at[0] < low || at[0] > high) return false;
    for (std::ptrdiff_t i = 1; i < more; ++i)
      if ((at[i] & 0xC0) != 0x80) return false;
    at += more;
  }
  return true;
}

namespace {

// Returns true if a name is ASCII without NUL and '/', as nearly all names are. The check is fast,
// because it takes eight bytes at a time. If the result is false, the name may still be legal.
// `name` must have at most kMaxNameBytes bytes.
bool is_plain(std::string_view name) {
  constexpr std::uint64_t kOnes = 0x0101010101010101u, kHigh = 0x8080808080808080u;
  // The subtraction sets the high bit of a zero byte. Bytes from 0x80 on are refused in any case.
  const auto bad = [](std::uint64_t word) {
    const std::uint64_t no_slash = word ^ ('/' * kOnes);
    return ((word - kOnes) | (no_slash - kOnes) | word) & kHigh;
  };
  const auto word_at = [&](std::size_t at, std::size_t bytes) {
    std::uint64_t word = 'x' * kOnes;
    std::memcpy(&word, name.data() + at, bytes);
    return word;
  };
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  if (name.size() < kWord) return bad(word_at(0, name.size())) == 0;
  std::uint64_t seen = bad(word_at(name.size() - kWord, kWord));
  for (std::size_t at = 0; at + kWord < name.size(); at += kWord) seen |= bad(word_at(at, kWord));
  return seen == 0;
}

}  // namespace

bool is_block_name(std::string_view name) {
  if (name.empty()) return true;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..") return false;
    begin = end + 1;
  }
  return name.find('\0') == name.npos;
}

Status check_new_name(std::string_view kind, std::string_view name) {
  if (!name.empty() && name.size() <= kMaxNameBytes && name[0] != '.' && is_plain(name)) return {};
  const char* found = nullptr;
  if (name.empty())
    found = "an empty name";
  else if (name.size() > kMaxNameBytes)
    found = "a name of more than 65535 bytes";
  else if (name == "." || name == "..")
    found = "the name . or ..";
  else if (name.find('\0') != name.npos)
    found = "a NUL";
  else if (name.find('/') != name.npos)
    found = "a '/'";
  else if (!is_utf8(name))
    found = "bytes that are not UTF-8";
  if (!found) return {};
  return failure(Code::kUsage, kind, " ", in_quotes(name), ": found ", found,
                 ", expected a name of 1 to 65535 bytes of UTF-8 without '/'");
}

std::string in_quotes(std::string_view name) {
  constexpr std::size_t kShown = 80;
  if (name.size() <= kShown) return joined_text("\"", name, "\"");
  return joined_text("\"", name.substr(0, kShown), "\"... (", name.size(), " bytes)");
}

}  // namespace nmb
