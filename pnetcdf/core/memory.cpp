#include "memory.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "codes.h"

namespace nmb::pnetcdf {

std::optional<Element> element_of(MPI_Datatype type) {
  // Handles of Open MPI are addresses, so they cannot be cases of a switch.
  if (type == MPI_CHAR || type == MPI_CHARACTER) return Element{MemoryType::kText};
  if (type == MPI_SIGNED_CHAR) return Element{MemoryType::kInt8};
  if (type == MPI_UNSIGNED_CHAR) return Element{MemoryType::kUInt8};
  if (type == MPI_SHORT) return Element{MemoryType::kInt16};
  if (type == MPI_UNSIGNED_SHORT) return Element{MemoryType::kUInt16};
  if (type == MPI_INT || type == MPI_INTEGER) return Element{MemoryType::kInt32};
  if (type == MPI_UNSIGNED) return Element{MemoryType::kUInt32};
  if (type == MPI_LONG) return Element{MemoryType::kInt64, true};
  if (type == MPI_FLOAT || type == MPI_REAL) return Element{MemoryType::kFloat};
  if (type == MPI_DOUBLE || type == MPI_DOUBLE_PRECISION) return Element{MemoryType::kDouble};
  if (type == MPI_LONG_LONG_INT) return Element{MemoryType::kInt64};
  if (type == MPI_UNSIGNED_LONG_LONG || type == MPI_UNSIGNED_LONG)
    return Element{MemoryType::kUInt64};
  // Types of Fortran that may be missing are MPI_DATATYPE_NULL.
  if (type == MPI_DATATYPE_NULL) return std::nullopt;
  if (type == MPI_INTEGER1) return Element{MemoryType::kInt8};
  if (type == MPI_INTEGER2) return Element{MemoryType::kInt16};
  if (type == MPI_INTEGER4) return Element{MemoryType::kInt32};
  if (type == MPI_INTEGER8) return Element{MemoryType::kInt64};
  if (type == MPI_REAL4) return Element{MemoryType::kFloat};
  if (type == MPI_REAL8) return Element{MemoryType::kDouble};
  return std::nullopt;
}

bool may_stand_alone(MPI_Datatype type) {
  return type == MPI_CHAR || type == MPI_SIGNED_CHAR || type == MPI_UNSIGNED_CHAR ||
         type == MPI_SHORT || type == MPI_UNSIGNED_SHORT || type == MPI_INT ||
         type == MPI_UNSIGNED || type == MPI_FLOAT || type == MPI_DOUBLE ||
         type == MPI_LONG_LONG_INT || type == MPI_UNSIGNED_LONG_LONG || type == MPI_LONG;
}

namespace {

// The elements of a datatype: all of one type, or a code.
struct Decoded {
  int code = code::kOk;
  std::optional<Element> element{};
};

// Owns a datatype that MPI_Type_get_contents() has returned.
struct OwnedType {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  ~OwnedType() {
    int integers = 0, addresses = 0, types = 0, combiner = MPI_COMBINER_NAMED;
    if (type == MPI_DATATYPE_NULL) return;
    MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    if (combiner != MPI_COMBINER_NAMED) MPI_Type_free(&type);
  }
};

Decoded decode(MPI_Datatype type, int depth) {
  constexpr int kDeepest = 64;
  if (depth == kDeepest) return {code::kUnsupportedType};
  int integers = 0, addresses = 0, types = 0, combiner = 0;
  if (MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS)
    return {code::kMpi};
  if (combiner == MPI_COMBINER_NAMED) {
    if (type == MPI_BYTE) return {code::kBadType};
    const std::optional<Element> element = element_of(type);
    return element ? Decoded{code::kOk, element} : Decoded{code::kUnsupportedType};
  }
  if (types == 0) return {code::kUnsupportedType};
  std::vector<int> ints(static_cast<std::size_t>(integers) + 1);
  std::vector<MPI_Aint> aints(static_cast<std::size_t>(addresses) + 1);
  std::vector<MPI_Datatype> raw(static_cast<std::size_t>(types));
  if (MPI_Type_get_contents(type, integers, addresses, types, ints.data(), aints.data(),
                            raw.data()) != MPI_SUCCESS)
    return {code::kMpi};
  std::vector<OwnedType> owned(raw.size());
  for (std::size_t i = 0; i < raw.size(); ++i) owned[i].type = raw[i];
  Decoded out;
  for (const OwnedType& part : owned) {
    int size = 0;
    MPI_Type_size(part.type, &size);
    if (size == 0) continue;
    const Decoded one = decode(part.type, depth + 1);
    if (one.code != code::kOk) return one;
    if (out.element && out.element->type != one.element->type) return {code::kMultiTypes};
    out.element = one.element;
  }
  return out.element ? out : Decoded{code::kUnsupportedType};
}

// Returns whether a type has its elements in the order of their addresses. A type without gaps may
// still permute them.
bool is_in_order(MPI_Datatype type) {
  int integers = 0, addresses = 0, types = 0, combiner = 0;
  MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  if (combiner == MPI_COMBINER_NAMED) return true;
  if (combiner != MPI_COMBINER_CONTIGUOUS && combiner != MPI_COMBINER_DUP) return false;
  int length = 0;
  MPI_Aint address = 0;
  OwnedType of;
  MPI_Type_get_contents(type, integers, addresses, types, &length, &address, &of.type);
  return is_in_order(of.type);
}

// Returns whether items of the type lie one after the other without a gap, from their address on.
bool is_gapless(MPI_Datatype type, MPI_Offset count) {
  int size = 0;
  MPI_Aint low = 0, extent = 0, true_low = 0, true_extent = 0;
  MPI_Type_size(type, &size);
  MPI_Type_get_extent(type, &low, &extent);
  MPI_Type_get_true_extent(type, &true_low, &true_extent);
  return is_in_order(type) && true_low == 0 && true_extent == size &&
         (count == 1 || extent == size);
}

}  // namespace

int decode_buffer(MPI_Offset count, MPI_Datatype type, Type variable, MPI_Offset elements,
                  Buffer* out) {
  *out = {};
  out->elements = elements;
  if (type == MPI_DATATYPE_NULL) {
    out->element.type = native(variable);
  } else if (count == kCountIgnore) {
    const std::optional<Element> element = element_of(type);
    if (!element) return code::kUnsupportedType;
    out->element = *element;
  } else {
    int size = 0;
    if (MPI_Type_size(type, &size) != MPI_SUCCESS) return code::kMpi;
    const Decoded decoded = decode(type, 0);
    if (decoded.code != code::kOk) return decoded.code;
    out->element = *decoded.element;
    if (size < 0 || count < 0) return code::kIntOverflow;
    const MPI_Offset each = size / static_cast<MPI_Offset>(out->element.size());
    MPI_Offset all = 0;
    if (__builtin_mul_overflow(each, count, &all) || all != elements) return code::kMismatch;
    out->is_contiguous = is_gapless(type, count);
    out->count = count;
    out->type = type;
  }
  if ((variable == Type::kChar) != (out->element.type == MemoryType::kText)) return code::kChar;
  return code::kOk;
}

namespace {

// Packs or unpacks in calls whose counts fit in an int.
template <class Step>
int in_steps(const Buffer& buffer, Step step) {
  int size = 0;
  MPI_Aint low = 0, extent = 0;
  MPI_Type_size(buffer.type, &size);
  MPI_Type_get_extent(buffer.type, &low, &extent);
  if (size <= 0) return code::kOk;
  const MPI_Offset at_once = std::max<MPI_Offset>(1, (INT_MAX / 2) / size);
  for (MPI_Offset done = 0; done < buffer.count; done += at_once) {
    const MPI_Offset items = std::min(at_once, buffer.count - done);
    const int bytes = static_cast<int>(items * size);
    int position = 0;
    // MPICH 4.0 may pack nothing without an error.
    if (step(done * extent, done * size, static_cast<int>(items), bytes, &position) !=
            MPI_SUCCESS ||
        position != bytes)
      return code::kMpi;
  }
  return code::kOk;
}

}  // namespace

int pack(const void* from, const Buffer& buffer, std::byte* to) {
  return in_steps(buffer, [&](MPI_Offset user, MPI_Offset packed, int items, int bytes, int* at) {
    return MPI_Pack(static_cast<const std::byte*>(from) + user, items, buffer.type, to + packed,
                    bytes, at, MPI_COMM_SELF);
  });
}

int unpack(const std::byte* from, const Buffer& buffer, void* to) {
  return in_steps(buffer, [&](MPI_Offset user, MPI_Offset packed, int items, int bytes, int* at) {
    return MPI_Unpack(from + packed, bytes, at, static_cast<std::byte*>(to) + user, items,
                      buffer.type, MPI_COMM_SELF);
  });
}

bool is_mapped(std::span<const MPI_Offset> count, const MPI_Offset* imap) {
  if (imap == nullptr || count.empty()) return false;
  MPI_Offset elements = 1;
  for (const MPI_Offset length : count) elements *= length;
  if (elements <= 1) return false;
  MPI_Offset dense = 1;
  for (std::size_t i = count.size(); i-- > 0; dense *= count[i])
    if (imap[i] != dense) return true;
  return false;
}

namespace {

template <class Copy>
void each_place(std::span<const MPI_Offset> count, const MPI_Offset* imap, std::size_t size,
                Copy copy) {
  std::vector<MPI_Offset> index(count.size(), 0);
  const auto step = static_cast<MPI_Offset>(size);
  MPI_Offset place = 0;
  for (std::size_t dense = 0;; dense += size) {
    copy(dense, place * step);
    std::size_t i = count.size();
    while (i > 0) {
      --i;
      place += imap[i];
      if (++index[i] < count[i]) break;
      place -= imap[i] * count[i];
      index[i] = 0;
      if (i == 0) return;
    }
  }
}

}  // namespace

void gather(const std::byte* from, std::span<const MPI_Offset> count, const MPI_Offset* imap,
            std::size_t size, std::byte* to) {
  each_place(count, imap, size, [&](std::size_t dense, MPI_Offset place) {
    std::memcpy(to + dense, from + place, size);
  });
}

void scatter(const std::byte* from, std::span<const MPI_Offset> count, const MPI_Offset* imap,
             std::size_t size, std::byte* to) {
  each_place(count, imap, size, [&](std::size_t dense, MPI_Offset place) {
    std::memcpy(to + place, from + dense, size);
  });
}

bool needs_conversion(Type type, MemoryType memory, int format) {
  // The bytes of NC_BYTE have no sign in CDF-1 and CDF-2.
  if (format != kFormatData && type == Type::kByte && memory == MemoryType::kUInt8) return false;
  return native(type) != memory;
}

namespace {

// Whether a value can be cast to To. The rules are those of PnetCDF: limits are compared as double,
// so 2^63 and 2^64 count as the largest values of 64-bit types.
template <class To, class From>
bool fits(From value) {
  if constexpr (std::is_floating_point_v<To>) {
    if constexpr (std::is_integral_v<From>) return true;
    const auto wide = static_cast<double>(value);
    return !(wide > static_cast<double>(std::numeric_limits<To>::max()) ||
             wide < static_cast<double>(std::numeric_limits<To>::lowest()));
  } else if constexpr (std::is_floating_point_v<From>) {
    const auto wide = static_cast<double>(value);
    return !(wide > static_cast<double>(std::numeric_limits<To>::max()) ||
             wide < static_cast<double>(std::numeric_limits<To>::min()));
  } else {
    if constexpr (std::is_signed_v<From> && std::is_unsigned_v<To>)
      return value >= 0 &&
             static_cast<std::make_unsigned_t<From>>(value) <= std::numeric_limits<To>::max();
    else if constexpr (std::is_unsigned_v<From> && std::is_signed_v<To>)
      return value <= static_cast<std::make_unsigned_t<To>>(std::numeric_limits<To>::max());
    else
      return value >= std::numeric_limits<To>::min() && value <= std::numeric_limits<To>::max();
  }
}

template <class To, class From>
To cast(From value) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (std::isnan(value)) return std::numeric_limits<To>::min();
    if (static_cast<double>(value) >= static_cast<double>(std::numeric_limits<To>::max()))
      return std::numeric_limits<To>::max();
  }
  return static_cast<To>(value);
}

template <class From, class To>
std::uint64_t convert_values(const std::byte* from, std::uint64_t count, std::byte* to,
                             const std::byte* fill) {
  std::uint64_t out_of_range = 0;
  To other;
  std::memcpy(&other, fill, sizeof other);
  for (std::uint64_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, from + i * sizeof value, sizeof value);
    To result = other;
    if (fits<To>(value)) [[likely]]
      result = cast<To>(value);
    else
      ++out_of_range;
    std::memcpy(to + i * sizeof result, &result, sizeof result);
  }
  return out_of_range;
}

template <class Visit>
std::uint64_t with_type(MemoryType type, Visit visit) {
  switch (type) {
    case MemoryType::kInt8:
      return visit(std::int8_t{});
    case MemoryType::kUInt8:
      return visit(std::uint8_t{});
    case MemoryType::kInt16:
      return visit(std::int16_t{});
    case MemoryType::kUInt16:
      return visit(std::uint16_t{});
    case MemoryType::kInt32:
      return visit(std::int32_t{});
    case MemoryType::kUInt32:
      return visit(std::uint32_t{});
    case MemoryType::kInt64:
      return visit(std::int64_t{});
    case MemoryType::kUInt64:
      return visit(std::uint64_t{});
    case MemoryType::kFloat:
      return visit(float{});
    case MemoryType::kDouble:
      return visit(double{});
    case MemoryType::kText:
      return visit(std::uint8_t{});
  }
  return 0;
}

}  // namespace

std::uint64_t convert(MemoryType from_type, const std::byte* from, std::uint64_t count,
                      MemoryType to_type, std::byte* to, const std::byte* fill) {
  return with_type(from_type, [&]<class From>(From) {
    return with_type(to_type,
                     [&]<class To>(To) { return convert_values<From, To>(from, count, to, fill); });
  });
}

void default_fill(const Element& element, std::byte* out) {
  const auto put = [&](auto value) { std::memcpy(out, &value, sizeof value); };
  switch (element.type) {
    case MemoryType::kInt8:
      return put(std::int8_t{-127});
    case MemoryType::kUInt8:
      return put(std::uint8_t{255});
    case MemoryType::kInt16:
      return put(std::int16_t{-32767});
    case MemoryType::kUInt16:
      return put(std::uint16_t{65535});
    case MemoryType::kInt32:
      return put(std::int32_t{-2147483647});
    case MemoryType::kUInt32:
      return put(std::uint32_t{4294967295U});
    case MemoryType::kInt64:
      return element.is_long ? put(std::int64_t{-2147483647})
                             : put(std::int64_t{-9223372036854775806});
    case MemoryType::kUInt64:
      return put(std::uint64_t{18446744073709551614ULL});
    case MemoryType::kFloat:
      return put(9.9692099683868690e+36F);
    case MemoryType::kDouble:
      return put(9.9692099683868690e+36);
    case MemoryType::kText:
      return put(char{0});
  }
}

}  // namespace nmb::pnetcdf
