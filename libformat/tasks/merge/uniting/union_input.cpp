#include "merge/uniting/union_input.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "merge/reading/classic_form.h"
#include "merge/reading/held_values.h"
#include "merge/uniting/decomposition.h"
#include "model/name_rules.h"
#include "netcdf/netcdf_view.h"
#include "netcdf/shared_dimensions.h"

namespace nmb {

bool keeps_chunks(const PackOptions& options) {
  const Hdf5View view = options.writer.hdf5_view;
  return !options.classic && (view == Hdf5View::kOff || view == Hdf5View::kSmall);
}

InputFacts facts_of(const InputBlock& block, const PackOptions& options) {
  const Metadata& metadata = block.dataset.metadata;
  InputFacts facts;
  facts.samples = block.samples;
  const bool is_tiles = options.has_tiles();
  if (is_tiles) facts.has_no_icebergs = is_iceberg(metadata) && block.dataset.records == 0;
  // Iceberg files that are joined may belong to several sets, for example one set for each time.
  if (is_tiles || (options.joins() && has_version_of_icebergs(metadata)))
    facts.set_size = files_in_set(metadata);
  if (facts.set_size)
    facts.is_iceberg_set = has_version_of_icebergs(metadata) && !has_decomposition(metadata);
  return facts;
}

namespace {

// Checks that the input contains the groups that define the dimensions of a block. A block of an
// NMB file that counts as an input may use dimensions of groups above it.
Status check_levels(const InputBlock& block, const UnionInput& united) {
  const auto depth = block.group.empty() ? 0 : 1 + std::ranges::count(block.group, '/');
  for (DimId d = 0; d < united.levels.size(); ++d)
    if (united.levels[d] > depth)
      return Status(Code::kUnsupported,
                    "dimension " + in_quotes(united.member.metadata.dimension(d).name) +
                        " of block " + in_quotes(block.dataset.name) +
                        " belongs to a group above the block; choose this group, with which the "
                        "blocks below it are taken");
  return {};
}

}  // namespace

Status visit_union_input(const InputBlock& block, const PackOptions& options,
                         std::shared_ptr<SourcePool> views, std::uint64_t* budget,
                         const std::function<Status(const UnionInput&)>& visit) {
  // A join needs the same record dimension in all inputs.
  NMB_ASSIGN(ClassicForm form,
             classic_form(block, std::move(views),
                          options.joins() ? std::string(along_name(options)) : std::string(),
                          keeps_chunks(options) ? OwnTypes::kKept : OwnTypes::kLost));
  NMB_ASSIGN(Source values, hold_small(form.dataset, form.values, budget));
  UnionInput united{DatasetUnion::member_of(form.dataset, std::move(values))};
  if (options.on_mismatch() == Mismatch::kWiden)
    united.member.has_default_fill =
        is_classic_dataset(block.dataset.metadata) || netcdf_view(block.dataset).is_netcdf;
  united.member.is_record_unused = form.is_record_unused;
  united.levels = form.levels;
  NMB_TRY(check_levels(block, united));
  // A block with chunks may have several dimensions that grow, at any position.
  if (keeps_chunks(options)) {
    std::vector<std::size_t> kept;  // indexes of losses that this block does not have
    for (const ClassicView::FixedDimension& fixed : form.fixed_dimensions) {
      united.member.growing.push_back(fixed.dimension);
      kept.push_back(fixed.loss);
    }
    for (const ClassicView::EmptyDimension& empty : form.empty_dimensions) {
      united.member.empty.push_back(empty.name);
      kept.push_back(empty.loss);
    }
    std::ranges::sort(kept, std::greater<>());
    for (const std::size_t loss : kept)
      form.losses.erase(form.losses.begin() + static_cast<std::ptrdiff_t>(loss));
  }
  if (keeps_chunks(options)) {
    united.member.own = std::move(form.own);
    united.member.own_attributes = std::move(form.own_attributes);
    united.member.named_types = std::move(form.named_types);
  }
  // Classic files have characters in place of strings of fixed length.
  if (options.classic || keeps_chunks(options)) form.own.clear();
  united.losses = losses_of(block, form);
  united.lost_fill_values = form.lost_fill_values;
  return visit(united);
}

}  // namespace nmb
