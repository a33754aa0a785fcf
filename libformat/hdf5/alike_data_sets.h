// Data sets whose headers differ only in lengths, values of attributes and the place of the values.
// The HDF5 library reads the first of a kind; the others are described by the library's results for
// the first and by the bytes of their own headers. This takes a thirteenth of the library's
// instructions (spec/rationale.md, "Bodies of kind 6").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "attributes_in.h"
#include "file_in.h"
#include "global_heap_in.h"
#include "hdf5_id.h"
#include "nmb/hdf5_section.h"
#include "object_header_in.h"
#include "types_in.h"

namespace nmb::hdf5 {

// The facts about a data set whose values are in the file in one run.
struct DataSetIn {
  Type type = Type::kByte;
  Space space;
  std::vector<AttributeIn> attributes;
  unsigned attribute_order = 0;  // H5Pget_attr_creation_order
  Creation creation;
  std::uint64_t offset = 0;  // of the values; HADDR_UNDEF: there are none

  bool operator==(const DataSetIn&) const = default;
};

class AlikeDataSets {
 public:
  // For a file whose addresses count from its first byte.
  explicit AlikeDataSets(const FileIn& file)
      : file_(file), header_(file.descriptor, file.size), heap_(file.descriptor, file.size) {}

  // Another block begins: codes of types are valid in one block only.
  void begin_block() { ++block_; }

  // Returns the data set whose header is at `address` if a similar one is known. nullopt: the
  // library must read it. Throws Failure like attributes_in().
  std::optional<DataSetIn> read(std::uint64_t address, TypesIn& types);

  // Records the library's results for the data set that was passed to read() last. told: nullopt if
  // the data set has another kind than DataSetIn describes.
  void learn(hid_t data_set, const std::optional<DataSetIn>& told, TypesIn& types);

 private:
  // The form of an attribute's values in its message.
  enum class Form { kAsInMemory, kStrings, kSequences };
  struct Attribute {
    std::size_t message;  // number of its message in the header
    AttributeIn told;     // without values
    Id type;              // in memory
    Form form;
    std::uint64_t step;     // size of a value in memory
    std::uint64_t element;  // for a sequence: size of an element
    bool lists_objects;     // it is DIMENSION_LIST
  };
  struct Kind {
    bool known = false;  // false: the library reads all such data sets
    Id type;
    DataSetIn told;  // without attributes
    std::vector<Attribute> attributes;
    std::uint64_t block = 0;  // the block to which the codes in `told` belong
  };

  std::optional<Kind> kind_of(hid_t data_set, const DataSetIn& told, TypesIn& types);
  std::optional<DataSetIn> apply(Kind& kind, TypesIn& types);
  bool read_values(const Attribute& attribute, const TypesIn& types, AttributeIn* out);

  const FileIn& file_;
  ObjectHeaderIn header_;
  GlobalHeapIn heap_;
  bool understood_ = false;  // for the header that was read last
  std::uint64_t block_ = 0;
  std::unordered_map<std::string, Kind> kinds_;  // by pattern of the header
};

}  // namespace nmb::hdf5
