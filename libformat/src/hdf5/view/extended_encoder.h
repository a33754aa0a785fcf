// ExtendedEncoder writes a block that came from HDF5 or netCDF-4 as an HDF5 group: its data sets,
// named datatypes, links and attributes (spec/hdf5_view.md, "Blocks of kind 6").
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "hdf5/bytes/chunk_tree.h"
#include "hdf5/bytes/global_heap.h"
#include "hdf5/bytes/group_encoder.h"
#include "hdf5/bytes/object_header.h"
#include "hdf5/bytes/view_output.h"
#include "hdf5/model/block_properties.h"
#include "hdf5/view/attribute_values.h"
#include "hdf5/view/known_objects.h"
#include "hdf5/view/value_places.h"
#include "nmb/hdf5_view.h"
#include "nmb/reader.h"

namespace nmb {

// State that the encoders of all blocks share.
struct ExtendedOutput {
  ViewOutput& out;
  GlobalHeap& heap;
  const KnownObjects& before;  // from the previous pass
  KnownObjects& now;
  const OnLeftOut& on_left_out;
  std::uint64_t& chunks;  // number of chunks so far
  std::uint64_t most_chunks;
};

class ExtendedEncoder {
 public:
  // All arguments must outlive the object. If the block's values cannot be shown in place, `places`
  // has the reason.
  ExtendedEncoder(const Block& block, const Result<ValuePlaces>& places, ExtendedOutput& shared)
      : block_(block),
        metadata_(block.metadata),
        types_(block.metadata.extension()->types),
        places_(places),
        shared_(shared),
        values_(types_, shared.before, shared.heap) {}
  // Writes the objects of the block. Adds links to them, and the messages of the group, to `group`.
  // Errors: kDamaged; kUnsupported if there are more chunks than allowed.
  Status encode(ViewGroup* group);

 private:
  // A reason for which an object is left out.
  struct Refusal {
    LeftOutReason reason;
    std::string why;
  };
  using Refused = std::optional<Refusal>;

  Status encode_types(LinkList* links);
  Status encode_type(Type type, const hdf5::Property* attributes, std::uint64_t* address);
  Status encode_variable(VarId id, LinkList* links);
  Status encode_dimension(VarId id, const hdf5::Space& space, LinkList* links);
  Result<Refused> add_layout(VarId id, const hdf5::Space& space, const hdf5::Creation& creation);
  Result<Refused> add_compact(VarId id, std::uint64_t bytes);
  Result<Refused> add_contiguous(VarId id, std::uint64_t bytes, bool is_stored,
                                 const hdf5::Creation& creation);
  Result<Refused> add_rows(VarId id, const hdf5::Space& space, const hdf5::Creation& creation);
  Result<Refused> add_chunks(VarId id, const Storage& storage, const hdf5::Space& space);
  Result<Refused> add_chunked(VarId id, const std::vector<ViewChunk>& chunks,
                              const ChunkGrid& grid);
  // Finds bytes of the extent in the file. Sets *position to kUndefinedAddress if the values are
  // zeros that are not stored.
  Result<Refused> find(VarId id, const hdf5::Creation& creation, std::uint64_t offset,
                       std::uint64_t bytes, std::uint64_t* position) const;
  std::uint64_t end_of_hole(std::uint64_t offset, std::uint64_t bytes) const;
  bool unwritten_is_zero(VarId id, const hdf5::Creation& creation) const;
  Refused add_filters(const std::vector<Filter>& filters);
  void add_fill_value(const hdf5::Creation& creation);
  hdf5::Creation creation_of(VarId id) const;
  Result<bool> put_named_or_plain(Type type, Hdf5Bytes& out);
  Status add_attributes(const Metadata& metadata, VarId owner, const std::string& object,
                        bool has_properties, ObjectHeader& header);
  Status add_attribute(const Attribute& attribute, std::uint32_t number, const hdf5::Space& space,
                       CharacterSet characters, const std::string& object, ObjectHeader& header);
  Status add_shared_messages(VarId owner, const Digest& key, ObjectHeader& header);
  void add_link_count(const Digest& key, ObjectHeader& header) const;
  Attribute renumbered(VarId owner, const Attribute& attribute,
                       std::vector<std::byte>* bytes) const;
  Status arrange_links(ViewGroup* group);
  Status add_link(const hdf5::Link& link, ViewGroup* group);
  Status leave_out(std::string object, LeftOutReason reason, std::string why);
  std::string path_of(std::string_view name) const;
  std::string object(std::string_view kind, std::string_view name) const;

  const Block& block_;
  const Metadata& metadata_;
  const TypeTable& types_;
  const Result<ValuePlaces>& places_;
  ExtendedOutput& shared_;
  AttributeValues values_;
  hdf5::BlockProperties properties_;
  ObjectHeader header_;
  std::size_t source_ = 0;
  std::vector<bool> is_shown_;  // by variable
  std::unordered_set<std::string> left_out_links_;
};

}  // namespace nmb
