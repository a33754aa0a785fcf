// Values that ranks read through the writer before they are committed: what the rank has put, and
// what others had put at the last collective call that exchanges it.
#include <cstdlib>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <utility>

#include "reader/file_reader.h"
#include "support/model.h"
#include "support/rank_cases.h"
#include "support/rank_outcome.h"
#include "support/rank_program.h"

namespace nmb {
namespace {

using test::RankFolder;
using test::small_pieces;

// The values of a fixed variable of shorts, and two record variables of doubles and of ints whose
// records lie among one another.
class Grid {
 public:
  static constexpr int kFill = -7;
  static constexpr std::uint64_t kRows = 40, kColumns = 900, kCells = 210;
  static constexpr VarId kVariables = 3;
  static constexpr Type kTypes[] = {Type::kShort, Type::kDouble, Type::kInt};

  static Status define(FileWriter& writer, BlockId* block) {
    NMB_ASSIGN(*block, writer.define_block("grid"));
    NMB_ASSIGN(const DimId rows, writer.def_dim(*block, "rows", kRows));
    NMB_ASSIGN(const DimId columns, writer.def_dim(*block, "columns", kColumns));
    NMB_ASSIGN(const DimId time, writer.def_dim(*block, "time", kUnlimited));
    NMB_ASSIGN(const DimId cells, writer.def_dim(*block, "cells", kCells));
    const DimId dimensions[][2] = {{rows, columns}, {time, cells}, {time, cells}};
    for (VarId v = 0; v < kVariables; ++v) {
      NMB_TRY(writer.def_var(*block, "v" + std::to_string(v), kTypes[v], dimensions[v]).status());
      NMB_TRY(writer.put_att(*block, v, "_FillValue", kTypes[v], kFill));
    }
    return {};
  }

  static std::uint64_t columns(VarId variable) { return variable == 0 ? kColumns : kCells; }
  std::uint64_t rows(VarId variable) const { return variable == 0 ? kRows : records_; }

  // A selection in the first `rows` rows. every, first: only these columns, or all if `every` is 1.
  static Hyperslab slab(std::mt19937_64& random, VarId variable, std::uint64_t rows,
                        std::uint64_t every, std::uint64_t first) {
    Hyperslab slab;
    const std::uint64_t row = random() % rows;
    const std::uint64_t step = 1 + random() % 3;
    slab.start.push_back(row);
    slab.stride.push_back(step);
    slab.count.push_back(1 + random() % ((rows - row - 1) / step + 1));
    const std::uint64_t places = (columns(variable) - first - 1) / every + 1;
    const std::uint64_t place = random() % places;
    const std::uint64_t most = places - place;
    slab.start.push_back(first + place * every);
    slab.stride.push_back(every);
    slab.count.push_back(random() % 2 == 0 ? most : 1 + random() % most);
    return slab;
  }
  void put(VarId variable, const Hyperslab& slab, int first) {
    if (variable > 0)
      records_ = std::max(records_, slab.start[0] + (slab.count[0] - 1) * slab.stride[0] + 1);
    for_each(slab, [&](std::uint64_t row, std::uint64_t column) {
      values_[variable][{row, column}] = first++;
    });
  }
  static std::vector<int> values(const Hyperslab& slab, int first) {
    std::vector<int> out(slab.count[0] * slab.count[1]);
    std::iota(out.begin(), out.end(), first);
    return out;
  }
  Status check(VarId variable, const Hyperslab& slab, const std::vector<int>& found,
               const std::string& what) const {
    std::size_t i = 0;
    Status status;
    for_each(slab, [&](std::uint64_t row, std::uint64_t column) {
      const auto value = values_[variable].find({row, column});
      const int expected = value == values_[variable].end() ? kFill : value->second;
      if (found[i] != expected && status.ok())
        status =
            expect(false, what + ": variable " + std::to_string(variable) + " at " +
                              std::to_string(row) + ", " + std::to_string(column) + ": found " +
                              std::to_string(found[i]) + ", expected " + std::to_string(expected));
      ++i;
    });
    return status;
  }
  // All values of the committed file.
  Status check(const std::string& path) const {
    NMB_ASSIGN(const std::unique_ptr<FileReader> reader, FileReader::open(path));
    NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> block, reader->block("grid"));
    NMB_TRY(expect(block->records == records_, "as many records"));
    for (VarId v = 0; v < kVariables; ++v) {
      NMB_ASSIGN(const std::vector<int> found, block->read_all<int>(v));
      NMB_TRY(check(v, {{0, 0}, {rows(v), columns(v)}, {1, 1}}, found, "the file"));
    }
    const std::string findings = test::findings_of(std::filesystem::path(path));
    return expect(findings.empty(), "a sound file: " + findings);
  }

 private:
  template <class Visit>
  static void for_each(const Hyperslab& slab, Visit visit) {
    for (std::uint64_t i = 0; i < slab.count[0]; ++i)
      for (std::uint64_t j = 0; j < slab.count[1]; ++j)
        visit(slab.start[0] + i * slab.stride[0], slab.start[1] + j * slab.stride[1]);
  }
  std::map<std::pair<std::uint64_t, std::uint64_t>, int> values_[kVariables];
  std::uint64_t records_ = 0;
};

// What the ranks do, the same on all for a seed. Ranks that put alone put to columns of their own.
class GridRun {
 public:
  GridRun(Communicator& ranks, FileWriter& writer, BlockId block, Grid& grid, std::uint64_t seed,
          std::uint64_t redefined)
      : ranks_(ranks),
        writer_(writer),
        block_(block),
        grid_(grid),
        random_(seed),
        redefined_(redefined) {}

  Status step() { return one_step().of_object(steps_); }
  const std::string& steps() const { return steps_; }

 private:
  Status one_step() {
    const std::uint64_t kind = random_() % 9;
    steps_ += std::to_string(kind);
    switch (kind) {
      case 0:
        return put_together();
      case 1:
      case 2:
        return put_alone();
      case 3:
        return get_own();
      case 4:
        return get_all();
      case 5:
        foreign_ = false;
        NMB_TRY(writer_.flush());
        NMB_TRY(check_records());
        return get_any();
      case 6:
        return redefine(false);
      case 7:
        foreign_ = false;
        NMB_TRY(writer_.sync());
        if (random_() % 2 == 0) return get_any();
        return redefine(random_() % 2 == 0);
      default:
        foreign_ = false;
        NMB_TRY(writer_.sync());
        return get_any();
    }
  }

  std::uint64_t size() const { return static_cast<std::uint64_t>(ranks_.size()); }
  int next(const Hyperslab& slab) {
    first_ = (first_ + static_cast<int>(slab.count[0] * slab.count[1] % 1000)) % 20000;
    return first_;
  }
  bool fits(const Hyperslab& slab) const { return slab.count[0] * slab.count[1] < 12000; }

  // Columns of all ranks, or each rank's own.
  Status put_together() {
    const bool own_columns = random_() % 2 == 0;
    steps_ += own_columns ? "own" : "";
    foreign_ = foreign_ || !own_columns;
    std::vector<std::vector<int>> values;
    std::vector<RequestId> ids;
    for (int rank = 0; rank < ranks_.size(); ++rank)
      for (std::uint64_t r = random_() % 3; r > 0; --r) {
        const auto v = static_cast<VarId>(random_() % Grid::kVariables);
        const std::uint64_t rows = v == 0 ? Grid::kRows : 1 + random_() % 60;
        const Hyperslab slab =
            own_columns ? Grid::slab(random_, v, rows, size(), static_cast<std::uint64_t>(rank))
                        : Grid::slab(random_, v, rows, 1 + random_() % 2, 0);
        const int first = next(slab);
        if (!fits(slab)) continue;
        grid_.put(v, slab, first);
        if (rank != ranks_.rank()) continue;
        values.push_back(Grid::values(slab, first));
        NMB_ASSIGN(const RequestId id,
                   writer_.iput(block_, v, slab, std::span<const int>(values.back())));
        ids.push_back(id);
      }
    NMB_TRY(writer_.wait_all(ids));
    return get_own();
  }

  // All ranks change the definitions alike, or the last alone. A new variable of fixed size moves
  // the records.
  Status redefine(bool one_rank) {
    foreign_ = false;
    NMB_TRY(writer_.redefine());
    const std::uint64_t what = random_() % 5, number = ++redefined_;
    steps_ += (one_rank ? "(one " : "(") + std::to_string(what) + ")";
    if (!one_rank || ranks_.rank() == ranks_.size() - 1) {
      const std::string text = "a" + std::to_string(number);
      if (what == 0) NMB_TRY(writer_.put_att_text(block_, kGlobal, "title", text));
      if (what == 1 || what == 2) {
        NMB_ASSIGN(const DimId x, writer_.def_dim(block_, "x" + text, 1 + number * 7));
        NMB_TRY(writer_.def_var(block_, "pad" + text, Type::kShort, std::span(&x, 1)).status());
      }
      if (what == 3) {
        NMB_TRY(writer_.rename_var(block_, 1, "v1" + text));
        NMB_TRY(writer_.rename_dim(block_, 1, "columns" + text));
        NMB_TRY(writer_.put_att_text(block_, 2, text, "text"));
        NMB_TRY(writer_.rename_att(block_, 2, text, "b" + text));
        NMB_TRY(writer_.remove_att(block_, 2, "b" + text));
      }
    }
    const bool discards = random_() % 4 == 0;
    steps_ += discards ? "discard" : "";
    if (discards) {
      NMB_TRY(writer_.define_block("discarded " + std::to_string(number)).status());
      NMB_TRY(writer_.discard());
    } else {
      NMB_TRY(writer_.end_define());
    }
    if (one_rank) NMB_TRY(writer_.sync());
    return get_any();
  }

  // The ranks agree on what each of them puts, but nobody waits for the others.
  Status put_alone() {
    if (random_() % 2 == 0) {
      foreign_ = false;
      steps_ += "f";
      NMB_TRY(writer_.flush());
    }
    for (int rank = 0; rank < ranks_.size(); ++rank)
      for (std::uint64_t r = random_() % 5; r > 0; --r) {
        const auto v = static_cast<VarId>(random_() % Grid::kVariables);
        const std::uint64_t rows = v == 0 ? Grid::kRows : 1 + random_() % 60;
        const Hyperslab slab =
            Grid::slab(random_, v, rows, size(), static_cast<std::uint64_t>(rank));
        const int first = next(slab);
        if (!fits(slab)) continue;
        grid_.put(v, slab, first);
        if (rank != ranks_.rank()) continue;
        const std::vector<int> values = Grid::values(slab, first);
        NMB_TRY(writer_.put(block_, v, slab, std::span<const int>(values)));
      }
    return get_own();
  }

  Status get(const std::string& what, std::uint64_t every, bool together) {
    std::vector<VarId> variables;
    std::vector<Hyperslab> slabs;
    std::vector<std::vector<int>> found;
    for (int rank = 0; rank < ranks_.size(); ++rank) {
      const std::uint64_t first = every == 1 ? 0 : static_cast<std::uint64_t>(rank);
      for (std::uint64_t r = random_() % 3; r > 0; --r) {
        const auto v = static_cast<VarId>(random_() % Grid::kVariables);
        std::mt19937_64 own(random_());
        if (rank != ranks_.rank()) continue;
        std::uint64_t rows = Grid::kRows;
        if (v > 0 && together) {
          rows = grid_.rows(v);
        } else if (v > 0) {
          NMB_ASSIGN(rows, writer_.records(block_));
        }
        if (rows == 0) continue;
        variables.push_back(v);
        slabs.push_back(Grid::slab(own, v, rows, every, first));
        found.emplace_back(element_count(slabs.back()));
      }
    }
    std::vector<Get> gets;
    for (std::size_t i = 0; i < slabs.size(); ++i)
      gets.push_back({block_, variables[i], slabs[i], found[i]});
    NMB_TRY(together ? writer_.get_all(gets) : writer_.get(gets));
    for (std::size_t i = 0; i < slabs.size(); ++i)
      NMB_TRY(grid_.check(variables[i], slabs[i], found[i], what));
    return {};
  }
  Status get_own() {
    // What others have put together to this rank's columns is seen after an exchange.
    if (std::exchange(foreign_, false)) NMB_TRY(writer_.flush());
    return get("own values", size(), false);
  }
  Status get_any() {
    NMB_TRY(get("exchanged values", 1, false));
    return ranks_.barrier();  // until then, nobody puts anything
  }
  Status get_all() {
    foreign_ = false;
    return get("get_all()", 1, true);
  }
  Status check_records() {
    NMB_ASSIGN(const std::uint64_t records, writer_.records(block_));
    return expect(records == grid_.rows(1), "as many records on each rank");
  }

  Communicator& ranks_;
  FileWriter& writer_;
  const BlockId block_;
  Grid& grid_;
  std::mt19937_64 random_;
  std::string steps_;  // for messages
  int first_ = 0;
  bool foreign_ = false;  // whether ranks may have put to the columns of others since an exchange
  std::uint64_t redefined_ = 0;
};

RANK_CASE(RanksReadWhatAModelSaysAheadOfACommit) {
  const std::uint64_t seeds = std::getenv("NMB_ALL") ? 100 : 6;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
    const std::string path = folder.file("grid.nmb");
    Grid grid;
    std::string steps;  // for messages
    const auto run = [&](FileWriter& writer, BlockId block, std::uint64_t of_opening) -> Status {
      GridRun program(ranks, writer, block, grid, seed * 2 + of_opening, of_opening * 100);
      for (int step = 0; step < 20; ++step)
        NMB_TRY(program.step().of_object("seed " + std::to_string(seed) + " step " +
                                         std::to_string(step)));
      steps += " seed " + std::to_string(seed) + ": " + program.steps();
      return {};
    };
    {
      NMB_ASSIGN(std::unique_ptr<FileWriter> writer,
                 FileWriter::create(path, small_pieces(), ranks));
      BlockId block;
      NMB_TRY(Grid::define(*writer, &block));
      NMB_TRY(writer->end_define());
      NMB_TRY(run(*writer, block, 0));
      NMB_TRY(writer->close());
    }
    NMB_TRY(ranks.agree(ranks.rank() == 0 ? grid.check(path).of_object(steps) : Status()));
    {
      NMB_ASSIGN(std::unique_ptr<FileWriter> writer, FileWriter::open(path, small_pieces(), ranks));
      NMB_ASSIGN(const BlockId block, writer->find_block("grid"));
      NMB_TRY(writer->end_define());
      NMB_TRY(run(*writer, block, 1));
      NMB_TRY(writer->close());
    }
    NMB_TRY(ranks.agree(ranks.rank() == 0 ? grid.check(path).of_object(steps) : Status()));
  }
  return {};
}

// Would catch: a wrong get of one rank that the others do not report, or that makes them wait.
RANK_CASE(WrongGetsOfOneRank) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  const std::string path = folder.file("grid.nmb");
  const bool last = ranks.rank() == ranks.size() - 1;
  NMB_ASSIGN(std::unique_ptr<FileWriter> writer, FileWriter::create(path, small_pieces(), ranks));
  BlockId block;
  NMB_TRY(Grid::define(*writer, &block));
  const auto fails = [&](const Status& status, Code code, std::string_view text) {
    return test::expect_failure_of_all(ranks, status, code, text);
  };
  NMB_TRY(fails(writer->get_all({}), Code::kUsage, "define mode"));
  NMB_TRY(fails(writer->flush(), Code::kUsage, "define mode"));
  NMB_TRY(writer->end_define());
  std::vector<signed char> found(2, 9);
  const Hyperslab two{{0, 0}, {1, 2}, {}};
  const auto get = [&](VarId variable, const Hyperslab& slab) {
    const Get one{block, variable, slab, std::span(found)};
    return writer->get_all(std::span(&one, 1));
  };
  NMB_TRY(fails(get(last ? 3 : 0, two), Code::kUsage, "invalid variable ID 3"));
  NMB_TRY(fails(get(0, last ? Hyperslab{{0, 0}, {1, 1}, {}} : two), Code::kUsage, "values"));
  NMB_TRY(fails(get(last ? 1 : 0, two), Code::kUsage, ""));  // no records yet
  const std::vector<int> large{300, 1};
  NMB_TRY(
      writer->put_all(block, 0, {{last ? 0u : 1u, 0}, {1, 2}, {}}, std::span<const int>(large)));
  NMB_TRY(fails(get(0, last || ranks.size() == 1 ? two : Hyperslab{{2, 0}, {1, 2}, {}}),
                Code::kRange, "found 1 values"));
  NMB_TRY(expect(found[1] == (last ? 1 : Grid::kFill), "all values are read"));
  // Nothing of this counts against the writer.
  return writer->close();
}

}  // namespace
}  // namespace nmb
