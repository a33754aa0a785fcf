// Encodes and decodes the hdf5 section of a body of kind 6. The section records the parts of an
// HDF5 group that are beyond the netCDF data model (spec/hdf5_section.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "model/extension.h"
#include "wire/failure.h"
#include "wire/kinds.h"

namespace nmb::hdf5 {

inline constexpr std::uint32_t kNoAttribute = ~std::uint32_t{0};
inline constexpr std::uint64_t kUnlimitedLength = ~std::uint64_t{0};

enum class SpaceClass : std::uint8_t { kScalar = 0, kSimple = 1, kNull = 2 };
struct Space {
  SpaceClass space_class = SpaceClass::kSimple;
  std::vector<std::uint64_t> lengths,
      maximum;  // one element per dimension, slowest-varying first; a maximum may be
                // kUnlimitedLength

  bool operator==(const Space&) const = default;
};

enum class Layout : std::uint8_t { kCompact = 0, kContiguous = 1, kChunked = 2, kVirtual = 3 };
enum class Allocation : std::uint8_t { kEarly = 1, kLate = 2, kIncremental = 3 };
enum class FillTime : std::uint8_t { kAtAllocation = 0, kNever = 1, kIfSet = 2 };
enum class FillState : std::uint8_t { kUndefined = 0, kDefault = 1, kUser = 2 };
struct Creation {
  Layout layout = Layout::kContiguous;
  Allocation allocation = Allocation::kLate;
  FillTime fill_time = FillTime::kIfSet;
  FillState fill_state = FillState::kDefault;
  std::vector<std::byte> fill_value;  // one value of the variable's type
  std::vector<std::uint64_t> chunk;   // used if the storage section has no chunks of the variable
  std::vector<Filter> filters;        // used if the storage section has no chunks of the variable

  bool operator==(const Creation&) const = default;
};

struct Order {
  std::uint32_t links = 0, attributes = 0;  // bit 0: tracked, bit 1: indexed
};

enum class LinkKind : std::uint8_t {
  kVariable = 0,
  kGroup = 1,
  kType = 2,
  kSoft = 3,
  kExternal = 4,
  kHard = 5,
  kUserDefined = 6,
};
struct Link {
  LinkKind kind = LinkKind::kVariable;
  CharacterSet character_set = CharacterSet::kAscii;
  std::uint32_t number = 0;
  std::string name, content;
};

struct ExternalFile {
  std::uint64_t offset = 0, size = 0;
  std::string name;
};
struct VirtualSource {
  std::string file, data_set;
  std::vector<std::byte> here, there;  // selections, encoded by HDF5

  // Returns whether the data set is in the same file as the virtual data set.
  bool is_in_own_file() const { return file == "."; }
};

// A dimension that the block uses and a group above the block defines.
struct DimensionAbove {
  DimId dimension = 0;
  std::uint32_t levels = 1;  // number of levels up to that group, at least 1
};

// One property. Its number decides which members it uses.
struct Property {
  enum class Number : std::uint16_t {
    kSpace = 1,
    kCreation = 2,
    kOrder = 3,
    kLinks = 4,
    kTypeAttributes = 5,
    kExternalFiles = 6,
    kVirtual = 7,
    kUserBlock = 8,
    kCharacterSet = 9,
    kComment = 10,
    kTypeComment = 11,
    kDimensionsAbove = 12,
    kUndecoded = 13,
    kDamagedChunks = 14,
  };
  Number number = Number::kSpace;
  std::uint32_t owner = kGlobal;
  std::uint32_t attribute = kNoAttribute;

  Space space;
  Creation creation;
  Order order;
  std::vector<Link> links;
  Type type = Type::kByte;  // kTypeAttributes, kTypeComment
  std::vector<std::byte>
      bytes;  // the header in kTypeAttributes; the content of kUserBlock, kComment or kTypeComment
  // kUndecoded: number and name of the filter that was not installed. If the values are lost,
  // because no original has them, the number is 0, and `filter_name` is the reason why they were
  // not decoded.
  std::uint32_t filter = 0;
  std::string filter_name;
  std::vector<ExternalFile> external_files;
  std::vector<VirtualSource> sources;
  CharacterSet character_set = CharacterSet::kAscii;
  std::vector<DimensionAbove> dimensions_above;  // by ascending dimension
};

// The place of a property in the order of the section: by owner (the group first), by attribute
// (properties without one first), by number.
using PropertyPlace = std::tuple<std::uint32_t, std::uint32_t, Property::Number>;
NMB_EXPORT PropertyPlace place_of(const Property& property);

// Appends a property to a section. Properties must be appended in the order of the section.
NMB_EXPORT void append_property(const Property& property, std::vector<std::byte>* section);

// Returns all properties of a section. Errors: kDamaged (R-H5-1), with an offset in `section`.
NMB_EXPORT Result<std::vector<Property>> decode_properties(std::span<const std::byte> section);
// Returns only the properties with one of the `wanted` numbers. The payloads of other properties
// are not checked.
NMB_EXPORT Result<std::vector<Property>> decode_properties(
    std::span<const std::byte> section, std::span<const Property::Number> wanted);

// Returns why a block does not have the values of a variable, as the end of a sentence: "are stored
// in other files". Returns an empty text if the block has the values, or if there are none.
NMB_EXPORT std::string why_absent(std::span<const Property> properties, std::uint32_t variable);

// Returns the fill value that the user set for a variable, in stored form; empty if the properties
// have no fill value of `size` bytes.
NMB_EXPORT std::span<const std::byte> fill_value_set(std::span<const Property> properties,
                                                     std::uint32_t variable, std::size_t size);

}  // namespace nmb::hdf5
