// Writes blocks as classic files (see convert/convert.h; spec/format.md, section 8.1).
#include <utility>
#include <vector>

#include "convert/classic_file.h"
#include "convert/convert.h"
#include "wire/endian.h"

namespace nmb {

namespace {

// Updates the field numrecs in a classic header. Keeps the value STREAMING, because it makes
// readers compute the number of records from the file's length.
Status patch_records(const LoadedBlock& block, std::vector<std::byte>& body) {
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

// Writes a classic file from values that every rank can read. Each rank writes its share of the
// values.
Status write_shares(std::span<const std::byte> header, std::shared_ptr<const ByteSource> values,
                    std::uint64_t length, const std::string& path, const ExtractOptions& options,
                    Communicator& ranks) {
  const bool may_be_sparse = values->may_be_sparse();
  return ClassicFile(path, options, ranks)
      .write(header, header.size(), length, may_be_sparse,
             {{std::move(values), ClassicFile::share_of(ranks.rank(), ranks.size(), length)}});
}

}  // namespace

Status extract_block(const FileReader& reader, const BlockEntry& entry, const std::string& path,
                     const ExtractOptions& options, Communicator& ranks) {
  std::shared_ptr<const LoadedBlock> block;
  std::vector<std::byte> body;
  auto load = [&]() -> Status {
    NMB_ASSIGN(block, reader.block(entry, &body));
    if (!options.kind || *options.kind == block->kind()) return patch_records(*block, body);
    body.clear();
    return {};
  };
  NMB_TRY(ranks.agree(load()));
  if (body.empty()) return write_classic(*block, *options.kind, path, options, ranks);
  return write_shares(body, block->extent, entry.extent_length, path, options, ranks);
}

Status write_classic(const Dataset& dataset, Kind kind, const std::string& path,
                     const ExtractOptions& options, Communicator& ranks) {
  const Result<ClassicContent> content = classic_content(dataset, kind);
  NMB_TRY(ranks.agree(content.status()));
  return write_shares(content->header, content->values, content->values->size(), path, options,
                      ranks);
}

Status extract_block(const FileReader& reader, const BlockEntry& entry, const std::string& path,
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
