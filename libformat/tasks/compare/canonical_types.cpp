#include "compare/canonical_types.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>

#include "model/heap_value.h"
#include "model/moved_reference.h"
#include "wire/checked.h"
#include "wire/endian.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

constexpr std::uint64_t kMostValue = std::uint64_t{256} << 20;
constexpr std::uint64_t kTooLarge = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t kMostText = 256 << 10, kMostTexts = 16 << 20;

void append_number(std::uint64_t number, std::vector<std::byte>* out) {
  std::byte bytes[8];
  store_be(bytes, number);
  out->insert(out->end(), bytes, bytes + 8);
}

void append_heap_bytes(bool is_null, const std::vector<std::byte>& bytes,
                       std::vector<std::byte>* out) {
  out->push_back(is_null ? std::byte{0} : std::byte{1});
  append_number(bytes.size(), out);
  out->insert(out->end(), bytes.begin(), bytes.end());
}

void append_bytes(const std::byte* value, std::uint64_t size, bool is_reversed,
                  std::vector<std::byte>* out) {
  if (is_reversed)
    std::reverse_copy(value, value + size, std::back_inserter(*out));
  else
    out->insert(out->end(), value, value + size);
}

// Replaces the NaNs among `values`. is_special: bits that are all set in infinities and NaNs, in
// the order of memory. Most groups of values have neither, so a group is first checked as a whole.
template <class Bits>
void replace_nans(std::span<std::byte> values, Bits special, Bits infinity, Bits nan) {
  constexpr std::size_t kGroup = 64;
  const Bits in_memory = std::endian::native == std::endian::big ? special : byte_swapped(special);
  const std::size_t count = values.size() / sizeof(Bits);
  for (std::size_t first = 0; first < count; first += kGroup) {
    std::byte* const group = values.data() + first * sizeof(Bits);
    const std::size_t here = std::min(kGroup, count - first);
    Bits found = 0;
    for (std::size_t i = 0; i < here; ++i) {
      Bits bits;
      std::memcpy(&bits, group + i * sizeof(Bits), sizeof bits);
      found |= static_cast<Bits>((bits & in_memory) == in_memory);
    }
    if (found == 0) continue;
    for (std::size_t i = 0; i < here; ++i) {
      std::byte* const at = group + i * sizeof(Bits);
      const Bits magnitude = load_be<Bits>(at) & std::numeric_limits<Bits>::max() >> 1;
      if (magnitude > infinity) store_be(at, nan);
    }
  }
}

std::string name_text(std::string_view name) { return joined_text(name.size(), ":", name); }

// Writes the text of a type. Stops when the text is too long.
class TypeTextWriter {
 public:
  explicit TypeTextWriter(const TypeTable* types) : types_(types) {}
  void write(Type type) {
    if (is_too_long()) return;
    if (!TypeTable::is_extended(type)) {
      text_ += type_name(type);
    } else if (const std::optional<Type> classic = types_->classic(type)) {
      text_ += type_name(*classic);
    } else {
      write(types_->at(type));
    }
  }
  bool is_too_long() const { return text_.size() > kMostText; }
  std::string&& take() { return std::move(text_); }

 private:
  void add(const auto&... parts) { text_ += joined_text(parts...); }

  static int code(auto word) { return static_cast<int>(word); }

  void write_bits(const ExtendedType& type) {
    add(type.size, ",", type.is_signed ? "signed" : "unsigned", ",", type.bit_offset, ",",
        type.precision, ",", code(type.low_padding), ",", code(type.high_padding));
    if (type.order == ByteOrder::kVax) add(",vax");
  }

  void write(const ExtendedType& type) {
    switch (type.type_class) {
      case TypeClass::kInteger:
      case TypeClass::kTime:
      case TypeClass::kBitfield:
        add(type.type_class == TypeClass::kInteger ? "integer("
            : type.type_class == TypeClass::kTime  ? "time("
                                                   : "bitfield(");
        write_bits(type);
        add(")");
        break;
      case TypeClass::kFloat:
        add("float(");
        write_bits(type);
        add(",", type.sign_position, ",", type.exponent_position, ",", type.exponent_size, ",",
            type.mantissa_position, ",", type.mantissa_size, ",", type.exponent_bias, ",",
            code(type.normalization), ",", code(type.inner_padding), ")");
        break;
      case TypeClass::kString:
        if (type.variable_length)
          add("string");
        else
          add("string(", type.size, ",", code(type.padding), ")");
        break;
      case TypeClass::kOpaque:
        add("opaque(", type.size, ",", name_text(type.tag), ")");
        break;
      case TypeClass::kCompound:
        add("compound(");
        for (const ExtendedType::Field& field : type.fields) {
          add(name_text(field.name), "=");
          write(field.type);
          add(";");
          if (is_too_long()) return;
        }
        add(")");
        break;
      case TypeClass::kReference:
        add(type.reference == ReferenceKind::kObject ? "reference" : "region");
        break;
      case TypeClass::kEnum:
        write_enum(type);
        break;
      case TypeClass::kVlen:
        add("sequence(");
        write(type.base);
        add(")");
        break;
      case TypeClass::kArray:
        add("array(");
        for (const std::uint64_t length : type.lengths) add(length, ",");
        write(type.base);
        add(")");
        break;
    }
  }

  void write_enum(const ExtendedType& type) {
    add("enum(");
    write(type.base);
    std::vector<std::size_t> order(type.names.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
      return std::pair(std::string_view(type.names[a]), a) <
             std::pair(std::string_view(type.names[b]), b);
    });
    const CanonicalTypes values(types_);
    const std::uint64_t size = values.stored_bytes(type.base);
    for (const std::size_t i : order) {
      add(";", name_text(type.names[i]), "=");
      std::vector<std::byte> value;
      append_bytes(type.values.data() + i * size, size, is_little(type.base), &value);
      for (const std::byte b : value) {
        constexpr std::string_view kDigits = "0123456789abcdef";
        text_ += kDigits[std::to_integer<std::size_t>(b >> 4)];
        text_ += kDigits[std::to_integer<std::size_t>(b & std::byte{15})];
      }
      if (is_too_long()) return;
    }
    add(")");
  }
  bool is_little(Type type) const {
    return TypeTable::is_extended(type) && types_->at(type).order == ByteOrder::kLittle;
  }

  const TypeTable* types_;
  std::string text_;
};

}  // namespace

void make_nans_canonical(Type type, std::span<std::byte> values) {
  if (type == Type::kFloat)
    replace_nans<std::uint32_t>(values, 0x7F800000, 0x7F800000, 0x7FC00000);
  else if (type == Type::kDouble)
    replace_nans<std::uint64_t>(values, 0x7FF0000000000000, 0x7FF0000000000000, 0x7FF8000000000000);
}

CanonicalTypes::CanonicalTypes(const TypeTable* types, AfterNul after_nul, PathMove move)
    : types_(types), after_nul_(after_nul), move_(std::move(move)) {
  if (!types) return;
  bytes_.resize(types->size());
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    const ExtendedType& type = (*types)[i];
    std::uint64_t bytes = type.size;
    if (type.type_class == TypeClass::kCompound) {
      bytes = 0;
      for (const ExtendedType::Field& field : type.fields)
        if (!checked_add(bytes, canonical_bytes(field.type), &bytes)) bytes = kTooLarge;
    } else if (type.type_class == TypeClass::kArray) {
      bytes = canonical_bytes(type.base);
      for (const std::uint64_t length : type.lengths)
        if (!checked_mul(bytes, length, &bytes)) bytes = kTooLarge;
    } else if (type.type_class == TypeClass::kVlen && canonical_bytes(type.base) == kTooLarge) {
      bytes = kTooLarge;
    }
    bytes_[i] = bytes > kMostValue ? kTooLarge : bytes;
  }
}

std::uint64_t CanonicalTypes::canonical_bytes(Type type) const {
  return TypeTable::is_extended(type) ? bytes_[static_cast<std::uint32_t>(type) - TypeTable::kFirst]
                                      : type_size(type);
}

Status CanonicalTypes::check(Type type) const {
  if (canonical_bytes(type) != kTooLarge && stored_bytes(type) <= kMostValue) return {};
  return failure(Code::kLimit, "a value of type ", types_->text(type),
                 " is too large; only values of at most ", kMostValue, " bytes can be compared");
}

Status CanonicalTypes::append_string(const std::byte* value, const ByteSource& region,
                                     std::uint64_t* left, std::vector<std::byte>* out) const {
  NMB_ASSIGN(const std::vector<std::byte> text, HeapValue::load(value).read(region, 1, left));
  append_heap_bytes(HeapValue::load(value).is_null(), text, out);
  return {};
}

Status CanonicalTypes::append_reference(ReferenceKind kind, const std::byte* value,
                                        const ByteSource& region, std::uint64_t* left,
                                        std::vector<std::byte>* out) const {
  NMB_ASSIGN(std::vector<std::byte> bytes, HeapValue::load(value).read(region, 1, left));
  if (!move_.is_none() && !bytes.empty()) {
    NMB_ASSIGN(std::optional<std::vector<std::byte>> moved,
               moved_reference(kind, bytes, [this](std::string_view path) {
                 return std::optional(move_.moved(path));
               }));
    if (moved) bytes = std::move(*moved);
  }
  append_heap_bytes(HeapValue::load(value).is_null(), bytes, out);
  return {};
}

Status CanonicalTypes::append(Type type, const std::byte* value, const ByteSource& region,
                              std::uint64_t* left, std::vector<std::byte>* out) const {
  const std::optional<Type> classic = types_ ? types_->classic(type) : std::optional(type);
  if (classic) {
    const std::size_t size = type_size(*classic), at = out->size();
    append_bytes(value, size, types_ && types_->is_swapped(type), out);
    make_nans_canonical(*classic, {out->data() + at, size});
    return {};
  }
  const ExtendedType& own = types_->at(type);
  switch (own.type_class) {
    case TypeClass::kInteger:
    case TypeClass::kFloat:
    case TypeClass::kTime:
    case TypeClass::kBitfield:
      append_bytes(value, own.size, own.order == ByteOrder::kLittle, out);
      return {};
    case TypeClass::kString:
      if (own.variable_length) return append_string(value, region, left, out);
      append_bytes(value, own.size, false, out);
      if (after_nul_ == AfterNul::kIsZero && own.padding == StringPadding::kNullTerminated) {
        const auto begin = out->end() - static_cast<std::ptrdiff_t>(own.size);
        std::fill(std::find(begin, out->end(), std::byte{0}), out->end(), std::byte{0});
      }
      return {};
    case TypeClass::kOpaque:
      append_bytes(value, own.size, false, out);
      return {};
    case TypeClass::kReference:
      return append_reference(own.reference, value, region, left, out);
    case TypeClass::kEnum:
      return append(own.base, value, region, left, out);
    case TypeClass::kCompound:
      for (const ExtendedType::Field& field : own.fields)
        NMB_TRY(append(field.type, value + field.offset, region, left, out));
      return {};
    case TypeClass::kArray: {
      std::uint64_t count = 1;
      for (const std::uint64_t length : own.lengths) count *= length;
      const std::uint64_t size = stored_bytes(own.base);
      for (std::uint64_t i = 0; i < count; ++i)
        NMB_TRY(append(own.base, value + i * size, region, left, out));
      return {};
    }
    case TypeClass::kVlen: {
      const HeapValue list = HeapValue::load(value);
      const std::uint64_t size = stored_bytes(own.base);
      const std::uint64_t count = list.is_null() ? 0 : list.count;
      append_number(count, out);
      NMB_ASSIGN(const std::vector<std::byte> elements, list.read(region, size, left));
      for (std::uint64_t i = 0; i < count; ++i)
        NMB_TRY(append(own.base, elements.data() + i * size, region, left, out));
      return {};
    }
  }
  return failure(Code::kUnsupported, "found values of type ", types_->text(type));
}

Result<std::string> TypeTexts::of(Type type) {
  if (!TypeTable::is_extended(type)) return std::string(type_name(type));
  if (const auto known = known_.find(type); known != known_.end()) return known->second;
  TypeTextWriter writer(types_);
  writer.write(type);
  std::string text = writer.take();
  total_ += text.size();
  if (writer.is_too_long() || text.size() > kMostText || total_ > kMostTexts)
    return Status(Code::kLimit, "the types of the block are too large to be compared");
  known_.emplace(type, text);
  return text;
}

}  // namespace nmb
