#include "compare/content_blocks.h"

#include <algorithm>
#include <limits>

#include "model/name_rules.h"
#include "wire/checked.h"
#include "wire/memory_budget.h"

namespace nmb {

namespace {

Status with_block_name(const Status& status, const std::string& name) {
  return name.empty() ? status : status.of_object("block " + in_quotes(name));
}

}  // namespace

ValueBudget::ValueBudget(std::uint64_t file_size) {
  constexpr std::uint64_t kLeast = std::uint64_t{16} << 30;
  // Largest ratio of the decoded length of a piece to its stored length.
  constexpr std::uint64_t kMostGrowth = 131072;
  if (!checked_mul(file_size, kMostGrowth, &left_))
    left_ = std::numeric_limits<std::uint64_t>::max();
  left_ = std::max(left_, kLeast);
}

Status ValueBudget::take(std::uint64_t bytes) {
  if (bytes > left_)
    return Status(
        Code::kLimit,
        "the variables have more than 16 GiB of values, and more than 131,072 times the size of "
        "the file: most of them were never written");
  left_ -= bytes;
  return {};
}

ContentValues::ReadBudget read_budget(const ContentOptions& options, unsigned files) {
  const std::uint64_t budget = memory_budget(options.chunk_cache);
  return {budget, budget / std::max(options.threads, 1U) / files};
}

Status of_block(const Status& status, const DatasetContent& block) {
  return with_block_name(status, block.name());
}

Result<DimensionLengths> dimension_lengths(const FileBlocks& blocks) {
  DimensionLengths lengths;
  NMB_TRY(blocks.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    if (entry.kind != static_cast<std::uint16_t>(Kind::kExtended)) return true;
    NMB_ASSIGN(const std::shared_ptr<const Dataset> group, blocks.dataset(entry));
    add_dimension_lengths(*group, &lengths);
    return true;
  }));
  return lengths;
}

Result<DatasetContent> content_of(const ContentFile& file, const BlockEntry& entry,
                                  const DimensionLengths& lengths) {
  NMB_ASSIGN(std::shared_ptr<const Dataset> dataset, file.blocks.dataset(entry));
  const std::string path = dataset->extent->name();
  Result<DatasetContent> content =
      DatasetContent::of(entry.name, std::move(dataset), lengths, file.move, file.planned);
  if (!content.ok()) return with_block_name(content.status(), entry.name).in_file(path);
  return content;
}

}  // namespace nmb
