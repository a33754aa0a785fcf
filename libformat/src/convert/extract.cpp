// Blocks as classic files (see nmb/extract.h; spec/format.md, section 8.1).
#include "nmb/extract.h"

#include <algorithm>
#include <vector>

#include "block/classic_grammar.h"
#include "block/name_rules.h"
#include "nmb/classic_header.h"
#include "wire/endian.h"
#include "wire/hash.h"

namespace nmb {

namespace {

constexpr std::uint64_t kWindow = 1 << 20;

// Writes one byte after the other, and knows what it wrote.
class ClassicFile {
 public:
  ClassicFile(std::string path, const ExtractOptions& options, std::uint64_t total)
      : path_(std::move(path)), options_(options), total_(total) {}

  Status open() {
    NMB_ASSIGN(file_, create_output(path_, {options_.overwrite, options_.sync}));
    if (options_.layer) file_ = options_.layer(std::move(file_));
    return total_ > 0 ? file_->reserve(0, total_) : Status();
  }

  Status append(std::span<const std::byte> bytes) {
    if (options_.cancel && options_.cancel->load())
      return Status(Code::kIo, path_, kNoOffset, "", "interrupted");
    NMB_TRY(file_->write_at(written_, bytes));
    digest_.add(bytes);
    written_ += bytes.size();
    if (options_.progress) options_.progress(written_, total_);
    return {};
  }

  Status zeros(std::uint64_t count) {
    const std::vector<std::byte> none(std::min(count, kWindow));
    for (; count > 0; count -= std::min(count, kWindow))
      NMB_TRY(append(std::span(none).first(std::min(count, kWindow))));
    return {};
  }

  // Range [from, to) of `source`, in windows that are whole pieces where the range holds them.
  Status copy(const ByteSource& source, std::uint64_t from, std::uint64_t to) {
    buffer_.resize(kWindow);
    while (from < to) {
      const std::uint64_t end = std::min(to, (from / kWindow + 1) * kWindow);
      auto part = std::span(buffer_).first(end - from);
      NMB_TRY(source.read_at(from, part));
      NMB_TRY(append(part));
      from = end;
    }
    return {};
  }

  std::uint64_t written() const { return written_; }

  Status finish() {
    NMB_TRY(file_->truncate(written_));
    if (options_.check) NMB_TRY(compare());
    if (options_.sync) NMB_TRY(file_->sync());
    return file_->publish();
  }

 private:
  Status compare() {
    DigestStream digest;
    buffer_.resize(kWindow);
    for (std::uint64_t at = 0; at < written_; at += kWindow) {
      auto part = std::span(buffer_).first(std::min(kWindow, written_ - at));
      NMB_TRY(file_->read_at(at, part));
      digest.add(part);
    }
    if (digest.digest() == digest_.digest()) return {};
    return Status(Code::kIo, path_, kNoOffset, "",
                  "the file that was written does not read back as what was written");
  }

  std::string path_;
  const ExtractOptions& options_;
  std::uint64_t total_;
  std::unique_ptr<OutputFile> file_;
  std::uint64_t written_ = 0;
  DigestStream digest_;
  std::vector<std::byte> buffer_;
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

}  // namespace

namespace {

// The same failure with the file's name, and the block's where the dataset is one.
Status of_dataset(const Dataset& dataset, Code code, const std::string& message) {
  const std::string& file = dataset.extent->name();
  return Status(code, file, kNoOffset, "",
                dataset.name == file ? message : "block " + quoted(dataset.name) + ": " + message);
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
                     const ExtractOptions& options) {
  NMB_ASSIGN(std::shared_ptr<const Block> block, reader.block(entry));
  if (options.kind && *options.kind != block->kind())
    return write_classic(*block, *options.kind, path, options);
  NMB_ASSIGN(std::vector<std::byte> body, reader.body(entry));
  NMB_TRY(patch_records(*block, body));
  ClassicFile file(path, options, body.size() + entry.extent_length);
  NMB_TRY(file.open());
  NMB_TRY(file.append(body));
  NMB_TRY(file.copy(*block->extent, 0, entry.extent_length));
  return file.finish();
}

Status write_classic(const Dataset& dataset, Kind kind, const std::string& path,
                     const ExtractOptions& options) {
  Metadata metadata = dataset.metadata;
  Result<ClassicLayout> laid_out = layout_classic(metadata, kind);
  if (!laid_out.ok()) return cannot_hold(dataset, kind, laid_out.status());
  const ClassicLayout layout = *laid_out;
  const std::uint64_t records = dataset.records;
  if (kind != Kind::kCdf5 && records >= ~std::uint32_t{0})
    return of_dataset(dataset, Code::kConflict,
                      "found " + std::to_string(records) + " records, expected less than 2^32 - 1");
  ClassicFile file(path, options, layout.end(records));
  NMB_TRY(file.open());
  NMB_TRY(encode_classic_header(
      metadata, kind, records, [&](std::span<const std::byte> part) { return file.append(part); }));
  auto copy_slice = [&](VarId v, std::uint64_t from, std::uint64_t to) -> Status {
    NMB_TRY(file.zeros(to - file.written()));
    return file.copy(*dataset.extent, from, from + dataset.metadata.slice_bytes(v).value_or(0));
  };
  const std::uint64_t header = dataset.layout.header_length;
  for (VarId v = 0; v < metadata.variable_count(); ++v)
    if (!metadata.is_record_variable(v))
      NMB_TRY(copy_slice(v, dataset.metadata.begin(v) - header, metadata.begin(v)));
  for (std::uint64_t r = 0; r < records; ++r)
    for (VarId v = 0; v < metadata.variable_count(); ++v)
      if (metadata.is_record_variable(v))
        NMB_TRY(copy_slice(v, dataset.metadata.begin(v) - header + r * dataset.layout.record_size,
                           metadata.begin(v) + r * layout.record_size));
  const std::uint64_t end = records > 0 ? layout.end(records) : layout.fixed_end;
  NMB_TRY(file.zeros(end - file.written()));
  return file.finish();
}

}  // namespace nmb
