// merge, convert, verify, recover, compare and digest as programs call them.
#include <atomic>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "api/api_folder.h"
#include "nmb/compare.h"
#include "nmb/convert.h"
#include "nmb/merge.h"
#include "nmb/ranks.h"
#include "nmb/recover.h"
#include "nmb/verify.h"
#include "nmb/writer.h"

namespace nmb::test {
namespace {

class CallsTest : public ApiTest {
 protected:
  // Writes an NMB file of one root block: values `first`, `first` + 1, ... along the record
  // dimension, and a constant.
  std::string write(const std::string& name, int first, int count, int constant = 7) {
    Writer out(path(name));
    Block b = out.block("");
    const Dim time = b.dim("time", kUnlimited);
    Var v = b.var<double>("v", {time}), c = b.var<int>("c");
    std::vector<double> values;
    for (int i = 0; i < count; ++i) values.push_back(first + i);
    v.put(values);
    c.put(constant);
    out.close();
    return path(name);
  }
};

TEST_F(CallsTest, MergeJoinsFilesAndTellsConflicts) {
  const std::vector<std::string> inputs{write("1.nmb", 0, 3), write("2.nmb", 3, 2)};
  MergeOptions join;
  join.mode = Join{};
  const MergeReport report = merge(inputs, path("all.nmb"), join);
  EXPECT_EQ(report.inputs, 2U);
  EXPECT_TRUE(report.conflicts.empty());
  EXPECT_EQ(Reader(path("all.nmb")).read<int>("v"), (std::vector<int>{0, 1, 2, 3, 4}));

  join.to = FileKind::kCdf5;
  merge(inputs, path("all.nc"), join);
  EXPECT_EQ(Reader(path("all.nc")).kind(), FileKind::kCdf5);
  EXPECT_EQ(Reader(path("all.nc")).read<int>("v").size(), 5U);

  write("3.nmb", 5, 1, 8);
  try {
    merge({path("1.nmb"), path("3.nmb")}, path("bad.nmb"), join);
    FAIL();
  } catch (const MergeError& error) {
    EXPECT_EQ(error.code(), Code::kConflict);
    ASSERT_EQ(error.report().conflicts.size(), 1U);
    EXPECT_EQ(error.report().conflicts[0].kind, "values");
    EXPECT_NE(error.report().conflicts[0].text.find("8"), std::string::npos);
  }
  EXPECT_FALSE(std::filesystem::exists(path("bad.nmb")));
}

TEST_F(CallsTest, MergePacksByRanks) {
  const std::vector<std::string> inputs{write("1.nmb", 0, 3), write("2.nmb", 3, 2)};
  MergeOptions options;
  options.block_name = "run/{stem}";
  merge(inputs, path("one.nmb"), options);
  run_threads(2, [&](Ranks& ranks) {
    MergeOptions together = options;
    together.ranks = &ranks;
    merge(inputs, path("two.nmb"), together);
  });
  EXPECT_EQ(digest(Reader(path("one.nmb"))).file, digest(Reader(path("two.nmb"))).file);
  EXPECT_EQ(Reader(path("two.nmb")).read<int>("run/2/v"), (std::vector<int>{3, 4}));
}

// Would catch: a collective call that takes the arguments of one rank and ignores those of others.
TEST_F(CallsTest, CollectiveCallsCompareTheirArguments) {
  const std::string a = write("a.nmb", 0, 3), b = write("b.nmb", 3, 2);
  const auto expect_refused = [](const char* call, const auto& work) {
    run_threads(2, [&](Ranks& ranks) {
      const Status status = work(ranks, ranks.rank() == 1);
      EXPECT_EQ(status.code(), Code::kUsage);
      EXPECT_EQ(status.message(), std::string("found other arguments of ") + call +
                                      " on rank 1 than on rank 0, expected the same arguments on "
                                      "all ranks");
    });
  };
  const auto merges = [&](const auto& change) {
    expect_refused("merge()", [&](Ranks& ranks, bool differs) {
      std::vector<std::string> inputs{a, b};
      MergeOptions options;
      options.ranks = &ranks;
      if (differs) change(inputs, options);
      return try_merge(inputs, path("out"), options, nullptr);
    });
    EXPECT_FALSE(std::filesystem::exists(path("out")));
  };
  using Files = std::vector<std::string>;
  merges([&](Files& files, MergeOptions&) { files = {b, a}; });
  merges([&](Files& files, MergeOptions&) { files.clear(); });
  merges([](Files&, MergeOptions& options) { options.block_name = "{stem}/x"; });
  merges([](Files&, MergeOptions& options) { options.mode = Union{}; });
  merges([](Files&, MergeOptions& options) {
    options.mode = Pack{.digests = RecordedDigests::kSha256};
  });
  merges([](Files&, MergeOptions& options) { options.tags = {{"x", TagRule::From::kText, "v"}}; });
  expect_refused("convert()", [&](Ranks& ranks, bool differs) {
    return try_convert(differs ? a : b, path("out"), {.ranks = &ranks});
  });
  expect_refused("convert()", [&](Ranks& ranks, bool differs) {
    ConvertOptions options{.ranks = &ranks};
    if (differs) options.block = "";
    return try_convert(a, path("out"), options);
  });
  expect_refused("verify()", [&](Ranks& ranks, bool differs) {
    return try_verify(differs ? a : b, {.ranks = &ranks}).status();
  });
  expect_refused("verify()", [&](Ranks& ranks, bool differs) {
    return try_verify(
               a, {.level = differs ? VerifyLevel::kIndex : VerifyLevel::kData, .ranks = &ranks})
        .status();
  });
  EXPECT_FALSE(std::filesystem::exists(path("out")));

  // Ranks may have different numbers of threads and different callbacks.
  run_threads(2, [&](Ranks& ranks) {
    MergeOptions options;
    options.threads = ranks.rank() == 0 ? 1 : 2;
    if (ranks.rank() == 0) options.progress = [](std::uint64_t, std::uint64_t) {};
    options.ranks = &ranks;
    merge({a, b}, path("out"), options);
  });
  EXPECT_EQ(Reader(path("out")).totals().blocks, 2U);
}

// A call that is told to stop leaves no output; with `resume`, the next call goes on.
TEST_F(CallsTest, CallsStopWhenCancelled) {
  const std::vector<std::string> inputs{write("1.nmb", 0, 300'000), write("2.nmb", 1, 300'000)};
  std::atomic<bool> cancel = false;
  MergeOptions options;
  options.cancel = &cancel;
  options.resume = "merge of CallsTest";
  std::uint64_t total = 0;
  options.progress = [&](std::uint64_t, std::uint64_t of) { total = of, cancel = true; };
  EXPECT_EQ(code_of([&] { merge(inputs, path("all.nmb"), options); }), Code::kIo);
  EXPECT_FALSE(std::filesystem::exists(path("all.nmb")));
  EXPECT_GE(total, 2U * 300'000 * sizeof(double));
  EXPECT_EQ(try_convert(inputs[0], path("c.nmb"), {.cancel = &cancel}).code(), Code::kIo);
  EXPECT_EQ(try_recover(inputs[0], path("r.nmb"), {.cancel = &cancel}).status().code(), Code::kIo);

  cancel = false;
  options.progress = nullptr;
  merge(inputs, path("all.nmb"), options);
  EXPECT_EQ(Reader(path("all.nmb")).read<double>("2/v").back(), 300'000);
  const std::filesystem::directory_iterator files(std::filesystem::path(path()).parent_path());
  EXPECT_EQ(std::distance(begin(files), end(files)), 3) << "no hidden files are left";
}

// Would catch: an exception of a callback that escapes a function that returns failures.
TEST_F(CallsTest, ExceptionsOfCallbacksAreFailures) {
  const std::vector<std::string> inputs{write("1.nmb", 0, 300'000), write("2.nmb", 1, 300'000)};
  const auto boom = [](std::uint64_t, std::uint64_t) { throw std::runtime_error("my callback"); };
  const auto fails = [](const Status& status) {
    EXPECT_EQ(status.code(), Code::kUsage);
    EXPECT_NE(status.message().find("my callback"), std::string::npos) << status.text();
  };
  for (const unsigned threads : {1U, 3U}) {
    MergeOptions merged;
    merged.threads = threads;
    merged.progress = boom;
    fails(try_merge(inputs, path("all.nmb"), merged, nullptr));
    fails(try_convert(inputs[0], path("all.nmb"), {.threads = threads, .progress = boom}));
    fails(try_recover(inputs[0], path("all.nmb"), {.threads = threads, .progress = boom}).status());
    fails(try_verify(inputs[0], {.threads = threads, .progress = boom}).status());
    // A later call may come from any of the threads.
    for (int call = 2; call <= 12; ++call) {
      std::atomic<int> calls{0};
      const Result<VerifyReport> report =
          try_verify(inputs[0], {.threads = threads, .progress = [&](auto, auto) {
                                   if (++calls >= call) throw std::runtime_error("my callback");
                                 }});
      if (calls >= call) fails(report.status());
    }
  }
  MergeOptions chosen;
  BlockChoice choice;
  choice.excludes = [](std::string_view) -> Result<bool> {
    throw Error(Status(Code::kRange, "mine"));
  };
  chosen.mode = Pack{.choice = choice};
  EXPECT_EQ(try_merge(inputs, path("all.nmb"), chosen, nullptr).code(), Code::kRange);
  EXPECT_FALSE(std::filesystem::exists(path("all.nmb")));
  // The other ranks of a call get the same failure.
  const Status together = try_run_threads(3, [&](Ranks& ranks) -> Status {
    MergeOptions merged;
    merged.ranks = &ranks;
    if (ranks.rank() == 0) merged.progress = boom;
    const Status status = try_merge(inputs, path("all.nmb"), merged, nullptr);
    fails(status);
    return status;
  });
  fails(together);
  WriteOptions written;
  written.statistics = StatisticsLevel::kBasic;
  written.functions = {{"f", [](std::string_view, Type) -> std::unique_ptr<ValueAccumulator> {
                          throw std::runtime_error("my callback");
                        }}};
  Writer out(path("w.nmb"), written);
  out.block("b").var<int>("v").put(1);
  fails(out.try_close());
}

TEST_F(CallsTest, RulesAreParsedFromText) {
  EXPECT_EQ(Tolerance::parse("1e-6,0.5").relative, 0.5);
  EXPECT_EQ(Tolerance::try_parse("x").status().code(), Code::kUsage);
  EXPECT_EQ(SampleRule::parse("dim:n").dimension, "n");
  EXPECT_EQ(code_of([] { TagRule::parse("x"); }), Code::kUsage);
  EXPECT_EQ(code_of([] { BlockRule::parse("x"); }), Code::kUsage);
}

TEST_F(CallsTest, ConvertKeepsTheContent) {
  const std::string file = write("f.nmb", 0, 3);
  const ConvertReport report = convert(file, path("f.nc"), {.to = FileKind::kCdf5});
  EXPECT_TRUE(report.losses.empty() && report.warnings.empty());
  const Reader nmb(file), classic(path("f.nc"));
  EXPECT_EQ(classic.kind(), FileKind::kCdf5);
  EXPECT_EQ(classic.read<int>("v"), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(digest(nmb).file, digest(classic).file);
  EXPECT_TRUE(compare(nmb, classic).same);
  convert(path("f.nc"), path("again.nmb"));
  EXPECT_TRUE(compare(nmb, Reader(path("again.nmb"))).same);
  write("other.nmb", 1, 3);
  const FileComparison difference = compare(nmb, Reader(path("other.nmb")));
  EXPECT_FALSE(difference.same);
  ASSERT_EQ(difference.variables.size(), 1U);
  EXPECT_EQ(difference.variables[0].different, 3U);
  EXPECT_EQ(try_convert(file, file, {.replace = true}).code(), Code::kUsage);
  EXPECT_EQ(try_convert(file, path("f.nc"), {.to = FileKind::kCdf5}).code(), Code::kExists);
}

// Would catch: a conversion that keeps warnings for itself, or a warning that `strict` accepts.
TEST_F(CallsTest, ConvertReportsLossesAndWarnings) {
  {
    Writer out(path("tagged.nmb"));
    Block b = out.block("");
    b.tag("run", 7);
    b.var<double>("v", {b.dim("x", 3)}).put(std::vector<double>(3, 1.5));
    out.close();
  }
  const std::string lost = "the output has no place for 1 tag of 1 block; an .nmb output keeps it";
  ConvertOptions options{.to = FileKind::kCdf5};
  ConvertReport report = convert(path("tagged.nmb"), path("t.nc"), options);
  EXPECT_EQ(report.losses, std::vector{lost});
  options.replace = options.strict = true;
  report = {};
  const Status strict = try_convert(path("tagged.nmb"), path("t.nc"), options, &report);
  EXPECT_EQ(strict.message(), "1 warning with ConvertOptions::strict; nothing was written");
  EXPECT_EQ(strict.code(), Code::kConflict);
  EXPECT_EQ(report.losses, std::vector{lost});
  // A report of an earlier call has no effect.
  EXPECT_TRUE(try_convert(path("t.nc"), path("again.nc"), options, &report).ok());
  EXPECT_TRUE(report.losses.empty() && report.warnings.empty());

  // Values of a classic file are compressed without shuffle.
  options = {.storing = {.codec = "zstd", .shuffle = true}};
  report = convert(path("t.nc"), path("z.nmb"), options);
  ASSERT_EQ(report.warnings.size(), 1U);
  EXPECT_NE(report.warnings[0].find("compressed without shuffle"), std::string::npos);
  options.replace = options.strict = true;
  EXPECT_EQ(try_convert(path("t.nc"), path("z.nmb"), options).message(),
            "1 warning with ConvertOptions::strict; nothing was written");
}

// Would catch: an option that the kind of the output has no place for, accepted and ignored.
TEST_F(CallsTest, OptionsOfOtherKindsAreRefused) {
  const std::string file = write("f.nmb", 0, 3);
  const auto code = [&](ConvertOptions options) {
    return try_convert(file, path("out"), options).code();
  };
  EXPECT_EQ(code({.to = FileKind::kCdf5, .statistics = StatisticsLevel::kBasic}), Code::kUsage);
  EXPECT_EQ(code({.to = FileKind::kCdf5, .hdf5_view = Hdf5View::kOn}), Code::kUsage);
  EXPECT_EQ(code({.to = FileKind::kCdf5, .storing = {.codec = "zstd"}}), Code::kUsage);
  EXPECT_EQ(code({.to = FileKind::kHdf5, .statistics = StatisticsLevel::kBasic}), Code::kUsage);
  EXPECT_EQ(code({.to = FileKind::kNmb, .netcdf = false}), Code::kUsage);
  EXPECT_EQ(code({.to = static_cast<FileKind>(99)}), Code::kUsage);
  EXPECT_EQ(code({.to = FileKind::kCdf5, .external = static_cast<ExternalPaths>(9)}), Code::kUsage);
  EXPECT_EQ(code({.storing = {.codec = "none", .shuffle = true}}), Code::kUsage);
  EXPECT_EQ(try_verify(file, {.level = static_cast<VerifyLevel>(9)}).status().code(), Code::kUsage);
  const Reader reader(file);
  for (const double wrong : {-1.0, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_EQ(try_compare(reader, reader, {.tolerance = {.absolute = wrong}}).status().code(),
              Code::kUsage);
  MergeReport report;
  MergeOptions merged;
  merged.to = FileKind::kHdf5;
  merged.originals = true;
  EXPECT_EQ(try_merge({file}, path("out"), merged, &report).code(), Code::kUsage);
  merged = {};
  merged.netcdf = false;
  EXPECT_EQ(try_merge({file}, path("out"), merged, &report).code(), Code::kUsage);
  merged = {};
  merged.dry_run = merged.check = true;
  EXPECT_EQ(try_merge({file}, path("out"), merged, &report).code(), Code::kUsage);
  EXPECT_FALSE(std::filesystem::exists(path("out")));
}

TEST_F(CallsTest, VerifyAndRecover) {
  {
    Writer out(path());
    for (const char* name : {"good", "hurt"}) {
      Block b = out.block(name);
      b.var<double>("v", {b.dim("x", 4000)}).put(std::vector<double>(4000, 1.5));
    }
    out.close();
  }
  EXPECT_TRUE(verify(path()).is_sound());
  // Changes a byte of the values that come last.
  std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const std::string one("\x3f\xf8\0\0\0\0\0\0", 8);
  const std::size_t last = bytes.rfind(one);
  ASSERT_NE(last, std::string::npos);
  file.clear();
  file.seekp(static_cast<std::streamoff>(last));
  file.put('\x40');
  file.close();
  const VerifyReport report = verify(path());
  EXPECT_FALSE(report.is_sound());
  EXPECT_EQ(report.damaged_blocks, 1U);
  ASSERT_FALSE(report.list.empty());
  EXPECT_FALSE(report.list[0].rule.empty());
  run_threads(2, [&](Ranks& ranks) {
    EXPECT_EQ(verify(path(), {.ranks = &ranks}).findings, report.findings);
  });

  EXPECT_EQ(recover(path(), "").recovered(), 1U);
  const Recovery recovery = recover(path(), path("saved.nmb"), {.partial = true});
  EXPECT_EQ(recovery.recovered(), 2U);
  EXPECT_TRUE(recovery.is_loss());
  EXPECT_EQ(Reader(path("saved.nmb")).totals().blocks, 2U);
  EXPECT_EQ(code_of([&] { recover(path(), path(), {.replace = true}); }), Code::kUsage);
}

}  // namespace
}  // namespace nmb::test
