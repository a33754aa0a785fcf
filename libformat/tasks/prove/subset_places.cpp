#include "prove/subset_places.h"

#include <memory>
#include <utility>

#include "files/files.h"
#include "merge/reading/classic_form.h"
#include "merge/reading/input_links.h"
#include "merge/reading/input_reader.h"
#include "merge/uniting/union_input.h"

namespace nmb {

namespace {

BlockSubset part_of(const Metadata& whole, DatasetSubset subset) {
  BlockSubset part;
  part.is_outside = subset.is_outside;
  for (VarId v = 0; v < whole.variable_count(); ++v) {
    const Variable variable = whole.variable(v);
    const auto selected = subset.selected.find(std::string(variable.name));
    if (selected == subset.selected.end()) continue;
    for (std::size_t d = 0; d < variable.dimensions.size(); ++d)
      part.dimensions.emplace(whole.dimension(variable.dimensions[d]).name, selected->second[d]);
  }
  part.variables = std::move(subset.selected);
  return part;
}

}  // namespace

Result<InputSubset> subset_places(const PackOptions& merge, std::size_t input) {
  PackOptions reading;
  reading.inputs = merge.inputs;
  reading.input_blocks = merge.input_blocks;
  reading.external = merge.external;
  reading.keep_statistics = false;
  InputOptions options{reading, kCachedBytesOfInput};
  options.shared_dimensions = true;
  std::vector<std::string> warnings;
  InputReader reader(std::move(options), &warnings);
  NMB_ASSIGN(const Source file, FileSource::open(merge.inputs[input]));
  const auto views = std::make_shared<SourcePool>(1);
  const std::string record = merge.joins() ? std::string(along_name(merge)) : std::string();
  const OwnTypes own = keeps_chunks(merge) ? OwnTypes::kKept : OwnTypes::kLost;
  InputSubset out;
  DimensionSelections known;
  NMB_TRY(reader.read(input, file, [&](InputBlock& block) -> Result<bool> {
    NMB_ASSIGN(const ClassicForm form, classic_form(block, views, record, own));
    NMB_ASSIGN(DatasetSubset subset, subset_of(form.dataset, form.values, *merge.subset,
                                               {block.group, form.levels, known}));
    out.emplace(block.group, part_of(form.dataset.metadata, std::move(subset)));
    return true;
  }));
  return out;
}

}  // namespace nmb
