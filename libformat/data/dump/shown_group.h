// ShownGroup: the definitions of one dataset or group as text shows them, with the names by which
// the text refers to types and dimensions of groups above it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dump/dump.h"
#include "dump/shown_header.h"
#include "dump/type_names.h"
#include "hdf5_types/hdf5_section.h"
#include "model/extension.h"

namespace nmb {

// The names that an open group defines, and that its objects and the groups below it use.
struct OpenGroup {
  std::string_view path;  // without the leading '/'
  std::set<std::string, std::less<>> dimensions{}, types{};
};

class ShownGroup {
 public:
  // Call read() or open() before any other function. `text` and `view` must outlive the object.
  ShownGroup(const ShownGroup&) = delete;
  ShownGroup& operator=(const ShownGroup&) = delete;
  ShownGroup(const DatasetText& text, const NetcdfView* view)
      : metadata_(text.metadata), shown_(text, view) {}

  // Reads a dataset that has no groups above it, so that all its types and dimensions are its own.
  // Errors: kDamaged if the hdf5 section is damaged.
  Status read();
  // Reads a group of a file. open: the groups above it, and the group itself as last element. The
  // names that the group defines are added to this element. names: names of all types of the file.
  // has_groups: whether there are groups below the group. Errors: those of read().
  Status open(std::vector<OpenGroup>* open, const TypeNames& names, bool has_groups);

  const Metadata& metadata() const { return metadata_; }
  const ShownHeader& shown() const { return shown_; }
  // Call this only for a dataset that defines types.
  const TypeTable& types() const { return metadata_.extension()->types; }
  const ExtendedType& type(Type code) const { return types().at(code); }

  // Returns the types that the text of the group declares.
  const std::vector<Type>& declared_types() const { return declared_; }
  // Returns the name by which the text refers to a compound, a sequence, an opaque type or an enum.
  // The path precedes the name unless an open group defines a type of this name. Returns nullopt if
  // the file has no named type that equals this type.
  std::optional<std::string> type_reference(Type code) const;
  // Returns a classic type for the values of an integer or a float: the type itself or, if its size
  // is not classic, the type that netCDF shows. Returns nullopt for other types.
  std::optional<Type> number(Type code) const;
  // Returns the value of an enum's member as text, or "" if the base type is not classic.
  std::string enum_value(const ExtendedType& type, std::size_t member) const;

  // Calls visit(dimension) for each dimension that the group defines.
  template <class Visit>
  void for_each_own_dimension(Visit visit) const {
    for (std::uint32_t d = 0; d < shown_.dimension_count(); ++d) {
      if (outer_group(d) || !is_dimension_shown(d)) continue;
      ShownHeader::Dimension dimension = shown_.dimension(d);
      dimension.name = dimension_name(d);
      visit(dimension);
    }
  }
  // Returns the name by which the text refers to a dimension. The path precedes the name if the
  // name alone would mean another dimension.
  std::string dimension_reference(std::uint32_t number) const;

  // Whether the text shows objects of a type. If the text shows netCDF's view of a file, these are
  // only the types that netCDF shows.
  bool is_shown(Type type) const;
  // Calls visit(attribute, number) for each attribute that the text shows.
  template <class Visit>
  void for_each_attribute(VarId owner, Visit visit) const {
    shown_.for_each_attribute(owner, [&](const Attribute& attribute, std::uint32_t number) {
      if (is_shown(attribute.type) && (!shown_.is_netcdf() || rank(owner, number, attribute) <= 1))
        visit(attribute, number);
    });
  }
  // Whether netCDF shows a fixed-length string as characters; not so if there are several strings.
  bool is_text(VarId owner, std::uint32_t number, const Attribute& attribute) const;
  // Returns the text of one value of an attribute of numbers, with all digits.
  std::string number_text(const Attribute& attribute, std::uint64_t index) const;
  // Returns the values of an attribute as texts: strings unchanged, other values as CDL. Errors:
  // kDamaged if a value of variable length is damaged.
  Result<std::vector<std::string>> texts(const Attribute& attribute) const;

 private:
  // Returns the path of the group above that defines a dimension, or nullopt if the group itself
  // does.
  std::optional<std::string> outer_group(std::uint32_t dimension) const;
  std::string_view dimension_name(std::uint32_t number) const;
  // netCDF makes up dimensions only for variables that it shows.
  bool is_dimension_shown(std::uint32_t number) const {
    return !shown_.dimension(number).is_made_up || is_used_.empty() || is_used_[number];
  }
  // Returns the path of the named type that equals a type.
  std::optional<std::string> type_path(Type code) const;
  // Returns the number of dimensions of an attribute's dataspace.
  std::size_t rank(VarId owner, std::uint32_t number, const Attribute& attribute) const;

  const Metadata& metadata_;
  const ShownHeader shown_;
  std::vector<Type> declared_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, hdf5::Space> spaces_;  // of attributes
  std::vector<std::uint32_t> levels_;  // of dimensions, see levels_above()
  // For each dimension, whether a shown variable has it. Empty if all variables are shown.
  std::vector<bool> is_used_;
  std::vector<Digest> digests_;  // of the types
  TypeNames own_names_;          // of a dataset without groups above it
  const TypeNames* names_ = &own_names_;
  std::vector<OpenGroup>* open_ = nullptr;
};

}  // namespace nmb
