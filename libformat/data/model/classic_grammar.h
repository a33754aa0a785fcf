// Constants and functions that decoder, encoder and layout of classic headers share: list tags,
// widths of fields, limits of sizes (spec/classic_header.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/metadata.h"
#include "wire/kinds.h"

namespace nmb::classic {

inline constexpr std::uint32_t kAbsentTag = 0;
inline constexpr std::uint32_t kDimensionTag = 10;
inline constexpr std::uint32_t kVariableTag = 11;
inline constexpr std::uint32_t kAttributeTag = 12;

inline constexpr std::uint64_t kMaxOffset = ~std::uint64_t{0} >> 1;
inline constexpr std::uint64_t kMaxU32 = ~std::uint32_t{0};

// Widths in bytes of the fields whose width depends on the kind. The functions return the smallest
// lengths of lists and of their items.
struct Widths {
  std::uint32_t count;   // width of numrecs, counts, lengths, dimension ids and vsize
  std::uint32_t offset;  // width of begin
  std::uint64_t list() const { return 4 + count; }
  std::uint64_t smallest_dimension() const { return count + 4 + count; }
  std::uint64_t smallest_attribute() const { return count + 4 + 4 + count; }
  std::uint64_t smallest_variable() const {
    return count + 4 + count + list() + 4 + count + offset;
  }
};

constexpr Widths widths(Kind kind) {
  if (kind == Kind::kCdf1) return {4, 4};
  if (kind == Kind::kCdf2) return {4, 8};
  return {8, 8};
}

constexpr bool has_type(Kind kind, std::uint32_t code) {
  return code >= 1 && code <= (kind == Kind::kCdf5 || kind == Kind::kExtended ? 11u : 6u);
}
constexpr bool has_type(Kind kind, Type type) {
  return has_type(kind, static_cast<std::uint32_t>(type));
}

// Returns the value of numrecs that means STREAMING: all bits set.
constexpr std::uint64_t streaming(Kind kind) {
  return kind == Kind::kCdf5 || kind == Kind::kExtended ? ~std::uint64_t{0} : kMaxU32;
}

// Rounds `value` up to a multiple of 4. `value` is at most 2^64 - 4.
constexpr std::uint64_t padded(std::uint64_t value) { return (value + 3) & ~std::uint64_t{3}; }

// Returns the largest size in bytes that a variable may have if other variables follow it.
constexpr std::uint64_t largest_variable(Kind kind) {
  if (kind == Kind::kCdf1) return 0x7FFFFFFC;
  if (kind == Kind::kCdf2) return 0xFFFFFFFC;
  return kMaxOffset - 3;
}

constexpr std::uint64_t largest_begin(Kind kind) {
  return kind == Kind::kCdf1 ? 0x7FFFFFFF : kMaxOffset;
}

// Returns the value of the vsize field of a variable whose slice has `bytes` bytes.
constexpr std::uint64_t vsize(Kind kind, std::uint64_t bytes) {
  const std::uint64_t size = padded(bytes);
  return widths(kind).count == 4 && size > 0xFFFFFFFC ? kMaxU32 : size;
}

// Finds variables that are too large for their position. In CDF-1 and CDF-2, only one variable may
// be larger than largest_variable(): the last record variable or, if there are none, the last
// fixed-size variable. Variables are added in order.
class LargeVariables {
 public:
  explicit LargeVariables(Kind kind) : limit_(largest_variable(kind)) {}
  void add(VarId id, std::uint64_t bytes, bool is_record) {
    Group& group = is_record ? record_ : fixed_;
    group.last = id;
    if (bytes > limit_ && !group.large) group.large = id;
  }
  // Returns a variable that is too large for its position, if there is one.
  std::optional<VarId> misplaced() const {
    if (fixed_.large && (fixed_.large != fixed_.last || record_.last)) return fixed_.large;
    if (record_.large && record_.large != record_.last) return record_.large;
    return std::nullopt;
  }

 private:
  struct Group {
    std::optional<VarId> large, last;
  };
  const std::uint64_t limit_;
  Group fixed_, record_;
};

}  // namespace nmb::classic
