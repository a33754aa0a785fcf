// ObjectMessages adds the messages that all kinds of objects have: comment, number of hard links
// and attributes. It also writes named datatypes (spec/hdf5_view.md, "Object headers" and
// "Attributes").
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hdf5/bytes/object_header.h"
#include "hdf5/model/block_properties.h"
#include "hdf5/view/attribute_values.h"
#include "hdf5/view/extended_output.h"
#include "nmb/reader.h"

namespace nmb {

void put_space(const hdf5::Space& space, Hdf5Bytes& out);

class ObjectMessages {
 public:
  // All references must outlive the object. `source` is the number of the file that the block came
  // from.
  ObjectMessages(const Block& block, const hdf5::BlockProperties& properties, std::size_t source,
                 ExtendedOutput& shared)
      : block_(block),
        metadata_(block.metadata),
        types_(block.metadata.extension()->types),
        properties_(properties),
        source_(source),
        shared_(shared),
        values_(types_, shared.before, shared.heap) {}

  Status leave_out(std::string object, LeftOutReason reason, std::string why);
  // Returns the path of an object of the block.
  std::string path_of(std::string_view name) const;
  // Returns the kind and path of an object for messages.
  std::string object(std::string_view kind, std::string_view name) const;

  // Writes a named datatype. Sets *address to its address.
  Status encode_type(Type type, const hdf5::Property* attributes, std::uint64_t* address);
  // Appends the encoding of a type, or a reference to a named datatype, to `out`. Returns whether
  // it is a reference. Errors: kUnsupported if HDF5 cannot describe the type; kDamaged.
  Result<bool> put_named_or_plain(Type type, Hdf5Bytes& out);
  // Adds the comment of an object. If several hard links lead to the object, adds their number.
  Status add_shared_messages(VarId owner, const Digest& key, ObjectHeader& header);
  void add_link_count(const Digest& key, ObjectHeader& header) const;
  // Adds the attributes of `owner` in `metadata`. `object` is the owner for messages. The hdf5
  // section has properties of the attributes if `has_properties` is true.
  Status add_attributes(const Metadata& metadata, VarId owner, const std::string& object,
                        bool has_properties, ObjectHeader& header);

 private:
  Status add_attribute(const Attribute& attribute, std::uint32_t number, const hdf5::Space& space,
                       CharacterSet characters, const std::string& object, ObjectHeader& header);
  Attribute renumbered(VarId owner, const Attribute& attribute,
                       std::vector<std::byte>* bytes) const;

  const Block& block_;
  const Metadata& metadata_;
  const TypeTable& types_;
  const hdf5::BlockProperties& properties_;
  const std::size_t source_;
  ExtendedOutput& shared_;
  AttributeValues values_;
};

}  // namespace nmb
