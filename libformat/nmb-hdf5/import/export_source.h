// A block of an NMB file, prepared for writing to HDF5: its definitions, and their properties from
// the hdf5 section (spec/hdf5_section.md).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/cmip7_layout.h"
#include "export/types_out.h"
#include "hdf5_types/property_table.h"
#include "model/values.h"
#include "netcdf/shared_dimensions.h"
#include "reader/file_reader.h"

namespace nmb::hdf5 {

// Options for files with the layout of CMIP7 (hdf5/client/cmip7_layout.h). Such a file has all
// metadata first, then the values.
struct Relayout {
  unsigned threads = 1;
  // Whether only metadata are written, to measure their size. Each chunk is then one byte, and no
  // other values are written. The metadata take as many bytes as in the real file, or a few more.
  bool is_rehearsal = false;
};

class DeferredChunks;

// All members except `relayout` and `deferred` apply to classic blocks only.
struct WriteStyle {
  int deflate = 0;  // deflate level for values, 1 to 9; 0 for no compression
  bool shuffle = false;
  // Whether dimensions whose names netCDF made up (phony_dim_0) get no scales.
  bool plain = false;
  // Chunk lengths along named dimensions.
  std::vector<Compression::ChunkLength> chunk{};
  std::optional<Relayout> relayout{};
  unsigned threads = 1;
  DeferredChunks* deferred = nullptr;  // copies stored chunks, if it is set

  bool is_rehearsal() const { return relayout && relayout->is_rehearsal; }
};

class ExportSource {
 public:
  // Makes an ExportSource. `file` and `named` must outlive the result. Errors: kDamaged if a
  // property belongs to an object that does not exist, or if a property occurs twice.
  static Result<std::shared_ptr<ExportSource>> make(std::shared_ptr<const LoadedBlock> block,
                                                    hid_t file, NamedTypes& named);

  const std::string& name() const { return block_->name; }
  const LoadedBlock& block() const { return *block_; }
  const Metadata& metadata() const { return block_->metadata; }
  // Returns whether the block is a classic dataset, which is written as netCDF-4 would write it.
  bool is_classic() const { return is_classic_; }
  // Errors: kDamaged.
  Status set_style(WriteStyle style);
  const WriteStyle& style() const { return style_; }
  // Returns the chunks that WriteStyle::relayout gives to a variable, or nullopt if it gives none.
  std::optional<ChunkLayout> new_chunks(VarId variable) const;
  TypesOut& types() { return types_; }
  const Storage* storage_of(VarId variable) const {
    return metadata().extension() ? metadata().extension()->storage_of(variable) : nullptr;
  }
  // Returns a property, or nullptr if it is not set and has its default value.
  const Property* find(Property::Number number, std::uint32_t owner = kGlobal,
                       std::uint32_t attribute = kNoAttribute) const {
    return properties_.find(number, owner, attribute);
  }
  Order order(std::uint32_t owner) const;
  const std::vector<Property>& properties() const { return properties_.all(); }

  // Return the dataspace of a variable, or the dataspace of an attribute of `owner`.
  Result<Space> space(VarId variable) const;
  Result<Space> space(std::uint32_t owner, std::uint32_t number, const Attribute& attribute) const;
  // Returns the name that messages use for a variable, for example "data set \"a/b\"".
  std::string text(VarId variable) const;
  std::string path(VarId variable) const;

 private:
  ExportSource(std::shared_ptr<const LoadedBlock> block, const TypeTable& types, hid_t file,
               NamedTypes& named)
      : block_(std::move(block)),
        is_classic_(is_classic_dataset(block_->metadata)),
        types_(types, file, named) {}

  const std::shared_ptr<const LoadedBlock> block_;
  const bool is_classic_;
  TypesOut types_;
  WriteStyle style_;
  std::optional<Cmip7Layout> layout_;
  PropertyTable properties_;
};

}  // namespace nmb::hdf5
