// Several ranks write and read one file with the public handles.
#include "nmb/ranks.h"

#include <fstream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "api/api_folder.h"
#include "nmb/reader.h"
#include "nmb/writer.h"

namespace nmb::test {
namespace {

using RanksTest = ApiTest;

TEST_F(RanksTest, StepsOfATimeLoop) {
  for (const int size : {1, 3}) {
    const std::string file = path(std::to_string(size) + ".nmb");
    run_threads(size, [&](Ranks& ranks) {
      Writer out(file, ranks);
      Block run = out.block("run").att("title", "loop");
      const Dim time = run.dim("time", kUnlimited), x = run.dim("x", 6);
      Var t = run.var<double>("t", {time, x});
      out.end_define();
      const int n = 6 / size, first = n * ranks.rank();
      for (int step = 0; step < 3; ++step) {
        std::vector<double> values(static_cast<std::size_t>(n));
        std::iota(values.begin(), values.end(), 10 * step + first);
        t.put_all({{step, first}, {1, n}}, values);
      }
      // Only one rank has something to put.
      const std::vector<double> more{99};
      if (ranks.rank() == 0)
        t.put_all({{3, 0}, {1, 1}}, more);
      else
        t.put_all();
      std::vector<Request> requests;
      if (ranks.rank() == 0) requests.push_back(t.iput({{3, 1}, {1, 1}}, more));
      out.wait_all(requests);
      out.close();
      EXPECT_NE(out.report(), "");
    });
    const std::vector<double> found = Reader(file).read<double>("run/t");
    ASSERT_EQ(found.size(), 24U);
    EXPECT_EQ(found[17], 25);
    EXPECT_EQ(found[18], 99);
    EXPECT_EQ(found[19], 99);
  }
}

TEST_F(RanksTest, RanksReadEachOthersValuesAndRedefineAlike) {
  run_threads(3, [&](Ranks& ranks) {
    Writer out(path(), ranks);
    Block b = out.block("b");
    const Dim time = b.dim("time", kUnlimited);
    Var v = b.var<int>("v", {time});
    out.end_define();
    const int rank = ranks.rank();
    v.put({{rank}, {1}}, rank + 1);
    int own = 0;
    v.get({{rank}, {1}}, std::span(&own, 1));
    EXPECT_EQ(own, rank + 1);
    out.flush();
    EXPECT_EQ(b.records(), 3U);
    std::vector<int> all(3);
    v.get(all);
    EXPECT_EQ(all, (std::vector<int>{1, 2, 3}));
    out.redefine();
    Var w = b.var<double>("w", {b.dim("x", 4)});
    v.att("units", "m").rename("value");
    out.end_define();
    if (rank == 2)
      w.put_all({{1}, {2}}, std::vector<int>{7, 8});
    else
      w.put_all();
    std::vector<double> found(2);
    if (rank == 0)
      w.get_all({{2}, {2}}, found);
    else
      w.get_all();
    if (rank == 0) {
      EXPECT_EQ(found, (std::vector<double>{8, 9.9692099683868690e+36}));
    }
    v.get(all);
    EXPECT_EQ(all, (std::vector<int>{1, 2, 3}));
    out.close();
  });
  const Reader in(path());
  EXPECT_EQ(in.read<int>("b/value"), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(in.var("b/value").att("units").text(), "m");
}

TEST_F(RanksTest, OneReadsAndAllGet) {
  run_threads(3, [&](Ranks& ranks) {
    Writer out(path(), ranks);
    Block own = out.block("b" + std::to_string(ranks.rank()));
    Var v = own.var<int>("v", {own.dim("x", 2)});
    out.end_define();
    v.put(std::vector<int>{ranks.rank(), 7});
    out.close();
    const Reader in(path(), ranks);
    const std::vector<std::string_view> names{"b0", "b2"};
    const std::vector<BlockView> blocks = in.open_blocks(names);
    std::vector<int> values(2);
    blocks[1].var("v").read_same({{0}, {2}}, values);
    EXPECT_EQ(values, (std::vector<int>{2, 7}));
  });
}

// The text of a rank that gives up reaches the others, and no file is left.
TEST_F(RanksTest, AnExceptionOnOneRankIsEverybodysError) {
  std::vector<std::string> texts(3);
  const Status status = caught([&] {
    run_threads(3, [&](Ranks& ranks) {
      try {
        Writer out(path(), ranks);
        Block b = out.block("b");
        Var v = b.var<int>("v", {b.dim("x", 3)});
        out.end_define();
        if (ranks.rank() == 1) throw std::runtime_error("my solver diverged");
        v.put_all({{ranks.rank()}, {1}}, 5);
        out.close();
      } catch (const std::exception& error) {
        texts[static_cast<std::size_t>(ranks.rank())] = error.what();
        throw;
      }
    });
  });
  EXPECT_EQ(status.message(), "my solver diverged (on rank 1)");
  for (const std::string& text : texts)
    EXPECT_NE(text.find("my solver diverged"), std::string::npos) << text;
  EXPECT_FALSE(std::filesystem::exists(path()));
}

// Would catch: a rank that announces the failure of a collective call as its own, so that slower
// ranks get another text.
TEST_F(RanksTest, ACollectiveFailureIsTheSameOnAllRanks) {
  std::ofstream(path()) << "exists";
  for (int i = 0; i < 100; ++i) {
    std::vector<std::string> texts(4);
    const Status status = try_run_threads(4, [&](Ranks& ranks) {
      const Status own = caught([&] { ranks.run([&] { Writer(path(), ranks); }); });
      texts[static_cast<std::size_t>(ranks.rank())] = own.text();
      return own;
    });
    EXPECT_EQ(status.message(), "the file exists");
    ASSERT_EQ(texts, std::vector<std::string>(4, status.text())) << i;
  }
}

// Errors as values: a local error is one rank's, and the ranks can agree on it.
TEST_F(RanksTest, LocalErrorsStayLocalUntilRanksAgree) {
  const Status status = try_run_threads(3, [&](Ranks& ranks) -> Status {
    Result<Writer> out = Writer::try_open(path(), ranks);
    if (!out.ok()) return out.status();
    Result<Block> b = out->try_block("b");
    Result<Dim> x = b->try_dim("x", 3);
    Result<Var> v = b->try_var("v", Type::kInt, std::vector<Dim>{*x});
    const Status local = ranks.rank() == 2 ? b->try_dim("x", 3).status() : Status();
    EXPECT_EQ(local.ok(), ranks.rank() != 2);
    EXPECT_EQ(ranks.agree(local).code(), Code::kExists);
    EXPECT_TRUE(out->try_end_define().ok());
    EXPECT_TRUE(v->try_put_all({{0}, {ranks.rank() == 0 ? 3 : 0}},
                               std::vector<int>(ranks.rank() == 0 ? 3 : 0))
                    .ok());
    return out->try_close();
  });
  EXPECT_TRUE(status.ok()) << status.text();
  EXPECT_EQ(Reader(path()).read<int>("b/v").size(), 3U);
}

// A wrong argument on one rank fails on all ranks, which can then continue.
TEST_F(RanksTest, WrongArgumentsOfACollectiveCall) {
  run_threads(3, [&](Ranks& ranks) {
    const bool last = ranks.rank() == 2;
    Writer out(path(), ranks);
    Block b = out.block("b");
    Var v = b.var<signed char>("v", {b.dim("x", 3)});
    out.end_define();
    EXPECT_EQ(v.try_put_all({{last ? 9 : 0}, {1}}, 1).code(), Code::kUsage);
    EXPECT_EQ(v.try_put_all({{ranks.rank()}, {1}}, last ? 1000 : 1).code(), Code::kRange);
    const std::vector<std::string_view> names{last ? "missing" : "b"};
    EXPECT_EQ(out.try_open_blocks(names).status().code(), Code::kNotFound);
    EXPECT_EQ(out.try_wait_all(std::vector<Request>(last ? 1 : 0)).code(), Code::kUsage);
    v.put_all({{ranks.rank()}, {1}}, ranks.rank());
    out.close();
  });
  EXPECT_EQ(Reader(path()).read<int>("b/v"), (std::vector<int>{0, 1, 2}));
}

// Would catch: a failure that the work of a rank returns, but run() drops.
TEST_F(RanksTest, WorkMayReturnAStatus) {
  const auto work = [](Ranks& ranks) {
    return ranks.rank() == 1 ? Status(Code::kIo, "lost") : ranks.try_barrier();
  };
  const Status status = caught([&] { run_threads(2, work); });
  EXPECT_EQ(status.code(), Code::kIo);
  EXPECT_EQ(status.message(), "lost (on rank 1)");
  run_threads(2, [&](Ranks& ranks) {
    EXPECT_EQ(ranks.try_run([&] { return work(ranks); }).message(), "lost (on rank 1)");
  });
  EXPECT_EQ(code_of([] {
              run_threads(2, [](Ranks& ranks) {
                ranks.run([] { return Status(Code::kRange, "no solution"); });
              });
            }),
            Code::kRange);
  for (const int size : {0, -1})
    EXPECT_EQ(code_of([&] { run_threads(size, [](Ranks&) {}); }), Code::kUsage);
}

// Would catch: a collective call that has succeeded, and that slower ranks see fail because a rank
// gives up after it.
TEST_F(RanksTest, AFailureAfterACollectiveCallLeavesTheCallAlone) {
  for (int i = 0; i < 400; ++i) {
    const int size = 3 + i % 3, way = i / 3 % 3;
    const std::string file = path(std::to_string(i) + ".nmb");
    std::vector<Status> synced(static_cast<std::size_t>(size)), later(synced);
    const Status status = try_run_threads(size, [&](Ranks& ranks) -> Status {
      const auto rank = static_cast<std::size_t>(ranks.rank());
      Writer out(file, ranks);
      out.end_define();
      synced[rank] = out.try_sync();
      if (rank + 1 < synced.size()) return later[rank] = out.try_close();
      if (way == 0) throw std::runtime_error("diverged");
      if (way == 1) ranks.fail(Status(Code::kNoSpace, "diverged"));
      return way == 1 ? Status() : Status(Code::kRange, "diverged");
    });
    for (const Status& one : synced) ASSERT_TRUE(one.ok()) << i << ": " << one.text();
    for (int rank = 0; rank + 1 < size; ++rank)
      ASSERT_NE(later[static_cast<std::size_t>(rank)].message().find("diverged"), std::string::npos)
          << i << ": " << later[static_cast<std::size_t>(rank)].text();
    EXPECT_NE(status.message().find("diverged"), std::string::npos) << status.text();
    EXPECT_EQ(Reader(file).generation(), 1U);
  }
}

// Would catch: the destructor of a writer that announces its own reason before the rank's Status is
// known.
TEST_F(RanksTest, TheStatusOfARankIsTheReasonOfAll) {
  const auto work = [&](Ranks& ranks, std::vector<Status>* others) {
    Writer out(path(), ranks);
    out.end_define();
    if (ranks.rank() == 2) return Status(Code::kNoSpace, "my solver diverged");
    const Status status = out.try_close();
    (*others)[static_cast<std::size_t>(ranks.rank())] = status;
    return status;
  };
  for (const bool by_run : {false, true}) {
    std::vector<Status> others(2);
    const Status status = try_run_threads(3, [&](Ranks& ranks) {
      return by_run ? ranks.try_run([&] { return work(ranks, &others); }) : work(ranks, &others);
    });
    others.push_back(status);
    for (const Status& one : others) {
      EXPECT_EQ(one.code(), Code::kNoSpace);
      EXPECT_EQ(one.message(), "my solver diverged (on rank 2)");
      EXPECT_EQ(one.rank(), 2);
    }
  }
  // Without a Status, the reason is the writer.
  for (const bool calls_on : {false, true}) {
    const Status status = try_run_threads(2, [&](Ranks& ranks) -> Status {
      Result<Writer> out = Writer::try_open(path(), ranks);
      if (ranks.rank() == 0) return out->try_close();
      out = Status(Code::kIo, "dropped");
      return calls_on ? ranks.try_barrier() : Status();
    });
    EXPECT_EQ(status.code(), Code::kUsage);
    EXPECT_NE(status.message().find("the writer of rank 1 was destroyed without close()"),
              std::string::npos)
        << status.text();
  }
}

// Would catch: an exception that ends the process, or for which the other ranks wait for ever.
TEST_F(RanksTest, AnyExceptionIsAFailure) {
  const Status status = try_run_threads(3, [&](Ranks& ranks) -> Status {
    Writer out(path(), ranks);
    if (ranks.rank() == 1) throw 42;
    return out.try_end_define();
  });
  EXPECT_EQ(status.code(), Code::kUsage);
  EXPECT_EQ(status.rank(), 1);
  EXPECT_EQ(caught([] { throw 42; }).code(), Code::kUsage);
}

// Would catch: a wrong order of calls that ends the writer.
TEST_F(RanksTest, ASecondEndDefineIsRefusedOnAllRanks) {
  std::vector<Status> refused(2);
  run_threads(2, [&](Ranks& ranks) {
    Writer out(path(), ranks);
    Block b = out.block("b");
    Var v = b.var<int>("v", {b.dim("x", 2)});
    out.end_define();
    refused[static_cast<std::size_t>(ranks.rank())] = out.try_end_define();
    v.put_all({{ranks.rank()}, {1}}, 7);
    out.close();
  });
  EXPECT_EQ(refused[0].code(), Code::kUsage);
  EXPECT_EQ(refused[0].text(), refused[1].text());
  EXPECT_EQ(Reader(path()).read<int>("b/v"), (std::vector<int>{7, 7}));
}

// Would catch: values that a rank may put into a block that another rank changes, and with which
// close() loses the generation.
TEST_F(RanksTest, ABlockThatAnotherRankChangesTakesNoValues) {
  {
    Writer out(path());
    for (const char* const name : {"changed", "removed", "renamed", "same"}) {
      Block b = out.block(name);
      b.var<int>("v", {b.dim("t", kUnlimited)}).put({1, 2});
    }
    out.close();
  }
  run_threads(3, [&](Ranks& ranks) {
    Writer out(path(), ranks, {.mode = WriteOptions::Mode::kAppend});
    std::vector<Block> blocks;
    for (const char* const name : {"changed", "removed", "renamed", "same"})
      blocks.push_back(out.block(name));
    if (ranks.rank() == 0) {
      blocks[0].var<int>("n");
      out.remove(blocks[1]);
    }
    if (ranks.rank() == 2) out.rename(blocks[2], "other");
    out.end_define();
    const int five = 5;
    for (int i = 0; i < 3 && ranks.rank() == 1; ++i) {
      Var v = blocks[static_cast<std::size_t>(i)].var("v");
      EXPECT_EQ(v.try_put({{0}, {1}}, 5).code(), Code::kUsage) << i;
      EXPECT_EQ(v.try_iput(five).status().code(), Code::kUsage) << i;
    }
    // A collective call is refused on all ranks.
    EXPECT_EQ(blocks[ranks.rank() == 1 ? 0 : 3].var("v").try_put_all({{0}, {1}}, 5).code(),
              Code::kUsage);
    blocks[3].var("v").put_all({{ranks.rank()}, {1}}, 7);
    out.sync();
    if (ranks.rank() == 1) blocks[0].var("v").put({{0}, {1}}, 5);
    out.close();
  });
  const Reader in(path());
  EXPECT_EQ(in.read<int>("changed/v"), (std::vector<int>{5, 2}));
  EXPECT_EQ(in.read<int>("other/v"), (std::vector<int>{1, 2}));
  EXPECT_EQ(in.read<int>("same/v"), (std::vector<int>{7, 7, 7}));
  EXPECT_EQ(in.totals().blocks, 3U);
}

// Would catch: a writer that has failed, and that still answers.
TEST_F(RanksTest, EveryCallAfterAFailureFails) {
  run_threads(2, [&](Ranks& ranks) {
    Writer out(path(), ranks);
    Block b = out.block("b");
    b.dim("t", kUnlimited);
    b.dim("x", static_cast<std::uint64_t>(ranks.rank()) + 3);
    const Status failed = out.try_end_define();
    EXPECT_EQ(failed.code(), Code::kConflict);
    EXPECT_EQ(failed.rank(), 1);
    EXPECT_EQ(failed.message().find("(on rank"), std::string::npos) << failed.text();
    EXPECT_EQ(b.try_records().status().text(), failed.text());
  });
}

// Would catch: a sound file that is reported as damaged.
TEST_F(RanksTest, ReadersOfDifferentFilesAreRefused) {
  for (const char* const name : {"a.nmb", "b.nmb"}) {
    Writer out(path(name));
    out.block("b").var<int>("v").put(1);
    out.close();
  }
  run_threads(2, [&](Ranks& ranks) {
    const std::string file = path(ranks.rank() == 0 ? "a.nmb" : "b.nmb");
    const Status status = Reader::try_open(file, ranks).status();
    EXPECT_EQ(status.code(), Code::kUsage);
    EXPECT_NE(status.message().find("found other arguments of Reader() on rank 1"),
              std::string::npos)
        << status.text();
    Reader(path("a.nmb"), ranks);
  });
}

TEST_F(RanksTest, CallsOfRanksThatWereMovedFromFail) {
  run_threads(2, [&](Ranks& lent) {
    Ranks ranks = std::move(lent);
    EXPECT_EQ(code_of([&] { (void)lent.rank(); }), Code::kUsage);
    EXPECT_EQ(lent.try_barrier().code(), Code::kUsage);
    EXPECT_EQ(lent.agree({}).code(), Code::kUsage);
    EXPECT_EQ(lent.try_run([] {}).code(), Code::kUsage);
    EXPECT_EQ(Writer::try_open(path(), lent).status().code(), Code::kUsage);
    EXPECT_EQ(Reader::try_open(path(), lent).status().code(), Code::kUsage);
    ranks.barrier();
  });
}

TEST_F(RanksTest, DefinitionsThatDisagreeAreAConflict) {
  const Status status = caught([&] {
    run_threads(2, [&](Ranks& ranks) {
      Writer out(path(), ranks);
      out.block("b").dim("x", 3 + static_cast<std::uint64_t>(ranks.rank()));
      out.end_define();
    });
  });
  EXPECT_EQ(status.code(), Code::kConflict) << status.text();
}

// Would catch: a rank that gives up, or hangs, with a Status that is no failure.
TEST_F(RanksTest, AnOkStatusIsNoFailure) {
  run_threads(3, [](Ranks& ranks) {
    if (ranks.rank() == 1) ranks.fail(Status());
    ranks.barrier();
  });
}

// Would catch: an exception that a rank catches itself and of which the others never learn.
TEST_F(RanksTest, AnExceptionThatARankCatchesEndsTheCallsOfTheOthers) {
  std::vector<Status> others(3);
  for (const bool with_reason : {false, true}) {
    run_threads(3, [&](Ranks& ranks) {
      const auto rank = static_cast<std::size_t>(ranks.rank());
      try {
        Writer out(path(), ranks);
        out.end_define();
        if (rank == 1) throw std::runtime_error("diverged");
        others[rank] = out.try_close();
      } catch (const std::runtime_error&) {
        if (with_reason) ranks.fail(Status(Code::kNoSpace, "diverged"));
      }
    });
    const char* const reason =
        with_reason ? "diverged" : "the writer of rank 1 was destroyed without close()";
    for (const std::size_t rank : {0U, 2U})
      EXPECT_NE(others[rank].message().find(reason), std::string::npos) << others[rank].text();
  }
}

TEST_F(RanksTest, OptionsOutOfRangeAreRefusedOnAllRanks) {
  run_threads(2, [&](Ranks& ranks) {
    WriteOptions options;
    if (ranks.rank() == 1) options.mode = static_cast<WriteOptions::Mode>(7);
    const Status status = Writer::try_open(path(), ranks, options).status();
    EXPECT_EQ(status.code(), Code::kUsage);
    EXPECT_NE(status.message().find("found mode 7"), std::string::npos) << status.text();
  });
}

}  // namespace
}  // namespace nmb::test
