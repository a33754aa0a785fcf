// External files: paths, the file table, which files are opened, values that are linked.
#include "extent/external_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <limits>
#include <numeric>

#include "extent/external_path.h"
#include "extent/open_external.h"
#include "merge/reporting/merge.h"
#include "origins/stored_values.h"
#include "reader/extent_pieces.h"
#include "reader/file_reader.h"
#include "sources/value_source.h"
#include "support/corpus.h"
#include "support/programs.h"
#include "support/vectors.h"
#include "verify/verify.h"
#include "wire/hash.h"
#include "writer/file_writer.h"

namespace nmb {
namespace {

namespace fs = std::filesystem;

TEST(ExternalPath, ShapesOfPaths) {
  for (const char* path :
       {"a", "a.nc", "sub/a.nc", "/data/a.nc", "../a", "../../a/b", "...", "a b", "a/..b", "\xff"})
    EXPECT_EQ(external_path_error(path), nullptr) << path;
  for (const std::string& path :
       {std::string(), std::string("/"), std::string("//a"), std::string("a/"), std::string("a//b"),
        std::string("."), std::string("./a"), std::string("a/./b"), std::string(".."),
        std::string("../.."), std::string("a/.."), std::string("a/../b"), std::string("/.."),
        std::string("/../a"), std::string("../"), std::string("a\\b"), std::string("a\0b", 3),
        std::string(65536, 'a')})
    EXPECT_NE(external_path_error(path), nullptr) << path;
}

TEST(ExternalPath, WhatLeadsOut) {
  for (const char* path : {"/a", "../a", "../../a"}) EXPECT_TRUE(leads_out(path)) << path;
  for (const char* path : {"a", "..a", ".../a", "a/b"}) EXPECT_FALSE(leads_out(path)) << path;
}

TEST(ExternalPath, WhatWindowsTakesForADevice) {
  for (const char* part : {"CON", "prn", "Aux", "NUL", "nul.nc", "con.tar.gz", "aux.", "NUL .nc",
                           "COM1", "com9.nc", "LPT1", "lpt9", "COM\xC2\xB9", "lpt\xC2\xB3.nc"})
    EXPECT_TRUE(is_windows_device(part)) << part;
  for (const char* part : {"", ".", "..", "CO", "CONS", "console.nc", "a.con", "COM", "COM0",
                           "COM10", "COMA", "LPT", "LPT0.nc", "nul_1.nc", " NUL", "COM\xC2\xB4"})
    EXPECT_FALSE(is_windows_device(part)) << part;
  for (const char* path :
       {"nul", "a/NUL.nc", "aux/b.nc", "a/b/com1", "in/a.nc:stream", "C:/aux", "C:/a:b", "ab:/c"})
    EXPECT_NE(windows_path_error(path), nullptr) << path;
  for (const char* path : {"a", "a/b.nc", "/data/a.nc", "../a.nc", "C:/a.nc", "null/console"})
    EXPECT_EQ(windows_path_error(path), nullptr) << path;
}

class ExternalFilesTest : public testing::Test {
 protected:
  fs::path at(const std::string& name) const { return folder_.path() / name; }
  std::string folder() const { return folder_.path().string() + "/"; }
  void write(const std::string& name, std::string_view text) const {
    fs::create_directories(at(name).parent_path());
    test::write_file(at(name).string(), text);
  }
  Status opened(const std::string& path, ExternalPaths allowed = ExternalPaths::kBeneath) const {
    return open_external(folder(), path, allowed).status();
  }
  // An NMB file of blocks "b0", "b1", ... of bytes, each linked to a file of its own.
  Status link(const std::vector<std::string>& names, std::uint32_t threads = 1,
              bool sum = true) const {
    FileWriterOptions options;
    options.sync = false;
    options.threads = threads;
    options.sum_links = sum;
    options.overwrite = true;
    options.piece_size = 65536;
    NMB_ASSIGN(const auto writer, FileWriter::create(at("v.nmb").string(), options));
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::uint64_t size = fs::file_size(at(names[i]));
      NMB_ASSIGN(const BlockId block, writer->define_block("b" + std::to_string(i)));
      NMB_ASSIGN(const DimId x, writer->def_dim(block, "x", size - kSkipped));
      NMB_TRY(writer->def_var(block, "v", Type::kUByte, {{x}}).status());
      NMB_TRY(link_values(*writer, block, values_of(names[i], size)));
    }
    return writer->close();
  }
  // Values behind the first kSkipped bytes, padded as an extent is.
  LinkedValues values_of(const std::string& name, std::uint64_t size) const {
    LinkedValues out;
    out.files.push_back({name, size});
    std::shared_ptr<const ByteSource> file = *FileSource::open(at(name).string());
    for (std::uint64_t from = kSkipped; from < size;) {
      const std::uint64_t in_extent = from - kSkipped;
      LinkedPiece& piece = out.pieces.emplace_back();
      piece.length = piece.stored_length =
          std::min<std::uint64_t>(size - from, 65536 - in_extent % 65536);
      piece.source_offset = piece.position = from;
      from += piece.length;
    }
    out.source = std::move(file);
    return out;
  }
  std::string text_of(const std::string& block, ReadOptions options = {}) const {
    const auto read = [&]() -> Result<std::string> {
      NMB_ASSIGN(const auto reader, FileReader::open(at("v.nmb").string(), options));
      NMB_ASSIGN(const auto loaded, reader->block(block));
      NMB_ASSIGN(const auto values, loaded->read_all<std::uint8_t>(0));
      return std::string(values.begin(), values.end());
    };
    const Result<std::string> text = read();
    return text.ok() ? *text : text.status().text();
  }
  std::string verified() const {
    test::FindingList findings;
    const auto file = FileSource::open(at("v.nmb").string());
    const auto summary = verify(**file, {}, findings);
    return findings.text() + (summary->incomplete.ok() ? "" : summary->incomplete.text());
  }

  static constexpr std::uint64_t kSkipped = 5;
  test::TemporaryFolder folder_;
};

TEST_F(ExternalFilesTest, RegularFilesBelowAreOpened) {
  write("a", "text");
  write("sub/deep/a", "text");
  for (const ExternalPaths allowed : {ExternalPaths::kBeneath, ExternalPaths::kAny}) {
    EXPECT_TRUE(opened("a", allowed).ok());
    EXPECT_TRUE(opened("sub/deep/a", allowed).ok());
  }
  const Status none = opened("a", ExternalPaths::kNone);
  EXPECT_EQ(none.code(), Code::kUnsupported);
  EXPECT_EQ(none.rule(), "R-FT-4");
}

TEST_F(ExternalFilesTest, MissingOnesAreDamage) {
  write("a", "text");
  for (const char* path : {"b", "sub/a", "a/b"})
    for (const ExternalPaths allowed : {ExternalPaths::kBeneath, ExternalPaths::kAny}) {
      const Status status = opened(path, allowed);
      EXPECT_EQ(status.code(), Code::kDamaged) << status.text();
      EXPECT_EQ(status.rule(), "R-FT-4");
    }
}

TEST_F(ExternalFilesTest, PathsOutOfTheFolderAreForCallersWhoAllowThem) {
  write("a", "text");
  const std::string up = "../" + folder_.path().filename().string() + "/a";
  for (const std::string& path : {up, at("a").string()}) {
    EXPECT_EQ(opened(path).code(), Code::kUnsupported) << path;
    EXPECT_TRUE(opened(path, ExternalPaths::kAny).ok()) << path;
  }
}

TEST_F(ExternalFilesTest, LinksAreForCallersWhoAllowThem) {
  write("sub/a", "text");
  fs::create_symlink("sub", at("link"));
  fs::create_symlink("sub/a", at("to_a"));
  fs::create_symlink("nowhere", at("dangling"));
  for (const char* path : {"link/a", "to_a"}) {
    const Status status = opened(path);
    EXPECT_EQ(status.code(), Code::kUnsupported) << path;
    EXPECT_NE(status.text().find("symbolic link"), std::string::npos) << status.text();
    EXPECT_TRUE(opened(path, ExternalPaths::kAny).ok()) << path;
  }
  EXPECT_EQ(opened("dangling").code(), Code::kUnsupported);
  EXPECT_EQ(opened("dangling", ExternalPaths::kAny).code(), Code::kDamaged);
}

TEST_F(ExternalFilesTest, NothingButRegularFilesIsOpened) {
  fs::create_directory(at("folder"));
  ASSERT_EQ(::mkfifo(at("fifo").c_str(), 0600), 0);
  for (const ExternalPaths allowed : {ExternalPaths::kBeneath, ExternalPaths::kAny}) {
    EXPECT_EQ(opened("folder", allowed).code(), Code::kUnsupported);
    EXPECT_EQ(opened("fifo", allowed).code(), Code::kUnsupported);
  }
  EXPECT_EQ(opened("/dev/zero", ExternalPaths::kAny).code(), Code::kUnsupported);
}

TEST_F(ExternalFilesTest, PathsOfInputs) {
  write("in/a.nc", "text");
  write("out/x", "");
  fs::create_symlink("in", at("link"));
  const auto path = [&](const std::string& input, const std::string& output,
                        ExternalPaths allowed = ExternalPaths::kBeneath) {
    const Result<std::string> found = external_path(input, at(output).string(), allowed);
    return found.ok() ? *found : found.status().message();
  };
  EXPECT_EQ(path(at("in/a.nc").string(), "v.nmb"), "in/a.nc");
  EXPECT_EQ(path(at("in/../in/./a.nc").string(), "in/v.nmb"), "a.nc");
  EXPECT_EQ(path(at("link/a.nc").string(), "v.nmb"), "in/a.nc") << "where the link leads";
  EXPECT_NE(path(at("in/a.nc").string(), "out/v.nmb").find("not below"), std::string::npos);
  EXPECT_EQ(path(at("in/a.nc").string(), "out/v.nmb", ExternalPaths::kAny),
            fs::canonical(at("in/a.nc")).string());
  const fs::path relative = fs::relative(at("in/a.nc"));
  EXPECT_EQ(path(relative.string(), "out/v.nmb", ExternalPaths::kAny), "../in/a.nc");
  EXPECT_EQ(external_path(at("none").string(), "v.nmb", ExternalPaths::kAny).status().code(),
            Code::kNotFound);
  // A drive of Windows is not a path below a folder.
  write("c:a", "");
  const auto drive = [&](ExternalPaths allowed) {
    return external_path(at("c:a").string(), at("v.nmb").string(), allowed);
  };
  EXPECT_EQ(drive(ExternalPaths::kBeneath).status().code(), Code::kUnsupported);
  EXPECT_TRUE(drive(ExternalPaths::kAny).ok());
  EXPECT_TRUE(leads_out("C:/a"));
  EXPECT_TRUE(leads_out("z:"));
  EXPECT_FALSE(leads_out("1:/a"));
  EXPECT_FALSE(leads_out("ab:/a"));
  write("in/a\\b", "");
  EXPECT_EQ(external_path(at("in/a\\b").string(), at("v.nmb").string(), ExternalPaths::kBeneath)
                .status()
                .code(),
            Code::kUnsupported);
}

Superblock of_generation_one() {
  Superblock superblock;
  superblock.file_id = {1, 2};
  superblock.generation = 1;
  return superblock;
}

TEST(FileTable, RowsComeBack) {
  const std::vector<ExternalFile> files{
      {"a", 0}, {"sub/b.nc", 123456789012}, {"../c", std::numeric_limits<std::int64_t>::max()}};
  // The last one in a page of its own, which continues the first.
  Superblock superblock = of_generation_one();
  const auto first = *file_table_page(std::span(files).first(2)).encode(superblock.origin(), 0);
  const Place place{0, first.bytes.size(), first.sum};
  const std::uint64_t second_at = first.bytes.size();
  const auto second = *file_table_page(files, 2, {}, place).encode(superblock.origin(), second_at);
  std::vector<std::byte> bytes = first.bytes;
  bytes.insert(bytes.end(), second.bytes.begin(), second.bytes.end());
  superblock.file_table = {second_at, second.bytes.size(), sum_of(second.bytes)};
  const MemorySource file(bytes);
  const auto table = read_file_table(file, superblock);
  ASSERT_TRUE(table.ok()) << table.status().text();
  ASSERT_EQ((*table)->rows(), 3u);
  for (std::uint32_t row = 0; row < 3; ++row) EXPECT_EQ((*table)->row(row), files[row]);
  EXPECT_EQ((*table)->newest_page().position, second_at);
}

// Rows without paths take no bytes: there may be very many.
TEST(FileTable, HostileRowCountsTakeNoTime) {
  PageBuilder builder(PageUse::kFileTable, 0);
  for (int i = 0; i < 60; ++i) builder.add_row();
  const Superblock superblock = of_generation_one();
  const auto page = *builder.encode(superblock.origin(), 16384);
  PageExpectation expect = superblock.expectation(PageUse::kFileTable);
  expect.position = 16384;
  expect.length = static_cast<std::uint32_t>(page.bytes.size());
  test::FindingList findings;
  const auto decoded = Page::decode(page.bytes, expect, findings);
  ASSERT_TRUE(decoded.has_value());
  TablePaths paths;
  check_file_table(*decoded, {}, &paths, findings);
  ASSERT_EQ(findings.list.size(), 1u);
  EXPECT_EQ(findings.list[0].rule, "R-FT-1");
}

TEST_F(ExternalFilesTest, LinkedValuesAreRead) {
  std::string large(200005, 'x');
  std::iota(large.begin(), large.end(), '\0');
  write("sub/a", "head valuesAB");
  write("large", large);
  ASSERT_EQ(link({"sub/a", "large"}, 3).text(), "ok");
  EXPECT_LT(fs::file_size(at("v.nmb")), 32768u);
  EXPECT_EQ(text_of("b0"), "valuesAB");
  EXPECT_EQ(text_of("b1"), large.substr(kSkipped));
  EXPECT_EQ(verified(), "");
  auto reader = *FileReader::open(at("v.nmb").string());
  const std::vector<ExternalFile> files{{"sub/a", 13}, {"large", 200005}};
  EXPECT_EQ(*reader->external_files(), files);
  const auto pieces = *extent_pieces(*reader, **reader->find("b1"));
  ASSERT_EQ(pieces.size(), 4u);
  EXPECT_EQ(pieces[1].file, 2u);
  EXPECT_EQ(pieces[1].position, kSkipped + 65536);
  // A part of a piece is no less checked.
  const auto block = *reader->block("b1");
  std::vector<std::byte> part(10);
  ASSERT_TRUE(block->extent->read_at(70000, part).ok());
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(part.data()), 10),
            large.substr(kSkipped + 70000, 10));
}

// pack() makes such temporary files for HDF5 outputs.
TEST_F(ExternalFilesTest, LinksWithoutSumsAreForReadersThatDoNotCheck) {
  std::string large(200005, 'x');
  std::iota(large.begin(), large.end(), '\0');
  write("large", large);
  ASSERT_EQ(link({"large"}, 1, false).text(), "ok");
  EXPECT_EQ(text_of("b0", {.unverified = Unverified::kLinkedValues}), large.substr(kSkipped));
  EXPECT_NE(text_of("b0").find("found values with checksum 0x"), std::string::npos);
  const auto reader =
      *FileReader::open(at("v.nmb").string(), {.unverified = Unverified::kLinkedValues});
  std::vector<std::byte> part(70000);
  ASSERT_TRUE((*reader->block("b0"))->extent->read_at(60000, part).ok());
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(part.data()), part.size()),
            large.substr(kSkipped + 60000, part.size()));
}

// What does not lie in the file as it is to be stored.
TEST_F(ExternalFilesTest, PiecesAreCopiedBetweenLinkedOnes) {
  write("a", "head valuesAB");
  {
    FileWriterOptions options;
    options.sync = false;
    auto writer = *FileWriter::create(at("v.nmb").string(), options);
    const BlockId block = *writer->define_block("b0");
    const DimId x = *writer->def_dim(block, "x", 8);
    ASSERT_TRUE(writer->def_var(block, "v", Type::kUByte, {{x}}).ok());
    LinkedValues values = values_of("a", 13);
    LinkedPiece piece = values.pieces[0];
    values.pieces.clear();
    for (const std::uint64_t length : {1u, 3u, 2u, 2u}) {
      piece.length = piece.stored_length = length;
      piece.file = values.pieces.size() % 2 == 0 ? LinkedPiece::kCopied : 0;
      values.pieces.push_back(piece);
      piece.source_offset = piece.position += length;
    }
    ASSERT_EQ(link_values(*writer, block, std::move(values)).text(), "ok");
    ASSERT_EQ(writer->close().text(), "ok");
  }
  EXPECT_EQ(text_of("b0"), "valuesAB");
  EXPECT_EQ(verified(), "");
  write("a", "HEAD ValuESAB");  // what was copied, and what is ahead
  EXPECT_EQ(text_of("b0"), "valuesAB");
  EXPECT_EQ(verified(), "");
}

TEST_F(ExternalFilesTest, ChangesAreFound) {
  write("a", std::string(1001, 'a'));
  ASSERT_EQ(link({"a"}).text(), "ok");
  const std::string name = at("a").string();
  std::string other(1001, 'a');
  other[700] = 'b';
  write("a", other);
  EXPECT_NE(text_of("b0").find(name + ": at 5: found values with checksum 0x"), std::string::npos)
      << text_of("b0");
  EXPECT_NE(verified().find("R-EX-5"), std::string::npos) << verified();
  // The part that did not change is not told from the other.
  auto reader = *FileReader::open(at("v.nmb").string());
  std::vector<std::byte> part(10);
  EXPECT_EQ((*reader->block("b0"))->extent->read_at(0, part).rule(), "R-EX-5");
  write("a", std::string(999, 'a'));
  EXPECT_NE(text_of("b0").find("found 999 bytes, expected 1001"), std::string::npos);
  EXPECT_NE(verified().find("R-FT-5"), std::string::npos) << verified();
  fs::remove(at("a"));
  EXPECT_NE(text_of("b0").find("R-FT-4"), std::string::npos);
  EXPECT_NE(verified().find("R-FT-4"), std::string::npos) << verified();
  write("b", std::string(1001, 'a'));
  fs::create_symlink("b", at("a"));
  EXPECT_NE(text_of("b0").find("symbolic link"), std::string::npos) << text_of("b0");
  EXPECT_EQ(text_of("b0", {.external = ExternalPaths::kAny}), std::string(996, 'a'));
}

TEST_F(ExternalFilesTest, BytesWithoutAFolderHaveNoExternalFiles) {
  write("a", "head valuesAB");
  ASSERT_EQ(link({"a"}).text(), "ok");
  const auto bytes = owned_bytes(test::read_file(at("v.nmb")), at("v.nmb").string());
  auto reader = *FileReader::open(bytes);
  EXPECT_EQ((*reader->block("b0"))->read_all<std::uint8_t>(0).status().code(), Code::kUnsupported);
}

TEST_F(ExternalFilesTest, FewOfManyAreOpen) {
  std::vector<std::string> names;
  for (int i = 0; i < 400; ++i) {
    names.push_back("f" + std::to_string(i));
    write(names.back(), "head " + std::to_string(10000000 + i));
  }
  ASSERT_EQ(link(names).text(), "ok");
  const auto descriptors = [] {
    return std::distance(fs::directory_iterator("/proc/self/fd"), {});
  };
  const auto before = descriptors();
  auto reader = *FileReader::open(at("v.nmb").string());
  for (int i = 0; i < 400; ++i) {
    const auto block = reader->block("b" + std::to_string(i));
    const auto values = (*block)->read_all<std::uint8_t>(0);
    ASSERT_TRUE(values.ok()) << values.status().text();
    EXPECT_EQ(std::string(values->begin(), values->end()), std::to_string(10000000 + i));
  }
  EXPECT_LE(descriptors(), before + 70);
}

// Later generations keep the table and add to it; values that are replaced die nowhere.
TEST_F(ExternalFilesTest, LaterGenerationsKeepTheTable) {
  write("a", "head valuesAB");
  write("b", "head othersAB");
  ASSERT_EQ(link({"a"}).text(), "ok");
  FileWriterOptions options;
  options.sync = false;
  {
    auto writer = *FileWriter::open(at("v.nmb").string(), options);
    const BlockId block = *writer->define_block("new");
    ASSERT_TRUE(writer->def_var(block, "v", Type::kInt, {}).ok());
    ASSERT_TRUE(writer->close().ok());
  }
  EXPECT_EQ(text_of("b0"), "valuesAB");
  EXPECT_EQ(verified(), "");
  {
    auto writer = *FileWriter::open(at("v.nmb").string(), options);
    for (const char* name : {"a", "b"}) {
      const BlockId block = *writer->define_block(std::string("more/") + name);
      const DimId x = *writer->def_dim(block, "x", 8);
      ASSERT_TRUE(writer->def_var(block, "v", Type::kUByte, {{x}}).ok());
      ASSERT_TRUE(link_values(*writer, block, values_of(name, 13)).ok());
    }
    ASSERT_EQ(writer->close().text(), "ok");
  }
  EXPECT_EQ(text_of("more/a"), "valuesAB");
  EXPECT_EQ(text_of("more/b"), "othersAB");
  EXPECT_EQ(verified(), "");
  const std::vector<ExternalFile> files{{"a", 13}, {"b", 13}};
  EXPECT_EQ(*(*FileReader::open(at("v.nmb").string()))->external_files(), files);
  {
    FileWriterOptions counting = options;
    counting.statistics = StatisticsLevel::kBasic;
    auto writer = *FileWriter::open(at("v.nmb").string(), counting);
    ASSERT_TRUE(writer->remove_block(*writer->find_block("b0")).ok());
    ASSERT_TRUE(writer->rename_block(*writer->find_block("more/a"), "renamed").ok());
    const BlockId block = *writer->find_block("more/b");
    ASSERT_TRUE(writer->put_att_text(block, kGlobal, "title", "text").ok());
    ASSERT_EQ(writer->close().text(), "ok");
    EXPECT_EQ(writer->without_statistics(), 2u) << "linked before, not read again";
  }
  {
    const auto reader = *FileReader::open(at("v.nmb").string());
    EXPECT_FALSE(reader->statistics(**reader->block("more/b"))->has_value());
  }
  EXPECT_EQ(text_of("renamed"), "valuesAB");
  EXPECT_EQ(text_of("more/b"), "othersAB");
  EXPECT_EQ(verified(), "");
  {
    auto writer = *FileWriter::open(at("v.nmb").string(), options);
    const BlockId block = *writer->find_block("renamed");
    ASSERT_TRUE(writer->end_define().ok());
    const std::vector<std::uint8_t> part{'V', 'A'};
    const Status status =
        writer->put(block, 0, {{0}, {2}, {}}, std::span<const std::uint8_t>(part));
    EXPECT_EQ(status.code(), Code::kUnsupported) << status.text();
    EXPECT_NE(status.text().find("are in another file"), std::string::npos) << status.text();
  }
  EXPECT_EQ(text_of("renamed"), "valuesAB");
  {
    auto writer = *FileWriter::open(at("v.nmb").string(), options);
    const BlockId block = *writer->find_block("renamed");
    ASSERT_TRUE(writer->end_define().ok());
    const std::string all = "VALUESAB";
    const std::vector<std::uint8_t> bytes(all.begin(), all.end());
    ASSERT_TRUE(writer->put(block, 0, std::span<const std::uint8_t>(bytes)).ok());
    // The piece in the other file is replaced, so its parts may change.
    const std::vector<std::uint8_t> part{'v'};
    ASSERT_TRUE(writer->put(block, 0, {{0}, {1}, {}}, std::span<const std::uint8_t>(part)).ok());
    ASSERT_EQ(writer->close().text(), "ok");
  }
  EXPECT_EQ(text_of("renamed"), "vALUESAB");
  EXPECT_EQ(verified(), "");
}

TEST_F(ExternalFilesTest, AFileOfAnotherSizeIsNotLinkedAgain) {
  write("a", "head valuesAB");
  ASSERT_EQ(link({"a"}).text(), "ok");
  write("a", "head valuesAB and mor");
  FileWriterOptions options;
  options.sync = false;
  auto writer = *FileWriter::open(at("v.nmb").string(), options);
  const BlockId block = *writer->define_block("again");
  const DimId x = *writer->def_dim(block, "x", 16);
  ASSERT_TRUE(writer->def_var(block, "v", Type::kUByte, {{x}}).ok());
  ASSERT_TRUE(link_values(*writer, block, values_of("a", 21)).ok());
  const Status status = writer->close();
  EXPECT_EQ(status.code(), Code::kDamaged);
  EXPECT_EQ(status.rule(), "R-FT-5") << status.text();
}

TEST_F(ExternalFilesTest, LinkedBlocksChangeAfterTheCommitOnly) {
  write("a", "head valuesAB");
  FileWriterOptions options;
  options.sync = false;
  auto writer = *FileWriter::create(at("v.nmb").string(), options);
  const BlockId block = *writer->define_block("b0");
  const DimId x = *writer->def_dim(block, "x", 8);
  ASSERT_TRUE(writer->def_var(block, "v", Type::kUByte, {{x}}).ok());
  ASSERT_TRUE(link_values(*writer, block, values_of("a", 13)).ok());
  ASSERT_TRUE(writer->end_define().ok());
  ASSERT_TRUE(writer->redefine().ok());
  EXPECT_EQ(writer->put_att_text(block, kGlobal, "a", "b").code(), Code::kUsage);
  ASSERT_EQ(writer->close().text(), "ok");
  EXPECT_EQ(text_of("b0"), "valuesAB");
}

TEST_F(ExternalFilesTest, WhatCannotBeLinkedIsRefused) {
  write("a", "head valuesAB");
  FileWriterOptions options;
  options.sync = false;
  auto writer = *FileWriter::create(at("w.nmb").string(), options);
  const BlockId block = *writer->define_block("b");
  const DimId x = *writer->def_dim(block, "x", 8);
  ASSERT_TRUE(writer->def_var(block, "v", Type::kUByte, {{x}}).ok());
  const auto refused = [&](auto change) {
    LinkedValues values = values_of("a", 13);
    change(values);
    return link_values(*writer, block, std::move(values)).code();
  };
  EXPECT_EQ(refused([](LinkedValues& v) { v.files[0].path = "a//b"; }), Code::kUsage);
  EXPECT_EQ(refused([](LinkedValues& v) { v.files[0].size = 10; }), Code::kUsage);
  EXPECT_EQ(refused([](LinkedValues& v) { v.files[0].size = ~std::uint64_t{0}; }), Code::kUsage);
  EXPECT_EQ(refused([](LinkedValues& v) { v.pieces[0].file = 1; }), Code::kUsage);
  EXPECT_EQ(refused([](LinkedValues& v) { v.pieces[0].position = ~std::uint64_t{0}; }),
            Code::kUsage);
  EXPECT_EQ(refused([](LinkedValues& v) { v.pieces[0].source_offset = 8; }), Code::kUsage);
  EXPECT_EQ(refused([](LinkedValues& v) { v.pieces[0].stored_length = 0; }), Code::kUsage);
  // Two pieces of an extent with the same bytes (R-EX-17).
  EXPECT_EQ(refused([](LinkedValues& v) {
              v.pieces[0].length = v.pieces[0].stored_length = 4;
              v.pieces.push_back(v.pieces[0]);
            }),
            Code::kUsage);
  EXPECT_EQ(refused([](LinkedValues& v) { v.pieces[0].sum = 1; }), Code::kOk);
  const Status status = writer->close();
  EXPECT_EQ(status.code(), Code::kDamaged) << "another sum than was given";
  EXPECT_EQ(status.rule(), "R-EX-5");
  EXPECT_FALSE(fs::exists(at("w.nmb")));
}

}  // namespace
}  // namespace nmb
