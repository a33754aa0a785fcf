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
    out.text = text;
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.starts_with("nmcat ") || line.starts_with("nmconvert ")) out.line = line;
  }
  for (std::size_t v = 0; !out.line.empty() && v < block.variable_count(); ++v)
    out.variables.push_back(block.variable_name(v));
  return out;
}

Result<PlannedContent> PlannedContent::of(const PackOptions& merge, const ContentFile& merged,
                                          bool is_hdf5, PackReport* report) {
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
  if (merge.joins()) NMB_TRY(planned.add_history(merged));
  if (is_hdf5) NMB_TRY(planned.choose_form(merged, *report));
  return planned;
}

// Adds the line about the merge that the merged file has. The first line of the file is that of an
// input if the merge has added none.
Status PlannedContent::add_history(const ContentFile& merged) {
  constexpr const char* kHistory = "history";
  NMB_ASSIGN(const RecordedHistory recorded, recorded_history(merged));
  const auto root = blocks_.find("");
  if (recorded.line.empty() || root == blocks_.end()) return {};
  std::string text;
  if (const auto before = root->second->metadata.find_attribute(kGlobal, kHistory)) {
    if (before->type != Type::kChar) return {};
    text.assign(reinterpret_cast<const char*>(before->values.data()), before->values.size());
  }
  if (text == recorded.text) return {};
  text.insert(0, recorded.line + (text.empty() ? "" : "\n"));
  const auto dataset = std::make_shared<Dataset>(*root->second);
  NMB_TRY(
      dataset->metadata.put_att(kGlobal, kHistory, Type::kChar, std::as_bytes(std::span(text))));
  root->second = dataset;
  return {};
}

// An HDF5 file that does not have to be a netCDF-4 file lacks all dimensions that netCDF made up
// for its inputs.
Status PlannedContent::choose_form(const ContentFile& merged, const PackReport& report) {
  form_.emplace().drops_made_up = !report.has_classic_blocks;
  NMB_TRY(merged.blocks.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    NMB_ASSIGN(const DatasetContent block, content_of(merged, entry, {}));
    if (std::ranges::any_of(block.dimensions(), is_made_up, &DimensionContent::name))
      form_->drops_made_up = false;
    return form_->drops_made_up;
  }));
  return {};
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
          0,
          {},
          form_};
}

}  // namespace nmb
