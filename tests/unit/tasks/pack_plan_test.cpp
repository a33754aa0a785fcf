// A dry run of a merge predicts the run: memory of the process, and bytes of the file. Each run has
// a process of its own.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <limits>
#include <string>

#include "merge/reporting/merge.h"
#include "model/classic.h"
#include "parallel/communicator.h"
#include "support/programs.h"
#include "support/sanitized.h"

namespace nmb {
namespace {

// Slack for the memory of an idle process, and for the granularity of memory.
constexpr std::uint64_t kSpare = 8 << 20;

std::uint64_t peak_resident() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::uint64_t kibibytes = 0;
    if (word == "VmHWM:" && status >> kibibytes) return kibibytes << 10;
    status.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return 0;
}

// Returns the result of `body` in a process of its own, which has its own peak of memory; 0 if it
// ended otherwise.
std::uint64_t in_process(const std::function<std::uint64_t()>& body) {
  int ends[2];
  if (::pipe(ends) != 0) return 0;
  const pid_t child = ::fork();
  if (child == 0) {
    std::ofstream("/proc/self/clear_refs") << "5" << std::flush;
    const std::uint64_t result = body();
    const bool ok = ::write(ends[1], &result, sizeof result) == sizeof result;
    ::_exit(ok ? 0 : 1);
  }
  ::close(ends[1]);
  std::uint64_t result = 0;
  if (::read(ends[0], &result, sizeof result) != sizeof result) result = 0;
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return result;
}

class PackPlanTest : public testing::Test {
 protected:
  // `files` files of `groups` groups of eight variables, and `bytes` bytes of values each.
  void make_inputs(int files, int groups, std::uint64_t bytes) {
    for (int f = 0; f < files; ++f) {
      Metadata metadata;
      const DimId x = *metadata.def_dim("_grp_all_x", bytes);
      ASSERT_TRUE(
          metadata.def_var("_grp_f" + std::to_string(f) + "_values", Type::kByte, {{x}}).ok());
      for (int g = 0; g < groups; ++g) {
        const std::string start = "_grp_f" + std::to_string(f) + "g" + std::to_string(g) + "_";
        const DimId y = *metadata.def_dim(start + "y", 3);
        for (int v = 0; v < 8; ++v)
          ASSERT_TRUE(metadata.def_var(start + "v" + std::to_string(v), Type::kFloat, {{y}}).ok());
      }
      const ClassicLayout layout = *layout_classic(metadata, Kind::kCdf5);
      const std::string path = folder_.path() / ("in" + std::to_string(f) + ".nc");
      std::ofstream file(path, std::ios::binary);
      ASSERT_TRUE(encode_classic_header(metadata, Kind::kCdf5, 0,
                                        [&](std::span<const std::byte> part) -> Status {
                                          file.write(reinterpret_cast<const char*>(part.data()),
                                                     static_cast<std::streamsize>(part.size()));
                                          return {};
                                        })
                      .ok());
      for (std::uint64_t i = layout.header_length; i < layout.fixed_end; ++i)
        file.put(static_cast<char>(i * 7 % 251));
      options_.inputs.push_back(path);
    }
  }

  // Merges on `ranks` threads. *report: that of rank 0.
  static Status merge(const PackOptions& options, int ranks, PackReport* report) {
    return run_thread_ranks(ranks, [&](Communicator& all) {
      PackReport other;
      return pack(options, all.rank() == 0 ? report : &other, all);
    });
  }

  // most: what may be planned of each byte that is taken.
  void check(const char* what, double most) {
    options_.output = folder_.path() / "out.nmb";
    options_.writer.sync = false;
    options_.writer.overwrite = true;
    for (const int ranks : {1, 3}) {
      PackOptions dry = options_;
      dry.writer.dry_run = true;
      auto planned = [&](auto number) {
        return in_process([&] {
          PackReport report;
          return merge(dry, ranks, &report).ok() ? number(report) : 0;
        });
      };
      const std::uint64_t memory =
          planned([](const PackReport& report) { return report.plan->peak_memory; });
      const std::uint64_t length =
          planned([](const PackReport& report) { return report.bytes_out; });
      const std::uint64_t taken = in_process([&] {
        PackReport report;
        return merge(options_, ranks, &report).ok() ? peak_resident() : 0;
      });
      ASSERT_NE(taken, 0u) << what;
      EXPECT_EQ(length, std::filesystem::file_size(options_.output)) << what;
      EXPECT_LE(taken, memory + kSpare / 8) << what << " by " << ranks;
      EXPECT_LE(static_cast<double>(memory), most * static_cast<double>(taken) + kSpare)
          << what << " by " << ranks;
    }
  }

  test::TemporaryFolder folder_;
  PackOptions options_;
};

TEST_F(PackPlanTest, SaysLengthAndMemory) {
  if (test::kSanitized) GTEST_SKIP() << "sanitizers take memory of their own";
  make_inputs(64, 20, 200'000);
  check("whole files", 1.25);
  options_.block_by = {BlockRule::By::kPrefix, "^_grp_([a-z0-9]+)_"};
  options_.block_name = "{stem}/{group}";
  check("groups", 1.25);
}

// A block of an NMB file is in memory while its values are moved, on as many threads as there may
// be.
TEST_F(PackPlanTest, SaysMemoryOfMergedFilesThatAreMergedAgain) {
  if (test::kSanitized) GTEST_SKIP() << "sanitizers take memory of their own";
  make_inputs(6, 5000, 3'000'000);
  for (int f = 0; f < 6; ++f) {
    PackOptions one;
    one.inputs = {options_.inputs[static_cast<std::size_t>(f)]};
    one.output = folder_.path() / ("in" + std::to_string(f) + ".nmb");
    one.writer.sync = false;
    PackReport report;
    ASSERT_TRUE(pack(one, &report).ok());
    options_.inputs[static_cast<std::size_t>(f)] = one.output;
  }
  options_.writer.threads = 2;
  check("merged files", 2);
}

}  // namespace
}  // namespace nmb
