#include "convert/classic_file.h"

#include <algorithm>
#include <utility>

#include "files/read_back_output.h"
#include "model/classic_grammar.h"
#include "model/header_bytes.h"
#include "model/name_rules.h"
#include "netcdf/laid_dataset.h"
#include "origins/move_sharing.h"
#include "origins/value_mover.h"
#include "parallel/shared_output.h"

namespace nmb {

namespace {

constexpr std::uint32_t kWindow = 1 << 20;

// Returns a failure that names the file, and also the block if the dataset is a block.
Status of_dataset(const Dataset& dataset, Code code, const std::string& message) {
  const std::string& file = dataset.extent->name();
  return Status(
      code, file, kNoOffset, "",
      dataset.name == file ? message : "block " + in_quotes(dataset.name) + ": " + message);
}

// Returns a failure that says why `kind` cannot hold a dataset. If `kind` does not have the types
// of several variables and attributes, the message also gives their number.
Status cannot_hold(const Dataset& dataset, Kind kind, const Status& first) {
  if (first.code() != Code::kUnsupported) return of_dataset(dataset, first.code(), first.message());
  const Metadata& metadata = dataset.metadata;
  std::uint64_t types = 0;
  auto count = [&](Type type) {
    if (!classic::has_type(kind, type)) ++types;
  };
  auto count_attributes = [&](VarId owner) {
    metadata.for_each_attribute(owner, [&](const Attribute& attribute) { count(attribute.type); });
  };
  count_attributes(kGlobal);
  for (VarId v = 0; v < metadata.variable_count(); ++v) {
    count(metadata.variable(v).type);
    count_attributes(v);
  }
  std::string text = first.message();
  if (types > 1)
    text += "; " + std::to_string(types) +
            " variables and attributes have types that do not exist in this kind of file";
  return of_dataset(dataset, Code::kConflict, text);
}

}  // namespace

Result<ClassicContent> classic_content(const Dataset& dataset, Kind kind) {
  Metadata metadata = dataset.metadata;
  const Result<ClassicLayout> layout = layout_classic(metadata, kind);
  if (!layout.ok()) return cannot_hold(dataset, kind, layout.status());
  if (kind != Kind::kCdf5 && dataset.records >= ~std::uint32_t{0})
    return of_dataset(
        dataset, Code::kConflict,
        "found " + std::to_string(dataset.records) + " records, expected less than 2^32 - 1");
  ClassicContent content;
  content.values = relaid_values(dataset, metadata, *layout);
  NMB_ASSIGN(content.header, header_bytes(metadata, kind, dataset.records));
  return content;
}

ByteRange ClassicFile::share_of(int rank, int ranks, std::uint64_t length) {
  const std::uint64_t windows = (length + kWindow - 1) / kWindow;
  const auto begin_of = [&](int at) {
    const auto share = static_cast<__uint128_t>(windows) * static_cast<unsigned>(at) /
                       static_cast<unsigned>(ranks);
    return std::min(length, static_cast<std::uint64_t>(share) * kWindow);
  };
  return {begin_of(rank), begin_of(rank + 1)};
}

Status ClassicFile::write(std::span<const std::byte> header, std::uint64_t header_length,
                          std::uint64_t length, bool may_be_sparse,
                          const std::vector<Values>& own) {
  const CreateOptions of_new{.overwrite = options_.overwrite,
                             .sync = options_.sync,
                             .named = !ranks_.shares_memory(),
                             .resume_key = resume_key_,
                             .cancel = options_.cancel};
  NMB_ASSIGN(file_, share_output(
                        ranks_, path_, [&] { return create_output(path_, of_new); },
                        resume_key_.empty() ? hidden_name(path_) : resumable_name(path_),
                        [path = path_, key = resume_key_](const std::string& at) {
                          return attach_output(at, path, key);
                        }));
  if (options_.layer) file_ = options_.layer(std::move(file_));
  if (options_.check) file_ = std::make_unique<ReadBackOutput>(std::move(file_));
  NMB_TRY(agree(ranks_.rank() == 0 ? write_header(header, length, may_be_sparse) : Status()));
  NMB_TRY(agree(move(header_length, length, own)));
  NMB_TRY(agree(options_.sync && syncs_output(ranks_) ? file_->sync() : Status()));
  if (check_) NMB_TRY(ranks_.agree(check_()));
  return agree(ranks_.rank() == 0 ? file_->publish() : Status());
}

Status ClassicFile::write_header(std::span<const std::byte> header, std::uint64_t length,
                                 bool may_be_sparse) {
  const std::uint64_t all = header.size() + length;
  if (!may_be_sparse) NMB_TRY(file_->reserve(0, all));
  NMB_TRY(file_->truncate(all));
  return file_->write_at(0, header);
}

Status ClassicFile::move(std::uint64_t header_length, std::uint64_t length,
                         const std::vector<Values>& own) {
  std::vector<Move> parts;
  for (const Values& values : own) {
    if (values.share.length() == 0) continue;
    Move all;
    all.source = values.source;
    all.runs = {{0, 0, 0, 0, length, 1}};
    all.length = length;
    all.position = header_length;
    all.summed = false;
    parts.push_back(part_of(all, values.share.begin, values.share.end));
  }
  std::vector<Move*> moves;
  for (Move& part : parts) moves.push_back(&part);
  return move_values(moves, *file_, kWindow, options_);
}

}  // namespace nmb
