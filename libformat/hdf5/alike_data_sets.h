// Data sets whose headers differ in lengths, values of attributes and where values lie alone. The
// HDF5 library tells of the first of a kind; of the others that tells what it told of that one, and
// their headers' bytes tell the rest: a thirteenth of the library's instructions
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
#include "hdf5/model/hdf5_section.h"
#include "hdf5_id.h"
#include "object_header_in.h"
#include "types_in.h"

namespace nmb::hdf5 {

// What a file tells of a data set whose values lie in it in one run.
struct DataSetIn {
  Type type = Type::kByte;
  Space space;
  std::vector<AttributeIn> attributes;
  unsigned attribute_order = 0;  // H5Pget_attr_creation_order
  Creation creation;
  std::uint64_t offset = 0;  // of the values, HADDR_UNDEF: there are none

  bool operator==(const DataSetIn&) const = default;
};

class AlikeDataSets {
 public:
  // Of a file whose addresses begin with its first byte.
  explicit AlikeDataSets(const FileIn& file)
      : file_(file), header_(file.descriptor, file.size), heap_(file.descriptor, file.size) {}

  // Codes of types are a block's: another one begins.
  void begin_block() { ++block_; }

  // The data set whose header is at `address`, where one like it is known. nothing: it is for the
  // library to read. Throws Failure as attributes_in().
  std::optional<DataSetIn> read(std::uint64_t address, TypesIn& types);

  // What the library told of the data set that read() was asked for last. told: nothing, if it is
  // of another kind than DataSetIn's.
  void learn(hid_t data_set, const std::optional<DataSetIn>& told, TypesIn& types);

 private:
  // How the values of an attribute lie in its message.
  enum class Form { kAsInMemory, kStrings, kSequences };
  struct Attribute {
    std::size_t message;  // its number in the header
    AttributeIn told;     // without values
    Id type;              // in memory
    Form form;
    std::uint64_t step;     // bytes of a value in memory
    std::uint64_t element;  // of a sequence: bytes of one
    bool lists_objects;     // of DIMENSION_LIST
  };
  struct Kind {
    bool known = false;  // else the library reads all of them
    Id type;
    DataSetIn told;  // without attributes
    std::vector<Attribute> attributes;
    std::uint64_t block = 0;  // that the codes in `told` are of
  };

  std::optional<Kind> kind_of(hid_t data_set, const DataSetIn& told, TypesIn& types);
  std::optional<DataSetIn> apply(Kind& kind, TypesIn& types);
  bool read_values(const Attribute& attribute, const TypesIn& types, AttributeIn* out);

  const FileIn& file_;
  ObjectHeaderIn header_;
  GlobalHeapIn heap_;
  bool understood_ = false;  // the header that was read last
  std::uint64_t block_ = 0;
  std::unordered_map<std::string, Kind> kinds_;  // by pattern of header
};

}  // namespace nmb::hdf5
