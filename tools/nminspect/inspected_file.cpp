// Files to inspect (see inspected_file.h).
#include "nminspect/inspected_file.h"

#include <filesystem>

namespace nmb::tools {

Result<InspectedFile> InspectedFile::open(std::shared_ptr<const InputFile> file) {
  InspectedFile out;
  out.file_ = std::move(file);
  const FileKind kind = out.file_->kind();
  if (kind == FileKind::kNmb) {
    NMB_ASSIGN(out.reader_, Reader::open(out.file_));
    return out;
  }
  if (!is_classic(kind)) return refused_kind(*out.file_, kind);
  NMB_ASSIGN(out.classic_, open_classic(out.file_));
  const Dataset& dataset = *out.classic_;
  BlockEntry& entry = out.classic_entry_;
  entry.kind = static_cast<std::uint16_t>(dataset.kind());
  entry.stored_length = entry.raw_length = dataset.layout.header_length;
  entry.extent_position = dataset.layout.header_length;
  entry.extent_length = dataset.extent->size();
  entry.dimensions = dataset.metadata.dimension_count();
  entry.variables = dataset.metadata.variable_count();
  entry.attributes = dataset.metadata.attribute_count();
  entry.records = dataset.records;
  out.classic_totals_ = entry.totals();
  return out;
}

std::string InspectedFile::stem() const {
  return std::filesystem::path(file_->name()).stem().string();
}

Result<Totals> InspectedFile::totals_of_prefix(std::string_view prefix) const {
  if (reader_) return reader_->totals_of_prefix(prefix);
  return prefix.empty() ? classic_totals_ : Totals();
}

Result<std::optional<BlockEntry>> InspectedFile::find(std::string_view block) const {
  if (reader_) return reader_->find(block);
  return block.empty() ? std::optional(classic_entry_) : std::nullopt;
}

Status InspectedFile::for_each_entry(
    std::string_view prefix, const std::function<Result<bool>(const BlockEntry&)>& visit) const {
  if (reader_) return reader_->for_each_entry(prefix, visit);
  return prefix.empty() ? visit(classic_entry_).status() : Status();
}

Result<std::shared_ptr<const Dataset>> InspectedFile::dataset(const BlockEntry& entry) const {
  if (!reader_) return classic_;
  NMB_ASSIGN(std::shared_ptr<const Block> block, reader_->block(entry));
  return std::shared_ptr<const Dataset>(std::move(block));
}

Result<std::shared_ptr<const Dataset>> InspectedFile::dataset(std::string_view block) const {
  NMB_ASSIGN(const std::optional<BlockEntry> entry, find(block));
  if (!entry)
    return Status(Code::kNotFound, file_->name(), kNoOffset, "",
                  "found no block \"" + std::string(block) + "\"");
  return dataset(*entry);
}

}  // namespace nmb::tools
