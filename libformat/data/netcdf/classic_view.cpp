// Converts blocks of kind 6 to classic datasets (see netcdf/netcdf_view.h).
#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <optional>
#include <span>

#include "hdf5_types/hdf5_section.h"
#include "model/classic_grammar.h"
#include "model/heap_value.h"
#include "model/name_rules.h"
#include "netcdf/classic_type.h"
#include "netcdf/held_types.h"
#include "netcdf/laid_dataset.h"
#include "netcdf/netcdf_view.h"
#include "netcdf/own_attribute.h"
#include "netcdf/shared_dimensions.h"
#include "sources/tiled_values.h"
#include "sources/value_source.h"
#include "values/open_array.h"
#include "wire/checked.h"
#include "wire/endian.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

using hdf5::Property;
using Number = hdf5::Property::Number;

constexpr std::uint64_t kCache = std::uint64_t{256} << 20;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 62;

std::string kind_text(Kind kind) { return joined_text("CDF-", static_cast<int>(kind)); }

// Returns whether netCDF-C allows the name. ncdump does not show objects with other names.
bool is_classic_name(std::string_view name) {
  if (!check_new_name("object", name).ok() || name.back() == ' ') return false;
  const auto first = static_cast<unsigned char>(name.front());
  if (first < 0x80 && std::isalnum(first) == 0 && first != '_') return false;
  return std::none_of(name.begin(), name.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

constexpr std::string_view kNameLost =
    "found a name that is not allowed in classic netCDF; left out";

// The properties of a block, sorted by the objects to which they belong.
class Properties {
 public:
  explicit Properties(std::vector<Property> all) : all_(std::move(all)) {
    std::stable_sort(all_.begin(), all_.end(), less);
  }
  // Returns the properties of a variable or, for kGlobal, of the group.
  std::span<const Property> of(VarId owner) const {
    Property key;
    key.owner = owner;
    const auto [first, last] = std::equal_range(all_.begin(), all_.end(), key, less);
    return {first, last};
  }
  const Property* find(VarId owner, std::uint32_t attribute, Number number) const {
    for (const Property& p : of(owner))
      if (p.attribute == attribute && p.number == number) return &p;
    return nullptr;
  }

 private:
  static bool less(const Property& a, const Property& b) { return a.owner + 1 < b.owner + 1; }
  std::vector<Property> all_;
};

class ClassicMaker {
 public:
  ClassicMaker(std::shared_ptr<const Dataset> dataset, Kind target, const DimensionLengths* lengths,
               std::optional<std::int64_t> first_made_up, std::string_view record,
               OwnTypes own_types)
      : dataset_(std::move(dataset)),
        from_(dataset_->metadata),
        types_(from_.extension()->types),
        target_(target),
        view_(netcdf_view(*dataset_, lengths, first_made_up)),
        cache_(std::make_shared<ChunkCache>(kCache)),
        wanted_record_(record),
        keeps_types_(own_types == OwnTypes::kKept) {
    to_.check_names_at_once();
  }

  Result<ClassicView> make() {
    NMB_ASSIGN(std::vector<Property> properties, hdf5::decode_properties(from_.extension()->hdf5));
    properties_.emplace(std::move(properties));
    lose_links();
    for (const NetcdfView::Variable& shown : view_.variables) NMB_TRY(choose(shown));
    choose_dimensions();
    NMB_TRY(define_attributes(kGlobal, kGlobal, ""));
    for (const Chosen& chosen : chosen_) NMB_TRY(define(chosen));
    NMB_TRY(lay_out());
    std::vector<bool> is_written(from_.variable_count());
    for (const Chosen* chosen : written_) is_written[chosen->shown->id] = true;
    for (const NetcdfView::Variable& shown : view_.variables)
      if (!is_written[shown.id]) out_.left_out.push_back(shown.id);
    return std::move(out_);
  }

  // Returns, for each variable of the classic dataset, the block's variable that was converted to
  // it. Call this after make().
  std::vector<VarId> origins() const {
    std::vector<VarId> ids;
    for (const Chosen* chosen : written_) ids.push_back(chosen->shown->id);
    return ids;
  }
  // Returns the original type of each object that was converted to a type that the target does not
  // have, by Loss::object. Call this after make().
  const std::map<std::string, std::string>& unheld() const { return unheld_; }

 private:
  // A variable of the classic dataset, unless one of its dimensions is left out.
  struct Chosen {
    const NetcdfView::Variable* shown;
    ClassicType type;
    Source values;                       // the values as one array in external form
    std::vector<std::uint64_t> lengths;  // lengths of `values` without the dimension of characters
    std::vector<std::byte> fill;         // value of elements outside the array `values`
    // The region of values of variable length, and the offset of the bytes to which they refer.
    Source region{};
    std::uint64_t heap = 0;
  };

  void lose(std::string object, std::string text) {
    out_.losses.push_back({std::move(object), std::move(text)});
  }

  void lose_links() {
    constexpr std::string_view kLeftOut = "; left out";
    for (const Property& p : properties_->of(kGlobal)) {
      if (p.attribute != hdf5::kNoAttribute) continue;
      if (p.number == Number::kUserBlock)
        lose("group", joined_text("found a user block of ", p.bytes.size(), " bytes; left out"));
      if (p.number == Number::kComment) lose("group", "found a comment; left out");
      if (keeps_types_ && types_.has(p.type) && TypeTable::is_extended(p.type) &&
          (p.number == Number::kTypeAttributes || p.number == Number::kTypeComment))
        lose("type " + in_quotes(types_.at(p.type).name),
             p.number == Number::kTypeComment ? "found a comment of a named datatype; left out"
                                              : "found attributes of a named datatype; left out");
      if (p.number != Number::kLinks) continue;
      for (const hdf5::Link& link : p.links) {
        const std::string object = "link " + in_quotes(link.name);
        const auto named = static_cast<Type>(link.number);
        if (link.kind == hdf5::LinkKind::kType && keeps_types_ && TypeTable::is_extended(named) &&
            types_.has(named) && !has_reference(named))
          out_.named_types.push_back(types_.only(named));
        else if (link.kind == hdf5::LinkKind::kType)
          lose("type " + in_quotes(link.name), "found a named datatype; left out");
        else if (link.kind == hdf5::LinkKind::kSoft || link.kind == hdf5::LinkKind::kHard)
          lose(object, joined_text("found a ", link.kind == hdf5::LinkKind::kSoft ? "soft" : "hard",
                                   " link to ", in_quotes(link.content), kLeftOut));
        else if (link.kind == hdf5::LinkKind::kExternal)
          lose(object, joined_text("found a link to another file", kLeftOut));
        else if (link.kind == hdf5::LinkKind::kUserDefined)
          lose(object, joined_text("found a link of class ", link.number, kLeftOut));
      }
    }
  }

  bool has_reference(Type type) const {
    const TypeTable parts = types_.only(type);
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (parts[i].type_class == TypeClass::kReference) return true;
    return false;
  }

  // Returns whether values of a type are kept as bytes.
  bool is_kept(Type type) const {
    return keeps_types_ && !types_.classic(type) &&
           (!types_.needs_heap(type) || heap_places(types_, type));
  }

  // Returns the CDF-5 type to which a type is converted. If there is none, records a loss and
  // returns nullopt; the object is then left out.
  std::optional<ClassicType> choose_type(const std::string& object, Type type) {
    if (is_kept(type)) return ClassicType{Type::kChar, types_.value_size(type), false};
    if (const std::optional<ClassicType> classic = classic_type(types_, type)) return classic;
    lose(object, unfit(type) + "; left out");
    return std::nullopt;
  }

  std::string unfit(Type type) const {
    const std::string found = "found type " + types_.text(type) + ", expected ";
    if (keeps_types_)
      return found + "a type without references and without sequences of values of variable length";
    return found + "one of " + kind_text(target_);
  }

  void lose_type(const std::string& object, Type type, const ClassicType& to) {
    if (!to.is_changed) return;
    if (classic::has_type(target_, to.type))
      lose(object, joined_text(unfit(type), "; its values are written as ", type_name(to.type)));
    else
      unheld_.emplace(object, types_.text(type));
  }

  Status choose(const NetcdfView::Variable& shown) {
    const Variable v = from_.variable(shown.id);
    const std::string object = "variable " + in_quotes(shown.name);
    const Property* const space = properties_->find(shown.id, hdf5::kNoAttribute, Number::kSpace);
    if (space && space->space.space_class == hdf5::SpaceClass::kNull) {
      lose(object, "found a null dataspace instead of values; left out");
      return {};
    }
    if (!is_classic_name(shown.name)) {
      lose(object, std::string(kNameLost));
      return {};
    }
    const std::optional<ClassicType> type = choose_type(object, v.type);
    if (!type) return {};
    const Result<ValueArray> array =
        open_array(from_, dataset_->layout, dataset_->records, shown.id, dataset_->extent,
                   properties_->of(shown.id), cache_);
    if (!array.ok()) {
      if (array.status().code() != Code::kUnsupported) return array.status().of_object(object);
      lose(object, array.status().message() + "; left out");
      return {};
    }
    lose_type(object, v.type, *type);
    lose_more(shown, space);
    NMB_ASSIGN(Source values, plain_array(*array, v, *type));
    Chosen chosen{&shown, *type, source_of(form::Named{std::move(values), object}),
                  array->shape.lengths, fill_of(shown.id, v.type, *type)};
    if (types_.needs_heap(v.type) && array->region) {
      const Storage* const storage = from_.extension()->storage_of(shown.id);
      // In a region of kind 1, the heap follows the array. Otherwise all values are the fill value,
      // which comes first in the region.
      chosen.region = array->region;
      chosen.heap =
          std::min(storage->kind == StorageKind::kHeap ? from_.array_bytes(shown.id).value_or(0)
                                                       : types_.value_size(v.type),
                   array->region->size());
      if (is_longer(shown, chosen.lengths) && is_filled(chosen.fill) &&
          !place_empty(v.type, chosen.heap, &chosen.fill)) {
        lose(object,
             "found fewer values than its unlimited dimension has, and a fill value of "
             "variable length; left out");
        return {};
      }
    }
    chosen_.push_back(std::move(chosen));
    return {};
  }

  // Returns whether a dimension of a variable is longer than its array.
  bool is_longer(const NetcdfView::Variable& shown,
                 const std::vector<std::uint64_t>& lengths) const {
    for (std::size_t i = 0; i < lengths.size(); ++i)
      if (view_.dimensions[shown.dimensions[i]].length != lengths[i]) return true;
    return false;
  }
  // Gives an empty value of variable length, for example an empty string, a place at the begin of
  // the heap of a variable. Returns whether the value is empty and has such a place.
  bool place_empty(Type type, std::uint64_t heap, std::vector<std::byte>* value) const {
    const auto places = heap_places(types_, type);
    if (!places || heap == 0) return false;
    for (const HeapPlace& place : *places) {
      const HeapValue found = HeapValue::load(value->data() + place.offset);
      if (found.count > 0) return false;
      if (!found.is_null()) store_le(value->data() + place.offset + 8, heap);
    }
    return true;
  }
  static bool is_filled(std::span<const std::byte> fill) {
    return std::ranges::any_of(fill, [](std::byte b) { return b != std::byte{0}; });
  }

  // Records the losses of a variable that do not concern its values.
  void lose_more(const NetcdfView::Variable& shown, const Property* space) {
    const std::string object = "variable " + in_quotes(shown.name);
    if (properties_->find(shown.id, hdf5::kNoAttribute, Number::kComment))
      lose(object, "found a comment; left out");
    if (!space) return;
    const hdf5::Space& s = space->space;
    for (std::size_t i = 0; i < s.maximum.size() && i < s.lengths.size(); ++i)
      if (s.maximum[i] != s.lengths[i] && s.maximum[i] != hdf5::kUnlimitedLength)
        lose(object, joined_text("found a dimension with the maximum length ", s.maximum[i],
                                 "; its length is now fixed at ", s.lengths[i]));
  }

  Result<Source> plain_array(const ValueArray& array, const Variable& v,
                             const ClassicType& type) const {
    Source source = array.source;
    // The values of variable length lie before the bytes to which they refer.
    if (array.region && types_.needs_heap(v.type) && source == array.region) {
      const std::uint64_t bytes = std::min(array_bytes(array), source->size());
      return run_of(std::move(source), 0, bytes);
    }
    if (array.shape.record_size > 0 || source == dataset_->extent) {
      NMB_ASSIGN(source, variable_array(source, array.shape, "variable " + in_quotes(v.name)));
    }
    if (!type.is_changed) return source;
    return Source(source_of(
        form::Converted{std::move(source), ClassicValues(types_, v.type, type).conversion()}));
  }

  static std::uint64_t array_bytes(const ValueArray& array) {
    std::uint64_t bytes = array.shape.element_size;
    for (const std::uint64_t length : array.shape.lengths) bytes *= length;
    return bytes;
  }

  // Returns the value that netCDF-C shows for missing elements of a variable that is shorter than
  // its dimension.
  std::vector<std::byte> fill_of(VarId variable, Type from, const ClassicType& type) {
    std::vector<std::byte> fill(type.value_bytes());
    const Property* const creation =
        properties_->find(variable, hdf5::kNoAttribute, Number::kCreation);
    const ClassicValues values(types_, from, type);
    if (creation && creation->creation.fill_state == hdf5::FillState::kUser &&
        creation->creation.fill_value.size() >= values.from_bytes())
      values.convert(creation->creation.fill_value, fill);
    else if (type.characters == 0)
      fill = default_fill_value(type.type);
    return fill;
  }

  // Chooses the dimensions of the classic dataset and one of them as the record dimension.
  void choose_dimensions() {
    const std::size_t count = view_.dimensions.size();
    const bool keeps_unused = view_.is_netcdf || is_classic_dataset(from_);
    std::vector<bool> used(count);
    std::vector<bool> slowest(count, true);
    for (const Chosen& chosen : chosen_)
      for (std::size_t i = 0; i < chosen.shown->dimensions.size(); ++i) {
        used[chosen.shown->dimensions[i]] = true;
        if (i > 0) slowest[chosen.shown->dimensions[i]] = false;
      }
    const auto may_be_record = [&](std::uint32_t d) {
      return view_.dimensions[d].may_grow && slowest[d] && (used[d] || keeps_unused);
    };
    for (std::uint32_t d = 0; d < count && !record_; ++d)
      if (may_be_record(d) && view_.dimensions[d].name == wanted_record_) record_ = d;
    for (const bool by_use : {true, false})
      for (std::uint32_t d = 0; d < count && !record_; ++d)
        if (may_be_record(d) && used[d] == by_use) record_ = d;
    ids_.resize(count);
    for (std::uint32_t d = 0; d < count; ++d)
      if (used[d] || keeps_unused) define_dimension(d, slowest[d], used[d]);
  }

  void define_dimension(std::uint32_t d, bool is_slowest, bool is_used) {
    const NetcdfView::Dimension& dimension = view_.dimensions[d];
    const std::string object = "dimension " + in_quotes(dimension.name);
    if (!is_classic_name(dimension.name)) {
      lose(object, std::string(kNameLost));
    } else if (record_ != d && dimension.length == 0) {
      lose(object,
           joined_text("found the length 0 of a dimension that is not the record dimension",
                       dimension.may_grow ? ", although it is unlimited" : "", "; left out"));
      if (dimension.may_grow && !is_used)
        out_.empty_dimensions.push_back({dimension.name, out_.losses.size() - 1});
    } else {
      const bool is_fixed_now = dimension.may_grow && record_ != d;
      if (is_fixed_now)
        lose(object,
             joined_text(
                 is_slowest ? "found a second unlimited dimension"
                            : "found an unlimited dimension that is not always the slowest",
                 ", expected only one, which is always the slowest; its length is now fixed"));
      // def_dim() cannot fail here, because the name is distinct and the length is less than 2^63.
      const Result<DimId> id =
          to_.def_dim(dimension.name, record_ == d ? kUnlimited : dimension.length);
      if (!id.ok()) return;
      ids_[d] = *id;
      if (dimension.is_made_up) out_.made_up.push_back(*id);
      if (is_fixed_now) out_.fixed_dimensions.push_back({*id, out_.losses.size() - 1});
    }
  }

  Status define(const Chosen& chosen) {
    const NetcdfView::Variable& shown = *chosen.shown;
    const std::string object = "variable " + in_quotes(shown.name);
    std::vector<DimId> dimensions;
    for (const std::uint32_t d : shown.dimensions) {
      if (!ids_[d]) {
        lose(object, "found dimension " + in_quotes(view_.dimensions[d].name) +
                         ", which classic netCDF cannot have; left out");
        return {};
      }
      dimensions.push_back(*ids_[d]);
    }
    if (to_.find_variable(shown.name)) {
      lose(object, "found another variable with this name; left out");
      return {};
    }
    if (chosen.type.characters > 0) {
      out_.own.push_back({shown.name, types_.only(from_.variable(shown.id).type), chosen.fill});
      own_.push_back(&chosen);
      NMB_ASSIGN(const DimId characters, dimension_of_characters(chosen.type.characters));
      dimensions.push_back(characters);
    }
    NMB_ASSIGN(const VarId variable, to_.def_var(shown.name, chosen.type.type, dimensions));
    written_.push_back(&chosen);
    NMB_TRY(define_attributes(shown.id, variable, shown.name));
    if (chosen.type.characters == 0 && chosen.fill != default_fill_value(chosen.type.type) &&
        !to_.find_attribute(variable, "_FillValue"))
      out_.lost_fill_values.emplace_back(shown.name);
    return {};
  }

  Result<DimId> dimension_of_characters(std::uint64_t length) {
    if (const auto found = of_characters_.find(length); found != of_characters_.end())
      return found->second;
    // The first name cannot be that of a dimension of the input.
    const std::string base =
        keeps_types_ ? joined_text("bytes of a value: ", length) : joined_text("string", length);
    std::string name = base;
    for (unsigned n = 2; to_.find_dimension(name); ++n) name = joined_text(base, "_", n);
    NMB_ASSIGN(const DimId id, to_.def_dim(name, length));
    of_characters_.emplace(length, id);
    return id;
  }

  // Defines the attributes of a variable or of the block. name: the variable's name in the output;
  // empty for the block.
  Status define_attributes(VarId from, VarId to, const std::string& name) {
    std::uint32_t number = 0;
    return from_.try_each_attribute(from, [&](const Attribute& attribute) {
      const std::uint32_t own = number++;
      return view_.hides(from, attribute.name) ? Status()
                                               : define_attribute(from, own, attribute, to, name);
    });
  }

  Status define_attribute(VarId from, std::uint32_t number, const Attribute& attribute, VarId to,
                          const std::string& owner) {
    const std::string object = "attribute " + in_quotes(joined_text(owner, ":", attribute.name));
    if (!is_classic_name(attribute.name)) {
      lose(object, std::string(kNameLost));
      return {};
    }
    if (const auto kept = keep_attribute(from, attribute, object)) {
      NMB_TRY(*kept);
      lose_shape(from, number, attribute, object);
      NMB_ASSIGN(const std::vector<std::byte> encoded, encode_own(types_, attribute));
      out_.own_attributes.push_back({to, std::string(attribute.name)});
      if (is_scalar(from, number, attribute))
        out_.attribute_forms.push_back({to, std::string(attribute.name), {}, true});
      return to_.def_att(to, attribute.name, Type::kChar, encoded);
    }
    const TypeClass type_class = TypeTable::is_extended(attribute.type)
                                     ? types_.at(attribute.type).type_class
                                     : TypeClass::kInteger;
    if (type_class == TypeClass::kString && types_.classic(attribute.type) != Type::kChar &&
        attribute.count > 1) {
      lose(object,
           joined_text("found ", attribute.count, " strings, expected one string; left out"));
      return {};
    }
    ClassicType type{Type::kChar, 0, false};
    const bool is_text =
        type_class == TypeClass::kString && types_.at(attribute.type).variable_length;
    if (!is_text) {
      const std::optional<ClassicType> chosen = choose_type(object, attribute.type);
      if (!chosen) return {};
      type = *chosen;
      lose_type(object, attribute.type, type);
    }
    lose_shape(from, number, attribute, object);
    std::vector<std::byte> values;
    if (is_text) {
      NMB_ASSIGN(values, text_of(attribute, object));
    } else {
      values.resize(attribute.count * type.value_bytes());
      ClassicValues(types_, attribute.type, type).convert(attribute.values, values);
    }
    if (keeps_types_)
      note_form(from, number, attribute, {attribute.name, type.type, 0, values}, to);
    return to_.def_att(to, attribute.name, type.type, values);
  }

  // A united block has no property for attributes with one dimension.
  bool is_scalar(VarId from, std::uint32_t number, const Attribute& attribute) const {
    const Property* const p = properties_->find(from, number, Number::kSpace);
    return p ? p->space.space_class == hdf5::SpaceClass::kScalar
             : attribute.count == 1 && !view_.is_united;
  }

  void note_form(VarId from, std::uint32_t number, const Attribute& attribute,
                 const Attribute& classic, VarId to) {
    const Property* const p = properties_->find(from, number, Number::kSpace);
    if (p && p->space.lengths.size() > 1) return;
    auto form = form_of_attribute(types_, attribute, is_scalar(from, number, attribute), classic);
    if (!form) return;
    form->owner = to;
    out_.attribute_forms.push_back(*std::move(form));
  }

  // Returns a status if the attribute keeps its type, and nullopt if it gets a classic type. A
  // single string becomes characters, unless its variable has the same type or characters cannot
  // represent it.
  std::optional<Status> keep_attribute(VarId from, const Attribute& attribute,
                                       const std::string& object) const {
    if (!is_kept(attribute.type)) return std::nullopt;
    const ExtendedType& own = types_.at(attribute.type);
    if (own.type_class != TypeClass::kString || attribute.count > 1) return Status();
    if (from != kGlobal && types_.only(attribute.type) == types_.only(from_.variable(from).type))
      return Status();
    if (!own.variable_length || attribute.count == 0) return std::nullopt;
    const HeapValue value = HeapValue::load(attribute.values.data());
    if (value.is_null()) return Status();
    std::uint64_t left = attribute.values.size();
    const auto text = value.read(MemorySource(attribute.values), 1, &left);
    if (!text.ok()) return text.status().of_object(object);
    if (std::ranges::count(*text, std::byte{0}) > 0) return Status();
    return std::nullopt;
  }

  void lose_shape(VarId from, std::uint32_t number, const Attribute& attribute,
                  const std::string& object) {
    const Property* const p = properties_->find(from, number, Number::kSpace);
    if (!p) return;
    if (p->space.space_class == hdf5::SpaceClass::kNull) {
      // netCDF itself stores an attribute without values as a null dataspace, and so does a united
      // block.
      if (!view_.is_netcdf && !keeps_types_)
        lose(object, "found a null dataspace; the attribute is written without values");
    } else if (p->space.lengths.size() > 1) {
      lose(object, joined_text("found ", p->space.lengths.size(),
                               " dimensions; written as a list of ", attribute.count, " values"));
    }
  }

  // Returns the text of a string of variable length; no bytes for a null string.
  Result<std::vector<std::byte>> text_of(const Attribute& attribute, const std::string& object) {
    if (attribute.count == 0) return std::vector<std::byte>();
    const HeapValue value = HeapValue::load(attribute.values.data());
    if (value.is_null()) lose(object, "found a null string; written as an empty string");
    std::uint64_t left = attribute.values.size();
    Result<std::vector<std::byte>> text = value.read(MemorySource(attribute.values), 1, &left);
    if (!text.ok()) return text.status().of_object(object);
    if (std::find(text->begin(), text->end(), std::byte{0}) != text->end())
      lose(object, "found a NUL in a string of variable length; written with all of its bytes");
    return text;
  }

  Status lay_out() {
    NMB_ASSIGN(const ClassicLayout layout, layout_classic(to_, Kind::kCdf5));
    const std::uint64_t records = record_ && ids_[*record_] ? view_.dimensions[*record_].length : 0;
    std::uint64_t bytes = 0;
    if (layout.fixed_end > kMostBytes || !checked_mul(records, layout.record_size, &bytes) ||
        bytes > kMostBytes)
      return Status(Code::kLimit, "found more than 2^62 bytes of values in the classic dataset");
    auto values =
        std::make_shared<LaidValues>(laid_values(layout, records, dataset_->extent->name()));
    for (VarId v = 0; v < written_.size(); ++v) {
      const Chosen& chosen = *written_[v];
      std::vector<std::uint64_t> lengths;
      for (const std::uint32_t d : chosen.shown->dimensions)
        lengths.push_back(view_.dimensions[d].length);
      Source source = chosen.values;
      if (lengths != chosen.lengths)
        source = padded_array(std::move(source), chosen.lengths, lengths, chosen.fill);
      values->add(to_, v, std::move(source), 0, to_.slice_bytes(v).value_or(0));
    }
    out_.dataset = laid_dataset(dataset_, std::move(to_), layout, records, std::move(values));
    add_heaps();
    return {};
  }

  // Appends the bytes to which values of variable length refer to the extent.
  void add_heaps() {
    form::Spliced all{
        {out_.dataset->extent}, {}, out_.dataset->extent->size(), out_.dataset->extent->name()};
    all.runs.push_back({0, all.bytes, 0, 0});
    for (std::size_t i = 0; i < own_.size(); ++i) {
      const Chosen& chosen = *own_[i];
      if (!chosen.region) continue;
      const std::uint64_t length = chosen.region->size() - chosen.heap;
      out_.own[i].heap = {all.bytes, length, chosen.heap};
      if (length == 0) continue;
      all.runs.push_back(
          {all.bytes, length, chosen.heap, static_cast<std::uint32_t>(all.sources.size())});
      all.sources.push_back(chosen.region);
      all.bytes += length;
    }
    if (all.sources.size() == 1) return;
    Dataset with_heaps = *out_.dataset;
    with_heaps.extent = source_of(std::move(all));
    out_.dataset = dataset_keeping(std::move(out_.dataset), std::move(with_heaps));
  }

  const std::shared_ptr<const Dataset> dataset_;
  const Metadata& from_;
  const TypeTable& types_;
  const Kind target_;
  const NetcdfView view_;
  const std::shared_ptr<ChunkCache> cache_;
  const std::string_view wanted_record_;
  const bool keeps_types_;
  std::optional<Properties> properties_;
  std::vector<Chosen> chosen_;
  std::vector<const Chosen*> written_;     // the variables of the output, in order
  std::vector<const Chosen*> own_;         // the variables of out_.own
  std::optional<std::uint32_t> record_;    // the view's dimension that becomes the record dimension
  std::vector<std::optional<DimId>> ids_;  // output dimension for each dimension of the view
  std::map<std::uint64_t, DimId> of_characters_;
  std::map<std::string, std::string> unheld_;
  Metadata to_{Metadata::Names::kAsFound};
  ClassicView out_;
};

Loss lost_type(std::string object, Type type, Kind target) {
  return {std::move(object), joined_text("found type ", type_name(type), ", expected one of ",
                                         kind_text(target), "; left out")};
}

// Makes a view that may have all types of CDF-5, and from it a view that has only the types of the
// target.
Result<ClassicView> view_of_types(std::shared_ptr<const Dataset> dataset, Kind target,
                                  const DimensionLengths* lengths,
                                  std::optional<std::int64_t> first_made_up,
                                  std::string_view record, OwnTypes own_types) {
  ClassicMaker maker(std::move(dataset), target, lengths, first_made_up, record, own_types);
  NMB_ASSIGN(ClassicView all, maker.make());
  NMB_ASSIGN(ClassicView view, with_types_of(all.dataset, target, maker.unheld()));
  const std::vector<VarId> origins = maker.origins();
  for (VarId& id : view.left_out) id = origins[id];
  view.left_out.insert(view.left_out.begin(), all.left_out.begin(), all.left_out.end());
  // The losses of `all` are put first, so their indexes stay valid.
  view.fixed_dimensions = std::move(all.fixed_dimensions);
  view.made_up = std::move(all.made_up);
  view.empty_dimensions = std::move(all.empty_dimensions);
  view.losses.insert(view.losses.begin(), std::make_move_iterator(all.losses.begin()),
                     std::make_move_iterator(all.losses.end()));
  view.lost_fill_values = std::move(all.lost_fill_values);
  view.own = std::move(all.own);
  view.own_attributes = std::move(all.own_attributes);
  view.attribute_forms = std::move(all.attribute_forms);
  view.named_types = std::move(all.named_types);
  return view;
}

}  // namespace

std::vector<Loss> type_losses(const Metadata& metadata, Kind target) {
  std::vector<Loss> losses;
  const auto check = [&](std::string object, Type type) {
    if (classic::has_type(target, type)) return true;
    losses.push_back(lost_type(std::move(object), type, target));
    return false;
  };
  const auto check_attributes = [&](VarId owner, std::string_view name) {
    metadata.for_each_attribute(owner, [&](const Attribute& attribute) {
      check("attribute " + in_quotes(joined_text(name, ":", attribute.name)), attribute.type);
    });
  };
  check_attributes(kGlobal, "");
  for (VarId v = 0; v < metadata.variable_count(); ++v) {
    const Variable variable = metadata.variable(v);
    if (check("variable " + in_quotes(variable.name), variable.type))
      check_attributes(v, variable.name);
  }
  return losses;
}

Result<ClassicView> classic_view(std::shared_ptr<const Dataset> dataset, Kind target,
                                 const DimensionLengths* lengths,
                                 std::optional<std::int64_t> first_made_up, std::string_view record,
                                 OwnTypes own_types) {
  if (has_classic_values(dataset->metadata))
    return with_types_of(as_classic(std::move(dataset)), target);
  const std::string file = dataset->extent->name();
  const bool is_file = dataset->name == file;
  const std::string block = is_file ? "" : "block " + in_quotes(dataset->name) + ": ";
  Result<ClassicView> view =
      view_of_types(std::move(dataset), target, lengths, first_made_up, record, own_types);
  if (view.ok()) return view;
  const Status& status = view.status();
  return Status(status.code(), file, status.offset(), status.rule(), block + status.message());
}

}  // namespace nmb
