// Integers in the sections are little-endian, as in all structures except classic headers.
#include "model/extension_codec.h"

#include <string>
#include <utility>

#include "model/sections.h"
#include "wire/items.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

constexpr std::uint16_t kTypesSection = 2, kDimensionsSection = 3, kHdf5Section = 4,
                        kStorageSection = 5;
constexpr std::uint16_t kNamed = 1;            // flag of a type with a name
constexpr std::uint32_t kRecordDimension = 1;  // flag of the record dimension

void put_bits(const ExtendedType& t, ItemsOut* out) {
  out->put(t.order, std::uint8_t{t.is_signed}, t.low_padding, t.high_padding, t.bit_offset,
           t.precision, std::uint32_t{0});
}

void put_type(const ExtendedType& t, ItemsOut* out) {
  out->put(t.type_class, static_cast<std::uint16_t>(t.name.empty() ? 0 : kNamed));
  const std::size_t length = out->hold<std::uint32_t>();
  out->put(t.size);
  const std::size_t payload = out->position();
  if (!t.name.empty()) {
    out->put_text(t.name);
    out->pad();
  }
  switch (t.type_class) {
    case TypeClass::kInteger:
    case TypeClass::kTime:
    case TypeClass::kBitfield:
      put_bits(t, out);
      break;
    case TypeClass::kFloat:
      put_bits(t, out);
      for (const std::uint32_t part : {t.sign_position, t.exponent_position, t.exponent_size,
                                       t.mantissa_position, t.mantissa_size})
        out->put(part);
      out->put(t.normalization, t.inner_padding, std::uint16_t{0}, t.exponent_bias);
      break;
    case TypeClass::kString:
      out->put(std::uint8_t{t.variable_length}, t.character_set, t.padding);
      break;
    case TypeClass::kOpaque:
      out->put(t.tag);
      break;
    case TypeClass::kCompound:
      out->put_count(t.fields.size());
      for (const ExtendedType::Field& field : t.fields) {
        out->put(static_cast<std::uint32_t>(field.type), field.offset);
        out->put_text(field.name);
      }
      break;
    case TypeClass::kReference:
      out->put(t.reference);
      break;
    case TypeClass::kEnum:
      out->put(static_cast<std::uint32_t>(t.base));
      out->put_count(t.names.size());
      out->put(t.values);
      for (const std::string& name : t.names) out->put_text(name);
      break;
    case TypeClass::kVlen:
      out->put(static_cast<std::uint32_t>(t.base));
      break;
    case TypeClass::kArray:
      out->put(static_cast<std::uint32_t>(t.base));
      out->put_count(t.lengths.size());
      for (const std::uint64_t n : t.lengths) out->put(n);
      break;
  }
  out->tell<std::uint32_t>(length, payload);
  out->pad();
}

void put_types(const TypeTable& types, ItemsOut* out) {
  for (std::size_t i = 0; i < types.size(); ++i) put_type(types[i], out);
}

void put_storage(const Storage& s, ItemsOut* out) {
  out->put(static_cast<std::uint32_t>(s.variable), s.kind,
           static_cast<std::uint16_t>(s.chunk.size()), s.region_length);
  for (const std::uint64_t n : s.chunk) out->put(n);
  if (s.kind != StorageKind::kChunked) return;
  out->put(std::uint64_t{s.filters.size()});
  put_filters(s.filters, out);
}

constexpr const char* kTypeRule = "R-XT-1";
constexpr const char* kStorageRule = "R-XS-1";

void take_bits(ItemsIn* in, ExtendedType* t) {
  t->order = in->choice(ByteOrder::kVax, kTypeRule);
  t->is_signed = in->choice(std::uint8_t{1}, kTypeRule) != 0;
  t->low_padding = in->choice(BitPadding::kBackground, kTypeRule);
  t->high_padding = in->choice(BitPadding::kBackground, kTypeRule);
  in->numbers(kTypeRule, &t->bit_offset, &t->precision);
  in->zeros(4, kTypeRule);
}

Type take_type_code(ItemsIn* in) {
  const auto code = in->number<std::uint32_t>(kTypeRule);
  if (code > 65535) in->fail(kTypeRule, joined_text("found type ", code));
  return static_cast<Type>(code);
}

ExtendedType take_type(ItemsIn* in, const TypeTable& before) {
  ExtendedType t;
  const auto code = in->number<std::uint16_t>(kTypeRule);
  if (code > static_cast<std::uint16_t>(TypeClass::kArray))
    in->fail(kTypeRule, joined_text("found class ", code, ", expected at most 10"));
  t.type_class = static_cast<TypeClass>(code);
  const auto flags = in->number<std::uint16_t>(kTypeRule);
  if (flags > kNamed) in->fail(kTypeRule, joined_text("found flags ", flags));
  const auto length = in->number<std::uint32_t>(kTypeRule);
  t.size = in->number<std::uint64_t>(kTypeRule);
  const std::size_t at = in->offset();
  ItemsIn payload(in->take(length, kTypeRule), at);
  if (!in->ok()) return t;
  if (flags == kNamed) {
    t.name = payload.text(kTypeRule);
    if (t.name.empty()) payload.fail(kTypeRule, "found an empty name");
    payload.pad(kTypeRule);
  }
  switch (t.type_class) {
    case TypeClass::kInteger:
    case TypeClass::kTime:
    case TypeClass::kBitfield:
      take_bits(&payload, &t);
      break;
    case TypeClass::kFloat:
      take_bits(&payload, &t);
      for (std::uint32_t* part : {&t.sign_position, &t.exponent_position, &t.exponent_size,
                                  &t.mantissa_position, &t.mantissa_size})
        *part = payload.number<std::uint32_t>(kTypeRule);
      t.normalization = payload.choice(Normalization::kImplied, kTypeRule);
      t.inner_padding = payload.choice(BitPadding::kBackground, kTypeRule);
      payload.zeros(2, kTypeRule);
      t.exponent_bias = payload.number<std::uint64_t>(kTypeRule);
      break;
    case TypeClass::kString:
      t.variable_length = payload.choice(std::uint8_t{1}, kTypeRule) != 0;
      t.character_set = payload.choice(CharacterSet::kUtf8, kTypeRule);
      t.padding = payload.choice(StringPadding::kSpacePadded, kTypeRule);
      break;
    case TypeClass::kOpaque: {
      const std::span<const std::byte> tag = payload.take(payload.remaining(), kTypeRule);
      t.tag.assign(reinterpret_cast<const char*>(tag.data()), tag.size());
      break;
    }
    case TypeClass::kCompound:
      for (std::uint64_t n = payload.count(16, kTypeRule); n > 0 && payload.ok(); --n) {
        ExtendedType::Field field;
        field.type = take_type_code(&payload);
        field.offset = payload.number<std::uint64_t>(kTypeRule);
        field.name = payload.text(kTypeRule);
        t.fields.push_back(std::move(field));
      }
      break;
    case TypeClass::kReference:
      t.reference = payload.choice(ReferenceKind::kRegion, kTypeRule);
      break;
    case TypeClass::kEnum: {
      t.base = take_type_code(&payload);
      const std::uint64_t count = payload.count(5, kTypeRule);
      // With an invalid base type, any size will do, because the table of types refuses the type.
      const std::uint64_t size = before.has(t.base) ? before.value_size(t.base) : 1;
      if (size > payload.remaining()) payload.fail(kTypeRule, "found members without values");
      const std::span<const std::byte> values =
          payload.take(payload.ok() ? count * size : 0, kTypeRule);
      t.values.assign(values.begin(), values.end());
      for (std::uint64_t n = 0; n < count && payload.ok(); ++n)
        t.names.push_back(payload.text(kTypeRule));
      break;
    }
    case TypeClass::kVlen:
      t.base = take_type_code(&payload);
      break;
    case TypeClass::kArray:
      t.base = take_type_code(&payload);
      for (std::uint64_t n = payload.count(8, kTypeRule); n > 0 && payload.ok(); --n)
        t.lengths.push_back(payload.number<std::uint64_t>(kTypeRule));
      break;
  }
  if (payload.ok() && payload.remaining() > 0)
    payload.fail(kTypeRule, "found more bytes than a type of this class has");
  if (!payload.ok())
    in->fail(kTypeRule, joined_text("type ", before.size(), ": ", payload.status().message()));
  in->pad(kTypeRule);
  return t;
}

void take_types(ItemsIn* in, TypeTable* types) {
  while (in->ok() && in->remaining() > 0) {
    in->begin_item();
    ExtendedType type = take_type(in, *types);
    if (!in->ok()) return;
    in->begin_item();  // a breach of R-XT-2 is reported at the end of the type
    const std::string which = joined_text("type ", types->size(), ": ");
    const Result<Type> added = types->add(std::move(type));
    if (!added.ok()) in->fail("R-XT-2", which + added.status().message());
  }
}

void take_dimensions(ItemsIn* in, std::vector<Unlimited>* unlimited) {
  while (in->ok() && in->remaining() > 0) {
    in->begin_item();
    Unlimited u;
    u.dimension = in->number<std::uint32_t>("R-XD-1");
    const auto flags = in->number<std::uint32_t>("R-XD-1");
    if (flags > kRecordDimension) in->fail("R-XD-1", joined_text("found flags ", flags));
    u.is_record = flags != 0;
    if (!unlimited->empty() && u.dimension <= unlimited->back().dimension)
      in->fail("R-XD-1", joined_text("found dimension ", u.dimension, " after ",
                                     unlimited->back().dimension));
    unlimited->push_back(u);
  }
}

void take_storage(ItemsIn* in, std::vector<Storage>* all) {
  while (in->ok() && in->remaining() > 0) {
    in->begin_item();
    Storage s;
    s.variable = in->number<std::uint32_t>(kStorageRule);
    if (!all->empty() && s.variable <= all->back().variable)
      in->fail(kStorageRule,
               joined_text("found variable ", s.variable, " after ", all->back().variable));
    const auto kind = in->number<std::uint16_t>(kStorageRule);
    if (kind < 1 || kind > 3) in->fail(kStorageRule, joined_text("found kind ", kind));
    s.kind = static_cast<StorageKind>(kind);
    const auto rank = in->number<std::uint16_t>(kStorageRule);
    if ((rank > 0) != (s.kind == StorageKind::kChunked) || rank > in->remaining() / 8)
      in->fail(kStorageRule, joined_text("found a chunk of ", rank, " dimensions"));
    s.region_length = in->number<std::uint64_t>(kStorageRule);
    for (unsigned i = 0; i < rank && in->ok(); ++i)
      s.chunk.push_back(in->number<std::uint64_t>(kStorageRule));
    if (s.kind == StorageKind::kChunked) {
      const auto filters = in->number<std::uint64_t>(kStorageRule);
      s.filters = take_filters(in, filters, kStorageRule);
    }
    all->push_back(std::move(s));
  }
}

}  // namespace

void put_filters(const std::vector<Filter>& filters, ItemsOut* out) {
  for (const Filter& filter : filters) {
    out->put(filter.id, filter.flags);
    out->put_count(filter.parameters.size());
    out->put_text(filter.name);
    for (const std::uint32_t p : filter.parameters) out->put(p);
    out->pad();
  }
}

std::vector<Filter> take_filters(ItemsIn* in, std::uint64_t count, const char* rule) {
  std::vector<Filter> filters;
  if (count > kMostFilters) in->fail(rule, joined_text("found ", count, " filters"));
  for (std::uint64_t n = 0; n < count && in->ok(); ++n) {
    Filter f;
    in->numbers(rule, &f.id, &f.flags);
    const std::uint64_t parameters = in->count(4, rule);
    f.name = in->text(rule);
    for (std::uint64_t p = 0; p < parameters && in->ok(); ++p)
      f.parameters.push_back(in->number<std::uint32_t>(rule));
    in->pad(rule);
    filters.push_back(std::move(f));
  }
  return filters;
}

std::vector<std::byte> encode_type(const ExtendedType& type) {
  std::vector<std::byte> bytes;
  ItemsOut out(&bytes);
  put_type(type, &out);
  return bytes;
}

void append_types(const TypeTable& types, std::vector<std::byte>* out) {
  ItemsOut to(out);
  put_types(types, &to);
}

Result<TypeTable> decode_types(std::span<const std::byte> bytes) {
  ItemsIn in(bytes, 0);
  TypeTable types;
  take_types(&in, &types);
  if (!in.ok()) return in.status();
  return types;
}

void append_sections(const Extension& extension, std::vector<std::byte>* out) {
  if (extension.types.size() > 0)
    append_section(kTypesSection, kCriticalForReading | kCriticalForWriting, out,
                   [&](ItemsOut* to) { put_types(extension.types, to); });
  if (!extension.unlimited.empty())
    append_section(kDimensionsSection, kCriticalForReading | kCriticalForWriting, out,
                   [&](ItemsOut* to) {
                     for (const Unlimited& u : extension.unlimited) {
                       to->put(std::uint32_t{u.dimension}, u.is_record ? kRecordDimension : 0);
                     }
                   });
  if (!extension.hdf5.empty())
    append_section(kHdf5Section, kCriticalForWriting, out,
                   [&](ItemsOut* to) { to->put(std::span<const std::byte>(extension.hdf5)); });
  if (!extension.storage.empty())
    append_section(kStorageSection, kCriticalForReading | kCriticalForWriting, out,
                   [&](ItemsOut* to) {
                     for (const Storage& s : extension.storage) put_storage(s, to);
                   });
}

namespace {

// Returns whether a section of this type may have these flags. Sections of unknown types may have
// any valid flags.
bool has_flags(std::uint16_t type, std::uint16_t flags) {
  if (type == kTypesSection || type == kDimensionsSection || type == kStorageSection)
    return flags == (kCriticalForReading | kCriticalForWriting);
  if (type == kHdf5Section) return flags == kCriticalForWriting;
  return flags <= (kCriticalForReading | kCriticalForWriting);
}

}  // namespace

Result<Extension> decode_sections(std::span<const std::byte> bytes) {
  Extension extension;
  ItemsIn in(bytes, 0);
  std::uint16_t last = 0;
  while (in.ok() && in.remaining() > 0) {
    in.begin_item();
    const auto type = in.number<std::uint16_t>("R-XB-2");
    const auto flags = in.number<std::uint16_t>("R-XB-2");
    const auto version = in.number<std::uint16_t>("R-XB-2");
    const auto codec = in.number<std::uint16_t>("R-XB-2");
    const auto length = in.number<std::uint64_t>("R-XB-2");
    if (!has_flags(type, flags) || codec != 0 || version != 1)
      in.fail("R-XB-2", joined_text("found flags ", flags, ", version ", version, ", codec ", codec,
                                    " of section ", type));
    if (type <= last) in.fail("R-XB-2", joined_text("found section ", type, " after ", last));
    last = type;
    const std::size_t at = in.offset();
    const std::span<const std::byte> payload = in.take(length, "R-XB-2");
    in.pad("R-XB-2");
    if (!in.ok()) break;
    ItemsIn content(payload, at);
    if (type == kTypesSection) {
      take_types(&content, &extension.types);
    } else if (type == kDimensionsSection) {
      take_dimensions(&content, &extension.unlimited);
    } else if (type == kStorageSection) {
      take_storage(&content, &extension.storage);
    } else if (type == kHdf5Section) {
      extension.hdf5.assign(payload.begin(), payload.end());
    } else if (flags & kCriticalForReading) {
      return failure(Code::kUnsupported, "found section ", type,
                     " of an extended body; this version does not read this section");
    }
    if (!content.ok()) return content.status();
  }
  if (!in.ok()) return in.status();
  return extension;
}

}  // namespace nmb
