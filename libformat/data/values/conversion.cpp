// Converts values between external form (big-endian) and a caller's arrays, with the same range
// errors as netCDF (spec/format.md, section 10). For the rules see convert_from_external() in
// model/values.h.
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "model/values.h"
#include "wire/endian.h"
#include "wire/swap_values.h"

namespace nmb {
namespace {

// The unsigned integer type of the same size as T.
template <class T>
using Bits = std::conditional_t<
    sizeof(T) == 1, std::uint8_t,
    std::conditional_t<sizeof(T) == 2, std::uint16_t,
                       std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

template <class T>
T load_external(const std::byte* from) {
  return std::bit_cast<T>(load_be<Bits<T>>(from));
}

template <class T>
void store_external(std::byte* to, T value) {
  store_be(to, std::bit_cast<Bits<T>>(value));
}

template <class T>
T load_memory(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
void store_memory(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

// Returns the first value above the range of To. It is a power of 2, so every floating-point type
// represents it exactly.
template <class To, class From>
constexpr From above() {
  From power = 1;
  for (int i = 0; i < std::numeric_limits<To>::digits; ++i) power *= 2;
  return power;
}

template <class To, class From>
bool in_range(From value) {
  if constexpr (std::is_integral_v<From> && std::is_integral_v<To>) {
    return std::in_range<To>(value);
  } else if constexpr (std::is_integral_v<To>) {
    // If From represents the largest value of To exactly, values between it and `end`, such as
    // 127.5, are out of range. Otherwise From has no values between them.
    constexpr bool exact = std::numeric_limits<From>::digits >= std::numeric_limits<To>::digits;
    constexpr From end = above<To, From>();
    return value >= static_cast<From>(std::numeric_limits<To>::min()) &&
           (exact ? value <= end - 1 : value < end);
  } else if constexpr (sizeof(From) > sizeof(To) && std::is_floating_point_v<From>) {
    return !(value > static_cast<From>(std::numeric_limits<To>::max())) &&
           !(value < static_cast<From>(std::numeric_limits<To>::lowest()));
  } else {
    return true;
  }
}

template <class To, class From>
To cast(From value, bool fits) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (fits) return static_cast<To>(value);
    return value > 0 ? std::numeric_limits<To>::max() : std::numeric_limits<To>::min();
  } else if constexpr (sizeof(From) > sizeof(To) && std::is_floating_point_v<From>) {
    if (fits) return static_cast<To>(value);
    return value > 0 ? std::numeric_limits<To>::infinity() : -std::numeric_limits<To>::infinity();
  } else {
    return static_cast<To>(value);
  }
}

template <class External, class Memory>
std::uint64_t decode(const std::byte* from, std::uint64_t count, std::byte* to) {
  std::uint64_t out_of_range = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const External value = load_external<External>(from + i * sizeof(External));
    const bool fits = in_range<Memory>(value);
    out_of_range += !fits;
    store_memory(to + i * sizeof(Memory), cast<Memory>(value, fits));
  }
  return out_of_range;
}

template <class Memory, class External>
std::uint64_t encode(const std::byte* from, std::uint64_t count, std::byte* to) {
  std::uint64_t out_of_range = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Memory value = load_memory<Memory>(from + i * sizeof(Memory));
    const bool fits = in_range<External>(value);
    out_of_range += !fits;
    store_external(to + i * sizeof(External), cast<External>(value, fits));
  }
  return out_of_range;
}

// Calls `call` with a zero whose C++ type is that of external values of `type`.
template <class Call>
std::uint64_t with_external(Type type, Call call) {
  switch (type) {
    case Type::kByte:
      return call(std::int8_t{});
    case Type::kChar:
    case Type::kUByte:
      return call(std::uint8_t{});
    case Type::kShort:
      return call(std::int16_t{});
    case Type::kInt:
      return call(std::int32_t{});
    case Type::kFloat:
      return call(float{});
    case Type::kDouble:
      return call(double{});
    case Type::kUShort:
      return call(std::uint16_t{});
    case Type::kUInt:
      return call(std::uint32_t{});
    case Type::kInt64:
      return call(std::int64_t{});
    case Type::kUInt64:
      return call(std::uint64_t{});
  }
  return 0;
}

template <class Call>
std::uint64_t with_memory(MemoryType type, Call call) {
  switch (type) {
    case MemoryType::kInt8:
      return call(std::int8_t{});
    case MemoryType::kText:
    case MemoryType::kUInt8:
      return call(std::uint8_t{});
    case MemoryType::kInt16:
      return call(std::int16_t{});
    case MemoryType::kUInt16:
      return call(std::uint16_t{});
    case MemoryType::kInt32:
      return call(std::int32_t{});
    case MemoryType::kUInt32:
      return call(std::uint32_t{});
    case MemoryType::kInt64:
      return call(std::int64_t{});
    case MemoryType::kUInt64:
      return call(std::uint64_t{});
    case MemoryType::kFloat:
      return call(float{});
    case MemoryType::kDouble:
      return call(double{});
  }
  return 0;
}

// Copies values between external form and the same type in memory.
void order_bytes(const std::byte* from, std::byte* to, std::uint64_t count, std::size_t size) {
  if constexpr (std::endian::native == std::endian::little)
    swap_values(from, to, count, size);
  else
    std::memcpy(to, from, count * size);
}

// Returns true if each value is one byte that is copied unchanged. In CDF-1 and CDF-2, signed
// values of kByte are also copied to kUInt8 without a range check.
bool copies_bytes(Type type, MemoryType memory, Kind kind) {
  switch (type) {
    case Type::kByte:
      return memory == MemoryType::kInt8 ||
             (memory == MemoryType::kUInt8 && (kind == Kind::kCdf1 || kind == Kind::kCdf2));
    case Type::kUByte:
      return memory == MemoryType::kUInt8;
    case Type::kChar:
      return memory == MemoryType::kText;
    default:
      return false;
  }
}

}  // namespace

std::uint64_t convert_from_external(Type type, const std::byte* from, std::uint64_t count,
                                    MemoryType memory, void* to, Kind kind) {
  if (count == 0) return 0;
  if (copies_bytes(type, memory, kind)) {
    std::memcpy(to, from, count);
    return 0;
  }
  auto* out = static_cast<std::byte*>(to);
  if (type == type_for(memory)) {
    order_bytes(from, out, count, type_size(type));
    return 0;
  }
  return with_external(type, [&](auto external) {
    return with_memory(memory, [&](auto native) {
      return decode<decltype(external), decltype(native)>(from, count, out);
    });
  });
}

std::uint64_t convert_to_external(MemoryType memory, const void* from, std::uint64_t count,
                                  Type type, std::byte* to, Kind kind) {
  if (count == 0) return 0;
  if (copies_bytes(type, memory, kind)) {
    std::memcpy(to, from, count);
    return 0;
  }
  const auto* in = static_cast<const std::byte*>(from);
  if (type == type_for(memory)) {
    order_bytes(in, to, count, type_size(type));
    return 0;
  }
  return with_external(type, [&](auto external) {
    return with_memory(memory, [&](auto native) {
      return encode<decltype(native), decltype(external)>(in, count, to);
    });
  });
}

}  // namespace nmb
