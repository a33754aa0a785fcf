// StorageEncoder adds the messages that describe how the values of a variable are stored: fill
// value, layout and filters (spec/hdf5_view.md, "Data sets").
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "encoding/chunk_tree.h"
#include "encoding/object_header.h"
#include "hdf5_types/hdf5_section.h"
#include "hdf5_types/property_table.h"
#include "reader/file_reader.h"
#include "view/converted_values.h"
#include "view/extended_output.h"
#include "view/value_places.h"

namespace nmb {

// Returns how the data set of a variable of a block of kind 6 was made: property 2 or its default.
hdf5::Creation creation_of(const Metadata& metadata, const hdf5::PropertyTable& properties,
                           VarId id);

class StorageEncoder {
 public:
  // The values outside of chunks that may be missing in the file.
  enum class Unwritten : std::uint8_t {
    kZero,  // those that read as zero in NMB and HDF5
    kFill,  // all, because the fill value of `creation` is the one that NMB returns for them
  };
  // All arguments must outlive the object. If the block's values cannot be shown in place, `places`
  // has the reason. The messages are added to `header`.
  StorageEncoder(const LoadedBlock& block, const Result<ValuePlaces>& places,
                 ExtendedOutput& shared, ObjectHeader& header,
                 Unwritten unwritten = Unwritten::kZero)
      : block_(block),
        metadata_(block.metadata),
        types_(block.metadata.extension()->types),
        places_(places),
        shared_(shared),
        header_(header),
        unwritten_(unwritten),
        values_(types_, shared.before, shared.heap) {}
  // Adds the fill value, the layout and the filters of a variable. Writes a copy of the values if
  // they have variable length, and the tree of the variable's chunks if it has chunks. Errors:
  // kDamaged; kUnsupported if there are more chunks than allowed; kIo.
  Result<Refused> add_storage(VarId id, const hdf5::Space& space, const hdf5::Creation& creation);
  // Returns how many references in the copied values lead to objects that the view does not show.
  std::uint64_t lost_references() const { return copy_ ? values_.lost_references() : 0; }

 private:
  Result<Refused> add_fill_value(VarId id, const hdf5::Creation& creation);
  Result<Refused> add_layout(VarId id, const hdf5::Space& space, const hdf5::Creation& creation);
  Refused add_filters(const std::vector<Filter>& filters);
  std::uint64_t size_in_file(VarId id) const;
  // Converts `count` values of the variable, and passes the results in parts to take(Hdf5Bytes&).
  // The length of each part except the last is a multiple of 8.
  template <class Take>
  Result<Refused> convert_values(VarId id, std::uint64_t count, bool adds_to_heap, Take take);
  Result<Refused> copy_values(VarId id, std::uint64_t count, bool is_compact);
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
  bool reads_unwritten(VarId id, const hdf5::Creation& creation) const;

  const LoadedBlock& block_;
  const Metadata& metadata_;
  const TypeTable& types_;
  const Result<ValuePlaces>& places_;
  ExtendedOutput& shared_;
  ObjectHeader& header_;
  const Unwritten unwritten_;
  ConvertedValues values_;
  // The address of the copy of the variable's values, if the view has a copy; 0 for compact values.
  std::optional<std::uint64_t> copy_;
};

}  // namespace nmb
