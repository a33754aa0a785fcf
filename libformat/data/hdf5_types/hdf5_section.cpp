#include "hdf5_types/hdf5_section.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "model/extension_codec.h"
#include "wire/items.h"
#include "wire/joined_text.h"

namespace nmb::hdf5 {

namespace {

using Number = Property::Number;

constexpr const char* kRule = "R-H5-1";
constexpr Number kAll[] = {Number::kSpace,     Number::kCreation,       Number::kOrder,
                           Number::kLinks,     Number::kTypeAttributes, Number::kExternalFiles,
                           Number::kVirtual,   Number::kUserBlock,      Number::kCharacterSet,
                           Number::kComment,   Number::kTypeComment,    Number::kDimensionsAbove,
                           Number::kUndecoded, Number::kDamagedChunks};

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

void put_bytes(std::span<const std::byte> bytes, ItemsOut* out) {
  out->put_count(bytes.size());
  out->put(bytes);
}

std::vector<std::byte> take_bytes(ItemsIn* in) {
  const std::span<const std::byte> taken = in->take(in->number<std::uint32_t>(kRule), kRule);
  return {taken.begin(), taken.end()};
}

std::vector<std::byte> take_rest(ItemsIn* in) {
  const std::span<const std::byte> rest = in->take(in->remaining(), kRule);
  return {rest.begin(), rest.end()};
}

void put_payload(const Property& p, ItemsOut* out) {
  switch (p.number) {
    case Number::kSpace:
      out->put(static_cast<std::uint32_t>(p.space.space_class));
      out->put_count(p.space.lengths.size());
      for (const std::uint64_t n : p.space.lengths) out->put(n);
      for (const std::uint64_t n : p.space.maximum) out->put(n);
      break;
    case Number::kCreation: {
      const Creation& c = p.creation;
      out->put(c.layout, c.allocation, c.fill_time, c.fill_state);
      put_bytes(c.fill_value, out);
      out->pad();
      out->put_count(c.chunk.size());
      out->put_count(c.filters.size());
      for (const std::uint64_t n : c.chunk) out->put(n);
      put_filters(c.filters, out);
      break;
    }
    case Number::kOrder:
      out->put(p.order.links, p.order.attributes);
      break;
    case Number::kLinks:
      for (const Link& link : p.links) {
        out->put(link.kind, link.character_set, std::uint16_t{0}, link.number);
        out->put_count(link.name.size());
        out->put_count(link.content.size());
        out->put(bytes_of(link.name), bytes_of(link.content));
      }
      break;
    case Number::kTypeAttributes:
    case Number::kTypeComment:
      out->put(static_cast<std::uint32_t>(p.type), std::uint32_t{0}, p.bytes);
      break;
    case Number::kExternalFiles:
      out->put_count(p.external_files.size());
      out->put(std::uint32_t{0});
      for (const ExternalFile& file : p.external_files) {
        out->put(file.offset, file.size);
        out->put_text(file.name);
      }
      break;
    case Number::kVirtual:
      out->put_count(p.sources.size());
      out->put(std::uint32_t{0});
      for (const VirtualSource& source : p.sources) {
        out->put_text(source.file);
        out->put_text(source.data_set);
        put_bytes(source.here, out);
        put_bytes(source.there, out);
      }
      break;
    case Number::kUserBlock:
    case Number::kComment:
      out->put(p.bytes);
      break;
    case Number::kCharacterSet:
      out->put(p.character_set);
      break;
    case Number::kDimensionsAbove:
      for (const DimensionAbove& above : p.dimensions_above) {
        out->put(above.dimension, above.levels);
      }
      break;
    case Number::kUndecoded:
      out->put(p.filter);
      out->put_text(p.filter_name);
      break;
    case Number::kDamagedChunks:
      break;
  }
}

void take_payload(ItemsIn* in, Property* p) {
  switch (p->number) {
    case Number::kSpace: {
      p->space.space_class = in->choice(SpaceClass::kNull, kRule);
      in->zeros(3, kRule);
      const std::uint64_t rank = in->count(16, kRule);
      for (std::vector<std::uint64_t>* lengths : {&p->space.lengths, &p->space.maximum})
        for (std::uint64_t i = 0; i < rank; ++i)
          lengths->push_back(in->number<std::uint64_t>(kRule));
      break;
    }
    case Number::kCreation: {
      Creation& c = p->creation;
      c.layout = in->choice(Layout::kVirtual, kRule);
      c.allocation = in->choice(Allocation::kIncremental, kRule);
      c.fill_time = in->choice(FillTime::kIfSet, kRule);
      c.fill_state = in->choice(FillState::kUser, kRule);
      c.fill_value = take_bytes(in);
      in->pad(kRule);
      const std::uint64_t rank = in->count(8, kRule);
      const auto filters = in->number<std::uint32_t>(kRule);
      for (std::uint64_t i = 0; i < rank && in->ok(); ++i)
        c.chunk.push_back(in->number<std::uint64_t>(kRule));
      c.filters = take_filters(in, filters, kRule);
      break;
    }
    case Number::kOrder:
      in->numbers(kRule, &p->order.links, &p->order.attributes);
      if ((p->order.links | p->order.attributes) > 3) in->fail(kRule, "found unknown order flags");
      break;
    case Number::kLinks:
      while (in->ok() && in->remaining() > 0) {
        Link link;
        link.kind = in->choice(LinkKind::kUserDefined, kRule);
        link.character_set = in->choice(CharacterSet::kUtf8, kRule);
        in->zeros(2, kRule);
        link.number = in->number<std::uint32_t>(kRule);
        const auto name = in->number<std::uint32_t>(kRule);
        const auto content = in->number<std::uint32_t>(kRule);
        for (const auto& [length, text] : {std::pair(name, &link.name), {content, &link.content}}) {
          const std::span<const std::byte> taken = in->take(length, kRule);
          text->assign(reinterpret_cast<const char*>(taken.data()), taken.size());
        }
        p->links.push_back(std::move(link));
      }
      break;
    case Number::kTypeAttributes:
    case Number::kTypeComment: {
      const auto code = in->number<std::uint32_t>(kRule);
      if (code > 65535) in->fail(kRule, joined_text("found type ", code));
      p->type = static_cast<Type>(code);
      in->zeros(4, kRule);
      p->bytes = take_rest(in);
      break;
    }
    case Number::kExternalFiles: {
      std::uint64_t count = in->count(20, kRule);
      in->zeros(4, kRule);
      for (; count > 0 && in->ok(); --count) {
        ExternalFile file;
        in->numbers(kRule, &file.offset, &file.size);
        file.name = in->text(kRule);
        p->external_files.push_back(std::move(file));
      }
      break;
    }
    case Number::kVirtual: {
      std::uint64_t count = in->count(16, kRule);
      in->zeros(4, kRule);
      for (; count > 0 && in->ok(); --count) {
        VirtualSource source;
        source.file = in->text(kRule);
        source.data_set = in->text(kRule);
        source.here = take_bytes(in);
        source.there = take_bytes(in);
        p->sources.push_back(std::move(source));
      }
      break;
    }
    case Number::kUserBlock:
    case Number::kComment:
      p->bytes = take_rest(in);
      break;
    case Number::kCharacterSet:
      p->character_set = in->choice(CharacterSet::kUtf8, kRule);
      break;
    case Number::kDimensionsAbove:
      while (in->ok() && in->remaining() > 0) {
        DimensionAbove above;
        in->numbers(kRule, &above.dimension, &above.levels);
        if (!p->dimensions_above.empty() && p->dimensions_above.back().dimension >= above.dimension)
          in->fail(kRule, "found dimensions that do not ascend");
        if (above.levels == 0)
          in->fail(kRule, "found a dimension 0 levels above its block, expected at least 1 level");
        p->dimensions_above.push_back(above);
      }
      break;
    case Number::kUndecoded:
      p->filter = in->number<std::uint32_t>(kRule);
      p->filter_name = in->text(kRule);
      break;
    case Number::kDamagedChunks:
      break;
  }
}

// Properties of named datatypes may repeat, because the type is in their payload.
bool may_repeat(Number number) {
  return number == Number::kTypeAttributes || number == Number::kTypeComment;
}

}  // namespace

PropertyPlace place_of(const Property& property) {
  return {property.owner + 1, property.attribute + 1, property.number};
}

void append_property(const Property& property, std::vector<std::byte>* section) {
  ItemsOut out(section);
  out.put(property.number, std::uint16_t{0}, std::uint32_t{property.owner}, property.attribute);
  const std::size_t length = out.hold<std::uint32_t>();
  const std::size_t payload = out.position();
  put_payload(property, &out);
  out.tell<std::uint32_t>(length, payload);
  out.pad();
}

Result<std::vector<Property>> decode_properties(std::span<const std::byte> section) {
  return decode_properties(section, kAll);
}

Result<std::vector<Property>> decode_properties(std::span<const std::byte> section,
                                                std::span<const Number> wanted) {
  std::vector<Property> properties;
  ItemsIn in(section, 0);
  std::optional<PropertyPlace> last;
  while (in.ok() && in.remaining() > 0) {
    in.begin_item();
    Property p;
    const auto number = in.number<std::uint16_t>(kRule);
    in.zeros(2, kRule);
    in.numbers(kRule, &p.owner, &p.attribute);
    const auto length = in.number<std::uint32_t>(kRule);
    const std::size_t at = in.offset();
    ItemsIn payload(in.take(length, kRule), at);
    in.pad(kRule);
    p.number = static_cast<Number>(number);
    const PropertyPlace place = place_of(p);
    if (last && place < *last)
      in.fail(kRule, joined_text("found property ", number, " out of order"));
    if (last && place == *last && !may_repeat(p.number))
      in.fail(kRule, joined_text("found property ", number, " twice"));
    last = place;
    if (std::ranges::find(wanted, p.number) == wanted.end()) continue;
    take_payload(&payload, &p);
    if (payload.ok() && payload.remaining() > 0)
      payload.fail(kRule, joined_text("found more bytes than property ", number, " has"));
    if (!payload.ok()) return payload.status();
    properties.push_back(std::move(p));
  }
  if (!in.ok()) return in.status();
  return properties;
}

std::string why_absent(std::span<const Property> properties, std::uint32_t variable) {
  for (const Property& p : properties) {
    if (p.owner != variable || p.attribute != kNoAttribute) continue;
    if (p.number == Number::kExternalFiles || p.number == Number::kVirtual)
      return "are stored in other files";
    if (p.number == Number::kUndecoded && p.filter == 0)
      return "were not decoded, because " + p.filter_name;
    if (p.number == Number::kUndecoded)
      return joined_text("were not decoded, because filter ", p.filter, " (", p.filter_name,
                         ") was not installed");
  }
  return {};
}

std::span<const std::byte> fill_value_set(std::span<const Property> properties,
                                          std::uint32_t variable, std::size_t size) {
  for (const Property& p : properties)
    if (p.owner == variable && p.attribute == kNoAttribute &&
        p.number == Property::Number::kCreation && p.creation.fill_state == FillState::kUser &&
        p.creation.fill_value.size() == size)
      return p.creation.fill_value;
  return {};
}

}  // namespace nmb::hdf5
