// The work of a proof: how much is read, and how often an input is opened.
#include <gtest/gtest.h>

#include <fstream>

#include "compare/compare.h"
#include "files/files.h"
#include "handles/inspected_file.h"
#include "model/header_bytes.h"
#include "prove/prove_merge.h"
#include "reader/file_reader.h"
#include "support/content.h"
#include "support/counting_source.h"
#include "support/dataset.h"
#include "support/programs.h"
#include "writer/file_writer.h"

namespace nmb::test {
namespace {

// Each piece has values of all variables, and the pieces do not fit into a reader's cache.
TEST(ProofWork, VariablesThatShareRecordsReadThePiecesOnce) {
  constexpr std::uint64_t kVariables = 4, kRecords = 96, kSlice = 65536;
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "records.nmb").string();
  FileWriterOptions options;
  options.sync = false;
  options.piece_size = 1 << 20;
  {
    auto writer = std::move(*FileWriter::create(path, options));
    const BlockId block = *writer->define_block("b");
    const DimId time = *writer->def_dim(block, "time", kUnlimited);
    const DimId x = *writer->def_dim(block, "x", kSlice);
    for (std::uint64_t v = 0; v < kVariables; ++v)
      ASSERT_TRUE(writer->def_var(block, "v" + std::to_string(v), Type::kByte, {{time, x}}).ok());
    ASSERT_TRUE(writer->end_define().ok());
    std::vector<signed char> values(kRecords * kSlice);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<signed char>(i * i % 101);
    for (VarId v = 0; v < kVariables; ++v)
      ASSERT_TRUE(writer
                      ->put(block, v, {{0, 0}, {kRecords, kSlice}, {}},
                            std::span<const signed char>(values))
                      .ok());
    ASSERT_TRUE(writer->close().ok());
  }
  const std::shared_ptr<const FileSource> file = std::move(*FileSource::open(path));
  for (const unsigned threads : {1U, 2U}) {
    const auto counted = std::make_shared<CountingSource>(*file);
    const auto first = std::move(*FileReader::open(counted));
    const auto second = std::move(*FileReader::open(file));
    ComparisonOptions comparison;
    comparison.content.threads = threads;
    const Result<bool> same = compare_files(content_of(*first), content_of(*second), comparison,
                                            {[](const DefinitionDifference&) { return Status(); },
                                             [](const ComparedVariable&) { return Status(); }});
    ASSERT_TRUE(same.ok()) << same.status().text();
    EXPECT_TRUE(*same);
    EXPECT_LT(counted->bytes(), file->size() * 5 / 4) << threads << " threads";
  }
}

class ProofOpensTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  void make(const std::string& name, std::uint64_t records) {
    Metadata metadata;
    const DimId time = *metadata.def_dim("time", kUnlimited);
    ASSERT_TRUE(metadata.def_var("v", Type::kInt, {{time}}).ok());
    const ClassicDataset made = make_dataset(std::move(metadata), Kind::kCdf2, records);
    const auto header = *header_bytes(made.metadata, Kind::kCdf2, records);
    std::ofstream out(path(name), std::ios::binary);
    for (const auto* const bytes : {&header, &made.values})
      out.write(reinterpret_cast<const char*>(bytes->data()),
                static_cast<std::streamsize>(bytes->size()));
  }
  // Proves that "all.nc" is the join of the inputs. Returns how often inputs were opened.
  std::size_t opens(const std::vector<std::string>& inputs) {
    MergeProof proof;
    proof.merge.mode = Join();
    for (const std::string& input : inputs) proof.merge.inputs.push_back(path(input));
    proof.classic = Kind::kCdf2;
    std::size_t opened = 0;
    proof.open = [&](const std::string& input) -> Result<ProofInput> {
      ++opened;
      NMB_ASSIGN(const std::shared_ptr<const InputFile> bytes, InputFile::open(input));
      NMB_ASSIGN(InspectedFile file, InspectedFile::open(bytes));
      const auto held = std::make_shared<const InspectedFile>(std::move(file));
      return ProofInput{held->content(), false, reports_memory_ ? held->memory() : std::nullopt,
                        held};
    };
    const InspectedFile merged = *InspectedFile::open(*InputFile::open(path("all.nc")));
    PackReport report;
    const auto nothing = [](const auto&) { return Status(); };
    const Result<bool> same =
        prove_merge(merged.content(), proof, {nothing, nothing, nothing}, &report);
    EXPECT_TRUE(same.ok()) << same.status().text();
    EXPECT_TRUE(same.ok() && *same);
    return opened;
  }
  TemporaryFolder folder_;
  bool reports_memory_ = true;
};

TEST_F(ProofOpensTest, AnInputWithLittleMetadataIsOpenedOnce) {
  make("a.nc", 3);
  make("b.nc", 4);
  make("c.nc", 5);
  make("all.nc", 12);
  EXPECT_EQ(opens({"a.nc", "b.nc", "c.nc"}), 3U);
  reports_memory_ = false;
  EXPECT_EQ(opens({"a.nc", "b.nc", "c.nc"}), 6U);
}

TEST_F(ProofOpensTest, OnlySomeInputsStayOpen) {
  std::vector<std::string> inputs;
  for (std::size_t i = 0; i < 70; ++i) {
    inputs.push_back("in" + std::to_string(100 + i) + ".nc");
    make(inputs.back(), 1);
  }
  make("all.nc", 70);
  EXPECT_EQ(opens(inputs), 64U + 2 * 6);
}

}  // namespace
}  // namespace nmb::test
