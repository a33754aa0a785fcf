// ObjectMessages adds the messages that all kinds of objects have: comment, number of hard links
// and attributes. It also writes named datatypes (spec/hdf5_view.md, "Object headers" and
// "Attributes").
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "encoding/object_header.h"
#include "hdf5_types/property_table.h"
#include "reader/file_reader.h"
#include "view/converted_values.h"
#include "view/extended_output.h"

namespace nmb {

// Adds the dataspace and the datatype of a variable. type: the result of put_named_or_plain().
// is_named: whether it refers to a named datatype.
void add_space_and_type(const hdf5::Space& space, const Hdf5Bytes& type, bool is_named,
                        ObjectHeader& header);
// Says that `count` references are null in the view.
std::string null_references_text(std::uint64_t count);

class ObjectMessages {
 public:
  // All arguments must outlive the object. `scales` has the scale numbers of the block, then those
  // of the blocks of kind 6 above it, nearest block first.
  ObjectMessages(const LoadedBlock& block, const hdf5::PropertyTable& properties,
                 std::span<const ScaleNumbers> scales, ExtendedOutput& shared)
      : block_(block),
        metadata_(block.metadata),
        types_(block.metadata.extension()->types),
        properties_(properties),
        scales_(scales),
        shared_(shared),
        values_(types_, shared.before, shared.heap) {}

  // Reports an object that the view leaves out. `name` is the name of the object in the block; it
  // is empty for the block itself.
  Status leave_out(LeftOutKind kind, std::string_view name, LeftOutReason reason, std::string why);
  std::string path_of(std::string_view name) const;
  // Returns the kind and path of an object as text for error messages.
  std::string object(std::string_view kind, std::string_view name) const;

  // Writes a named datatype. Sets *address to its address.
  Status encode_type(Type type, const hdf5::Property* attributes, std::uint64_t* address);
  // Appends a type to `out`: a reference if the type is a named datatype, otherwise its encoding.
  // Returns the key of the named datatype, or nullopt. If the view shows the object that has the
  // type, the caller must count the use (KnownObjects::count_type_use()). Errors: kUnsupported if
  // HDF5 cannot describe the type; kDamaged.
  Result<std::optional<Digest>> put_named_or_plain(Type type, Hdf5Bytes& out);
  // Adds the comment of an object, and its reference count if this is not 1.
  Status add_shared_messages(VarId owner, const Digest& key, ObjectHeader& header);
  void add_reference_count(const Digest& key, ObjectHeader& header) const;
  // Adds the attributes of `owner` in `metadata`. `path` is the path of the owner.
  // `has_properties` is true if the hdf5 section may have properties of the attributes. If
  // `dimension` is set, adds the attribute _Netcdf4Dimid with this number.
  Status add_attributes(const Metadata& metadata, VarId owner, const std::string& path,
                        bool has_properties, ObjectHeader& header,
                        std::optional<std::uint64_t> dimension = {});
  // Adds an attribute of the object at `path`, or reports that the view leaves it out.
  Status add_attribute(const Attribute& attribute, std::uint32_t number, const hdf5::Space& space,
                       CharacterSet characters, const std::string& path, ObjectHeader& header);
  Status leave_out_attribute(const Attribute& attribute, const std::string& path,
                             LeftOutReason reason, std::string why);

 private:
  Attribute renumbered(VarId owner, const Attribute& attribute,
                       std::vector<std::byte>* bytes) const;

  const LoadedBlock& block_;
  const Metadata& metadata_;
  const TypeTable& types_;
  const hdf5::PropertyTable& properties_;
  const std::span<const ScaleNumbers> scales_;
  ExtendedOutput& shared_;
  ConvertedValues values_;
};

}  // namespace nmb
