// Arrays that calls read or fill, and regular selections of a variable's elements.
#pragma once

#include <algorithm>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <ranges>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "nmb/types.h"

namespace nmb {

// The element type of a caller's array. kText can be combined only with Type::kChar, and
// Type::kChar only with kText.
enum class MemoryType : std::uint8_t {
  kInt8,
  kUInt8,
  kInt16,
  kUInt16,
  kInt32,
  kUInt32,
  kInt64,
  kUInt64,
  kFloat,
  kDouble,
  kText
};

constexpr std::size_t memory_type_size(MemoryType type) {
  constexpr std::uint8_t sizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 1};
  return sizes[static_cast<std::size_t>(type)];
}

template <class T>
constexpr MemoryType memory_type_of() {
  if constexpr (std::is_same_v<T, char> || std::is_same_v<T, char8_t>)
    return MemoryType::kText;
  else if constexpr (std::is_same_v<T, float>)
    return MemoryType::kFloat;
  else if constexpr (std::is_same_v<T, double>)
    return MemoryType::kDouble;
  else {
    static_assert(std::is_integral_v<T> && !std::is_same_v<T, wchar_t> &&
                      !std::is_same_v<T, char16_t> && !std::is_same_v<T, char32_t>,
                  "values are float, double, integers, or text of char or char8_t");
    constexpr bool s = std::is_signed_v<T>;
    if constexpr (sizeof(T) == 1)
      return s ? MemoryType::kInt8 : MemoryType::kUInt8;
    else if constexpr (sizeof(T) == 2)
      return s ? MemoryType::kInt16 : MemoryType::kUInt16;
    else if constexpr (sizeof(T) == 4)
      return s ? MemoryType::kInt32 : MemoryType::kUInt32;
    else
      return s ? MemoryType::kInt64 : MemoryType::kUInt64;
  }
}

// Fails to compile if values cannot be read into elements of type T.
template <class T>
constexpr void check_element() {
  static_assert(!std::is_same_v<T, bool>, "values cannot be read as bool; use signed char");
  (void)memory_type_of<T>();
}

// Returns the type of a variable or an attribute whose values need no conversion.
constexpr Type type_for(MemoryType memory) {
  constexpr Type types[] = {Type::kByte,  Type::kUByte,  Type::kShort, Type::kUShort,
                            Type::kInt,   Type::kUInt,   Type::kInt64, Type::kUInt64,
                            Type::kFloat, Type::kDouble, Type::kChar};
  return types[static_cast<std::size_t>(memory)];
}

template <class T>
constexpr Type type_of() {
  return type_for(memory_type_of<T>());
}

// A number, or a contiguous range of numbers or characters, other than an array of characters.
template <class T>
concept Numbers = std::is_arithmetic_v<T> ||
    (std::ranges::contiguous_range<const T>&& std::ranges::sized_range<const T>&&
         std::is_arithmetic_v<std::ranges::range_value_t<const T>> &&
     !std::is_same_v<std::remove_cv_t<std::remove_extent_t<T>>, char> &&
     !std::is_same_v<std::remove_cv_t<std::remove_extent_t<T>>, char8_t>);

// Temporary numbers: gone when the call that takes them returns.
template <class T>
concept TemporaryNumbers = !std::is_lvalue_reference_v<T> && Numbers<std::remove_cvref_t<T>> &&
                           !std::ranges::borrowed_range<T>;

// Values to pass to a call, as a type and bytes. Does not own the bytes. From a temporary object,
// make it only as an argument of a call, like a std::string_view.
class ConstArray {
 public:
  template <Numbers T>
  ConstArray(const T& values) : ConstArray(of(values)) {}
  template <class T>
  requires std::is_arithmetic_v<T> ConstArray(std::initializer_list<T> values)
      : ConstArray(of(values)) {}
  // Text, up to the first NUL.
  template <std::size_t N>
  ConstArray(const char (&text)[N])
      : ConstArray(
            std::span(text, static_cast<std::size_t>(std::find(text, text + N, '\0') - text))) {}
  template <std::size_t N>
  ConstArray(const char8_t (&text)[N])
      : ConstArray(
            std::span(text, static_cast<std::size_t>(std::find(text, text + N, u8'\0') - text))) {}
  template <class T>
  requires std::is_same_v < std::remove_cv_t<std::remove_pointer_t<T>>,
  char > &&std::is_pointer_v<T> ConstArray(const T& text)
      : ConstArray(text ? std::string_view(text) : std::string_view()) {
    is_null_ = text == nullptr;
  }
  // `bytes` must contain whole values and need not be aligned.
  ConstArray(MemoryType type, std::span<const std::byte> bytes) : type_(type), bytes_(bytes) {
    assert(bytes.size() % memory_type_size(type) == 0);
  }
  MemoryType type() const { return type_; }
  std::uint64_t count() const { return bytes_.size() / memory_type_size(type_); }
  const std::byte* data() const { return bytes_.data(); }
  // Returns whether the text was a null pointer; calls refuse it (kUsage).
  bool is_null() const { return is_null_; }

 private:
  template <class T>
  static ConstArray of(const T& values) {
    if constexpr (std::is_arithmetic_v<T>)
      return of(std::span(&values, 1));
    else
      return ConstArray(
          memory_type_of<std::ranges::range_value_t<const T>>(),
          std::as_bytes(std::span(std::ranges::data(values), std::ranges::size(values))));
  }
  MemoryType type_;
  bool is_null_ = false;
  std::span<const std::byte> bytes_;
};

// Memory into which a call writes values, as a type and bytes. Does not own the bytes.
class MutableArray {
 public:
  // A contiguous range of numbers or characters that outlives the array: no temporary vector.
  template <class Range>
  requires std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
      std::ranges::borrowed_range<Range> &&
      std::is_arithmetic_v<std::ranges::range_value_t<Range>> &&
      (!std::is_same_v<std::ranges::range_value_t<Range>, bool>)MutableArray(Range&& values)
      : MutableArray(memory_type_of<std::ranges::range_value_t<Range>>(),
                     std::as_writable_bytes(
                         std::span(std::ranges::data(values), std::ranges::size(values)))) {}
  MutableArray(MemoryType type, std::span<std::byte> bytes) : type_(type), bytes_(bytes) {
    assert(bytes.size() % memory_type_size(type) == 0);
  }
  MemoryType type() const { return type_; }
  std::uint64_t count() const { return bytes_.size() / memory_type_size(type_); }
  std::byte* data() const { return bytes_.data(); }

 private:
  MemoryType type_;
  std::span<std::byte> bytes_;
};

// A position, a length or a count, from an integer of any type. The call that gets a negative one
// refuses it.
struct DimIndex {
  template <std::integral T>
  constexpr DimIndex(T number) : value(static_cast<std::uint64_t>(number)) {}
  std::uint64_t value;
};

// One position or length for each dimension: {i, 0, 2 * n} or a vector of integers.
class DimIndices : public std::vector<std::uint64_t> {
 public:
  DimIndices() = default;
  DimIndices(std::initializer_list<DimIndex> numbers) {
    reserve(numbers.size());
    for (const DimIndex number : numbers) push_back(number.value);
  }
  DimIndices(std::vector<std::uint64_t> numbers) : vector(std::move(numbers)) {}
  template <std::integral T>
  DimIndices(const std::vector<T>& numbers) : vector(numbers.begin(), numbers.end()) {}
};

// A regular selection of a variable's elements. `start`, `count` and `stride` have one number for
// each dimension. An empty `stride` means a stride of 1 in all dimensions. If the count is 0 in any
// dimension, nothing is selected.
struct Hyperslab {
  DimIndices start{};
  DimIndices count{};
  DimIndices stride{};
};

}  // namespace nmb
