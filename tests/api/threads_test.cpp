// Readers and handles that threads share, while other threads open the file again and a writer adds
// generations to it. `./night` runs these tests under the thread sanitizer.
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "api/api_folder.h"
#include "nmb/compare.h"
#include "nmb/convert.h"
#include "nmb/merge.h"
#include "nmb/reader.h"
#include "nmb/writer.h"

namespace nmb::test {
namespace {

constexpr std::uint64_t kBlocks = 24;
constexpr std::uint64_t kRows = 40, kColumns = 16;
constexpr unsigned kThreads = 4;

std::vector<float> values_of(std::uint64_t block) {
  std::vector<float> values(kRows * kColumns);
  std::iota(values.begin(), values.end(), static_cast<float>(1000 * block));
  return values;
}

std::string name_of(std::uint64_t block) { return "station/s" + std::to_string(100 + block); }

class ThreadsTest : public ApiTest {
 protected:
  // A file with a block for each station; its values are compressed if `codec` says so.
  void write(const std::string& name, const std::string& codec) {
    std::filesystem::remove(path("stations.nmb"));
    {
      Writer out(path("stations.nmb"), {.sync = false});
      for (std::uint64_t b = 0; b < kBlocks; ++b) {
        Block block = out.block(name_of(b)).tag("number", static_cast<std::int64_t>(b));
        const Dim time = block.dim("time", kUnlimited);
        const Dim x = block.dim("x", kColumns);
        Var v = block.var<float>("v", {time, x}).att("units", "K");
        Var small = block.var<std::int64_t>("small", {x});
        v.put_records(0, values_of(b));
        small.put(std::vector<std::int64_t>(kColumns, static_cast<std::int64_t>(b)));
      }
      out.close();
    }
    MergeOptions options;
    options.statistics = StatisticsLevel::kHistogram;
    options.storing.codec = codec;
    options.block_name = "{group}";
    options.replace = true;
    options.sync = false;
    merge({path("stations.nmb")}, path(name), options);
  }

  // Calls work(number of the thread, random numbers) on each thread, and returns the failures.
  using Work = std::function<std::string(unsigned, std::mt19937&)>;
  static std::vector<std::string> on_threads(const Work& work) {
    std::vector<std::string> failures(kThreads);
    {
      std::vector<std::jthread> threads;
      for (unsigned t = 0; t < kThreads; ++t)
        threads.emplace_back([&, t] {
          std::mt19937 random(t + 1);
          const Status status = caught([&] { failures[t] = work(t, random); });
          if (!status.ok()) failures[t] = status.text();
        });
    }
    std::erase(failures, "");
    return failures;
  }
};

// One call of everything that the Python package and other programs call, for one block. Returns
// what is wrong. prefix: in front of the names of the blocks.
std::string use(const Reader& in, std::mt19937& random, const std::string& prefix) {
  const std::uint64_t b = random() % kBlocks;
  const std::string name = prefix + name_of(b);
  const std::vector<float> expected = values_of(b);
  const BlockView block = in.block(name);
  switch (random() % 12) {
    case 0:
      return block.var("v").read<float>() == expected ? "" : "read: other values";
    case 1: {
      const std::uint64_t row = random() % (kRows - 3);
      std::vector<float> some(3 * kColumns);
      block.var("v").read({{row, 0}, {3, kColumns}, {}}, some);
      return std::equal(some.begin(), some.end(), expected.data() + row * kColumns)
                 ? ""
                 : "hyperslab: other values";
    }
    case 2: {
      std::vector<float> all(expected.size());
      std::vector<std::int64_t> small(kColumns);
      const std::vector<ElementRequest> requests{
          {block.var("v"), {}, std::as_writable_bytes(std::span(all)), nullptr},
          {block.var("small"), {}, std::as_writable_bytes(std::span(small)), nullptr}};
      in.read_elements(requests, 2);
      return all == expected && small.front() == static_cast<std::int64_t>(b)
                 ? ""
                 : "many: other values";
    }
    case 3:
      return in.position(name) < in.totals().blocks && in.block_at(in.position(name)).name() == name
                 ? ""
                 : "another position";
    case 4: {
      std::size_t count = 0;
      in.for_each_block(
          prefix + "station/*",
          [&](const BlockView& one) -> Result<bool> { return ++count < 5 && !one.name().empty(); },
          name);
      return count <= 5 ? "" : "too many blocks";
    }
    case 5: {
      const ShownBlock shown = block.shown();
      return shown.vars.size() == 2 && shown.dims.size() == 2 ? "" : "shown: other definitions";
    }
    case 6: {
      const VarView v = block.var("v");
      return v.shape() == std::vector<std::uint64_t>{kRows, kColumns} &&
                     v.att("units").text() == "K" && v.atts().size() >= 1 &&
                     v.stored().filters.size() < 9
                 ? ""
                 : "other attributes";
    }
    case 7: {
      const auto stored = block.var("v").statistics();
      const VariableStatistics made = block.var("v").compute_statistics(StatisticsLevel::kBasic, 2);
      return made.maximum_value() == expected.back() &&
                     (!stored || stored->elements == made.elements)
                 ? ""
                 : "other statistics";
    }
    case 8:
      return block.cdl().find("float v(time, x)") != std::string::npos ? "" : "another CDL";
    case 9: {
      const Totals totals = in.totals(prefix + "station/");
      return totals.blocks >= kBlocks && in.warnings().empty() ? "" : "other totals";
    }
    case 10: {
      FindOptions options;
      options.threads = 2;
      const auto found = in.find("v.max == " + std::to_string(expected.back()), options);
      return found.size() == 1 && found.front().name() == name ? "" : "find: other blocks";
    }
    default:
      (void)in.provenance();
      (void)block.tags();
      (void)block.var("v").fill_value();
      return block.counts().variables >= 2 ? "" : "other counts";
  }
}

TEST_F(ThreadsTest, OneReader) {
  for (const char* const codec : {"", "zstd"}) {
    write("f.nmb", codec);
    const Reader in(path());
    EXPECT_EQ(on_threads([&](unsigned, std::mt19937& random) -> std::string {
                for (int i = 0; i < 150; ++i)
                  if (const std::string wrong = use(in, random, ""); !wrong.empty()) return wrong;
                return "";
              }),
              std::vector<std::string>{});
  }
}

// A small cache, so that threads load and drop the same blocks.
TEST_F(ThreadsTest, SmallCache) {
  write("f.nmb", "");
  const Reader in(path(), {.cache_bytes = 1});
  EXPECT_EQ(on_threads([&](unsigned, std::mt19937& random) -> std::string {
              for (int i = 0; i < 150; ++i)
                if (const std::string wrong = use(in, random, ""); !wrong.empty()) return wrong;
              return "";
            }),
            std::vector<std::string>{});
}

// Each thread takes the newest generation now and then, while one adds generations.
TEST_F(ThreadsTest, GenerationsAreAdded) {
  write("f.nmb", "");
  {
    Writer out(path("more.nmb"), {.sync = false});
    Block block = out.block("more");
    block.var<int>("w", {block.dim("n", 3)}).put(std::vector<int>{1, 2, 3});
    out.close();
  }
  Reader shared(path());
  EXPECT_EQ(on_threads([&](unsigned thread, std::mt19937& random) -> std::string {
              if (thread == 0) {
                MergeOptions options;
                options.mode = Pack{.append = true};
                options.sync = false;
                for (int g = 0; g < 12; ++g) {
                  options.block_name = "more/m" + std::to_string(g);
                  merge({path("more.nmb")}, path(), options);
                }
                return "";
              }
              Reader in = shared;
              for (int i = 0; i < 50; ++i) {
                if (i % 7 == 0) in = Reader(path());
                if (const std::string wrong = use(in, random, ""); !wrong.empty()) return wrong;
                const auto digest = Reader(path(), {.generation = 1}).generation_digest();
                if (digest != shared.generation_digest()) return "another digest";
              }
              return "";
            }),
            std::vector<std::string>{});
  EXPECT_EQ(Reader(path()).generation(), 13U);
}

// Several readers of one HDF5 file, each of which threads share.
TEST_F(ThreadsTest, ReadersOfHdf5) {
  write("f.nmb", "");
  ConvertOptions options;
  options.to = FileKind::kHdf5;
  options.sync = false;
  if (const Status status = try_convert(path(), path("f.h5"), options, nullptr); !status.ok())
    GTEST_SKIP() << status.text();
  const std::vector<Reader> readers{Reader(path("f.h5")), Reader(path("f.h5"))};
  EXPECT_EQ(on_threads([&](unsigned thread, std::mt19937& random) -> std::string {
              for (unsigned i = 0; i < 50; ++i)
                if (const std::string wrong = use(readers[(thread + i) % 2], random, "");
                    !wrong.empty())
                  return wrong;
              return compare(readers[0], Reader(path("f.h5"))).same ? "" : "another file";
            }),
            std::vector<std::string>{});
}

}  // namespace
}  // namespace nmb::test
