#include "wire/natural_order.h"

#include <cstddef>

namespace nmb {
namespace {

constexpr std::string_view kDigits = "0123456789";

// Removes the digits at the beginning of *text and returns them without leading zeros.
std::string_view take_number(std::string_view* text) {
  std::size_t end = text->find_first_not_of(kDigits);
  if (end == text->npos) end = text->size();
  std::string_view number = text->substr(0, end);
  text->remove_prefix(end);
  while (!number.empty() && number.front() == '0') number.remove_prefix(1);
  return number;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

bool natural_less(std::string_view a, std::string_view b) {
  std::string_view x = a, y = b;
  while (!x.empty() && !y.empty()) {
    if (is_digit(x.front()) && is_digit(y.front())) {
      const std::string_view m = take_number(&x), n = take_number(&y);
      if (m.size() != n.size()) return m.size() < n.size();
      if (m != n) return m < n;
      continue;
    }
    if (x.front() != y.front())
      return static_cast<unsigned char>(x.front()) < static_cast<unsigned char>(y.front());
    x.remove_prefix(1);
    y.remove_prefix(1);
  }
  if (x.empty() != y.empty()) return x.empty();
  return a < b;
}

}  // namespace nmb
