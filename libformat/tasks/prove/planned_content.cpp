#include "prove/planned_content.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "compare/content_blocks.h"
#include "files/files.h"
#include "hdf5_types/netcdf_marks.h"

namespace nmb {

namespace {

BlockEntry entry_for(const std::string& name, const Dataset& dataset) {
  BlockEntry entry;
  entry.name = name;
  entry.kind = static_cast<std::uint16_t>(dataset.kind());
  count_objects(dataset.metadata, &entry);
  entry.records = dataset.records;
  return entry;
}

}  // namespace

Result<RecordedHistory> recorded_history(const ContentFile& merged) {
  RecordedHistory out;
  NMB_ASSIGN(const std::optional<BlockEntry> root, merged.blocks.find(""));
  if (!root) return out;
  NMB_ASSIGN(DatasetContent block, content_of(merged, *root, {}));
  NMB_ASSIGN(const std::vector<AttributeContent> attributes, block.attributes());
  for (const AttributeContent& attribute : attributes) {
    if (attribute.name != "history") continue;
    const std::string_view text(reinterpret_cast<const char*>(attribute.values.data()),
                                attribute.values.size());
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.starts_with("nmcat ") || line.starts_with("nmconvert ")) out.line = line;
  }
  for (std::size_t v = 0; !out.line.empty() && v < block.variable_count(); ++v)
    out.variables.push_back(block.variable_name(v));
  return out;
}

Result<PlannedContent> PlannedContent::of(const PackOptions& merge, PackReport* report) {
  PlannedContent planned;
  PackOptions options = merge;
  options.output.clear();
  options.outputs = std::make_shared<OutputSet>();  // there is no output
  options.writer.dry_run = true;
  options.originals = Originals::kDrop;
  options.refused_losses = RefusedLosses::kNone;
  options.hdf5.reset();
  options.compression.reset();
  options.provenance = nullptr;
  if (options.classic)
    options.on_dataset = [&](const std::shared_ptr<const Dataset>& dataset,
                             const std::function<Status()>&) {
      planned.blocks_.emplace("", dataset);
      return Status();
    };
  else
    options.on_block = [&](const std::string& block, std::shared_ptr<const Dataset> definitions) {
      planned.blocks_.emplace(block, std::move(definitions));
      return Status();
    };
  NMB_TRY(pack(options, report));
  return planned;
}

ContentFile PlannedContent::content() const {
  return {{[this](std::string_view name) -> Result<std::optional<BlockEntry>> {
             const auto found = blocks_.find(name);
             if (found == blocks_.end()) return std::optional<BlockEntry>();
             return std::optional(entry_for(found->first, *found->second));
           },
           [this](std::string_view prefix,
                  const std::function<Result<bool>(const BlockEntry&)>& visit) -> Status {
             for (const auto& [name, dataset] : blocks_) {
               if (!name.starts_with(prefix)) continue;
               NMB_ASSIGN(const bool more, visit(entry_for(name, *dataset)));
               if (!more) break;
             }
             return {};
           },
           [this](const BlockEntry& entry) -> Result<std::shared_ptr<const Dataset>> {
             return blocks_.find(entry.name)->second;
           }},
          0};
}

}  // namespace nmb
