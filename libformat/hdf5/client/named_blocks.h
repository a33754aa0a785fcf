// NamedBlocks: the blocks that become the groups of an HDF5 file. They are the blocks of an NMB
// file, or the groups of another file that is converted.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reader/file_reader.h"
#include "wire/failure.h"

namespace nmb::hdf5 {

// Copies are cheap. Each function works like the Reader function with the same name, and returns
// the same errors.
class NamedBlocks {
 public:
  // `reader` must outlive the object and its copies.
  NamedBlocks(const FileReader& reader) : reader_(&reader) {}
  // `blocks` must be in the order of names.
  explicit NamedBlocks(std::vector<std::shared_ptr<const LoadedBlock>> blocks)
      : list_(std::make_shared<const List>(std::move(blocks))) {}

  // Opens the groups of an HDF5 file, or the only block of a classic file. The HDF5 library runs in
  // another process. Errors: those of open_hdf5() and open_classic(); kUnsupported also if
  // references lead to deleted objects; kUnknownKind for files of other kinds.
  NMB_EXPORT static Result<NamedBlocks> open(std::shared_ptr<const ByteSource> file);
  // Returns the root block of `reader` with only some of its variables. The root block must be a
  // classic dataset (is_classic_dataset()). `variables` must be ascending. Errors: kUsage if a
  // variable does not exist; kUnsupported if the block is not a classic dataset; those of
  // FileReader::block().
  NMB_EXPORT static Result<NamedBlocks> of_variables(const FileReader& reader,
                                                     std::span<const VarId> variables);

  NMB_EXPORT Status for_each_entry(
      std::string_view prefix, const std::function<Result<bool>(const BlockEntry&)>& visit) const;
  NMB_EXPORT Result<std::optional<BlockEntry>> find(std::string_view name) const;
  NMB_EXPORT Result<std::shared_ptr<const LoadedBlock>> block(std::string_view name) const;
  Result<std::shared_ptr<const LoadedBlock>> block(const BlockEntry& entry) const {
    return reader_ ? reader_->block(entry) : block(entry.name);
  }

 private:
  using List = std::vector<std::shared_ptr<const LoadedBlock>>;
  // Returns the first block of the list whose name is not less than `name`.
  List::const_iterator first(std::string_view name) const;

  const FileReader* reader_ = nullptr;
  std::shared_ptr<const List> list_;  // used if reader_ is nullptr
};

}  // namespace nmb::hdf5
