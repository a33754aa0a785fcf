#include "merge/storing/classic_output.h"

#include <algorithm>
#include <utility>

#include "files/files.h"
#include "hdf5_types/netcdf_marks.h"
#include "merge/reading/classic_form.h"
#include "model/classic.h"
#include "netcdf/netcdf_view.h"
#include "netcdf/shared_dimensions.h"
#include "sources/value_source.h"

namespace nmb {

namespace {

Source or_empty(Source values, const ByteSource& file) {
  if (values) return values;
  return owned_bytes(std::vector<std::byte>(), file.name());
}

bool can_hold(Kind kind, const Dataset& dataset) {
  Metadata metadata = dataset.metadata;
  return layout_classic(metadata, kind).ok() &&
         (kind == Kind::kCdf5 || dataset.records < ~std::uint32_t{0});
}

}  // namespace

bool ClassicOutput::is_first(const OutputName& name) {
  only_.reset();
  name_ = name;
  input_ = conflicts_.here().input;
  return ++blocks_ == 1;
}

Status ClassicOutput::take_whole(const OutputName& name, InputBlock& block) {
  if (!is_first(name)) return {};
  NMB_ASSIGN(ClassicForm form, classic_form(block, views_));
  form.own.clear();
  report_losses(block, form, conflicts_);
  auto only = std::make_shared<Dataset>(form.dataset);
  only->extent = or_empty(form.values, *file_);
  only_ = as_classic(std::move(only));
  return {};
}

Status ClassicOutput::take_part(const OutputName& name, InputPart part) {
  if (!is_first(name)) return {};
  auto only = std::make_shared<Dataset>();
  only->metadata = part.metadata;
  NMB_ASSIGN(only->layout, layout_classic(only->metadata, Kind::kCdf5));
  only->records = only->layout.records = part.records;
  only->extent = or_empty(std::move(part.values), *file_);
  only_ = std::move(only);
  return {};
}

void ClassicOutput::choose_kind() {
  for (const Kind higher : {Kind::kCdf2, Kind::kCdf5}) {
    if (type_losses(only_->metadata, kind_).empty() && can_hold(kind_, *only_)) break;
    kind_ = std::max(kind_, higher);
  }
  if (kind_ == *options_.classic) return;
  report_.classic = kind_;
  const auto word = [](Kind kind) { return "CDF-" + std::to_string(static_cast<int>(kind)); };
  report_.kind_note = "a " + word(kind_) + " file, because it does not fit into " +
                      word(*options_.classic) + ", the kind of the inputs";
}

void ClassicOutput::check() {
  if (only_ && options_.kind_of_inputs) choose_kind();
  if (only_)
    for (const Loss& loss : type_losses(only_->metadata, kind_)) {
      // "found type ubyte, expected one of CDF-2; use ..."
      constexpr std::string_view kFound = "found ", kExpected = ", expected ";
      std::string_view found = std::string_view(loss.text).substr(0, loss.text.rfind(';'));
      found.remove_prefix(found.starts_with(kFound) ? kFound.size() : 0);
      const std::size_t end = std::min(found.find(kExpected), found.size());
      const std::size_t begin = std::min(end + kExpected.size(), found.size());
      conflicts_.add_at({0, 0}, ConflictKind::kLoss, loss.object, 0, ConflictList::kNone,
                        std::string(found.substr(0, end)), std::string(found.substr(begin)));
    }
  if (only_ || conflicts_.size() > 0) return;
  conflicts_.add_at({0, 0}, ConflictKind::kBlocks, "OUT", 0, ConflictList::kNone,
                    std::to_string(blocks_) + " blocks",
                    "one block for a classic file; use FileKind::kHdf5 for a file with groups");
}

// Divides the values among the ranks, each of which writes its share. Rank 0 writes values that
// another rank cannot read.
Result<std::vector<ClassicFile::Values>> ClassicOutput::deal(const ReceivedFrom& from,
                                                             Source values,
                                                             std::uint64_t length) const {
  const auto share_of = [&](int rank) {
    return ClassicFile::share_of(rank, ranks_.size(), length);
  };
  std::vector<ClassicFile::Values> own;
  std::vector<Communicator::Parcel> parcels;
  const auto send_all = [&]() -> Status {
    own.push_back({values, share_of(0)});
    for (int rank = 1; rank < ranks_.size(); ++rank) {
      const ByteRange share = share_of(rank);
      if (share.length() == 0) continue;
      NMB_ASSIGN(auto sent, send_values(*values, share));
      if (sent)
        parcels.push_back({rank, std::move(*sent)});
      else
        own.push_back({values, share});
    }
    return {};
  };
  NMB_TRY(ranks_.first([&] { return send_all(); }));
  NMB_ASSIGN(const std::vector<Message> arrived, ranks_.exchange(std::move(parcels)));
  const auto receive_all = [&]() -> Status {
    for (const Message& message : arrived) {
      NMB_ASSIGN(Source source, receive_values(message.bytes(), from));
      own.push_back({std::move(source), share_of(ranks_.rank())});
    }
    return {};
  };
  NMB_TRY(ranks_.agree(receive_all()));
  return own;
}

Status ClassicOutput::write(const ReceivedFrom& from,
                            const std::function<Status()>& check_inputs) const {
  if (options_.on_dataset)
    return ranks_.first([&] { return options_.on_dataset(only_, check_inputs); });
  ExtractOptions extract;
  static_cast<OutputOptions&>(extract) = static_cast<const OutputOptions&>(options_.writer);
  extract.check = options_.check;
  Result<ClassicContent> content = ClassicContent();
  if (ranks_.rank() == 0) content = classic_content(*only_, kind_);
  NMB_TRY(ranks_.first([&] { return content.status(); }));
  struct Lengths {
    std::uint64_t header = 0, values = 0;
  };
  Lengths lengths;
  if (ranks_.rank() == 0) lengths = {content->header.size(), content->values->size()};
  NMB_ASSIGN(lengths, ranks_.broadcast_value(0, lengths));
  NMB_ASSIGN(const auto own, deal(from, content->values, lengths.values));
  const bool may_be_sparse = ranks_.rank() == 0 && content->values->may_be_sparse();
  ClassicFile file(options_.output, extract, ranks_);
  file.set_check(check_inputs);
  file.set_resume_key(options_.writer.resume_key);
  NMB_TRY(file.write(content->header, lengths.header, lengths.values, may_be_sparse, own));
  return ranks_.first([&] { return describe(); });
}

Status ClassicOutput::describe_plan(PackPlan* plan) const {
  NMB_ASSIGN(const ClassicContent content, classic_content(*only_, kind_));
  count();
  plan->metadata_bytes = content.header.size();
  report_.value_bytes = content.values->size();
  report_.bytes_out = plan->metadata_bytes + report_.value_bytes;
  plan->blocks_of_input.resize(options_.inputs.size());
  plan->blocks_of_input[input_] = 1;
  plan->first_blocks = {name_.name};
  return {};
}

// Adds the totals of the only block to the report.
void ClassicOutput::count() const {
  const Metadata& metadata = only_->metadata;
  Totals& totals = report_.totals;
  totals.blocks = 1;
  count_objects(metadata, &totals);
  totals.records = only_->records;
}

Status ClassicOutput::describe() const {
  count();
  report_.value_bytes = only_->extent->size();
  NMB_ASSIGN(const std::unique_ptr<FileSource> result, FileSource::open(options_.output));
  report_.bytes_out = result->size();
  return {};
}

}  // namespace nmb
