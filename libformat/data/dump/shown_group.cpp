#include "dump/shown_group.h"

#include <algorithm>
#include <array>

#include "dump/extended_text.h"
#include "dump/group_walk.h"
#include "model/heap_value.h"
#include "model/paths.h"
#include "netcdf/shown_type.h"
#include "wire/joined_text.h"

namespace nmb {

Status ShownGroup::read() {
  const Extension* const extension = metadata_.extension().get();
  if (!extension) return {};
  NMB_ASSIGN(std::vector<hdf5::Property> properties, hdf5::decode_properties(extension->hdf5));
  for (hdf5::Property& property : properties) {
    if (property.number == hdf5::Property::Number::kSpace &&
        property.attribute != hdf5::kNoAttribute)
      spaces_.emplace(std::pair(property.owner, property.attribute), std::move(property.space));
  }
  digests_ = type_digests(extension->types);
  for (std::uint32_t n = 0; n < extension->types.size(); ++n) {
    if (!is_user_type(extension->types[n])) continue;
    declared_.push_back(static_cast<Type>(TypeTable::kFirst + n));
    own_names_.add(types(), digests_, declared_.back());
  }
  return {};
}

Status ShownGroup::open(std::vector<OpenGroup>* open, const TypeNames& names, bool has_groups) {
  NMB_TRY(read());
  open_ = open;
  names_ = &names;
  declared_.clear();
  if (metadata_.extension()) {
    NMB_ASSIGN(declared_, linked_types(*metadata_.extension()));
  }
  for (const Type code : declared_) open_->back().types.emplace(split_path(type(code).name).name);
  levels_ = levels_above(metadata_);
  if (shown_.is_netcdf()) is_used_.resize(shown_.dimension_count());
  for (std::uint32_t v = 0; !is_used_.empty() && v < shown_.variable_count(); ++v) {
    const ShownHeader::Variable variable = shown_.variable(v);
    if (!is_shown(metadata_.variable(variable.id).type)) continue;
    for (const std::uint32_t d : variable.dimensions) is_used_[d] = true;
  }
  bool keeps_names = has_groups;
  for (std::uint32_t d = 0; !keeps_names && d < shown_.dimension_count(); ++d)
    keeps_names = outer_group(d).has_value();
  if (keeps_names)
    for_each_own_dimension([&](const ShownHeader::Dimension& dimension) {
      open_->back().dimensions.emplace(dimension.name);
    });
  return {};
}

std::optional<std::string> ShownGroup::type_path(Type code) const {
  const ExtendedType& t = type(code);
  switch (t.type_class) {
    case TypeClass::kCompound:
    case TypeClass::kVlen:
    case TypeClass::kOpaque:
    case TypeClass::kEnum:
      break;
    default:
      return {};
  }
  const std::optional<std::string> path =
      names_->find(digests_[static_cast<std::uint32_t>(code) - TypeTable::kFirst]);
  if (path) return path;
  return is_user_type(t) ? std::optional(t.name) : std::nullopt;
}

std::optional<std::string> ShownGroup::type_reference(Type code) const {
  const std::optional<std::string> found = type_path(code);
  if (!found) return {};
  const SplitPath path = split_path(*found);
  const auto defines = [&](const OpenGroup& group) { return group.types.contains(path.name); };
  if (!open_ || std::ranges::any_of(*open_, defines)) return std::string(path.name);
  return joined_text(path.parent, "/", path.name);
}

std::optional<Type> ShownGroup::number(Type code) const {
  if (!TypeTable::is_extended(code)) return code;
  if (const std::optional<Type> same = types().classic(code)) return same;
  const ExtendedType& t = type(code);
  if (t.type_class == TypeClass::kFloat) return t.size <= 4 ? Type::kFloat : Type::kDouble;
  if (t.type_class != TypeClass::kInteger) return {};
  if (t.precision <= 8) return t.is_signed ? Type::kByte : Type::kUByte;
  if (t.precision <= 16) return t.is_signed ? Type::kShort : Type::kUShort;
  if (t.precision <= 32) return t.is_signed ? Type::kInt : Type::kUInt;
  return t.is_signed ? Type::kInt64 : Type::kUInt64;
}

std::string ShownGroup::enum_value(const ExtendedType& type, std::size_t member) const {
  const std::optional<Type> base = types().classic(type.base);
  if (!base) return {};
  const std::size_t size = type_size(*base);
  std::array<std::byte, 8> value{};
  std::copy_n(&type.values[member * size], size, value.begin());
  if (types().is_swapped(type.base))
    std::reverse(value.begin(), value.begin() + static_cast<std::ptrdiff_t>(size));
  return nmb::number_text(*base, value.data());
}

std::optional<std::string> ShownGroup::outer_group(std::uint32_t dimension) const {
  if (!open_) return {};
  const std::string_view path = shown_.dimension(dimension).path;
  std::optional<std::string> owner;
  if (!path.empty()) {
    owner = std::string(split_path(path.substr(1)).parent);
  } else if (dimension < levels_.size() && levels_[dimension] > 0) {
    const std::optional<std::string> above =
        path_above(open_->back().path, levels_[dimension], metadata_.dimension(dimension).name);
    if (above) owner = std::string(split_path(*above).parent);
  }
  return owner && *owner != open_->back().path ? owner : std::nullopt;
}

std::string_view ShownGroup::dimension_name(std::uint32_t number) const {
  const ShownHeader::Dimension dimension = shown_.dimension(number);
  return open_ && !dimension.path.empty() ? split_path(dimension.path).name : dimension.name;
}

std::string ShownGroup::dimension_reference(std::uint32_t number) const {
  const std::string_view name = dimension_name(number);
  const std::optional<std::string> owner = outer_group(number);
  if (!owner) return std::string(name);
  bool is_hidden = false;
  auto group = open_->rbegin();
  for (; group != open_->rend() && group->path != *owner; ++group)
    is_hidden = is_hidden || group->dimensions.contains(name);
  if (!is_hidden && group != open_->rend()) return std::string(name);
  return "/" + joined_path(*owner, name);
}

bool ShownGroup::is_shown(Type code) const {
  if (!open_ || !shown_.is_netcdf() || !TypeTable::is_extended(code)) return true;
  return is_shown_by_netcdf(type(code), type_path(code).has_value());
}

std::size_t ShownGroup::rank(VarId owner, std::uint32_t number, const Attribute& attribute) const {
  const auto space = spaces_.find({owner, number});
  if (space != spaces_.end()) return space->second.lengths.size();
  return attribute.count == 1 ? 0 : 1;
}

bool ShownGroup::is_text(VarId owner, std::uint32_t number, const Attribute& attribute) const {
  if (!TypeTable::is_extended(attribute.type)) return false;
  const ExtendedType& t = type(attribute.type);
  return t.type_class == TypeClass::kString && !t.variable_length &&
         rank(owner, number, attribute) == 0;
}

std::string ShownGroup::number_text(const Attribute& attribute, std::uint64_t index) const {
  const Type code = attribute.type;
  const bool is_extended = TypeTable::is_extended(code);
  const Type classic = is_extended ? *types().classic(code) : code;
  const std::size_t size = type_size(classic);
  std::array<std::byte, 8> value{};
  std::copy_n(attribute.values.data() + index * size, size, value.begin());
  if (is_extended && types().is_swapped(code))
    std::reverse(value.begin(), value.begin() + static_cast<std::ptrdiff_t>(size));
  return nmb::number_text(classic, value.data());
}

Result<std::vector<std::string>> ShownGroup::texts(const Attribute& attribute) const {
  const MemorySource region(attribute.values);
  const ExtendedType& t = type(attribute.type);
  const std::size_t size = types().value_size(attribute.type);
  WholeValues values(types(), &region, ValueFormat::kCdl);
  std::uint64_t left = region.size();
  std::vector<std::string> texts;
  for (std::uint64_t i = 0; i < attribute.count; ++i) {
    const std::byte* const value = attribute.values.data() + i * size;
    if (t.type_class != TypeClass::kString) {
      NMB_TRY(values.read(attribute.type, value));
      texts.emplace_back(values.text());
      continue;
    }
    std::vector<std::byte> bytes(value, value + size);
    if (t.variable_length) {
      NMB_ASSIGN(bytes, HeapValue::load(value).read(region, 1, &left));
    }
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    texts.emplace_back(text.substr(0, text.find('\0')));
  }
  return texts;
}

}  // namespace nmb
