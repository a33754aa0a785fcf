#include "memory_form.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>

namespace nmb::udf {

namespace {

constexpr struct {
  const char* name;
  std::size_t size;
} kAtomic[] = {{"none", 0},
               {"byte", 1},
               {"char", 1},
               {"short", 2},
               {"int", 4},
               {"float", 4},
               {"double", 8},
               {"ubyte", 1},
               {"ushort", 2},
               {"uint", 4},
               {"int64", 8},
               {"uint64", 8},
               {"string", sizeof(char*)}};

constexpr std::size_t round_up(std::size_t size, std::size_t alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

nc_type integer_type(std::uint64_t size, bool is_signed) {
  switch (size) {
    case 1:
      return is_signed ? NC_BYTE : NC_UBYTE;
    case 2:
      return is_signed ? NC_SHORT : NC_USHORT;
    case 4:
      return is_signed ? NC_INT : NC_UINT;
    case 8:
      return is_signed ? NC_INT64 : NC_UINT64;
    default:
      return NC_NAT;
  }
}

// IEEE 754 binary16.
float from_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const auto mantissa = static_cast<float>(bits & 1023);
  float value = exponent == 0    ? std::ldexp(mantissa, -24)
                : exponent == 31 ? (mantissa == 0 ? INFINITY : NAN)
                                 : std::ldexp(mantissa + 1024, exponent - 25);
  return std::copysign(value, bits & 0x8000 ? -1.0F : 1.0F);
}

void* allocate(std::size_t bytes) {
  void* const memory = std::malloc(bytes > 0 ? bytes : 1);
  if (!memory) throw std::bad_alloc();
  return memory;
}

char* new_string(const std::byte* text, std::size_t length) {
  char* const copy = static_cast<char*>(allocate(length + 1));
  if (length > 0) std::memcpy(copy, text, length);
  copy[length] = '\0';
  return copy;
}

template <class T>
void put(std::byte* to, const T& value) {
  std::memcpy(to, &value, sizeof value);
}

}  // namespace

nc_type atomic_type(const DataType& type) {
  switch (type.data_class) {
    case DataClass::kInteger:
      return integer_type(type.size, type.is_signed);
    case DataClass::kFloat:
      return type.size <= 4 ? NC_FLOAT : type.size == 8 ? NC_DOUBLE : NC_NAT;
    case DataClass::kText:
      return type.size == 1 ? NC_CHAR : NC_STRING;
    case DataClass::kString:
      return NC_STRING;
    default:
      return NC_NAT;
  }
}

std::size_t atomic_size(nc_type type) {
  return type > NC_NAT && type <= NC_MAX_ATOMIC_TYPE ? kAtomic[type].size : 0;
}

const char* atomic_name(nc_type type) { return kAtomic[type].name; }

std::optional<MemoryForm> MemoryForm::of(const DataType& type) {
  std::optional<MemoryForm> form = of_part(type);
  // Only a part of a compound may be characters of fixed length.
  if (form && type.data_class == DataClass::kText && type.size != 1) {
    form->kind_ = Kind::kText;
    form->to_size_ = sizeof(char*);
    form->alignment_ = alignof(char*);
  }
  return form;
}

std::optional<MemoryForm> MemoryForm::of_part(const DataType& type) {
  MemoryForm form;
  form.from_size_ = form.to_size_ = static_cast<std::size_t>(type.size);
  const auto inner = [&](Kind kind) {
    std::optional<MemoryForm> base = type.base.size() == 1 ? of_part(type.base[0]) : std::nullopt;
    if (!base) return false;
    form.kind_ = kind;
    form.alignment_ = base->alignment_;
    form.members_.push_back({0, 0, *std::move(base)});
    return true;
  };
  switch (type.data_class) {
    case DataClass::kInteger:
    case DataClass::kFloat:
      if (atomic_type(type) == NC_NAT) return {};
      if (type.data_class == DataClass::kFloat && type.size == 2) {
        form.kind_ = Kind::kHalf;
        form.to_size_ = sizeof(float);
      }
      form.alignment_ = form.to_size_;
      return form;
    case DataClass::kText:
    case DataClass::kOpaque:
      return form;
    case DataClass::kEnum:
      if (type.base.size() != 1) return {};
      return of_part(type.base[0]);
    case DataClass::kString:
      form.kind_ = Kind::kString;
      form.to_size_ = sizeof(char*);
      form.alignment_ = alignof(char*);
      return form;
    case DataClass::kSequence:
      if (!inner(Kind::kSequence)) return {};
      form.to_size_ = sizeof(nc_vlen_t);
      form.alignment_ = alignof(nc_vlen_t);
      return form;
    case DataClass::kArray: {
      if (!inner(Kind::kArray)) return {};
      const MemoryForm& base = form.members_[0].form;
      if (base.from_size_ == 0) return {};
      form.to_size_ = form.from_size_ / base.from_size_ * base.to_size_;
      if (base.is_copy()) form.kind_ = Kind::kBytes;
      return form;
    }
    case DataClass::kCompound:
      return of_compound(type);
    default:
      return {};
  }
}

std::optional<MemoryForm> MemoryForm::of_compound(const DataType& type) {
  MemoryForm form;
  form.from_size_ = static_cast<std::size_t>(type.size);
  bool is_copy = true;
  for (const DataMember& member : type.members) {
    std::optional<MemoryForm> part = of_part(member.type);
    if (!part) return {};
    form.alignment_ = std::max(form.alignment_, part->alignment_);
    const std::size_t to = round_up(form.to_size_, part->alignment_);
    form.to_size_ = to + part->to_size_;
    is_copy = is_copy && part->is_copy() && member.offset == to;
    form.members_.push_back({static_cast<std::size_t>(member.offset), to, *std::move(part)});
  }
  form.to_size_ = round_up(form.to_size_, form.alignment_);
  form.kind_ = is_copy && form.from_size_ == form.to_size_ ? Kind::kBytes : Kind::kCompound;
  return form;
}

std::vector<std::size_t> MemoryForm::offsets() const {
  std::vector<std::size_t> out;
  for (const Member& member : members_) out.push_back(member.to);
  return out;
}

void MemoryForm::convert(const std::byte* from, std::uint64_t count,
                         std::span<const std::byte> heap, std::byte* to) const {
  if (is_copy()) {
    if (count > 0) std::memcpy(to, from, static_cast<std::size_t>(count) * to_size_);
    return;
  }
  for (std::uint64_t i = 0; i < count; ++i)
    convert_one(from + i * from_size_, heap, to + i * to_size_);
}

void MemoryForm::convert_one(const std::byte* from, std::span<const std::byte> heap,
                             std::byte* to) const {
  switch (kind_) {
    case Kind::kBytes:
      std::memcpy(to, from, to_size_);
      break;
    case Kind::kHalf: {
      std::uint16_t bits = 0;
      std::memcpy(&bits, from, sizeof bits);
      put(to, from_half(bits));
      break;
    }
    case Kind::kText: {
      const char* const text = reinterpret_cast<const char*>(from);
      put(to, new_string(from, ::strnlen(text, from_size_)));
      break;
    }
    case Kind::kString: {
      const VariablePart part = VariablePart::load(from);
      char* text = nullptr;
      if (!part.is_null())
        text = new_string(heap.data() + part.offset, static_cast<std::size_t>(part.count));
      put(to, text);
      break;
    }
    case Kind::kSequence: {
      const VariablePart part = VariablePart::load(from);
      const MemoryForm& inner = members_[0].form;
      nc_vlen_t value{static_cast<std::size_t>(part.count), nullptr};
      if (part.count > 0) {
        value.p = allocate(value.len * inner.to_size_);
        inner.convert(heap.data() + part.offset, part.count, heap,
                      static_cast<std::byte*>(value.p));
      }
      put(to, value);
      break;
    }
    case Kind::kArray: {
      const MemoryForm& inner = members_[0].form;
      inner.convert(from, from_size_ / inner.from_size_, heap, to);
      break;
    }
    case Kind::kCompound:
      std::memset(to, 0, to_size_);
      for (const Member& member : members_)
        member.form.convert(from + member.from, 1, heap, to + member.to);
      break;
  }
}

}  // namespace nmb::udf
