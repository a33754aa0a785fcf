// BlockDimensions writes the dimensions of a classic dataset as dimension scales
// (spec/hdf5_view.md, "Dimensions and variables").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encoding/dimension_references.h"
#include "encoding/group_encoder.h"
#include "encoding/object_header.h"
#include "encoding/view_output.h"
#include "model/metadata.h"
#include "view/hdf5_view.h"
#include "wire/block_entry.h"

namespace nmb {

// State that the encoders of all classic datasets share.
struct DataSetOutput {
  ViewOutput& out;
  DimensionReferences& references;
  bool dimensions;  // ViewOptions::dimensions
  const OnLeftOut& on_left_out;
  unsigned node_rank;  // half the maximum number of children of a node in a chunk tree
  std::uint64_t next_dimension = 0;  // index of the next block's first reference
  std::uint64_t first_number = 0;    // netCDF number of the next block's first dimension
  std::uint64_t chunks = 0;          // number of chunks so far
  std::uint64_t most_chunks;
};

// Returns whether netCDF-4 stores the dimensions of a variable in an attribute of this name.
bool is_name_of_dimensions(std::string_view attribute);

class BlockDimensions {
 public:
  // All arguments must outlive the object. The references of the block must have been added to
  // shared.references.
  BlockDimensions(const BlockEntry& entry, const Metadata& metadata, DataSetOutput& shared,
                  ObjectHeader& header)
      : entry_(entry), metadata_(metadata), shared_(shared), header_(header) {}
  // Finds the coordinate variables. `above` has for each dimension the dimension of a block above
  // that it represents; it is empty if there is none. `is_shown` says for each variable whether the
  // view shows it.
  void find(const std::vector<std::optional<ViewDimension>>& above,
            const std::vector<bool>& is_shown);
  std::uint64_t count() const { return coordinates_.size(); }
  // Must be called if the view leaves out a variable.
  void leave_out(VarId variable);
  // Returns the name of the link to a variable.
  std::string name_of(VarId variable) const;
  // Adds attribute info and the attributes that give the dimensions of a variable.
  Status add_attributes(VarId variable);
  // Takes the address of a variable's data set.
  void place(VarId variable, std::uint64_t address);
  // Writes the data sets of the dimensions without a coordinate variable. Errors: kUnsupported.
  Status encode(LinkList* links);
  // Returns the dimensions that the block defines itself.
  std::vector<ViewDimension> own() const;

 private:
  bool is_above(DimId id) const { return id < above_.size() && above_[id]; }
  std::uint64_t number_of(DimId id) const {
    return is_above(id) ? above_[id]->number : shared_.first_number + id;
  }
  std::uint64_t length(DimId id) const;
  // Returns the dimension whose scale the variable is.
  std::optional<DimId> dimension_of(VarId variable) const;
  Status encode_dimension(DimId id, LinkList* links);
  Status add_scale(std::string_view name, std::uint64_t text_bytes, DimId id);
  Status add_coordinates(const Variable& variable);
  Status add_dimension_list(const Variable& variable);
  Status too_long(std::string_view kind, std::string_view name) const;

  const BlockEntry& entry_;
  const Metadata& metadata_;
  DataSetOutput& shared_;
  ObjectHeader& header_;
  std::uint64_t first_ = 0;  // index of the block's first reference
  std::vector<std::optional<ViewDimension>> above_;
  // For each dimension that the view shows: its coordinate variable, or kGlobal if it has none.
  std::vector<VarId> coordinates_;
};

}  // namespace nmb
