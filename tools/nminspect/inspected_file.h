// InspectedFile: an NMB or a classic file as blocks and totals. A classic file is one block with
// the empty name.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/input_file.h"
#include "nmb/reader.h"

namespace nmb::tools {

class InspectedFile {
 public:
  // kNotFound, kIo, kDamaged; kUnsupported and kUnknownKind for other kinds.
  static Result<InspectedFile> open(std::shared_ptr<const InputFile> file);

  const InputFile& file() const { return *file_; }
  // The file's name without folder and ending.
  std::string stem() const;
  // nullptr: a classic file.
  const Reader* reader() const { return reader_.get(); }

  // As the functions of Reader.
  const Totals& totals() const { return reader_ ? reader_->totals() : classic_totals_; }
  Result<Totals> totals_of_prefix(std::string_view prefix) const;
  Result<std::optional<BlockEntry>> find(std::string_view block) const;
  Status for_each_entry(std::string_view prefix,
                        const std::function<Result<bool>(const BlockEntry&)>& visit) const;
  Result<std::shared_ptr<const Dataset>> dataset(const BlockEntry& entry) const;
  // kNotFound where there is no such block.
  Result<std::shared_ptr<const Dataset>> dataset(std::string_view block) const;

 private:
  std::shared_ptr<const InputFile> file_;
  std::unique_ptr<Reader> reader_;
  std::shared_ptr<const Dataset> classic_;
  BlockEntry classic_entry_;
  Totals classic_totals_;
};

}  // namespace nmb::tools
