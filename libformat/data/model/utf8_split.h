// Utf8Splitter: splits bytes that arrive in portions into characters of UTF-8 and invalid bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "model/name_rules.h"

namespace nmb {

class Utf8Splitter {
 public:
  // Calls visit(character, true) for each whole character, and visit(byte, false) for each invalid
  // byte.
  template <class Visit>
  void feed(std::string_view bytes, Visit visit) {
    if (!tail_.empty()) {
      // The tail of the last portion is at most three bytes of an incomplete character.
      const std::size_t kept = tail_.size();
      const std::size_t taken = bytes.size() < 3 ? bytes.size() : 3;
      tail_.append(bytes.substr(0, taken));
      std::size_t at = 0;
      while (at < kept) {
        const std::size_t length = next(std::string_view(tail_).substr(at), visit);
        if (length == 0) {
          tail_.erase(0, at);
          return;
        }
        at += length;
      }
      bytes.remove_prefix(at - kept);
      tail_.clear();
    }
    while (!bytes.empty()) {
      const std::size_t length = next(bytes, visit);
      if (length == 0) {
        tail_ = bytes;
        return;
      }
      bytes.remove_prefix(length);
    }
  }

  // Visits the bytes of an incomplete character.
  template <class Visit>
  void finish(Visit visit) {
    for (std::size_t i = 0; i < tail_.size(); ++i)
      visit(std::string_view(tail_).substr(i, 1), false);
    tail_.clear();
  }

 private:
  // Visits the first character and returns its number of bytes, or 0 if `bytes` may be the
  // beginning of a longer character.
  template <class Visit>
  static std::size_t next(std::string_view bytes, Visit& visit) {
    const auto lead = static_cast<unsigned char>(bytes[0]);
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (lead >= 0xC2 && lead <= 0xF4 && bytes.size() < length) return 0;
    const bool valid = bytes.size() >= length && is_utf8(bytes.substr(0, length));
    const std::size_t used = valid ? length : 1;
    visit(bytes.substr(0, used), valid);
    return used;
  }

  std::string tail_;
};

// Returns whether the character is a control character: one of ASCII, or U+0080 to U+009F, which
// some terminals also obey.
inline bool is_control(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character[0]);
  return lead < 0x20 || lead == 0x7F ||
         (lead == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0);
}

// Returns whether the character is U+EF80 to U+EFFF, which stands for a single byte in JSON (see
// model/text.h).
inline bool is_byte_code(std::string_view character) {
  return static_cast<unsigned char>(character[0]) == 0xEE &&
         static_cast<unsigned char>(character[1]) >= 0xBE;
}

}  // namespace nmb
