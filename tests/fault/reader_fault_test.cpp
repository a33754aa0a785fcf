// Every read of a file is made to fail: the reader and verify say so, and the reader goes on when
// reads work again.
#include <gtest/gtest.h>

#include "fault/session_file.h"
#include "support/corpus.h"
#include "support/counting_source.h"
#include "support/programs.h"
#include "support/vectors.h"
#include "verify/verify.h"

namespace nmb::test {
namespace {

TEST(ReaderFault, EveryFailedReadIsAnError) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "f.nmb";
  Model model;
  ASSERT_TRUE(write_session(path, true, 3, SessionKind::kAll, fault_options(), &model).ok());
  ASSERT_TRUE(write_session(path, false, 4, SessionKind::kAll, fault_options(), &model).ok());
  const std::vector<std::byte> bytes = read_file(path);
  const MemorySource memory(bytes, "memory");
  const auto counted = std::make_shared<CountingSource>(memory);
  {
    auto reader = FileReader::open(counted);
    ASSERT_TRUE(reader.ok());
    ASSERT_EQ(difference(model, **reader), "");
  }
  for (std::uint64_t call = 0; call < counted->reads(); ++call) {
    auto reader = FileReader::open(std::make_shared<CountingSource>(memory, call));
    if (!reader.ok()) {
      ASSERT_EQ(reader.status().code(), Code::kIo);
      continue;
    }
    ASSERT_NE(difference(model, **reader).find("Input/output error"), std::string::npos) << call;
    ASSERT_EQ(difference(model, **reader), "") << call;
  }
}

TEST(ReaderFault, VerifySaysWhatItCouldNotRead) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "f.nmb";
  Model model;
  ASSERT_TRUE(write_session(path, true, 3, SessionKind::kAll, fault_options(), &model).ok());
  const std::vector<std::byte> bytes = read_file(path);
  const MemorySource memory(bytes, "memory");
  const CountingSource counted(memory);
  FindingList found;
  ASSERT_TRUE(verify(counted, {}, found).ok());
  for (std::uint64_t call = 0; call < counted.reads(); ++call) {
    const CountingSource failing(memory, call);
    auto summary = verify(failing, {}, found);
    ASSERT_TRUE(!summary.ok() || !summary->incomplete.ok()) << call;
  }
  EXPECT_EQ(found.text(), "");
}

}  // namespace
}  // namespace nmb::test
