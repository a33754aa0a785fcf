// A block of an NMB file in the form in which it is written to HDF5: its definitions, and the
// properties of each in its hdf5 section (spec/hdf5_section.md).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "hdf5/client/cmip7_layout.h"
#include "hdf5/model/hdf5_section.h"
#include "netcdf/shared_dimensions.h"
#include "nmb/reader.h"
#include "nmb/values.h"
#include "types_out.h"

namespace nmb::hdf5 {

// The layout of CMIP7 (hdf5/client/cmip7_layout.h): all metadata are written first, then the
// values.
struct Relayout {
  unsigned threads = 1;
  // Writes no values: each chunk is one byte, and no other values are written. The metadata take as
  // many bytes as in the real file, or a few more.
  bool is_rehearsal = false;
};

// How blocks are written. All but `relayout` is for classic blocks.
struct WriteStyle {
  int deflate = 0;  // level for values, 1 to 9; 0: none
  bool shuffle = false;
  bool plain = false;  // without scales for dimensions that netCDF made up
  std::vector<Compression::ChunkLength> chunk{};  // for data sets with these dimensions
  std::optional<Relayout> relayout{};
  // Data sets get the chunks and filters of data sets of the same name in this group, coded on
  // `threads`.
  std::shared_ptr<const Block> like{};
  unsigned threads = 1;

  bool is_rehearsal() const { return relayout && relayout->is_rehearsal; }
};

class SourceBlock {
 public:
  // Errors: kDamaged for properties of objects that do not exist, or that occur twice. file and
  // named must outlive the result.
  static Result<std::shared_ptr<SourceBlock>> make(std::shared_ptr<const Block> block, hid_t file,
                                                   NamedTypes& named);

  const std::string& name() const { return block_->name; }
  const Block& block() const { return *block_; }
  const Metadata& metadata() const { return block_->metadata; }
  // Returns whether it is a classic dataset, which is written like netCDF-4 does.
  bool is_classic() const { return is_classic_; }
  // Errors: kDamaged.
  Status set_style(WriteStyle style);
  const WriteStyle& style() const { return style_; }
  // Returns whether the values of a variable become little-endian, as those of WriteStyle::like
  // are.
  bool becomes_little(VarId variable) const;
  // Returns the chunks that a variable gets by WriteStyle::relayout; nullopt: none.
  std::optional<ChunkLayout> new_chunks(VarId variable) const;
  TypesOut& types() { return types_; }
  const Storage* storage_of(VarId variable) const {
    return metadata().extension() ? metadata().extension()->storage_of(variable) : nullptr;
  }
  // nullptr: the property is not set and has its default.
  const Property* find(Property::Number number, std::uint32_t owner = kGlobal,
                       std::uint32_t attribute = kNoAttribute) const;
  Order order(std::uint32_t owner) const;
  const std::vector<Property>& properties() const { return properties_; }

  // Return the space of a variable or of an attribute of `owner`.
  Result<Space> space(VarId variable) const;
  Result<Space> space(std::uint32_t owner, std::uint32_t number, const Attribute& attribute) const;
  // Return the name of a variable, "data set \"a/b\"", or of an owner's attribute, for messages.
  std::string text(VarId variable) const;
  std::string path(VarId variable) const;

 private:
  SourceBlock(std::shared_ptr<const Block> block, const TypeTable& types, hid_t file,
              NamedTypes& named)
      : block_(std::move(block)),
        is_classic_(is_classic_dataset(block_->metadata)),
        types_(types, file, named) {}
  Status take_properties();
  std::optional<ChunkLayout> chunks_like(VarId variable) const;

  const std::shared_ptr<const Block> block_;
  const bool is_classic_;
  TypesOut types_;
  WriteStyle style_;
  std::optional<Cmip7Layout> layout_;
  std::vector<Property> properties_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint16_t>, std::size_t> places_;
};

}  // namespace nmb::hdf5
