// DataSetEncoder writes the dimensions and variables of a block as HDF5 data sets
// (spec/hdf5_view.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "encoding/chunk_tree.h"
#include "encoding/group_encoder.h"
#include "encoding/object_header.h"
#include "model/classic.h"
#include "view/block_dimensions.h"
#include "view/hdf5_view.h"
#include "view/value_places.h"
#include "wire/block_entry.h"

namespace nmb {

class DataSetEncoder {
 public:
  // All arguments must outlive the object.
  DataSetEncoder(const BlockEntry& entry, const ClassicHeader& header, const ValuePlaces& places,
                 DataSetOutput& shared)
      : entry_(entry),
        metadata_(header.metadata),
        layout_(header.layout),
        places_(places),
        shared_(shared),
        dimensions_(entry, metadata_, shared, header_) {}
  // Writes the data sets. Leaves out variables whose compressed pieces do not have the form of HDF5
  // chunks. `group` gets the attributes of the block and a link to each data set. Errors:
  // kUnsupported for contents that a view cannot show; kDamaged if there are more dimensions than
  // the superblock's totals say.
  Status encode(ViewGroup* group);
  // Returns the dimensions of the block, after encode().
  std::vector<ViewDimension> dimensions() const { return dimensions_.own(); }

 private:
  Status encode_variable(VarId id, LinkList* links);
  // The chunks of a variable. `has_filter` is true if some of them are compressed with deflate.
  struct Chunks {
    ViewGrid grid;
    std::vector<ViewChunk> chunks;
    bool has_filter = false;
  };
  Status find_shown();
  Status check_pieces(VarId id) const;
  std::uint64_t slices(VarId id) const;
  std::uint64_t offset(VarId id, std::uint64_t slice) const;
  std::uint64_t piece_length(VarId id) const;
  Result<Chunks> record_chunks(VarId id, std::uint64_t record_bytes);
  Result<Chunks> piece_chunks(VarId id, std::uint64_t piece) const;
  Status add_fill_value(VarId id, bool has_chunks);
  Status add_contiguous(VarId id, std::uint64_t bytes);
  Status add_chunked(VarId id, const Chunks& chunks);
  Status add_attributes(VarId owner, ObjectHeader& header) const;
  std::uint64_t length(DimId id) const;
  std::string object(std::string_view kind, std::string_view name) const;
  Status refused(const std::string& object, const std::string& found,
                 const std::string& expected) const;
  Status too_long(const std::string& object) const;

  const BlockEntry& entry_;
  const Metadata& metadata_;
  const ClassicLayout& layout_;
  const ValuePlaces& places_;
  DataSetOutput& shared_;
  ObjectHeader header_;
  BlockDimensions dimensions_;
  std::vector<bool> is_shown_;  // by variable
};

}  // namespace nmb
