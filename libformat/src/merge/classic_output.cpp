// Merging to a classic file (see merge/classic_output.h).
#include "merge/classic_output.h"

#include <utility>

#include "interop/shared_dimensions.h"
#include "merge/classic_form.h"
#include "nmb/classic_view.h"
#include "nmb/extract.h"
#include "nmb/file_source.h"
#include "nmb/output_file.h"
#include "wire/owned_bytes.h"

namespace nmb {

namespace {

// Gets its name if a check says so.
class CheckedOutput final : public OutputFileLayer {
 public:
  CheckedOutput(std::shared_ptr<OutputFile> base, std::function<Status()> check)
      : OutputFileLayer(std::move(base)), check_(std::move(check)) {}
  Status publish() override {
    NMB_TRY(check_());
    return OutputFileLayer::publish();
  }

 private:
  const std::function<Status()> check_;
};

std::shared_ptr<const ByteSource> or_empty(std::shared_ptr<const ByteSource> values,
                                           const ByteSource& file) {
  if (values) return values;
  return std::make_shared<OwnedBytes>(std::vector<std::byte>(), file.name());
}

}  // namespace

bool ClassicOutput::is_first() {
  only_.reset();
  return ++blocks_ == 1;
}

Status ClassicOutput::take_whole(const BlockName&, InputBlock& block) {
  if (!is_first()) return {};
  NMB_ASSIGN(const ClassicForm form, classic_form(block, views_));
  tell_losses(block, form, conflicts_);
  auto only = std::make_shared<Dataset>(form.dataset);
  only->extent = or_empty(form.values, *file_);
  only_ = as_classic(std::move(only));
  return {};
}

Status ClassicOutput::take_part(const BlockName&, BlockPart part) {
  if (!is_first()) return {};
  auto only = std::make_shared<Dataset>();
  only->metadata = part.metadata;
  NMB_ASSIGN(only->layout, layout_classic(only->metadata, Kind::kCdf5));
  only->records = only->layout.records = part.records;
  only->extent = or_empty(std::move(part.values), *file_);
  only_ = std::move(only);
  return {};
}

void ClassicOutput::check() {
  if (only_)
    for (const Loss& loss : type_losses(only_->metadata, *options_.classic)) {
      const std::string_view text = loss.text;
      const std::size_t from = text.find(' ') + 1;  // behind "found"
      conflicts_.add_at({0, 0}, "loss", loss.object, 0, ConflictList::kNone,
                        std::string(text.substr(from, text.rfind(';') - from)), "");
    }
  if (only_ || conflicts_.size() > 0) return;
  conflicts_.add_at({0, 0}, "blocks", options_.output, 0, ConflictList::kNone,
                    std::to_string(blocks_) + " blocks",
                    "one for a classic file; --to nc4 or hdf5 have groups");
}

Status ClassicOutput::write(const std::function<Status()>& check_inputs, PackReport* report) const {
  ExtractOptions extract;
  extract.kind = options_.classic;
  extract.overwrite = options_.writer.overwrite;
  extract.sync = options_.writer.sync;
  extract.check = options_.check;
  extract.threads = options_.writer.threads;
  extract.cancel = options_.writer.cancel;
  extract.progress = options_.progress;
  extract.layer = [&](std::unique_ptr<OutputFile> file) {
    return std::make_unique<CheckedOutput>(std::move(file), check_inputs);
  };
  NMB_TRY(write_classic(*only_, *options_.classic, options_.output, extract));
  const Metadata& metadata = only_->metadata;
  Totals& totals = report->totals;
  totals.blocks = 1;
  totals.dimensions = metadata.dimension_count();
  totals.variables = metadata.variable_count();
  totals.attributes = metadata.attribute_count();
  totals.records = only_->records;
  report->value_bytes = only_->extent->size();
  NMB_ASSIGN(const std::unique_ptr<FileSource> result, FileSource::open(options_.output));
  report->bytes_out = result->size();
  return {};
}

}  // namespace nmb
