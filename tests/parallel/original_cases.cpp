// Originals that several ranks store: each rank stores its own files. The output has the same bytes
// as the output of one rank.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "origins/stored_values.h"
#include "reader/file_reader.h"
#include "sources/value_source.h"
#include "support/model.h"
#include "support/rank_cases.h"
#include "support/rank_program.h"

namespace nmb {
namespace {

constexpr std::uint64_t kOriginalLengths[] = {70000, 0, 131072, 17, 300001, 65536, 99999};

std::vector<std::byte> original_bytes(std::size_t number) {
  std::vector<std::byte> bytes(kOriginalLengths[number]);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>((i * 31 + i / 251 + number) & 0xff);
  return bytes;
}

// Adds a file, and a block with the bytes of the file. The first 4 bytes are copied.
Status add_file(FileWriter& writer, std::size_t number) {
  const std::string name = "file" + std::to_string(number);
  const auto file = owned_bytes(original_bytes(number), name);
  const std::uint64_t length = file->size() / 4 * 4;
  NMB_ASSIGN(const BlockId block, writer.define_block(name));
  if (length > 0) {
    NMB_ASSIGN(const DimId x, writer.def_dim(block, "x", length));
    NMB_TRY(writer.def_var(block, "v", Type::kUByte, {{x}}).status());
  }
  NewOriginal original{.path = name + ".in", .block = block, .file = file};
  original.records_sha256 = number % 2 == 0;
  LinkedValues values;
  NMB_ASSIGN(values.original, writer.add_original(std::move(original)));
  if (length == 0) return {};
  values.files.push_back({"", file->size()});
  for (std::uint64_t at = 0; at < length;) {
    LinkedPiece& piece = values.pieces.emplace_back();
    const std::uint64_t end = at == 0 ? 4 : std::min(length, (at / 65536 + 1) * 65536);
    if (at == 0) piece.file = LinkedPiece::kCopied;
    piece.source_offset = piece.position = at;
    piece.length = piece.stored_length = end - at;
    at = end;
  }
  values.source = file;
  return link_values(writer, block, std::move(values));
}

// Writes two generations. The files are divided among the ranks in order.
Status write_files(const std::string& path, Communicator& ranks) {
  FileWriterOptions options;
  options.piece_size = 65536;
  options.sync = false;
  NMB_ASSIGN(const auto writer, FileWriter::create(path, options, ranks));
  const auto own = [&](std::size_t begin, std::size_t end) -> Status {
    const auto size = static_cast<std::size_t>(ranks.size());
    const auto rank = static_cast<std::size_t>(ranks.rank());
    const std::size_t count = end - begin;
    for (std::size_t i = begin + count * rank / size; i < begin + count * (rank + 1) / size; ++i)
      NMB_TRY(add_file(*writer, i));
    return {};
  };
  constexpr std::size_t kAll = std::size(kOriginalLengths), kFirst = 5;
  NMB_TRY(ranks.agree(own(0, kFirst)));
  NMB_TRY(writer->end_define());
  NMB_TRY(writer->sync());
  NMB_TRY(writer->redefine());
  NMB_TRY(ranks.agree(own(kFirst, kAll)));
  NMB_TRY(writer->end_define());
  return writer->close();
}

Status check_files(const std::string& path) {
  NMB_TRY(expect(test::findings_of(std::filesystem::path(path)).empty(), "no findings"));
  NMB_ASSIGN(const auto reader, FileReader::open(path));
  for (std::uint32_t i = 0; i < std::size(kOriginalLengths); ++i) {
    std::vector<std::byte> back;
    NMB_TRY(reader->give_back(i + 1, [&](std::span<const std::byte> bytes) {
      back.insert(back.end(), bytes.begin(), bytes.end());
      return Status();
    }));
    NMB_TRY(expect(back == original_bytes(i), "the bytes of file " + std::to_string(i)));
  }
  return {};
}

}  // namespace

RANK_CASE(SameBytesOfOriginals) {
  NMB_ASSIGN(const test::RankFolder folder, test::RankFolder::make(ranks));
  const std::string path = folder.file("f.nmb"), alone = folder.file("alone.nmb");
  NMB_TRY(write_files(path, ranks));
  const auto compare = [&]() -> Status {
    Communicator one;
    NMB_TRY(write_files(alone, one));
    const auto bytes_of = [](const std::string& file) {
      std::ifstream in(file, std::ios::binary);
      return std::string(std::istreambuf_iterator<char>(in), {});
    };
    NMB_TRY(expect(bytes_of(path) == bytes_of(alone), "the bytes of one rank"));
    return check_files(path);
  };
  return ranks.agree(ranks.rank() == 0 ? compare() : Status());
}

// If the file of one rank does not have the given digest, all ranks fail.
RANK_CASE(AnOriginalOfAnotherDigest) {
  NMB_ASSIGN(const test::RankFolder folder, test::RankFolder::make(ranks));
  FileWriterOptions options;
  options.sync = false;
  NMB_ASSIGN(const auto writer, FileWriter::create(folder.file("f.nmb"), options, ranks));
  const auto define = [&]() -> Status {
    const std::string name = "rank" + std::to_string(ranks.rank());
    NMB_ASSIGN(const BlockId block, writer->define_block(name));
    NewOriginal original{
        .path = name, .block = block, .file = owned_bytes(original_bytes(0), name)};
    if (ranks.rank() == ranks.size() - 1) original.digest = Digest{1, 2};
    return writer->add_original(std::move(original)).status();
  };
  NMB_TRY(ranks.agree(define()));
  NMB_TRY(writer->end_define());
  const Status closed = writer->close();
  return ranks.agree(expect(closed.rule() == "R-FT-7", "R-FT-7 on all ranks: " + closed.text()));
}

}  // namespace nmb
