// ExtendedEncoder writes a block that came from HDF5 or netCDF-4 as an HDF5 group: its data sets,
// named datatypes, links and attributes (spec/hdf5_view.md, "Blocks of kind 6").
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "encoding/group_encoder.h"
#include "encoding/object_header.h"
#include "hdf5_types/property_table.h"
#include "netcdf/netcdf_view.h"
#include "reader/file_reader.h"
#include "view/extended_output.h"
#include "view/object_messages.h"
#include "view/storage_encoder.h"
#include "view/value_places.h"

namespace nmb {

class ExtendedEncoder {
 public:
  // All arguments must outlive the object. If the block's values cannot be shown in place, `places`
  // has the reason. `scales` has the scale numbers of the block, then those of the blocks of kind 6
  // above it, nearest block first.
  ExtendedEncoder(const LoadedBlock& block, const Result<ValuePlaces>& places,
                  std::span<const ScaleNumbers> scales, ExtendedOutput& shared)
      : block_(block),
        metadata_(block.metadata),
        types_(block.metadata.extension()->types),
        source_(scales.front().source),
        shared_(shared),
        messages_(block, properties_, scales, shared),
        storage_(block, places, shared, header_) {}
  // Writes the objects of the block. `numbers` has the number of each dimension scale of the block
  // in order of definition, or nullopt for a scale without a number. `group` gets the messages of
  // the group and links to the objects. Errors: kDamaged; kUnsupported if there are more chunks
  // than allowed.
  Status encode(std::vector<std::optional<std::int64_t>> numbers, ViewGroup* group);

 private:
  Status encode_types(LinkList* links);
  void add_to_known(std::vector<std::optional<std::int64_t>> numbers, unsigned link_order);
  Status look_at_dimensions();
  Result<std::string> shorter_dimensions(VarId id, const hdf5::Space& space);
  Status encode_variable(VarId id, LinkList* links);
  std::optional<std::uint64_t> added_number(VarId id) const;
  Status encode_dimension(VarId id, const hdf5::Space& space, LinkList* links);
  Status arrange_links(ViewGroup* group);
  Status add_link(const hdf5::Link& link, ViewGroup* group);

  const LoadedBlock& block_;
  const Metadata& metadata_;
  const TypeTable& types_;
  const std::size_t source_;
  ExtendedOutput& shared_;
  hdf5::PropertyTable properties_;
  ObjectHeader header_;
  ObjectMessages messages_;
  StorageEncoder storage_;
  // The dimensions that netCDF programs see. Set when the first variable is left out.
  struct NetcdfLengths {
    NetcdfView view;
    std::vector<std::uint64_t> lengths;                  // by dimension: greatest length shown
    std::vector<std::vector<std::uint32_t>> dimensions;  // by VarId
  };
  std::optional<NetcdfLengths> seen_;
  std::vector<bool> is_shown_;  // by variable
  std::size_t scales_ = 0;      // number of dimension scales so far
  std::unordered_set<std::string> left_out_links_;
};

}  // namespace nmb
