// Tests originals (files that a writer stores whole), and values in originals.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "files/files.h"
#include "origins/stored_values.h"
#include "reader/file_reader.h"
#include "recover/recover.h"
#include "sources/value_source.h"
#include "support/corpus.h"
#include "support/faulty_output.h"
#include "support/model.h"
#include "support/programs.h"
#include "verify/layout.h"
#include "verify/verify.h"
#include "wire/hash.h"
#include "wire/sha256.h"
#include "writer/file_writer.h"

namespace nmb::test {
namespace {

std::string sha256_text(std::string_view text, std::size_t part) {
  Sha256Stream stream;
  const auto bytes = std::as_bytes(std::span(text));
  for (std::size_t at = 0; at < bytes.size(); at += part)
    stream.add(bytes.subspan(at, std::min(part, bytes.size() - at)));
  std::string out;
  for (const std::byte byte : stream.digest()) {
    constexpr char kDigits[] = "0123456789abcdef";
    out += kDigits[std::to_integer<unsigned>(byte) >> 4];
    out += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return out;
}

// Tests the examples of FIPS 180-2, and lengths near the length of a SHA-256 block.
TEST(Sha256, KnownDigests) {
  EXPECT_EQ(sha256_text("", 1), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_text("abc", 1),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_text("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_text(std::string(1000000, 'a'), 777),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  for (std::size_t length = 50; length < 140; ++length) {
    const std::string text(length, 'x');
    EXPECT_EQ(sha256_text(text, 1), sha256_text(text, length)) << length;
  }
}

std::vector<std::byte> bytes_of_number(std::uint64_t length, unsigned number) {
  std::vector<std::byte> bytes(length);
  std::uint64_t state = number + 1;
  for (std::byte& byte : bytes) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<std::byte>(state >> 56);
  }
  return bytes;
}

// A source whose last byte cannot be read.
class BrokenSource final : public ByteSource {
 public:
  std::uint64_t size() const override { return 300000; }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    std::ranges::fill(out, std::byte{1});
    return offset + out.size() == size() ? Status(Code::kIo, "no such byte") : Status();
  }
  const std::string& name() const override { return name_; }

 private:
  const std::string name_ = "broken";
};

class OriginalsTest : public testing::Test {
 protected:
  OriginalsTest() {
    options_.piece_size = 65536;
    options_.sync = false;
    options_.overwrite = true;
  }
  std::string path(const std::string& name = "f.nmb") const {
    return (folder_.path() / name).string();
  }
  std::unique_ptr<FileWriter> create(const std::string& name = "f.nmb") {
    auto writer = FileWriter::create(path(name), options_);
    EXPECT_TRUE(writer.ok()) << writer.status().text();
    return std::move(*writer);
  }
  // Adds a file, and a block with the bytes of the file from kSkipped on.
  static Status add(FileWriter& writer, const std::string& name, std::uint64_t length,
                    unsigned number, std::uint32_t* original = nullptr) {
    const auto file = owned_bytes(bytes_of_number(length, number), name);
    const std::uint64_t values = length > kSkipped ? length - kSkipped : 0;
    NMB_ASSIGN(const BlockId block, writer.define_block(name));
    if (values > 0) {
      NMB_ASSIGN(const DimId x, writer.def_dim(block, "x", values));
      NMB_TRY(writer.def_var(block, "v", Type::kUByte, {{x}}).status());
    }
    NMB_ASSIGN(const std::uint32_t own,
               writer.add_original(
                   {.path = name + ".in", .block = block, .file = file, .records_sha256 = true}));
    if (original) *original = own;
    return values > 0 ? link_values(writer, block, values_of(file, own)) : Status();
  }
  static LinkedValues values_of(std::shared_ptr<const ByteSource> file, std::uint32_t original) {
    LinkedValues out;
    out.original = original;
    out.files.push_back({"", file->size()});
    std::uint64_t end = 0;
    while (kSkipped + end < file->size()) {
      LinkedPiece& piece = out.pieces.emplace_back();
      piece.source_offset = piece.position = kSkipped + end;
      piece.length = piece.stored_length =
          std::min<std::uint64_t>(65536 - end % 65536, file->size() - piece.position);
      end += piece.length;
    }
    // An extent of bytes is padded to a multiple of 4.
    if (end % 4 != 0) {
      out.pieces.push_back({});
      out.pieces.back().length = 4 - end % 4;
    }
    out.source = std::move(file);
    return out;
  }
  // Expects the file and the values that add() added.
  static void expect_back(const FileReader& reader, std::uint32_t number, const std::string& name,
                          std::uint64_t length, unsigned of) {
    SCOPED_TRACE(name);
    const std::vector<std::byte> expected = bytes_of_number(length, of);
    const ExternalFile row = (*reader.external_files())[number - 1];
    EXPECT_TRUE(row.is_original);
    EXPECT_EQ(row.path, name + ".in");
    EXPECT_EQ(row.size, length);
    EXPECT_EQ(row.digest, digest_of(expected));
    Sha256Stream sha256;
    sha256.add(expected);
    EXPECT_EQ(row.sha256, sha256.digest());
    const auto entry = reader.find(name);
    ASSERT_TRUE(entry.ok() && *entry);
    EXPECT_EQ(row.order, (*entry)->order);
    std::vector<std::byte> back;
    const Status given = reader.give_back(number, [&](std::span<const std::byte> bytes) {
      back.insert(back.end(), bytes.begin(), bytes.end());
      return Status();
    });
    EXPECT_TRUE(given.ok()) << given.text();
    EXPECT_EQ(back, expected);
    if (length <= kSkipped) return;
    const auto values = (*reader.block(name))->read_all<std::uint8_t>(0);
    ASSERT_TRUE(values.ok()) << values.status().text();
    const auto tail = std::span(expected).subspan(kSkipped);
    EXPECT_TRUE(std::ranges::equal(
        *values, tail, {}, {}, [](std::byte byte) { return std::to_integer<std::uint8_t>(byte); }));
  }
  std::unique_ptr<FileReader> read() {
    EXPECT_EQ(findings_of(std::filesystem::path(path())), "");
    auto reader = FileReader::open(path());
    EXPECT_TRUE(reader.ok()) << reader.status().text();
    return std::move(*reader);
  }

  static constexpr std::uint64_t kSkipped = 5;
  static constexpr std::uint64_t kLengths[] = {0, 1, 5, 6, 65536, 65541, 65545, 1000003};
  TemporaryFolder folder_;
  FileWriterOptions options_;
};

TEST_F(OriginalsTest, FilesOfAnyLengthComeBack) {
  std::vector<std::byte> first;
  for (const unsigned threads : {1u, 2u, 5u}) {
    options_.threads = threads;
    const auto writer = create();
    for (unsigned i = 0; i < std::size(kLengths); ++i)
      ASSERT_TRUE(add(*writer, "b" + std::to_string(i), kLengths[i], i).ok());
    const Status closed = writer->close();
    ASSERT_TRUE(closed.ok()) << closed.text();
    const auto reader = read();
    for (unsigned i = 0; i < std::size(kLengths); ++i)
      expect_back(*reader, i + 1, "b" + std::to_string(i), kLengths[i], i);
    const std::vector<std::byte> bytes = read_file(path());
    if (first.empty()) first = bytes;
    EXPECT_TRUE(bytes == first) << threads;
  }
  // Values are stored once.
  EXPECT_LT(first.size(), 1300000u);
}

TEST_F(OriginalsTest, PiecesLargerThanABuffer) {
  options_.piece_size = 4 << 20;
  options_.threads = 2;
  const auto writer = create();
  const std::uint64_t length = (9 << 20) + 1;
  const BlockId block = *writer->define_block("b");
  const auto file = owned_bytes(bytes_of_number(length, 1), "in");
  ASSERT_TRUE(writer->add_original({.path = "in", .block = block, .file = file}).ok());
  ASSERT_TRUE(writer->close().ok());
  const auto reader = read();
  EXPECT_EQ((*reader->external_files())[0].digest, digest_of(bytes_of_number(length, 1)));
}

TEST_F(OriginalsTest, AnotherGenerationAddsOne) {
  auto writer = create();
  ASSERT_TRUE(add(*writer, "a", 70000, 1).ok());
  ASSERT_TRUE(writer->end_define().ok() && writer->sync().ok() && writer->redefine().ok());
  ASSERT_TRUE(add(*writer, "b", 200000, 2).ok());
  ASSERT_TRUE(writer->close().ok());
  writer = *FileWriter::open(path(), options_);
  ASSERT_TRUE(add(*writer, "c", 66000, 3).ok());
  ASSERT_TRUE(writer->close().ok());
  const auto reader = read();
  EXPECT_EQ(reader->generation(), 3u);
  expect_back(*reader, 1, "a", 70000, 1);
  expect_back(*reader, 2, "b", 200000, 2);
  expect_back(*reader, 3, "c", 66000, 3);
}

TEST_F(OriginalsTest, ARenamedBlockLeavesItsFile) {
  auto writer = create();
  ASSERT_TRUE(add(*writer, "a", 70000, 1).ok());
  ASSERT_TRUE(add(*writer, "b", 80000, 2).ok());
  ASSERT_TRUE(writer->close().ok());
  writer = *FileWriter::open(path(), options_);
  ASSERT_TRUE(writer->remove_block(*writer->find_block("a")).ok());
  ASSERT_TRUE(writer->rename_block(*writer->find_block("b"), "c").ok());
  const Status closed = writer->close();
  ASSERT_TRUE(closed.ok()) << closed.text();
  const auto reader = read();
  const std::vector<ExternalFile> files = *reader->external_files();
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[1].order, (*reader->find("c"))->order);
  for (const std::uint32_t number : {1u, 2u})
    EXPECT_TRUE(reader->give_back(number, [](auto) { return Status(); }).ok());
}

TEST_F(OriginalsTest, AnOriginalWithoutBlockIsDeadSpace) {
  auto writer = create();
  ASSERT_TRUE(add(*writer, "a", 70000, 1).ok());
  ASSERT_TRUE(add(*writer, "b", 80000, 2).ok());
  ASSERT_TRUE(writer->close().ok());
  const auto bytes_of = [&](RegionKind kind) {
    const Layout layout = *layout_of(**FileSource::open(path()));
    std::uint64_t bytes = 0;
    for (const Region& region : layout.regions)
      if (region.kind == kind) bytes += region.length;
    return bytes;
  };
  EXPECT_GE(bytes_of(RegionKind::kOriginal), 150000u);
  writer = *FileWriter::open(path(), options_);
  ASSERT_TRUE(writer->remove_block(*writer->find_block("a")).ok());
  ASSERT_TRUE(writer->close().ok());
  EXPECT_LT(bytes_of(RegionKind::kOriginal), 80100u);
  EXPECT_GE(bytes_of(RegionKind::kDead), 70000u);
  FirstFinding first;
  const VerifySummary summary = *verify(**FileSource::open(path()), {}, first);
  EXPECT_FALSE(first.found());
  EXPECT_EQ(summary.originals, 1u);
  EXPECT_EQ(summary.whole_originals, 1u);
  const Recovery recovery = *recover(*FileSource::open(path()), {});
  EXPECT_FALSE(recovery.is_loss());
}

TEST_F(OriginalsTest, ADryRunKnowsTheLength) {
  std::uint64_t planned = 0;
  for (const bool dry_run : {true, false}) {
    options_.dry_run = dry_run;
    const auto writer = create();
    ASSERT_TRUE(add(*writer, "a", 70000, 1).ok());
    ASSERT_TRUE(add(*writer, "b", 0, 2).ok());
    ASSERT_TRUE(writer->close().ok());
    if (dry_run) planned = writer->planned()->file_length;
  }
  EXPECT_EQ(std::filesystem::file_size(path()), planned);
}

TEST_F(OriginalsTest, ValuesMayShareBytes) {
  const auto writer = create();
  std::uint32_t original = 0;
  ASSERT_TRUE(add(*writer, "a", 70000, 1, &original).ok());
  const BlockId block = *writer->define_block("b");
  const DimId x = *writer->def_dim(block, "x", 70000 - kSkipped);
  ASSERT_TRUE(writer->def_var(block, "v", Type::kUByte, {{x}}).ok());
  ASSERT_TRUE(
      link_values(*writer, block, values_of(owned_bytes(bytes_of_number(70000, 1), "a"), original))
          .ok());
  ASSERT_TRUE(writer->close().ok());
  expect_back(*read(), 1, "a", 70000, 1);
  EXPECT_EQ(*(*read()->block("a"))->read_all<std::uint8_t>(0),
            *(*read()->block("b"))->read_all<std::uint8_t>(0));
}

TEST_F(OriginalsTest, AFileThatIsNotTheExpectedOneFails) {
  const std::vector<std::byte> bytes = bytes_of_number(70000, 1);
  Sha256Stream sha256;
  sha256.add(bytes);
  const Sha256 right = sha256.digest();
  Sha256 wrong = right;
  wrong[31] ^= std::byte{1};
  struct {
    Digest digest;
    Sha256 sha256;
    const char* rule;
  } const cases[] = {{digest_of(bytes), right, ""},
                     {{1, 2}, right, "R-FT-7"},
                     {digest_of(bytes), wrong, "R-FT-15"}};
  for (const auto& [digest, of_sha256, rule] : cases) {
    std::filesystem::remove(path());
    const auto writer = create();
    const BlockId block = *writer->define_block("b");
    NewOriginal original{.path = "in", .block = block, .file = owned_bytes(bytes, "in")};
    original.digest = digest;
    original.sha256 = of_sha256;
    ASSERT_TRUE(writer->add_original(std::move(original)).ok());
    const Status closed = writer->close();
    EXPECT_EQ(closed.rule(), rule);
    EXPECT_EQ(closed.code(), *rule ? Code::kDamaged : Code::kOk) << closed.text();
    EXPECT_EQ(std::filesystem::exists(path()), closed.ok());
  }
}

TEST_F(OriginalsTest, AFailedReadEndsAllThreads) {
  options_.threads = 4;
  const auto writer = create();
  ASSERT_TRUE(add(*writer, "a", 1000003, 1).ok());
  const BlockId block = *writer->define_block("b");
  ASSERT_TRUE(
      writer->add_original({.path = "in", .block = block, .file = std::make_shared<BrokenSource>()})
          .ok());
  ASSERT_TRUE(add(*writer, "c", 1000003, 1).ok());
  EXPECT_EQ(writer->close().code(), Code::kIo);
  EXPECT_FALSE(std::filesystem::exists(path()));
}

// Each call to the output file fails in one of the runs. The previous generation stays intact.
TEST_F(OriginalsTest, AFailedCallLeavesTheFileAsItWas) {
  {
    const auto writer = create();
    ASSERT_TRUE(add(*writer, "a", 70000, 1).ok());
    ASSERT_TRUE(writer->close().ok());
  }
  for (const unsigned threads : {1u, 3u}) {
    options_.threads = threads;
    bool failed = true;
    for (std::uint64_t call = 0; failed; ++call) {
      SCOPED_TRACE(call);
      std::filesystem::copy_file(path(), path("g.nmb"),
                                 std::filesystem::copy_options::overwrite_existing);
      Fault fault{.call = call, .how = Fault::How::kForEver};
      FileWriterOptions options = options_;
      options.layer = fault.layer();
      const auto write = [&]() -> Status {
        NMB_ASSIGN(const auto writer, FileWriter::open(path("g.nmb"), options));
        NMB_TRY(add(*writer, "b", 300000, 2));
        NMB_TRY(add(*writer, "c", 0, 3));
        return writer->close();
      };
      const Status status = write();
      failed = !status.ok();
      const auto reader = FileReader::open(path("g.nmb"));
      ASSERT_TRUE(reader.ok()) << reader.status().text();
      expect_back(**reader, 1, "a", 70000, 1);
      if (!failed) expect_back(**reader, 2, "b", 300000, 2);
      ASSERT_LT(call, 200u);
    }
  }
}

TEST_F(OriginalsTest, AnAbandonedWriterLeavesNothing) {
  {
    const auto writer = create();
    ASSERT_TRUE(add(*writer, "a", 70000, 1).ok());
    ASSERT_TRUE(writer->end_define().ok());
    writer->abandon();
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(OriginalsTest, WrongCalls) {
  const auto writer = create();
  const BlockId block = *writer->define_block("b");
  const auto file = owned_bytes(bytes_of_number(700, 1), "in");
  EXPECT_EQ(writer->add_original({.path = "in", .block = block + 1, .file = file}).status().code(),
            Code::kUsage);
  EXPECT_EQ(link_values(*writer, block, values_of(file, 0)).code(), Code::kUsage);
  ASSERT_TRUE(writer->end_define().ok());
  EXPECT_EQ(writer->add_original({.path = "in", .block = block, .file = file}).status().code(),
            Code::kUsage);
  EXPECT_TRUE(writer->close().ok());
}

}  // namespace
}  // namespace nmb::test
