#include "netcdf/held_types.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/classic_grammar.h"
#include "model/name_rules.h"
#include "netcdf/laid_dataset.h"
#include "sources/type_widening.h"
#include "sources/value_source.h"
#include "wire/endian.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

constexpr std::size_t kScanned = 1 << 20;  // bytes that are scanned at once
constexpr std::string_view kFillName = "_FillValue";

// Finds out whether int or double holds all integers that were added.
class Holders {
 public:
  // maps_fill: whether the default fill value of `type` becomes the default fill value of the new
  // type.
  Holders(Type type, bool maps_fill)
      : type_(type),
        size_(type_size(type)),
        fill_(maps_fill && size_ > 1 ? default_fill_value(type) : std::vector<std::byte>()),
        int_fill_(maps_fill ? kIntFill : std::optional<std::uint64_t>()) {}

  void add(std::span<const std::byte> values) {
    for (; values.size() >= size_; values = values.subspan(size_)) {
      if (!fill_.empty() && std::memcmp(values.data(), fill_.data(), size_) == 0) continue;
      if (type_ == Type::kUInt)
        add_integer(load_be<std::uint32_t>(values.data()), false);
      else
        add_integer(load_be<std::uint64_t>(values.data()), type_ == Type::kInt64);
    }
  }
  // Returns int if it holds all integers, otherwise double; nullopt if neither does.
  std::optional<Type> narrowest() const {
    if (in_int_) return Type::kInt;
    return in_double_ ? std::optional(Type::kDouble) : std::nullopt;
  }
  bool holds(Type type) const { return type == Type::kInt ? in_int_ : in_double_; }

 private:
  static constexpr std::uint64_t kIntFill = ~std::uint64_t{0} - 2147483646;  // -2147483647

  void add_integer(std::uint64_t bits, bool is_signed) {
    const bool negative = is_signed && bits >> 63 != 0;
    const std::uint64_t magnitude = negative ? ~bits + 1 : bits;
    constexpr std::uint64_t kMost = std::numeric_limits<std::int32_t>::max();
    // No other number may become the fill value of int.
    in_int_ =
        in_int_ && magnitude <= kMost + (negative ? 1 : 0) && !(negative && int_fill_ == bits);
    constexpr std::uint64_t kBeyond = std::uint64_t{1} << std::numeric_limits<double>::digits;
    in_double_ =
        in_double_ && (magnitude == 0 || magnitude >> std::countr_zero(magnitude) < kBeyond);
  }

  const Type type_;
  const std::size_t size_;
  const std::vector<std::byte> fill_;
  const std::optional<std::uint64_t> int_fill_;
  bool in_int_ = true, in_double_ = true;
};

// Returns the CDF-1 type that holds every value of `type`, if there is one.
std::optional<Type> holder_of_all(Type type) {
  if (type == Type::kUByte) return Type::kShort;
  if (type == Type::kUShort) return Type::kInt;
  return std::nullopt;
}

class TypeChanger {
 public:
  TypeChanger(std::shared_ptr<const Dataset> dataset, Kind target,
              const std::map<std::string, std::string>& found)
      : dataset_(std::move(dataset)), from_(dataset_->metadata), target_(target), found_(found) {}

  Result<ClassicView> make() {
    for (DimId id = 0; id < from_.dimension_count(); ++id) {
      const Dimension dimension = from_.dimension(id);
      NMB_TRY(to_.def_dim(dimension.name, dimension.length).status());
    }
    NMB_TRY(add_attributes(kGlobal, kGlobal, "", Type::kChar, Type::kChar));
    for (VarId v = 0; v < from_.variable_count(); ++v) NMB_TRY(add_variable(v));
    return lay_out();
  }

 private:
  struct KeptVariable {
    VarId id;      // id of the variable in the dataset
    Source array;  // values converted to another type; nullptr if they are not converted
  };

  bool has(Type type) const { return classic::has_type(target_, type); }

  void lose(const std::string& object, Type type, std::optional<Type> held) {
    const auto found = found_.find(object);
    std::string text = joined_text(
        "found type ", found == found_.end() ? std::string(type_name(type)) : found->second,
        ", expected one of CDF-", static_cast<int>(target_));
    if (held)
      text += joined_text("; its values are written as ", type_name(*held));
    else
      text += ", and values that int and double cannot represent exactly; left out";
    out_.losses.push_back({object, std::move(text)});
  }

  Status add_variable(VarId v) {
    const Variable variable = from_.variable(v);
    Type type = variable.type;
    Source array;
    if (!has(type)) {
      const std::string object = "variable " + in_quotes(variable.name);
      const std::optional<Attribute> fill = from_.find_attribute(v, kFillName);
      NMB_ASSIGN(array, array_of(v));
      NMB_ASSIGN(const std::optional<Type> held, holder_of(*array, type, fill));
      lose(object, type, held);
      if (!held) {
        out_.left_out.push_back(v);
        return {};
      }
      array = source_of(form::Converted{source_of(form::Named{std::move(array), object}),
                                        widening({type, *held, !fill})});
      type = *held;
    }
    NMB_ASSIGN(const VarId id, to_.def_var(variable.name, type, variable.dimensions));
    kept_.push_back({v, std::move(array)});
    return add_attributes(v, id, variable.name, variable.type, type);
  }

  // Returns all values of a variable as one array.
  Result<Source> array_of(VarId v) const {
    NMB_ASSIGN(const VariableShape shape, dataset_->shape(v));
    return variable_array(dataset_->extent, shape, "variable " + in_quotes(from_.variable(v).name));
  }

  // Returns a type that holds all values of the variable and, if possible, its fill value.
  Result<std::optional<Type>> holder_of(const ByteSource& array, Type type,
                                        const std::optional<Attribute>& fill) const {
    if (const std::optional<Type> all = holder_of_all(type)) return all;
    Holders holders(type, !fill);
    std::vector<std::byte> buffer(std::min<std::uint64_t>(array.size(), kScanned));
    for (std::uint64_t at = 0; at < array.size() && holders.narrowest(); at += buffer.size()) {
      buffer.resize(std::min<std::uint64_t>(array.size() - at, buffer.size()));
      NMB_TRY(array.read_at(at, buffer));
      holders.add(buffer);
    }
    Holders with_fill = holders;
    if (fill && fill->type == type) with_fill.add(fill->values);
    return with_fill.narrowest() ? with_fill.narrowest() : holders.narrowest();
  }

  // Adds the attributes of a variable whose type changed from `was` to `is`.
  Status add_attributes(VarId owner, VarId own, std::string_view name, Type was, Type is) {
    return from_.try_each_attribute(owner, [&](const Attribute& attribute) {
      return add_attribute(attribute, own, name, was, is);
    });
  }

  Status add_attribute(const Attribute& attribute, VarId own, std::string_view name, Type was,
                       Type is) {
    if (has(attribute.type))
      return to_.def_att(own, attribute.name, attribute.type, attribute.values);
    std::optional<Type> held = holder_of_all(attribute.type);
    if (!held) {
      Holders holders(attribute.type, false);
      holders.add(attribute.values);
      held = holders.narrowest();
      // An attribute of the variable's old type gets the variable's new type.
      const bool goes_with = attribute.type == was && was != is;
      if (goes_with && holders.holds(is)) held = is;
      if (goes_with && attribute.name == kFillName && !holders.holds(is)) held.reset();
    }
    lose("attribute " + in_quotes(joined_text(name, ":", attribute.name)), attribute.type, held);
    if (!held) return {};
    return to_.def_att(own, attribute.name, *held,
                       widened_values(attribute.values, attribute.type, *held));
  }

  Result<ClassicView> lay_out() {
    NMB_ASSIGN(const ClassicLayout layout, layout_classic(to_, Kind::kCdf5));
    auto values = std::make_shared<LaidValues>(
        laid_values(layout, dataset_->records, dataset_->extent->name()));
    for (VarId v = 0; v < kept_.size(); ++v) {
      const KeptVariable& kept = kept_[v];
      if (kept.array)
        values->add(to_, v, kept.array, 0, to_.slice_bytes(v).value_or(0));
      else
        values->add(to_, v, dataset_->extent, from_.begin(kept.id) - dataset_->layout.header_length,
                    dataset_->layout.record_size);
    }
    out_.dataset =
        laid_dataset(dataset_, std::move(to_), layout, dataset_->records, std::move(values));
    return std::move(out_);
  }

  const std::shared_ptr<const Dataset> dataset_;
  const Metadata& from_;
  const Kind target_;
  const std::map<std::string, std::string>& found_;
  Metadata to_{Metadata::Names::kAsFound};
  std::vector<KeptVariable> kept_;
  ClassicView out_;
};

}  // namespace

Result<ClassicView> with_types_of(std::shared_ptr<const Dataset> dataset, Kind target,
                                  const std::map<std::string, std::string>& found) {
  if (type_losses(dataset->metadata, target).empty())
    return ClassicView{std::move(dataset), {}, {}, {}, {}, {}, {}};
  return TypeChanger(std::move(dataset), target, found).make();
}

}  // namespace nmb
