// Data sets whose object headers differ only in lengths, in values of attributes and in where the
// values are. The HDF5 library reads the first of a kind. For the others, the bytes of their
// headers complete what the library found for the first, in a thirteenth of its instructions
// (spec/rationale.md, "Bodies of kind 6").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "attributes_in.h"
#include "file_in.h"
#include "global_heap_in.h"
#include "handle.h"
#include "hdf5/model/hdf5_section.h"
#include "nmb/status.h"
#include "object_header_in.h"
#include "types_in.h"

namespace nmb::hdf5 {

// A data set whose values lie in the file in one run.
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

  // The data set whose header is at `address`, if one like it is known. Nothing: the library must
  // read it.
  Result<std::optional<DataSetIn>> read(std::uint64_t address, TypesIn& types);

  // Learns from the data set that read() was last called for. found: what the library read of it;
  // nothing: its values do not lie in one run.
  Status learn(hid_t data_set, const std::optional<DataSetIn>& found, TypesIn& types);

 private:
  // The form of an attribute's values in its message.
  enum class Form { kAsInMemory, kStrings, kSequences };
  struct Attribute {
    std::size_t message;  // its number in the header
    AttributeIn first;    // the first data set's, without values
    Handle type;          // in memory
    Form form;
    std::uint64_t step;     // size of a value in memory
    std::uint64_t element;  // for a sequence: size of an element
    bool lists_objects;     // it is DIMENSION_LIST
  };
  struct Kind {
    bool known = false;  // else the library reads all of them
    Handle type;
    DataSetIn first;  // without attributes
    std::vector<Attribute> attributes;
    std::uint64_t block = 0;  // whose codes of types `first` has
  };

  // Not known: apply() cannot read such data sets.
  Result<Kind> kind_of(hid_t data_set, const DataSetIn& found, TypesIn& types);
  Result<std::optional<DataSetIn>> apply(Kind& kind, TypesIn& types);
  Result<bool> read_values(const Attribute& attribute, const TypesIn& types, AttributeIn* out);

  const FileIn& file_;
  ObjectHeaderIn header_;
  GlobalHeapIn heap_;
  bool understood_ = false;  // for the header that was read last
  std::uint64_t block_ = 0;
  std::unordered_map<std::string, Kind> kinds_;  // by pattern of the header
};

}  // namespace nmb::hdf5
