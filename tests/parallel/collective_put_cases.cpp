// Values that ranks put together: any parts of any variables, in one call or in many. The content
// of the file is compared with a model in memory; the writer reads nothing again for sums.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <string>

#include "reader/file_reader.h"
#include "support/corpus.h"
#include "support/faulty_output.h"
#include "support/model.h"
#include "support/rank_cases.h"
#include "support/rank_outcome.h"
#include "support/rank_program.h"

namespace nmb {
namespace {

using test::RankFolder;
using test::small_pieces;

// Counts what is read of the file that is written.
class CountedReads final : public OutputFileLayer {
 public:
  CountedReads(std::unique_ptr<OutputFile> base, std::uint64_t& bytes)
      : OutputFileLayer(std::move(base)), bytes_(bytes) {}
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    bytes_ += out.size();
    return OutputFileLayer::read_at(offset, out);
  }

 private:
  std::uint64_t& bytes_;
};

OutputLayer counting(std::uint64_t& bytes) {
  return [&bytes](std::unique_ptr<OutputFile> file) -> std::unique_ptr<OutputFile> {
    return std::make_unique<CountedReads>(std::move(file), bytes);
  };
}

// A cube of values that ranks divide along one dimension.
struct Split {
  std::uint64_t z = 7, y = 40, x = 500;
  Hyperslab of(int along, int rank, int size) const {
    Hyperslab slab{{0, 0, 0}, {z, y, x}, {}};
    const auto d = static_cast<std::size_t>(along);
    const auto r = static_cast<std::uint64_t>(rank), n = static_cast<std::uint64_t>(size);
    slab.start[d] = slab.count[d] * r / n;
    slab.count[d] = slab.count[d] * (r + 1) / n - slab.start[d];
    return slab;
  }
  double value(int variable, std::uint64_t i) const {
    return static_cast<double>(variable) * 1e6 + static_cast<double>(i);
  }
  std::vector<double> values(int variable, const Hyperslab& slab) const {
    std::vector<double> out;
    for (std::uint64_t k = slab.start[0]; k < slab.start[0] + slab.count[0]; ++k)
      for (std::uint64_t j = slab.start[1]; j < slab.start[1] + slab.count[1]; ++j)
        for (std::uint64_t i = slab.start[2]; i < slab.start[2] + slab.count[2]; ++i)
          out.push_back(value(variable, (k * y + j) * x + i));
    return out;
  }
};

// However ranks divide the variables of a step, what they write is summed on its way. Pieces in
// which two calls meet are few.
RANK_CASE(ValuesPutTogetherAreNotReadAgain) {
  constexpr int kVariables = 3;
  const Split cube;
  const std::uint64_t bytes = kVariables * cube.z * cube.y * cube.x * 8;
  for (const int along : {0, 1, 2}) {
    for (const bool requests : {false, true}) {
      NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
      const std::string path = folder.file("cube.nmb");
      std::uint64_t read = 0;
      FileWriterOptions options = small_pieces();
      options.layer = counting(read);
      {
        NMB_ASSIGN(std::unique_ptr<FileWriter> writer, FileWriter::create(path, options, ranks));
        NMB_ASSIGN(const BlockId block, writer->define_block("cube"));
        NMB_ASSIGN(const DimId z, writer->def_dim(block, "z", cube.z));
        NMB_ASSIGN(const DimId y, writer->def_dim(block, "y", cube.y));
        NMB_ASSIGN(const DimId x, writer->def_dim(block, "x", cube.x));
        const DimId dimensions[] = {z, y, x};
        for (int v = 0; v < kVariables; ++v)
          NMB_TRY(
              writer->def_var(block, "v" + std::to_string(v), Type::kDouble, dimensions).status());
        NMB_TRY(writer->end_define());
        read = 0;
        const Hyperslab slab = cube.of(along, ranks.rank(), ranks.size());
        std::vector<std::vector<double>> values;
        for (int v = 0; v < kVariables; ++v) values.push_back(cube.values(v, slab));
        std::vector<RequestId> ids;
        for (int v = 0; v < kVariables; ++v) {
          const std::span<const double> own = values[static_cast<std::size_t>(v)];
          const auto variable = static_cast<VarId>(v);
          if (!requests) {
            NMB_TRY(writer->put_all(block, variable, slab, own));
          } else {
            NMB_ASSIGN(const RequestId id, writer->iput(block, variable, slab, own));
            ids.push_back(id);
          }
        }
        if (requests) NMB_TRY(writer->wait_all(ids));
        NMB_TRY(writer->sync());
        NMB_ASSIGN(const std::uint64_t all, ranks.all_reduce(read, std::plus<>()));
        // Heads are read after a commit: 16 KiB a rank.
        const std::uint64_t heads = 20000 * static_cast<std::uint64_t>(ranks.size());
        NMB_TRY(ranks.agree(expect(
            all <= heads + (kVariables + 1) * 65536 && all <= heads + bytes / 5,
            std::to_string(all) + " bytes read again, divided along " + std::to_string(along))));
        NMB_TRY(writer->close());
      }
      auto check = [&]() -> Status {
        NMB_ASSIGN(const std::unique_ptr<FileReader> reader, FileReader::open(path));
        NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> block, reader->block("cube"));
        for (int v = 0; v < kVariables; ++v) {
          NMB_ASSIGN(const std::vector<double> values,
                     block->read_all<double>(static_cast<VarId>(v)));
          NMB_TRY(expect(values == cube.values(v, cube.of(0, 0, 1)), "the values of the cube"));
        }
        return expect(test::findings_of(std::filesystem::path(path)).empty(), "a sound file");
      };
      NMB_TRY(ranks.agree(ranks.rank() == 0 ? check() : Status()));
    }
  }
  return {};
}

// Ranks that all put the same whole pieces: the highest rank's values are in the file.
RANK_CASE(WholePiecesThatAllRanksPutAreTheHighestRanks) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  const std::string path = folder.file("same.nmb");
  constexpr std::uint64_t kLength = 100'000;
  {
    NMB_ASSIGN(std::unique_ptr<FileWriter> writer, FileWriter::create(path, small_pieces(), ranks));
    NMB_ASSIGN(const BlockId block, writer->define_block("all"));
    NMB_ASSIGN(const DimId x, writer->def_dim(block, "x", kLength));
    NMB_TRY(writer->def_var(block, "v", Type::kDouble, std::span(&x, 1)).status());
    NMB_TRY(writer->def_var(block, "short", Type::kShort, std::span(&x, 1)).status());
    NMB_TRY(writer->end_define());
    // A value out of range counts once, even if ranks write it twice.
    const std::vector<int> large(kLength, 70000);
    const Status status =
        writer->put_all(block, 1, {{0}, {kLength}, {}}, std::span<const int>(large));
    NMB_TRY(ranks.agree(
        expect(status.code() == Code::kRange && status.message().starts_with("found 100000 values"),
               "all values out of range: " + status.text())));
    const std::vector<double> values(kLength, ranks.rank());
    NMB_TRY(writer->put_all(block, 0, {{0}, {kLength}, {}}, std::span<const double>(values)));
    NMB_TRY(writer->close());
  }
  auto check = [&]() -> Status {
    NMB_ASSIGN(const std::unique_ptr<FileReader> reader, FileReader::open(path));
    NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> block, reader->block("all"));
    NMB_ASSIGN(const std::vector<double> values, block->read_all<double>(0));
    NMB_TRY(expect(std::ranges::all_of(values, [&](double v) { return v == ranks.size() - 1; }),
                   "the highest rank's values"));
    return expect(test::findings_of(std::filesystem::path(path)).empty(), "a sound file");
  };
  return ranks.agree(ranks.rank() == 0 ? check() : Status());
}

// Counts the writes and messages of all ranks in one collective call.
struct Work {
  std::uint64_t writes = 0, bytes = 0, messages = 0;
};

// Calls put() on all ranks, and returns the work of all of them. calls: what this rank writes.
Result<Work> work_of(Communicator& ranks, std::vector<test::OutputCall>& calls,
                     const std::function<Status()>& put) {
  calls.clear();
  const std::uint64_t before = ranks.traffic().messages;
  NMB_TRY(put());
  Work mine{0, 0, ranks.traffic().messages - before};
  for (const test::OutputCall& call : calls) {
    if (call.what != test::OutputCall::What::kWrite) continue;
    ++mine.writes;
    mine.bytes += call.bytes.size();
  }
  return ranks.all_reduce(mine, [](const Work& a, const Work& b) {
    return Work{a.writes + b.writes, a.bytes + b.bytes, a.messages + b.messages};
  });
}

// Would catch: equal values that ranks send to each other, or that several ranks write.
RANK_CASE(EqualValuesOfAllRanksAreWrittenOnceAndNotSent) {
  constexpr std::uint64_t kFew = 5, kMany = 30'000;  // many: more than the first digest has
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  std::vector<test::OutputCall> calls;
  FileWriterOptions options = small_pieces();
  options.layer = test::recording(calls);
  NMB_ASSIGN(std::unique_ptr<FileWriter> writer,
             FileWriter::create(folder.file("equal.nmb"), options, ranks));
  std::vector<BlockId> blocks;
  for (const std::uint64_t length : {kFew, kMany}) {
    NMB_ASSIGN(const BlockId block, writer->define_block("b" + std::to_string(length)));
    NMB_ASSIGN(const DimId x, writer->def_dim(block, "x", length));
    NMB_TRY(writer->def_var(block, "v", Type::kDouble, std::span(&x, 1)).status());
    blocks.push_back(block);
  }
  NMB_TRY(writer->end_define());
  const auto steps = static_cast<std::uint64_t>(ranks.size() - 1);
  for (const BlockId block : blocks) {
    const std::uint64_t length = block == blocks[0] ? kFew : kMany;
    std::vector<double> values(length);
    std::iota(values.begin(), values.end(), 1.5);
    const auto put = [&] {
      return writer->put_all(block, 0, {{0}, {length}, {}}, std::span<const double>(values));
    };
    NMB_ASSIGN(const Work equal, work_of(ranks, calls, put));
    const std::uint64_t pieces = (length * 8 + 65535) / 65536;
    // A single rank may keep the bytes in its buffer.
    if (ranks.size() > 1)
      NMB_TRY(expect(equal.writes == pieces && equal.bytes == length * 8,
                     std::to_string(equal.writes) + " writes of equal values"));
    // Each of 3 agreements, or of 4 if there are many values, takes two messages of each rank but
    // one.
    NMB_TRY(expect(equal.messages <= (length == kFew ? 3 : 4) * 2 * steps,
                   std::to_string(equal.messages) + " messages for equal values"));
    // The last value of one rank differs: all ranks send their values.
    if (ranks.rank() == 0) values.back() = -1;
    NMB_ASSIGN(const Work different, work_of(ranks, calls, put));
    NMB_TRY(expect(ranks.size() == 1 || different.messages > equal.messages,
                   "more messages for values that differ"));
  }
  return writer->close();
}

// One program whose ranks put the same values, or of which one rank puts them.
struct EqualPuts {
  static constexpr std::uint64_t kRows = 40, kColumns = 700;

  // differs: the rank whose values or selection differ, or -1.
  static Status write(Communicator& ranks, const std::string& path, std::uint64_t seed, bool all,
                      int differs, bool in_selection) {
    std::mt19937_64 random(seed);  // the same on all ranks
    FileWriterOptions options = small_pieces();
    options.overwrite = true;
    NMB_ASSIGN(std::unique_ptr<FileWriter> writer, FileWriter::create(path, options, ranks));
    NMB_ASSIGN(const BlockId block, writer->define_block("shared"));
    NMB_ASSIGN(const DimId rows, writer->def_dim(block, "rows", kRows));
    NMB_ASSIGN(const DimId columns, writer->def_dim(block, "columns", kColumns));
    NMB_ASSIGN(const DimId time, writer->def_dim(block, "time", kUnlimited));
    NMB_TRY(writer->def_var(block, "fixed", Type::kInt, {{rows, columns}}).status());
    NMB_TRY(writer->def_var(block, "records", Type::kDouble, {{time, columns}}).status());
    NMB_TRY(writer->end_define());
    for (int call = 0; call < 8; ++call) {
      std::vector<std::vector<int>> values;
      std::vector<RequestId> ids;
      for (std::uint64_t r = 0, requests = 1 + random() % 3; r < requests; ++r) {
        const auto variable = static_cast<VarId>(random() % 2);
        Hyperslab slab{{random() % (kRows / 2), random() % (kColumns / 2)}, {}, {1, 1}};
        for (const std::uint64_t length : {kRows, kColumns})
          slab.count.push_back(1 + random() % (length / 2 - 1));
        std::vector<int> own(slab.count[0] * slab.count[1]);
        for (int& value : own) value = static_cast<int>(random() % 1000);
        if (!all && ranks.rank() != ranks.size() - 1) continue;
        if (ranks.rank() == differs && in_selection) ++slab.start[1];
        if (ranks.rank() == differs && !in_selection) own[own.size() / 2] += 1;
        values.push_back(std::move(own));
        NMB_ASSIGN(const RequestId id,
                   writer->iput(block, variable, slab, std::span<const int>(values.back())));
        ids.push_back(id);
      }
      NMB_TRY(writer->wait_all(ids));
      if (random() % 4 == 0) NMB_TRY(writer->sync());
    }
    return writer->close();
  }
};

// Would catch: other bytes than those of one rank's values, and values of another rank than the
// highest where one rank's values or selection differ.
RANK_CASE(EqualValuesOfAllRanksAreThoseOfOneRank) {
  const std::uint64_t seeds = std::getenv("NMB_ALL") ? 50 : 2;
  const int last = ranks.size() - 1;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
    const std::string one = folder.file("one.nmb"), all = folder.file("all.nmb");
    const std::string other = folder.file("other.nmb");
    const auto same = [&](const std::string& a, const std::string& b) -> Status {
      if (ranks.rank() != 0) return {};
      return expect(test::read_file(a) == test::read_file(b) &&
                        test::findings_of(std::filesystem::path(a)).empty(),
                    "the same sound file");
    };
    NMB_TRY(EqualPuts::write(ranks, one, seed, false, -1, false));
    NMB_TRY(EqualPuts::write(ranks, all, seed, true, -1, false));
    NMB_TRY(ranks.agree(same(one, all)));
    // The highest rank's values replace those of a lower rank at the same places.
    if (last == 0) continue;
    NMB_TRY(EqualPuts::write(ranks, other, seed, true, static_cast<int>(seed) % last, false));
    NMB_TRY(ranks.agree(same(one, other)));
    // Where the highest rank differs, its values are in the file.
    NMB_TRY(EqualPuts::write(ranks, one, seed, false, last, false));
    NMB_TRY(EqualPuts::write(ranks, other, seed, true, last, false));
    NMB_TRY(ranks.agree(same(one, other)));
    // With another selection, both are. Values of a lower rank outside that selection stay.
    NMB_TRY(EqualPuts::write(ranks, other, seed, true, last, true));
    NMB_TRY(ranks.agree(ranks.rank() == 0
                            ? expect(test::read_file(one) != test::read_file(other) &&
                                         test::findings_of(std::filesystem::path(other)).empty(),
                                     "a sound file with both selections")
                            : Status()));
  }
  return {};
}

// Would catch: ranks that do not learn that the one rank that writes has failed.
RANK_CASE(AFailedWriteOfEqualValuesIsEveryonesFailure) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  test::Fault fault;
  FileWriterOptions options = small_pieces();
  options.layer = fault.layer();
  NMB_ASSIGN(std::unique_ptr<FileWriter> writer,
             FileWriter::create(folder.file("failed.nmb"), options, ranks));
  NMB_ASSIGN(const BlockId block, writer->define_block("all"));
  NMB_ASSIGN(const DimId x, writer->def_dim(block, "x", 30'000));
  NMB_TRY(writer->def_var(block, "v", Type::kDouble, std::span(&x, 1)).status());
  NMB_TRY(writer->end_define());
  fault.call = fault.calls;
  fault.how = test::Fault::How::kForEver;
  const std::vector<double> values(30'000, 1.5);
  Status status =
      writer->put_all(block, 0, {{0}, {values.size()}, {}}, std::span<const double>(values));
  if (ranks.size() == 1 && status.ok()) status = writer->sync();  // the buffer is written
  NMB_TRY(test::expect_failure_of_all(ranks, status, Code::kIo, "made to fail"));
  NMB_TRY(test::expect_failure_of_all(ranks, writer->sync(), Code::kIo, "made to fail"));
  writer.reset();
  return {};
}

// Would catch: a wrong argument on one rank that the others do not report, or after which the
// writer cannot be used.
RANK_CASE(WrongArgumentsOfOneRankChangeNothing) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  const std::string path = folder.file("arguments.nmb");
  const bool last = ranks.rank() == ranks.size() - 1;
  {
    NMB_ASSIGN(std::unique_ptr<FileWriter> writer, FileWriter::create(path, small_pieces(), ranks));
    NMB_ASSIGN(const BlockId block, writer->define_block("all"));
    NMB_ASSIGN(const DimId time, writer->def_dim(block, "time", kUnlimited));
    NMB_TRY(writer->def_var(block, "v", Type::kShort, std::span(&time, 1)).status());
    NMB_ASSIGN(const BlockId own, writer->define_block("b" + std::to_string(ranks.rank())));
    NMB_TRY(writer->def_var(own, "w", Type::kInt, {}).status());
    NMB_TRY(writer->end_define());
    const auto at = static_cast<std::uint64_t>(ranks.rank());
    const std::vector<int> two{1, 2}, fits{7}, large{70000};
    const Hyperslab one{{at}, {1}, {}};
    const auto fails = [&](const Status& status, Code code, std::string_view text) {
      return test::expect_failure_of_all(ranks, status, code, text);
    };
    NMB_TRY(fails(writer->put_all(block, 0, one, std::span<const int>(last ? two : fits)),
                  Code::kUsage, "2 values"));
    NMB_TRY(fails(writer->put_all(block, last ? 5 : 0, one, std::span<const int>(fits)),
                  Code::kUsage, "invalid variable ID 5"));
    NMB_TRY(fails(writer->extend(last ? own : block, 2), Code::kUsage, "no record dimension"));
    const std::vector<std::string_view> names{"b0", last ? "none" : "b0"};
    NMB_TRY(fails(writer->open_blocks(names).status(), Code::kNotFound, "found no block \"none\""));
    NMB_TRY(fails(writer->put_all(block, 0, one, std::span<const int>(last ? large : fits)),
                  Code::kRange, "found 1 values"));
    NMB_TRY(writer->open_blocks(std::vector<std::string_view>{"b0"}).status());
    NMB_ASSIGN(const std::uint64_t records, writer->records(block));
    NMB_TRY(ranks.agree(
        expect(records == static_cast<std::uint64_t>(ranks.size()), "one record of each rank")));
    NMB_TRY(writer->put_all(block, 0, one, std::span<const int>(fits)));
    NMB_TRY(writer->close());
  }
  auto check = [&]() -> Status {
    NMB_ASSIGN(const std::unique_ptr<FileReader> reader, FileReader::open(path));
    NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> block, reader->block("all"));
    NMB_ASSIGN(const std::vector<int> values, block->read_all<int>(0));
    NMB_TRY(expect(values == std::vector<int>(static_cast<std::size_t>(ranks.size()), 7),
                   "the values of all ranks"));
    return expect(test::findings_of(std::filesystem::path(path)).empty(), "a sound file");
  };
  return ranks.agree(ranks.rank() == 0 ? check() : Status());
}

// The expected values of a variable of shorts, a record variable of doubles that begins at no
// multiple of 8, and another record variable.
class Model {
 public:
  static constexpr std::uint64_t kRows = 60, kColumns = 700, kCells = 333;

  // Of variable 0, 1 or 2.
  static Hyperslab random_slab(std::mt19937_64& random, VarId variable, std::uint64_t records) {
    const std::uint64_t shape[3][2] = {{kRows, kColumns}, {records, kCells}, {records, 2}};
    Hyperslab slab;
    for (const std::uint64_t length : shape[variable]) {
      const std::uint64_t start = random() % length;
      const std::uint64_t stride = 1 + random() % 3;
      const std::uint64_t most = (length - start - 1) / stride + 1;
      slab.start.push_back(start);
      slab.stride.push_back(stride);
      slab.count.push_back(random() % 2 ? most : 1 + random() % most);
    }
    return slab;
  }
  void put(VarId variable, const Hyperslab& slab, int first) {
    if (variable > 0)
      records_ = std::max(records_, slab.start[0] + (slab.count[0] - 1) * slab.stride[0] + 1);
    for (std::uint64_t i = 0; i < slab.count[0]; ++i)
      for (std::uint64_t j = 0; j < slab.count[1]; ++j)
        values_[variable]
               [{slab.start[0] + i * slab.stride[0], slab.start[1] + j * slab.stride[1]}] = first++;
  }
  static std::vector<int> values(const Hyperslab& slab, int first) {
    std::vector<int> out(slab.count[0] * slab.count[1]);
    std::iota(out.begin(), out.end(), first);
    return out;
  }
  Status check(const std::string& path) const {
    NMB_ASSIGN(const std::unique_ptr<FileReader> reader, FileReader::open(path));
    NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> block, reader->block("shared"));
    NMB_TRY(expect(block->records == records_, "as many records"));
    const std::uint64_t columns[] = {kColumns, kCells, 2};
    for (VarId v = 0; v < 3; ++v) {
      NMB_ASSIGN(const std::vector<double> found, block->read_all<double>(v));
      for (std::uint64_t i = 0; i < found.size(); ++i) {
        const auto value = values_[v].find({i / columns[v], i % columns[v]});
        // Values that nobody has put are the default fill value.
        if (value == values_[v].end())
          NMB_TRY(expect(found[i] == (v == 0 ? -32767 : 9.9692099683868690e+36), "a fill value"));
        else
          NMB_TRY(expect(found[i] == value->second,
                         "value " + std::to_string(i) + " of variable " + std::to_string(v)));
      }
    }
    return expect(test::findings_of(std::filesystem::path(path)).empty(), "a sound file");
  }

 private:
  std::map<std::pair<std::uint64_t, std::uint64_t>, int> values_[3];
  std::uint64_t records_ = 0;
};

// Any selections of all ranks, overlapping or not, in calls of one request and of several, with
// commits and puts of one rank between.
RANK_CASE(AnySelectionsPutTogetherAreWhatAModelSays) {
  const std::uint64_t seeds = std::getenv("NMB_ALL") ? 100 : 2;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
    const std::string path = folder.file("any.nmb");
    std::mt19937_64 random(seed);  // the same on all ranks
    Model model;
    {
      NMB_ASSIGN(std::unique_ptr<FileWriter> writer,
                 FileWriter::create(path, small_pieces(), ranks));
      NMB_ASSIGN(const BlockId block, writer->define_block("shared"));
      NMB_ASSIGN(const DimId rows, writer->def_dim(block, "rows", Model::kRows));
      NMB_ASSIGN(const DimId columns, writer->def_dim(block, "columns", Model::kColumns));
      NMB_ASSIGN(const DimId time, writer->def_dim(block, "time", kUnlimited));
      NMB_ASSIGN(const DimId cells, writer->def_dim(block, "cells", Model::kCells));
      NMB_ASSIGN(const DimId two, writer->def_dim(block, "two", 2));
      NMB_TRY(writer->def_var(block, "fixed", Type::kShort, {{rows, columns}}).status());
      NMB_TRY(writer->def_var(block, "records", Type::kDouble, {{time, cells}}).status());
      NMB_TRY(writer->def_var(block, "few", Type::kDouble, {{time, two}}).status());
      NMB_TRY(writer->end_define());
      int first = 0;
      auto next = [&](int values) { return std::exchange(first, (first + values) % 20000); };
      for (int call = 0; call < 12; ++call) {
        const std::uint64_t records = 1 + random() % 90;
        const bool together = random() % 4 != 0;
        const std::uint64_t requests = together ? 1 + random() % 3 : 1;
        std::vector<std::vector<int>> values;
        std::vector<RequestId> ids;
        // In the order of ranks: the highest counts.
        for (int rank = 0; rank < ranks.size(); ++rank) {
          for (std::uint64_t r = 0; r < requests; ++r) {
            const auto variable = static_cast<VarId>(random() % 3);
            const Hyperslab slab = Model::random_slab(random, variable, records);
            const int begin = next(static_cast<int>(slab.count[0] * slab.count[1]) % 10000);
            // Values of the short variable fit.
            if (slab.count[0] * slab.count[1] > 12000) continue;
            const bool alone = !together && rank != call % ranks.size();
            if (alone) continue;
            model.put(variable, slab, begin);
            if (rank != ranks.rank()) continue;
            values.push_back(Model::values(slab, begin));
            const std::span<const int> own = values.back();
            if (!together) {
              NMB_TRY(writer->put(block, variable, slab, own));
            } else {
              NMB_ASSIGN(const RequestId id, writer->iput(block, variable, slab, own));
              ids.push_back(id);
            }
          }
        }
        if (together) NMB_TRY(writer->wait_all(ids));
        // One rank's own put is ordered with those of others by a commit only.
        if (!together || random() % 4 == 0) NMB_TRY(writer->sync());
      }
      NMB_TRY(writer->close());
    }
    NMB_TRY(ranks.agree(ranks.rank() == 0 ? model.check(path) : Status()));
  }
  return {};
}

// Space that extend() gives is written by put() at once: nothing waits, however much it is.
RANK_CASE(ExtendedRecordsArePutStraightIntoTheFile) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  const std::string path = folder.file("extended.nmb");
  constexpr std::uint64_t kCells = 100'000, kRecords = 3;
  const auto rank = static_cast<std::uint64_t>(ranks.rank());
  const auto size = static_cast<std::uint64_t>(ranks.size());
  std::vector<test::OutputCall> calls;
  FileWriterOptions options = small_pieces();
  options.layer = test::recording(calls);
  {
    NMB_ASSIGN(std::unique_ptr<FileWriter> writer, FileWriter::create(path, options, ranks));
    NMB_ASSIGN(const BlockId block, writer->define_block("steps"));
    NMB_ASSIGN(const DimId time, writer->def_dim(block, "time", kUnlimited));
    NMB_ASSIGN(const DimId x, writer->def_dim(block, "x", kCells));
    NMB_TRY(writer->def_var(block, "v", Type::kDouble, {{time, x}}).status());
    NMB_TRY(writer->end_define());
    for (std::uint64_t record = 0; record < kRecords; ++record) {
      NMB_TRY(writer->extend(block, record + 1));
      NMB_ASSIGN(const std::uint64_t records, writer->records(block));
      NMB_TRY(expect(records == record + 1, "as many records"));
      calls.clear();
      const std::uint64_t from = kCells * rank / size, to = kCells * (rank + 1) / size;
      std::vector<double> values(to - from);
      std::iota(values.begin(), values.end(), static_cast<double>(record * kCells + from));
      NMB_TRY(writer->put(block, 0, {{record, from}, {1, to - from}, {}},
                          std::span<const double>(values)));
      std::uint64_t written = 0;
      for (const test::OutputCall& call : calls) written += call.bytes.size();
      // The rest is in a buffer of at most 1 MiB.
      NMB_TRY(expect(written + (1 << 20) >= values.size() * 8, "values written at once"));
      if (record == 1) NMB_TRY(writer->sync());
    }
    NMB_TRY(writer->close());
  }
  auto check = [&]() -> Status {
    NMB_ASSIGN(const std::unique_ptr<FileReader> reader, FileReader::open(path));
    NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> block, reader->block("steps"));
    NMB_ASSIGN(const std::vector<double> values, block->read_all<double>(0));
    NMB_TRY(expect(values.size() == kRecords * kCells, "as many values"));
    for (std::size_t i = 0; i < values.size(); ++i)
      NMB_TRY(expect(values[i] == static_cast<double>(i), "value " + std::to_string(i)));
    return expect(test::findings_of(std::filesystem::path(path)).empty(), "a sound file");
  };
  return ranks.agree(ranks.rank() == 0 ? check() : Status());
}

// More values wait for space than a stage keeps in memory. Values that wait are put again, in part
// and twice.
RANK_CASE(ManyValuesWithoutSpace) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  const std::string path = folder.file("waiting.nmb");
  constexpr std::uint64_t kCells = 1 << 20, kRecords = 20;  // 4 MiB a record
  const auto rank = static_cast<std::uint64_t>(ranks.rank());
  const auto size = static_cast<std::uint64_t>(ranks.size());
  const auto value = [](std::uint64_t record, std::uint64_t cell) {
    return static_cast<int>(cell % 1000 == 7 ? record + 5000 : record);
  };
  NMB_ASSIGN(std::unique_ptr<FileWriter> writer, FileWriter::create(path, small_pieces(), ranks));
  NMB_ASSIGN(const BlockId block, writer->define_block("steps"));
  NMB_ASSIGN(const DimId time, writer->def_dim(block, "time", kUnlimited));
  NMB_ASSIGN(const DimId x, writer->def_dim(block, "x", kCells));
  NMB_TRY(writer->def_var(block, "v", Type::kInt, {{time, x}}).status());
  NMB_TRY(writer->end_define());
  const auto put = [&]() -> Status {
    for (std::uint64_t record = rank; record < kRecords; record += size) {
      const std::vector<int> values(kCells, static_cast<int>(record));
      NMB_TRY(writer->put(block, 0, {{record, 0}, {1, kCells}, {}}, std::span<const int>(values)));
      const std::vector<int> some((kCells - 8) / 1000 + 1, static_cast<int>(record) + 5000);
      NMB_TRY(writer->put(block, 0, {{record, 7}, {1, some.size()}, {1, 1000}},
                          std::span<const int>(some)));
    }
    for (std::uint64_t record = rank; record < kRecords; record += size) {
      std::vector<int> found(3000);
      NMB_TRY(writer->get(block, 0, {{record, 1234}, {1, found.size()}, {}}, std::span(found)));
      for (std::size_t i = 0; i < found.size(); ++i)
        NMB_TRY(expect(found[i] == value(record, 1234 + i), "values that wait"));
    }
    return {};
  };
  NMB_TRY(ranks.agree(put()));
  NMB_TRY(writer->close());
  auto check = [&]() -> Status {
    NMB_ASSIGN(const std::unique_ptr<FileReader> reader, FileReader::open(path));
    NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> read, reader->block("steps"));
    NMB_TRY(expect(read->records == kRecords, "as many records"));
    NMB_ASSIGN(const std::vector<int> found, read->read_all<int>(0));
    for (std::uint64_t i = 0; i < found.size(); ++i)
      NMB_TRY(expect(found[i] == value(i / kCells, i % kCells), "the values of each record"));
    return expect(std::filesystem::file_size(path) < kRecords * kCells * 4 + (1 << 20),
                  "a file of the values alone");
  };
  return ranks.agree(ranks.rank() == 0 ? check() : Status());
}

}  // namespace
}  // namespace nmb
