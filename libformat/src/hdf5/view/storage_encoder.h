// StorageEncoder adds the messages that describe how the values of a variable are stored: fill
// value, layout and filters (spec/hdf5_view.md, "Data sets").
#pragma once

#include <cstdint>
#include <vector>

#include "hdf5/bytes/chunk_tree.h"
#include "hdf5/bytes/object_header.h"
#include "hdf5/model/hdf5_section.h"
#include "hdf5/view/extended_output.h"
#include "hdf5/view/value_places.h"
#include "nmb/reader.h"

namespace nmb {

class StorageEncoder {
 public:
  // All arguments must outlive the object. If the block's values cannot be shown in place, `places`
  // has the reason. The messages are added to `header`.
  StorageEncoder(const Block& block, const Result<ValuePlaces>& places, ExtendedOutput& shared,
                 ObjectHeader& header)
      : block_(block),
        metadata_(block.metadata),
        places_(places),
        shared_(shared),
        header_(header) {}
  Refused add_fill_value(const hdf5::Creation& creation);
  // Writes the tree of the variable's chunks, if it has chunks, and adds the layout. Errors:
  // kDamaged; kUnsupported if there are more chunks than allowed.
  Result<Refused> add_layout(VarId id, const hdf5::Space& space, const hdf5::Creation& creation);
  Refused add_filters(const std::vector<Filter>& filters);

 private:
  Result<Refused> add_compact(VarId id, std::uint64_t bytes);
  Result<Refused> add_contiguous(VarId id, std::uint64_t bytes, bool is_stored,
                                 const hdf5::Creation& creation);
  Result<Refused> add_rows(VarId id, const hdf5::Space& space, const hdf5::Creation& creation);
  Result<Refused> add_chunks(VarId id, const Storage& storage, const hdf5::Space& space);
  Result<Refused> add_chunked(VarId id, const std::vector<ViewChunk>& chunks, const ViewGrid& grid);
  // Finds the position in the file of a byte range of the extent. Sets *position to
  // kUndefinedAddress if the values are zeros that are not stored.
  Result<Refused> find(VarId id, const hdf5::Creation& creation, std::uint64_t offset,
                       std::uint64_t bytes, std::uint64_t* position) const;
  std::uint64_t end_of_hole(std::uint64_t offset, std::uint64_t bytes) const;
  bool unwritten_is_zero(VarId id, const hdf5::Creation& creation) const;

  const Block& block_;
  const Metadata& metadata_;
  const Result<ValuePlaces>& places_;
  ExtendedOutput& shared_;
  ObjectHeader& header_;
};

}  // namespace nmb
