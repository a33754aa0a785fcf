// The disk is full when a rank puts values that wait for space: the rank is told, all ranks fail
// alike in the next collective call, and what was committed stays.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "parallel/communicator.h"
#include "reader/file_reader.h"
#include "support/corpus.h"
#include "support/model.h"
#include "support/programs.h"
#include "support/rank_session.h"
#include "writer/file_writer.h"

namespace nmb::test {
namespace {

constexpr std::uint64_t kCells = 1 << 20;

// The last rank puts 40 MiB; there is room for less.
Status put_too_much(Communicator& ranks, const std::string& path, Status* put) {
  NMB_ASSIGN(const std::unique_ptr<FileWriter> writer,
             FileWriter::create(path, session_options(), ranks));
  NMB_ASSIGN(const BlockId block, writer->define_block("b"));
  NMB_ASSIGN(const DimId time, writer->def_dim(block, "time", kUnlimited));
  NMB_ASSIGN(const DimId x, writer->def_dim(block, "x", kCells));
  NMB_TRY(writer->def_var(block, "v", Type::kInt, {{time, x}}).status());
  NMB_TRY(writer->end_define());
  const int first = 5;
  const Hyperslab one{{0, 0}, {1, 1}, {}};
  NMB_TRY(writer->put_all(block, 0, one, std::span(&first, 1)));
  NMB_TRY(writer->sync());
  const std::vector<int> values(kCells, 7);
  if (ranks.rank() == ranks.size() - 1)
    for (std::uint64_t record = 1; record <= 10 && put->ok(); ++record)
      *put = writer->put(block, 0, {{record, 0}, {1, kCells}, {}}, std::span<const int>(values));
  return writer->flush();
}

TEST(WaitingValues, AFullDiskFailsOnAllRanks) {
  for (const int size : {1, 3}) {
    const TemporaryFolder folder;
    const std::string at = shell_quoted(folder.path().string());
    if (geteuid() != 0 || test::run("mount -t tmpfs -o size=12m none " + at).exit_code != 0)
      GTEST_SKIP() << "cannot mount a file system";
    const std::string path = (folder.path() / "f.nmb").string();
    std::vector<Status> statuses(static_cast<std::size_t>(size)), puts(statuses.size());
    const Watchdog watchdog("a full disk");
    const Status ended = run_thread_ranks(size, [&](Communicator& ranks) -> Status {
      const auto rank = static_cast<std::size_t>(ranks.rank());
      statuses[rank] =
          run_session(ranks, path, [&] { return put_too_much(ranks, path, &puts[rank]); });
      return ranks.barrier();
    });
    EXPECT_TRUE(ended.ok()) << ended.text();
    for (const Status& status : statuses) {
      EXPECT_EQ(status.code(), Code::kNoSpace) << status.text();
      EXPECT_EQ(status.text(), statuses[0].text());
    }
    if (size > 1) {
      EXPECT_EQ(puts.back().code(), Code::kNoSpace) << puts.back().text();
    }
    {
      const auto reader = FileReader::open(path);
      ASSERT_TRUE(reader.ok()) << reader.status().text();
      EXPECT_EQ((*reader)->generation(), 1u);
      const auto block = (*reader)->block("b");
      ASSERT_TRUE(block.ok()) << block.status().text();
      EXPECT_EQ((*block)->records, 1u);
      EXPECT_EQ((*block)->read_all<int>(0)->at(0), 5);
      EXPECT_EQ(findings_of(std::filesystem::path(path), {"R-FL-2"}), "");
      std::size_t names = 0;
      for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
        names += entry.is_regular_file() ? 1 : 0;
      EXPECT_EQ(names, 1u) << "temporary files are gone";
    }
    EXPECT_EQ(test::run("umount " + at).exit_code, 0);
  }
}

}  // namespace
}  // namespace nmb::test
