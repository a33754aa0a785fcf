// The file of a Reader and its handles, and how handles are made.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "handles/inspected_file.h"
#include "nmb/reader.h"

namespace nmb {

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
                      const Attribute& attribute);
  // Returns nullptr if the reader was moved from.
  static const ReaderState* of(const Reader& reader) { return reader.state_.get(); }
  static Object object(const VarView& var) {
    return {std::static_pointer_cast<const LoadedBlock>(var.dataset_), var.id_};
  }
  static const std::shared_ptr<const ReaderState>& file_of(const VarView& var) { return var.file_; }
  static const BlockEntry& entry_of(const BlockView& block) { return *block.entry_; }

  const InspectedFile file;
  const FileKind kind;
};

}  // namespace nmb
