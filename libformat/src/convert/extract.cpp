// Blocks as classic files (see nmb/extract.h; spec/format.md, section 8.1).
#include "nmb/extract.h"

#include <algorithm>
#include <vector>

#include "block/classic_grammar.h"
#include "block/name_rules.h"
#include "convert/laid_values.h"
#include "nmb/classic_header.h"
#include "parallel/shared_output.h"
#include "wire/endian.h"
#include "wire/read_back_output.h"
#include "writer/move_sharing.h"
#include "writer/value_mover.h"

namespace nmb {

namespace {

constexpr std::uint32_t kWindow = 1 << 20;

// A file of a header and the values behind it, by all ranks: each writes some of the windows of the
// values.
class ClassicFile {
 public:
  ClassicFile(const std::string& path, const ExtractOptions& options, Communicator& ranks)
      : path_(path), options_(options), ranks_(ranks) {
    mover_.threads = options.threads;
    mover_.cancel = options.cancel;
  }

  // Collective. values: at least `length` bytes.
  Status write(std::span<const std::byte> header, std::shared_ptr<const ByteSource> values,
               std::uint64_t length) {
    const CreateOptions of_new{.overwrite = options_.overwrite,
                               .sync = options_.sync,
                               .named = !ranks_.shares_memory(),
                               .cancel = options_.cancel};
    NMB_ASSIGN(file_,
               share_output(
                   ranks_, path_, [&] { return create_output(path_, of_new); }, hidden_name(path_),
                   [path = path_](const std::string& at) { return attach_output(at, path); }));
    if (options_.layer) file_ = options_.layer(std::move(file_));
    if (options_.check) file_ = std::make_unique<ReadBackOutput>(std::move(file_));
    Move all;
    all.source = std::move(values);
    all.runs = {{0, 0, 0, 0, length, 1}};
    all.length = length;
    all.position = header.size();
    all.summed = false;
    NMB_TRY(agree(ranks_.rank() == 0 ? write_header(header, all) : Status()));
    NMB_TRY(agree(move_share(all)));
    NMB_TRY(agree(options_.sync && syncs_output(ranks_) ? file_->sync() : Status()));
    return agree(ranks_.rank() == 0 ? file_->publish() : Status());
  }

 private:
  Status agree(const Status& status) { return ranks_.agree(status.in_file(path_)); }

  Status write_header(std::span<const std::byte> header, const Move& values) {
    const std::uint64_t length = header.size() + values.length;
    if (!values.source->may_be_sparse()) NMB_TRY(file_->reserve(0, length));
    NMB_TRY(file_->truncate(length));
    return file_->write_at(0, header);
  }

  Status move_share(const Move& all) {
    const std::uint64_t windows = (all.length + kWindow - 1) / kWindow;
    auto begin_of = [&](int rank) {
      const auto share = static_cast<__uint128_t>(windows) * static_cast<unsigned>(rank) /
                         static_cast<unsigned>(ranks_.size());
      return std::min(all.length, static_cast<std::uint64_t>(share) * kWindow);
    };
    const std::uint64_t from = begin_of(ranks_.rank()), to = begin_of(ranks_.rank() + 1);
    Move own = part_of(all, from, to);
    std::vector<Move*> moves{&own};
    mover_.progress = options_.progress;
    return move_values(moves, *file_, kWindow, mover_);
  }

  const std::string& path_;
  const ExtractOptions& options_;
  Communicator& ranks_;
  std::unique_ptr<OutputFile> file_;
  WriterOptions mover_;
};

// Brings numrecs of a body up to date. STREAMING stays: readers take the count from the length.
Status patch_records(const Block& block, std::vector<std::byte>& body) {
  const ByteSource& extent = *block.extent;
  if (!block.metadata.record_dimension()) return {};
  const bool wide = block.kind() == Kind::kCdf5;
  const std::uint64_t found =
      wide ? load_be<std::uint64_t>(&body[4]) : load_be<std::uint32_t>(&body[4]);
  const std::uint64_t streaming = wide ? ~std::uint64_t{0} : ~std::uint32_t{0};
  if (found == block.records || found == streaming) return {};
  if (!wide && block.records >= streaming)
    return Status(Code::kUnsupported, extent.name(), kNoOffset, "",
                  "block \"" + block.name + "\": found " + std::to_string(block.records) +
                      " records, expected less than 2^32 - 1 in a file of kind CDF-" +
                      std::to_string(static_cast<int>(block.kind())));
  if (wide)
    store_be(&body[4], block.records);
  else
    store_be(&body[4], static_cast<std::uint32_t>(block.records));
  return {};
}

// The same failure with the file's name, and the block's where the dataset is one.
Status of_dataset(const Dataset& dataset, Code code, const std::string& message) {
  const std::string& file = dataset.extent->name();
  return Status(
      code, file, kNoOffset, "",
      dataset.name == file ? message : "block " + in_quotes(dataset.name) + ": " + message);
}

// Why `kind` cannot hold a dataset: the first reason, and how many variables and attributes have
// types of another kind.
Status cannot_hold(const Dataset& dataset, Kind kind, const Status& first) {
  if (first.code() != Code::kUnsupported) return of_dataset(dataset, first.code(), first.message());
  const Metadata& metadata = dataset.metadata;
  std::uint64_t types = 0;
  auto count = [&](Type type) {
    if (!classic::has_type(kind, static_cast<std::uint32_t>(type))) ++types;
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
    text +=
        "; " + std::to_string(types) + " variables and attributes have types that it cannot hold";
  return of_dataset(dataset, Code::kConflict, text);
}

}  // namespace

Status extract_block(const Reader& reader, const BlockEntry& entry, const std::string& path,
                     const ExtractOptions& options, Communicator& ranks) {
  std::shared_ptr<const Block> block;
  std::vector<std::byte> body;
  auto load = [&]() -> Status {
    NMB_ASSIGN(block, reader.block(entry, &body));
    if (!options.kind || *options.kind == block->kind()) return patch_records(*block, body);
    body.clear();
    return {};
  };
  NMB_TRY(ranks.agree(load()));
  if (body.empty()) return write_classic(*block, *options.kind, path, options, ranks);
  return ClassicFile(path, options, ranks).write(body, block->extent, entry.extent_length);
}

Status write_classic(const Dataset& dataset, Kind kind, const std::string& path,
                     const ExtractOptions& options, Communicator& ranks) {
  Metadata metadata = dataset.metadata;
  std::vector<std::byte> header;
  std::shared_ptr<const LaidValues> values;
  auto lay_out = [&]() -> Status {
    const Result<ClassicLayout> layout = layout_classic(metadata, kind);
    if (!layout.ok()) return cannot_hold(dataset, kind, layout.status());
    if (kind != Kind::kCdf5 && dataset.records >= ~std::uint32_t{0})
      return of_dataset(
          dataset, Code::kConflict,
          "found " + std::to_string(dataset.records) + " records, expected less than 2^32 - 1");
    values = relaid_values(dataset, metadata, *layout);
    header.reserve(layout->header_length);
    return encode_classic_header(metadata, kind, dataset.records,
                                 [&](std::span<const std::byte> part) -> Status {
                                   header.insert(header.end(), part.begin(), part.end());
                                   return {};
                                 });
  };
  NMB_TRY(ranks.agree(lay_out()));
  return ClassicFile(path, options, ranks).write(header, values, values->size());
}

Status extract_block(const Reader& reader, const BlockEntry& entry, const std::string& path,
                     const ExtractOptions& options) {
  Communicator alone;
  return extract_block(reader, entry, path, options, alone);
}

Status write_classic(const Dataset& dataset, Kind kind, const std::string& path,
                     const ExtractOptions& options) {
  Communicator alone;
  return write_classic(dataset, kind, path, options, alone);
}

}  // namespace nmb
