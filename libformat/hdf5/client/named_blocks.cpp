#include "client/named_blocks.h"

#include <algorithm>
#include <string>
#include <utility>

#include "client/decode_group.h"
#include "client/hdf5.h"
#include "hdf5_types/netcdf_marks.h"
#include "netcdf/selected_variables.h"
#include "netcdf/shared_dimensions.h"
#include "wire/joined_text.h"

namespace nmb::hdf5 {

namespace {

// Makes the dataset of a block the root block.
void describe(LoadedBlock* block) {
  block->name.clear();
  BlockEntry& entry = block->entry;
  entry.kind = static_cast<std::uint16_t>(block->kind());
  count_objects(block->metadata, &entry);
  entry.records = block->records;
  entry.extent_length = block->extent->size();
}

// Returns a classic file as a block with an empty name.
Result<std::shared_ptr<const LoadedBlock>> classic_block(std::shared_ptr<const ByteSource> file) {
  NMB_ASSIGN(const std::shared_ptr<const Dataset> dataset, open_classic(std::move(file)));
  auto block = std::make_shared<LoadedBlock>();
  static_cast<Dataset&>(*block) = *dataset;
  describe(block.get());
  return std::shared_ptr<const LoadedBlock>(std::move(block));
}

}  // namespace

Result<NamedBlocks> NamedBlocks::open(std::shared_ptr<const ByteSource> file) {
  NMB_ASSIGN(const FileKind kind, kind_of(*file));
  if (is_classic(kind)) {
    NMB_ASSIGN(std::shared_ptr<const LoadedBlock> block, classic_block(std::move(file)));
    return NamedBlocks(List{std::move(block)});
  }
  if (kind != FileKind::kHdf5) return refused_kind(*file, kind);
  std::vector<std::string> lost;
  NMB_ASSIGN(List blocks, open_groups(std::move(file), OtherFiles::kLeft, &lost));
  if (!lost.empty())
    return failure(Code::kUnsupported, lost.front(),
                   ": found a reference to a deleted object; pack the file without it (nmcat), and "
                   "convert the packed file");
  return NamedBlocks(std::move(blocks));
}

Result<NamedBlocks> NamedBlocks::of_variables(const FileReader& reader,
                                              std::span<const VarId> variables) {
  NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> whole, reader.block(""));
  if (!is_classic_dataset(whole->metadata))
    return Status(Code::kUnsupported, "the root block is not a classic dataset");
  if (!variables.empty() && variables.back() >= whole->metadata.variable_count())
    return Status(Code::kUsage,
                  "the root block has no variable " + std::to_string(variables.back()));
  auto block = std::make_shared<LoadedBlock>();
  NMB_ASSIGN(static_cast<Dataset&>(*block), selected_variables(*whole, variables));
  describe(block.get());
  return NamedBlocks(List{std::move(block)});
}

NamedBlocks::List::const_iterator NamedBlocks::first(std::string_view name) const {
  return std::ranges::lower_bound(*list_, name, {},
                                  [](const auto& block) { return std::string_view(block->name); });
}

Status NamedBlocks::for_each_entry(
    std::string_view prefix, const std::function<Result<bool>(const BlockEntry&)>& visit) const {
  if (reader_) return reader_->for_each_entry(prefix, visit);
  for (auto block = first(prefix); block != list_->end(); ++block) {
    if (!(*block)->name.starts_with(prefix)) break;
    NMB_ASSIGN(const bool goes_on, visit((*block)->entry));
    if (!goes_on) break;
  }
  return {};
}

Result<std::optional<BlockEntry>> NamedBlocks::find(std::string_view name) const {
  if (reader_) return reader_->find(name);
  const auto block = first(name);
  if (block == list_->end() || (*block)->name != name) return std::optional<BlockEntry>();
  return std::optional((*block)->entry);
}

Result<std::shared_ptr<const LoadedBlock>> NamedBlocks::block(std::string_view name) const {
  if (reader_) return reader_->block(name);
  const auto block = first(name);
  if (block == list_->end() || (*block)->name != name)
    return Status(Code::kNotFound, "found no group /" + std::string(name));
  return *block;
}

}  // namespace nmb::hdf5
