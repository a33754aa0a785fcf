// The report of each rank on its own work.
#include <gtest/gtest.h>

#include <chrono>

#include "parallel/communicator.h"
#include "support/rank_program.h"
#include "writer/file_writer.h"

namespace nmb::test {
namespace {

// Bytes that go to the file, seen from outside of the writer.
class SeenOutput final : public OutputFileLayer {
 public:
  SeenOutput(std::unique_ptr<OutputFile> base, std::uint64_t* written)
      : OutputFileLayer(std::move(base)), written_(*written) {}
  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    written_ += bytes.size();
    return base_->write_at(offset, bytes);
  }

 private:
  std::uint64_t& written_;
};

double phases(const FileWriterReport& report) {
  return report.create + report.check + report.write_values + report.write_metadata +
         report.write_index + report.commit;
}

TEST(WriterReportTest, CountsWhatARankDid) {
  const Status status = run_thread_ranks(3, [](Communicator& ranks) -> Status {
    NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
    const auto begin = std::chrono::steady_clock::now();
    std::uint64_t written = 0;
    FileWriterOptions options;
    options.layer = [&](std::unique_ptr<OutputFile> file) -> std::unique_ptr<OutputFile> {
      return std::make_unique<SeenOutput>(std::move(file), &written);
    };
    const Traffic before = ranks.traffic();
    NMB_ASSIGN(const std::unique_ptr<FileWriter> writer,
               FileWriter::create(folder.file("f.nmb"), options, ranks));
    EXPECT_EQ(phases(writer->report()), 0);
    NMB_ASSIGN(const BlockId shared, writer->define_block("shared"));
    NMB_ASSIGN(const DimId x, writer->def_dim(shared, "x", 300000));
    NMB_ASSIGN(const VarId v, writer->def_var(shared, "v", Type::kInt, std::span(&x, 1)));
    NMB_TRY(writer->end_define());
    EXPECT_GT(writer->report().create, 0);
    EXPECT_GT(writer->report().check, 0);
    EXPECT_EQ(writer->report().write_values, 0);
    EXPECT_EQ(writer->report().commit, 0);
    const std::vector<int> values(100000, ranks.rank());
    NMB_TRY(writer->put_all(shared, v,
                            {{100000 * static_cast<std::uint64_t>(ranks.rank())}, {100000}, {}},
                            std::span(values)));
    EXPECT_GT(writer->report().write_values, 0);
    NMB_TRY(writer->close());
    const FileWriterReport report = writer->report();
    EXPECT_GT(report.write_metadata, 0);
    EXPECT_GT(report.write_index, 0);
    EXPECT_GT(report.commit, 0);
    EXPECT_LE(phases(report),
              std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    EXPECT_EQ(report.bytes_written, written);
    EXPECT_EQ(report.bytes_read, 0u);
    EXPECT_GT(report.messages, 0u);
    EXPECT_LE(report.messages, ranks.traffic().messages - before.messages);
    EXPECT_LE(report.message_bytes, ranks.traffic().bytes - before.bytes);
    NMB_ASSIGN(const FileWriterReport most, ranks.all_reduce(report, FileWriterReport::highest));
    EXPECT_GE(most.bytes_written, report.bytes_written);
    EXPECT_GE(most.check, report.check);
    EXPECT_NE(most.text().find("write index"), std::string::npos);
    return ranks.barrier();
  });
  EXPECT_TRUE(status.ok()) << status.text();
}

}  // namespace
}  // namespace nmb::test
