// UnitedEncoder writes a classic dataset of kind 6, for example a united block, as an HDF5 group
// (spec/hdf5_view.md, "Classic datasets of kind 6").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "encoding/group_encoder.h"
#include "encoding/object_header.h"
#include "hdf5_types/property_table.h"
#include "reader/file_reader.h"
#include "view/block_dimensions.h"
#include "view/extended_output.h"
#include "view/object_messages.h"
#include "view/storage_encoder.h"
#include "view/value_places.h"

namespace nmb {

class UnitedEncoder {
 public:
  // All arguments must outlive the object. If the block's values cannot be shown in place, `places`
  // has the reason.
  UnitedEncoder(const BlockEntry& entry, const LoadedBlock& block,
                const Result<ValuePlaces>& places, DataSetOutput& data_sets, ExtendedOutput& shared)
      : block_(block),
        metadata_(block.metadata),
        types_(block.metadata.extension()->types),
        data_sets_(data_sets),
        shared_(shared),
        dimensions_(entry, metadata_, data_sets, header_),
        messages_(block, properties_, {}, shared),
        storage_(block, places, shared, header_, StorageEncoder::Unwritten::kFill) {}
  // Writes the objects of the block. `above` has for each dimension the dimension of a block above
  // that it represents. `group` gets the attributes of the block, its dimensions, and links to its
  // objects. Errors: kDamaged; kUnsupported.
  Status encode(const std::vector<std::optional<ViewDimension>>& above, ViewGroup* group);

 private:
  Status encode_types(LinkList* links);
  Status encode_type(Type type, const std::string& name, LinkList* links);
  hdf5::Creation creation(VarId id, const hdf5::Space& space) const;
  Status encode_variable(VarId id, LinkList* links);
  Result<std::optional<Digest>> put_type(Type type, Hdf5Bytes& out);
  Status add_attributes(VarId owner, const std::string& path, ObjectHeader& header);
  Status add_attribute(VarId owner, const Attribute& attribute, std::uint32_t number,
                       const std::string& path, ObjectHeader& header);

  const LoadedBlock& block_;
  const Metadata& metadata_;
  const TypeTable& types_;
  DataSetOutput& data_sets_;
  ExtendedOutput& shared_;
  hdf5::PropertyTable properties_;
  ObjectHeader header_;
  BlockDimensions dimensions_;
  ObjectMessages messages_;
  StorageEncoder storage_;
};

}  // namespace nmb
