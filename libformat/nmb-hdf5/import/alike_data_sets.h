// Reads data sets of the same kind: their object headers differ only in lengths, in values of
// attributes, and in the position of the data set's values. The HDF5 library reads the first data
// set of a kind. For later ones, this class reads the differences from the bytes of the headers,
// with one thirteenth of the instructions that the HDF5 library needs (spec/rationale.md, "Bodies
// of kind 6").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "decoding/global_heap_in.h"
#include "decoding/object_header_in.h"
#include "handle.h"
#include "hdf5_types/hdf5_section.h"
#include "import/attributes_in.h"
#include "import/file_in.h"
#include "import/types_in.h"
#include "wire/failure.h"

namespace nmb::hdf5 {

// A data set whose values are stored in one contiguous range of the file.
struct DataSetIn {
  Type type = Type::kByte;
  Space space;
  std::vector<AttributeIn> attributes;
  unsigned attribute_order = 0;  // H5Pget_attr_creation_order
  Creation creation;
  std::uint64_t offset = 0;  // offset of the values; HADDR_UNDEF if there are none

  bool operator==(const DataSetIn&) const = default;
};

class AlikeDataSets {
 public:
  AlikeDataSets(const FileIn& file, const FileBytes& bytes)
      : file_(file), header_(bytes), heap_(bytes) {}

  // Begins another block. Type codes are valid only within one block.
  void begin_block() { ++block_; }

  // Returns the data set whose header is at `address`. Returns nullopt if the kind of the data set
  // is not known, and the HDF5 library must read it.
  Result<std::optional<DataSetIn>> read(std::uint64_t address, TypesIn& types);

  // Stores the kind of the data set for which read() was called last, so that read() knows this
  // kind. `found` is the data set as the HDF5 library read it, or nullopt if its values are not
  // stored in one range.
  Status learn(hid_t data_set, const std::optional<DataSetIn>& found, TypesIn& types);

 private:
  // The form in which a message of the object header stores an attribute's values.
  enum class Form { kAsInMemory, kStrings, kSequences };
  struct Attribute {
    std::size_t message;  // number of the attribute's message in the header
    AttributeIn first;    // attribute as in the first data set, without values
    Handle type;          // type of the attribute in memory
    Form form;
    std::uint64_t step;     // size of a value in memory
    std::uint64_t element;  // size of an element if the value is a sequence
    bool lists_objects;     // whether the attribute is DIMENSION_LIST
  };
  struct Kind {
    bool known = false;  // if false, the HDF5 library reads all data sets of this kind
    Handle type;
    DataSetIn first;  // without attributes
    std::vector<Attribute> attributes;
    std::uint64_t block = 0;  // block whose type codes are used in `first`
  };

  // Returns the kind of a data set. Kind::known is false if apply() cannot read data sets of this
  // kind.
  Result<Kind> kind_of(hid_t data_set, const DataSetIn& found, TypesIn& types);
  Result<std::optional<DataSetIn>> apply(Kind& kind, TypesIn& types);
  Result<bool> read_values(const Attribute& attribute, const TypesIn& types, AttributeIn* out);

  const FileIn& file_;
  ObjectHeaderIn header_;
  GlobalHeapIn heap_;
  bool understood_ = false;  // whether header_ could read the last header
  std::uint64_t block_ = 0;
  std::unordered_map<std::string, Kind> kinds_;  // by ObjectHeaderIn::pattern()
};

}  // namespace nmb::hdf5
