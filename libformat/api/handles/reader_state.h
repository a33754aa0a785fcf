// The file of a Reader and its handles, and how handles are made.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "elements/block_elements.h"
#include "handles/inspected_file.h"
#include "netcdf/netcdf_view.h"
#include "nmb/reader.h"

namespace nmb {

// The shapes of an owner's attributes, by their names; only those that do not follow from the
// number of values.
using AttributeShapes = std::map<std::string_view, std::vector<std::uint64_t>>;

struct ReaderState : std::enable_shared_from_this<ReaderState> {
  explicit ReaderState(InspectedFile opened, FileKind kind_of_file)
      : file(std::move(opened)), kind(kind_of_file) {}

  const std::string& path() const {
    return file.reader() ? file.reader()->file().name() : file.file().name();
  }
  BlockView view(const BlockEntry& entry) const;
  // The block of `entry`, whose definitions are loaded.
  VarView view(std::shared_ptr<const Dataset> dataset, VarId id) const;
  static AttView view(std::shared_ptr<const Dataset> dataset, VarId owner,
                      const Attribute& attribute, const AttributeShapes& shapes);
  // The keys of the result point into the dataset.
  static AttributeShapes shapes(const Dataset& dataset, VarId owner);
  // Returns the shapes of all owners that have some.
  static std::map<VarId, AttributeShapes> shapes(const Dataset& dataset);
  // Returns nullptr if the reader was moved from.
  static const ReaderState* of(const Reader& reader) { return reader.state_.get(); }
  static Object object(const VarView& var) {
    return {std::static_pointer_cast<const LoadedBlock>(var.dataset_), var.id_};
  }
  static const std::shared_ptr<const ReaderState>& file_of(const VarView& var) { return var.file_; }
  static const BlockEntry& entry_of(const BlockView& block) { return *block.entry_; }
  static const std::shared_ptr<const Dataset>& dataset_of(const VarView& var) {
    return var.dataset_;
  }
  static VarId id_of(const VarView& var) { return var.id_; }
  // Returns what reads the elements of a dataset. Keeps those that were used last. Errors:
  // kDamaged.
  Result<std::shared_ptr<BlockElements>> elements(
      const std::shared_ptr<const Dataset>& dataset) const;

  // Returns what netCDF's view of a block needs from other blocks.
  Result<FileDimensions> dimensions(const Dataset& dataset) const;

  const InspectedFile file;
  const FileKind kind;

 private:
  mutable std::mutex mutex_;                                    // protects the members below
  mutable std::list<std::shared_ptr<BlockElements>> elements_;  // last used first
  mutable std::shared_ptr<ChunkCache> chunks_;
  mutable std::mutex dimensions_mutex_;  // protects dimensions_
  mutable std::optional<FileDimensionsReader> dimensions_;
};

}  // namespace nmb
