// Blocks as classic datasets (see merge/classic_form.h).
#include "merge/classic_form.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace nmb {

namespace {

// What a view's extent reads, too.
struct OpenView {
  std::shared_ptr<const Dataset> block, view;
};

}  // namespace

Result<ClassicForm> classic_form(const InputBlock& block, std::shared_ptr<SourcePool> pool) {
  if (!block.dataset.metadata.extension())
    return ClassicForm{block.dataset, block.values, {}, {}, {}, {}};
  NMB_ASSIGN(std::shared_ptr<const Dataset> opened, block.open());
  NMB_ASSIGN(ClassicView view, classic_view(std::move(opened), Kind::kCdf5, block.lengths.get()));
  const auto open = [open = block.open,
                     lengths = block.lengths]() -> Result<std::shared_ptr<const ByteSource>> {
    auto both = std::make_shared<OpenView>();
    NMB_ASSIGN(both->block, open());
    NMB_ASSIGN(ClassicView again, classic_view(both->block, Kind::kCdf5, lengths.get()));
    both->view = std::move(again.dataset);
    const ByteSource* const extent = both->view->extent.get();
    return std::shared_ptr<const ByteSource>(std::move(both), extent);
  };
  const ByteSource& extent = *view.dataset->extent;
  auto values =
      std::make_shared<ReopenedSource>(extent.name(), extent.size(), open, std::move(pool));
  const Dataset& dataset = *view.dataset;
  return ClassicForm{dataset,
                     std::move(values),
                     std::move(view.losses),
                     std::move(view.left_out),
                     std::move(view.lost_fill_values),
                     std::move(view.dataset)};
}

void tell_losses(const InputBlock& block, const ClassicForm& form, ConflictList& conflicts,
                 const std::string& why) {
  constexpr std::string_view kFound = "found ";
  const std::string group = block.group.empty() ? "" : "group /" + block.group + ": ";
  for (const Loss& loss : form.losses) {
    std::string found = loss.text.substr(loss.text.starts_with(kFound) ? kFound.size() : 0);
    found.resize(std::min(found.size(), found.rfind("; ")));
    conflicts.add("loss", group + loss.object, found + " (" + why + ")", "");
  }
}

}  // namespace nmb
