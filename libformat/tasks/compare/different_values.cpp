#include "compare/different_values.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "dump/dump.h"
#include "model/name_rules.h"
#include "model/text.h"
#include "wire/endian.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

// A long double with a mantissa of 64 bits holds every value of all netCDF types. On machines where
// it is shorter, differences of large 64-bit integers are rounded.
long double number_of(Type type, const std::byte* value) {
  switch (type) {
    case Type::kByte:
      return static_cast<std::int8_t>(*value);
    case Type::kUByte:
      return static_cast<std::uint8_t>(*value);
    case Type::kShort:
      return static_cast<std::int16_t>(load_be<std::uint16_t>(value));
    case Type::kUShort:
      return load_be<std::uint16_t>(value);
    case Type::kInt:
      return static_cast<std::int32_t>(load_be<std::uint32_t>(value));
    case Type::kUInt:
      return load_be<std::uint32_t>(value);
    case Type::kInt64:
      return static_cast<long double>(static_cast<std::int64_t>(load_be<std::uint64_t>(value)));
    case Type::kUInt64:
      return static_cast<long double>(load_be<std::uint64_t>(value));
    case Type::kFloat:
      return std::bit_cast<float>(load_be<std::uint32_t>(value));
    case Type::kDouble:
      return std::bit_cast<double>(load_be<std::uint64_t>(value));
    case Type::kChar:
      break;
  }
  return 0;
}

// A byte that is 0 for a null string, and the number of bytes (spec/digest.md, section 4).
constexpr std::size_t kStringHeader = 1 + sizeof(std::uint64_t);

std::string hexadecimal(std::span<const std::byte> bytes) {
  constexpr std::size_t kMost = 32;
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "0x";
  for (const std::byte b : bytes.first(std::min(bytes.size(), kMost))) {
    text += kDigits[std::to_integer<std::size_t>(b >> 4)];
    text += kDigits[std::to_integer<std::size_t>(b & std::byte{15})];
  }
  if (bytes.size() > kMost) text += joined_text("... (", bytes.size(), " bytes)");
  return text;
}

}  // namespace

std::string canonical_text(Type type, std::span<const std::byte> value) {
  if (type == Type::kChar)
    return "'" + printable({reinterpret_cast<const char*>(value.data()), value.size()}) + "'";
  if (is_type(static_cast<std::uint32_t>(type))) return number_text(type, value.data());
  return hexadecimal(value);
}

std::uint64_t bytes_of_string(std::span<const std::byte> values) {
  return kStringHeader + load_be<std::uint64_t>(values.data() + 1);
}

std::string canonical_text(TextForm form, std::span<const std::byte> value) {
  constexpr std::size_t kMost = 80;
  if (form == TextForm::kVariable) {
    if (value.front() == std::byte{0}) return "null";
    value = value.subspan(kStringHeader);
  }
  std::string_view text(reinterpret_cast<const char*>(value.data()), value.size());
  if (form == TextForm::kFixed) text = text.substr(0, text.find_last_not_of('\0') + 1);
  std::string shown = "\"" + printable(text.substr(0, kMost)) + "\"";
  if (text.size() > kMost) shown += joined_text("... (", text.size(), " bytes)");
  return shown;
}

void DifferentValues::compare(std::uint64_t position, std::span<const std::byte> first,
                              std::span<const std::byte> second, std::size_t size) {
  // Compares groups of values first, because most values are the same.
  const std::size_t group = std::max<std::size_t>(1, 4096 / size) * size;
  for (std::size_t at = 0; at < first.size(); at += group) {
    const std::size_t here = std::min(group, first.size() - at);
    if (std::memcmp(first.data() + at, second.data() + at, here) == 0) continue;
    for (std::size_t value = at; value < at + here; value += size)
      if (std::memcmp(first.data() + value, second.data() + value, size) != 0)
        compare_one(position + value / size, first.subspan(value, size),
                    second.subspan(value, size));
  }
}

void DifferentValues::compare_one(std::uint64_t position, std::span<const std::byte> first,
                                  std::span<const std::byte> second) {
  if (std::ranges::equal(first, second)) return;
  const bool first_missing =
      !rule_.first_fill.empty() && std::ranges::equal(first, rule_.first_fill);
  const bool second_missing =
      !rule_.second_fill.empty() && std::ranges::equal(second, rule_.second_fill);
  if (first_missing && second_missing) return;
  std::optional<long double> difference;
  if (first_missing || second_missing) {
    ++missing_;
  } else if (rule_.is_number()) {
    const long double a = number_of(rule_.type, first.data());
    const long double b = number_of(rule_.type, second.data());
    if (std::isnan(a) || std::isnan(b)) {
      ++nans_;
    } else {
      difference = std::fabs(a - b);
      const Tolerance& allowed = rule_.tolerance;
      if (!allowed.is_exact() && std::isfinite(a) && std::isfinite(b) &&
          *difference <= allowed.absolute + allowed.relative * std::fabs(b))
        return;
    }
  }
  ++different_;
  const auto found = [&] {
    return FoundDifference{position, {first.begin(), first.end()}, {second.begin(), second.end()}};
  };
  if (first_.size() < most_first_) first_.push_back(found());
  if (difference && (!largest_ || *difference > largest_difference_)) {
    largest_difference_ = *difference;
    largest_ = found();
  }
}

void DifferentValues::merge(DifferentValues&& other) {
  different_ += other.different_;
  missing_ += other.missing_;
  nans_ += other.nans_;
  first_.insert(first_.end(), std::make_move_iterator(other.first_.begin()),
                std::make_move_iterator(other.first_.end()));
  std::ranges::sort(first_, {}, &FoundDifference::position);
  if (first_.size() > most_first_)
    first_.erase(first_.begin() + static_cast<std::ptrdiff_t>(most_first_), first_.end());
  if (!other.largest_) return;
  if (!largest_ || other.largest_difference_ > largest_difference_ ||
      (other.largest_difference_ == largest_difference_ &&
       other.largest_->position < largest_->position)) {
    largest_ = std::move(other.largest_);
    largest_difference_ = other.largest_difference_;
  }
}

DifferentValue DifferentValues::shown(const FoundDifference& found,
                                      const std::vector<std::uint64_t>& lengths) const {
  const auto text = [&](std::span<const std::byte> value) {
    return rule_.text == TextForm::kNone ? canonical_text(rule_.type, value)
                                         : canonical_text(rule_.text, value);
  };
  DifferentValue value{std::vector<std::uint64_t>(lengths.size()), text(found.first),
                       text(found.second)};
  std::uint64_t position = found.position;
  for (std::size_t i = lengths.size(); i-- > 0;) {
    value.index[i] = position % lengths[i];
    position /= lengths[i];
  }
  return value;
}

void DifferentValues::store(const std::vector<std::uint64_t>& lengths, ComparedVariable* to) const {
  to->different = different_;
  to->missing = missing_;
  to->nans = nans_;
  for (const FoundDifference& found : first_) to->first.push_back(shown(found, lengths));
  if (!largest_) return;
  to->largest = shown(*largest_, lengths);
  to->largest_difference = static_cast<double>(largest_difference_);
}

}  // namespace nmb
