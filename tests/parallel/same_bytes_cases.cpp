// The same definitions and values make the same bytes, by however many ranks.
#include <array>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "reader/file_reader.h"
#include "support/faulty_output.h"
#include "support/model.h"
#include "support/rank_cases.h"
#include "support/rank_program.h"

namespace nmb {
namespace {

using test::Definer;
using test::RankFolder;
using test::RankPhase;
using test::same_bytes;
using test::small_pieces;

// A file that `write` makes by the ranks has the bytes of one rank, and no findings.
Status expect_bytes_of_one(Communicator& ranks,
                           const std::function<Status(const std::string&, Communicator&)>& write) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  const std::string path = folder.file("f.nmb"), alone = folder.file("alone.nmb");
  NMB_TRY(write(path, ranks));
  auto compare = [&]() -> Status {
    Communicator one;
    NMB_TRY(write(alone, one));
    auto bytes_of = [](const std::string& file) {
      std::ifstream in(file, std::ios::binary);
      return std::string(std::istreambuf_iterator<char>(in), {});
    };
    NMB_TRY(expect(test::findings_of(std::filesystem::path(path)).empty(), "no findings"));
    return expect(bytes_of(path) == bytes_of(alone), "the bytes of one rank");
  };
  return ranks.agree(ranks.rank() == 0 ? compare() : Status());
}

std::string numbered(std::string_view name, int number) {
  return std::string(name) + std::to_string(number);
}

// A block with values of `length` in one variable, and a smaller one beside it.
void define_plain(Definer& definer, const std::string& name, std::uint64_t length) {
  const BlockId block = definer.block(name);
  const DimId x = definer.dimension(block, "x", length);
  const DimId three = definer.dimension(block, "three", 3);
  const VarId energy = definer.variable(block, "energy", Type::kDouble, {{x}});
  definer.variable(block, "flags", Type::kByte, {{three}});
  definer.text(block, energy, "units", "GeV");
  definer.text(block, kGlobal, "title", name);
  definer.field(block, &EntryFields::samples, length % 5);
}

// Names of different ranks lie among one another; rank 2 has nothing.
std::string own_name(int rank, int i) { return numbered("event", i * 31 + rank) + "/graph"; }
std::uint64_t own_length(int rank, int i) {
  return i % 11 == 0 ? 200000 : static_cast<std::uint64_t>(1 + (rank * 7 + i * 13) % 900);
}
int own_blocks(int rank) { return rank == 2 ? 0 : 37 + rank; }

const RankPhase own{[](int rank, int, Definer& definer) {
                      for (int i = 0; i < own_blocks(rank); ++i)
                        define_plain(definer, own_name(rank, i), own_length(rank, i));
                    },
                    [](int rank, int, Definer& definer) {
                      // Every fourth has no values, every third not all.
                      for (int i = 0; i < own_blocks(rank); ++i) {
                        if (i % 4 != 3) definer.put(own_name(rank, i), "energy", i);
                        if (i % 3 != 2) definer.put(own_name(rank, i), "flags", rank);
                      }
                    }};

RANK_CASE(SameBytesOfBlocksOfOneRank) { return same_bytes(ranks, small_pieces(), {own}); }

RANK_CASE(SameBytesWithoutCompression) {
  FileWriterOptions options = small_pieces();
  options.metadata_codec = MetadataCodec::kNone;
  options.inline_limit = 0;
  return same_bytes(ranks, options, {own});
}

RANK_CASE(SameBytesOfPagesOfFewRows) {
  FileWriterOptions options = small_pieces();
  options.leaf_rows = 3;
  options.node_rows = 5;
  options.map_rows = 2;
  return same_bytes(ranks, options, {own});
}

RANK_CASE(SameBytesOfManySmallBlocks) {
  const RankPhase many{[](int rank, int, Definer& definer) {
                         for (int i = 0; i < 400; ++i) define_plain(definer, own_name(rank, i), 1);
                       },
                       [](int rank, int, Definer& definer) {
                         for (int i = 0; i < 400; i += 3)
                           definer.put(own_name(rank, i), "energy", i);
                       }};
  return same_bytes(ranks, small_pieces(), {many});
}

// Every rank defines the block alike and puts a part of each variable.
const RankPhase alike{
    [](int, int, Definer& definer) {
      define_plain(definer, "all/small", 100);
      define_plain(definer, "all/large", 300001);
    },
    [](int rank, int size, Definer& definer) {
      const auto r = static_cast<std::uint64_t>(rank), n = static_cast<std::uint64_t>(size);
      for (const auto& [name, length] : {std::pair("all/small", std::uint64_t{100}),
                                         std::pair("all/large", std::uint64_t{300001})}) {
        const std::uint64_t from = r * length / n, to = (r + 1) * length / n;
        definer.put(name, "energy", {{from}, {to - from}, {}}, rank);
      }
      if (rank == size / 2) definer.put("all/large", "flags", 9);
    }};

RANK_CASE(SameBytesOfBlocksOfAllRanks) { return same_bytes(ranks, small_pieces(), {alike}); }

// Rows of statistics are sorted by all ranks; a later generation takes in those before.
RANK_CASE(SameBytesWithStatistics) {
  FileWriterOptions options = small_pieces();
  options.statistics = StatisticsLevel::kHistogram;
  const RankPhase later{[](int rank, int, Definer& definer) {
                          for (int i = 0; i < own_blocks(rank); i += 2)
                            define_plain(definer, own_name(rank, i) + "/later",
                                         own_length(rank, i));
                        },
                        [](int rank, int, Definer& definer) {
                          for (int i = 0; i < own_blocks(rank); i += 2)
                            definer.put(own_name(rank, i) + "/later", "energy", i);
                          for (int i = 0; i < own_blocks(rank); i += 5)
                            definer.put(own_name(rank, i), "flags", -rank);
                        }};
  return same_bytes(ranks, options, {own, later, alike});
}

// Tags of blocks of one rank and of several; a later generation takes in those before.
RANK_CASE(SameBytesWithTags) {
  const auto tagged = [](const char* suffix) {
    return RankPhase{[suffix](int rank, int, Definer& definer) {
                       for (int i = 0; i < own_blocks(rank); ++i) {
                         const BlockId block = definer.block(own_name(rank, i) + suffix);
                         definer.tag(block, "run", std::int64_t{i - 5});
                         if (i % 2 == 0) definer.tag(block, "kind", numbered("of rank ", rank));
                         if (i % 3 == 0) definer.tag(block, "energy", i / 4.0);
                       }
                       const BlockId shared = definer.block(std::string("shared") + suffix);
                       definer.dimension(shared, numbered("x", rank), 2);
                       definer.tag(shared, "all", std::uint64_t{1} << 63);
                       definer.tag(shared, numbered("rank ", rank), std::string());
                       const BlockId gone = definer.block(numbered("gone", rank) + suffix);
                       definer.tag(gone, "gone", std::int64_t{1});
                       definer.keep(definer.writer().remove_block(gone));
                     },
                     [](int, int, Definer&) {}};
  };
  return same_bytes(ranks, small_pieces(), {tagged("/a"), own, tagged("/b")});
}

// Elements of different ranks lie one beside the other.
RANK_CASE(SameBytesOfInterleavedElements) {
  const RankPhase interleaved{alike.define, [](int rank, int size, Definer& definer) {
                                const auto r = static_cast<std::uint64_t>(rank);
                                const auto n = static_cast<std::uint64_t>(size);
                                const std::uint64_t count = (5000 - r + n - 1) / n;
                                definer.put("all/large", "energy", {{r}, {count}, {n}}, rank);
                              }};
  return same_bytes(ranks, small_pieces(), {interleaved});
}

// One rank creates pressure and another temperature under the same path.
const RankPhase united{
    [](int rank, int size, Definer& definer) {
      const BlockId block = definer.block("run/fields");
      const DimId x = definer.dimension(block, "x", 5000);
      definer.variable(block, "common", Type::kFloat, {{x}});
      const DimId own_dimension =
          definer.dimension(block, numbered("y", rank), static_cast<std::uint64_t>(rank + 2));
      const VarId own_variable =
          definer.variable(block, numbered("field", rank), Type::kInt, {{own_dimension, x}});
      definer.text(block, own_variable, "long_name", numbered("of rank ", rank));
      definer.text(block, kGlobal, numbered("note", rank % 2), "of both kinds of rank");
      // The next rank's, too, but only this one's values.
      if (rank + 1 < size) {
        const DimId next =
            definer.dimension(block, numbered("y", rank + 1), static_cast<std::uint64_t>(rank + 3));
        const VarId variable =
            definer.variable(block, numbered("field", rank + 1), Type::kInt, {{next, x}});
        definer.text(block, variable, "long_name", numbered("of rank ", rank + 1));
      }
      if (rank == 1) definer.field(block, &EntryFields::samples, 7);
      define_plain(definer, numbered("run/own", rank), 10);
    },
    [](int rank, int size, Definer& definer) {
      if (rank == 0) definer.put("run/fields", "common", 5);
      if (rank != 1 || size == 1) definer.put("run/fields", numbered("field", rank), rank);
      definer.put(numbered("run/own", rank), "energy", 1);
    }};

RANK_CASE(SameBytesOfUnitedBlocks) { return same_bytes(ranks, small_pieces(), {united}); }

RANK_CASE(SameBytesOfEverythingOnOneRank) {
  const RankPhase last{[](int rank, int size, Definer& definer) {
                         if (rank == size - 1) own.define(0, size, definer);
                       },
                       [](int rank, int size, Definer& definer) {
                         if (rank == size - 1) own.put(0, size, definer);
                       }};
  return same_bytes(ranks, small_pieces(), {last});
}

RANK_CASE(SameBytesOfNothing) {
  const RankPhase nothing{[](int, int, Definer&) {}, [](int, int, Definer&) {}};
  return same_bytes(ranks, small_pieces(), {nothing, nothing});
}

// Every rank a generation with new blocks, some of them shared.
RANK_CASE(SameBytesOfLaterGenerations) {
  const RankPhase more{[](int rank, int, Definer& definer) {
                         if (rank != 1) define_plain(definer, numbered("more/own", rank), 30);
                         define_plain(definer, "more/shared", 70000);
                       },
                       [](int rank, int size, Definer& definer) {
                         if (rank == size - 1) definer.put("more/shared", "energy", 3);
                         if (rank != 1) definer.put(numbered("more/own", rank), "flags", 3);
                       }};
  return same_bytes(ranks, small_pieces(), {united, own, more});
}

// Whoever writes metadata and index, in stripes of whatever length.
RANK_CASE(SameBytesByAnyAggregators) {
  for (const auto& [aggregators, alignment] :
       {std::pair(1, std::uint64_t{4096}), std::pair(1, std::uint64_t{1} << 20),
        std::pair(2, std::uint64_t{4096}), std::pair(3, std::uint64_t{65536}),
        std::pair(1000, std::uint64_t{4096}), std::pair(0, std::uint64_t{1} << 30)}) {
    FileWriterOptions options = small_pieces();
    options.aggregators = aggregators;
    options.alignment = alignment;
    NMB_TRY(same_bytes(ranks, options, {united, own, alike}));
  }
  return {};
}

// Extents as long as the alignment, or longer, begin at multiples of it, whoever has them; so do
// pieces that come later.
RANK_CASE(SameBytesOfAlignedExtents) {
  constexpr std::uint64_t kAlignment = 1 << 16;
  const auto define = [](int rank, int, Definer& definer) {
    for (int i = 0; i < 3; ++i) {
      const std::string name = numbered("own", rank) + std::to_string(i);
      const BlockId block = definer.block(name);
      const DimId x = definer.dimension(block, "x", kAlignment / 8 * static_cast<unsigned>(i + 1));
      definer.variable(block, "v", Type::kInt, {{x}});
    }
    const BlockId block = definer.block("records");
    const DimId time = definer.dimension(block, "time", kUnlimited);
    const DimId x = definer.dimension(block, "x", kAlignment / 4 + 100);
    definer.variable(block, "v", Type::kInt, {{time, x}});
  };
  const auto put = [](int rank, int, Definer& definer) {
    for (int i = 0; i < 3; ++i)
      definer.put(numbered("own", rank) + std::to_string(i), "v", rank + i);
  };
  const auto grow = [](int rank, int size, Definer& definer) {
    if (rank == size - 1) definer.put("records", "v", {{0, 0}, {2, kAlignment / 4 + 100}, {}}, 5);
  };
  FileWriterOptions options = small_pieces();
  options.alignment = kAlignment;
  NMB_TRY(same_bytes(ranks, options, {{define, put}, {[](int, int, Definer&) {}, grow}}));

  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  const std::string path = folder.file("f.nmb");
  NMB_ASSIGN(const std::unique_ptr<FileWriter> writer, FileWriter::create(path, options, ranks));
  Definer definer(*writer);
  define(ranks.rank(), ranks.size(), definer);
  NMB_TRY(ranks.agree(definer.status()));
  NMB_TRY(writer->end_define());
  put(ranks.rank(), ranks.size(), definer);
  NMB_TRY(writer->close());
  auto look = [&]() -> Status {
    NMB_ASSIGN(const std::unique_ptr<FileReader> reader, FileReader::open(path));
    NMB_TRY(reader->for_each_entry("own", [&](const BlockEntry& entry) -> Result<bool> {
      // An extent of one run says where it lies, others in a map.
      const std::uint64_t at = entry.extent_position;
      const bool aligned = at % kAlignment == 0;
      NMB_TRY(expect(at == 0 || entry.extent_length < kAlignment || aligned,
                     "an extent at a multiple of the alignment"));
      return true;
    }));
    return expect(test::findings_of(std::filesystem::path(path)).empty(), "no findings");
  };
  return ranks.agree(ranks.rank() == 0 ? look() : Status());
}

// A block with records of two variables, defined by all ranks with none.
void define_records(Definer& definer, const std::string& name) {
  const BlockId block = definer.block(name);
  const DimId time = definer.dimension(block, "time", kUnlimited);
  const DimId x = definer.dimension(block, "x", 1000);
  definer.variable(block, "level", Type::kInt, {{time, x}});
  definer.variable(block, "count", Type::kShort, {{time}});
  definer.variable(block, "grid", Type::kByte, {{x}});
}

// Records [first, first + count) of both variables.
void put_records(Definer& definer, const std::string& name, std::uint64_t first,
                 std::uint64_t count) {
  definer.put(name, "level", {{first, 0}, {count, 1000}, {}}, static_cast<int>(first));
  definer.put(name, "count", {{first}, {count}, {}}, 1);
}

const RankPhase growing{[](int rank, int, Definer& definer) {
                          define_records(definer, "run/steps");
                          define_records(definer, numbered("own/steps", rank));
                        },
                        [](int rank, int size, Definer& definer) {
                          // Each rank its share of the records; of its own block as many as its
                          // number.
                          const auto r = static_cast<std::uint64_t>(rank);
                          put_records(definer, "run/steps", r * 7, 7);
                          if (rank > 0) put_records(definer, numbered("own/steps", rank), 0, r);
                          if (rank == size - 1) definer.put("run/steps", "grid", 2);
                        }};

RANK_CASE(SameBytesOfGrowingRecords) { return same_bytes(ranks, small_pieces(), {growing}); }

// Values that are committed change, records are added, by other ranks than before.
const RankPhase change{
    [](int rank, int, Definer& definer) { define_plain(definer, numbered("new", rank), 20); },
    [](int rank, int size, Definer& definer) {
      const auto r = static_cast<std::uint64_t>(rank), n = static_cast<std::uint64_t>(size);
      put_records(definer, "run/steps", 7 * n + r, 1);
      const int next = (rank + 1) % size;
      put_records(definer, numbered("own/steps", next), 100 + r, 1);
      definer.put("all/large", "energy", {{r * 1000 + 3}, {500}, {}}, 8);
      if (rank == size / 2) definer.put("all/small", "flags", 5);
    }};

RANK_CASE(SameBytesOfCommittedValuesThatChange) {
  return same_bytes(ranks, small_pieces(), {growing, alike, change, change});
}

// Blocks of one rank and of all that grow in every generation, by other ranks than before; now and
// then one changes otherwise, is renamed or removed.
std::vector<RankPhase> growth_phases(int generations) {
  std::vector<RankPhase> phases{{[](int rank, int, Definer& definer) {
                                   define_records(definer, "run/steps");
                                   for (int i = 0; i < 4; ++i)
                                     define_records(definer, numbered("g", rank * 4 + i));
                                 },
                                 [](int rank, int, Definer& definer) {
                                   put_records(definer, numbered("g", rank * 4), 0, 2);
                                 }}};
  for (int g = 0; g < generations; ++g)
    phases.push_back(
        {[g](int rank, int, Definer& definer) {
           if (g == 3 && rank == 0) define_plain(definer, "later", 10);
           if (g == 5 && rank == 0)
             definer.keep(definer.writer().rename_block(definer.block("g1"), "renamed"));
           if (g == 8 && rank == 0)
             definer.keep(definer.writer().remove_block(definer.block("g2")));
         },
         [g](int rank, int size, Definer& definer) {
           const auto r = static_cast<std::uint64_t>(rank), n = static_cast<std::uint64_t>(size);
           const auto at = static_cast<std::uint64_t>(g);
           put_records(definer, "run/steps", at * n + r, 1);
           if (g == 6 && rank == size - 1) put_records(definer, "run/steps", 1, 1);
           const int next = (rank + g) % size;
           put_records(definer, numbered("g", next * 4), 2 + at, 1);
           if (g < 5) put_records(definer, numbered("g", next * 4 + 1), at, 1);
           if (g < 8) put_records(definer, numbered("g", next * 4 + 2), at, 1);
           if (g % 2 == 0) put_records(definer, numbered("g", next * 4 + 3), at, 2);
         }});
  return phases;
}

RANK_CASE(SameBytesOfGrowthPages) { return same_bytes(ranks, small_pieces(), growth_phases(12)); }

RANK_CASE(SameBytesByMpiIo) {
  if (!ranks.mpi_io()) return {};
  FileWriterOptions options = small_pieces();
  options.io = Io::kMpiIo;
  options.hints = {{"cb_nodes", "1"}, {"romio_ds_write", "disable"}};
  NMB_TRY(same_bytes(ranks, options, {own, alike, united}));
  options.sync = true;
  options.alignment = 4096;
  return same_bytes(ranks, options, {growing, alike, change, change});
}

// Each rank puts one column of a matrix: by few writes all the same.
RANK_CASE(PutAllOfColumnsIsGathered) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  const auto size = static_cast<std::uint64_t>(ranks.size());
  const auto rank = static_cast<std::uint64_t>(ranks.rank());
  constexpr std::uint64_t kRows = 20000;
  const std::string path = folder.file("columns.nmb");
  std::vector<test::OutputCall> calls;
  FileWriterOptions options = small_pieces();
  options.layer = test::recording(calls);
  {
    NMB_ASSIGN(std::unique_ptr<FileWriter> writer, FileWriter::create(path, options, ranks));
    Definer definer(*writer);
    const BlockId block = definer.block("matrix");
    const DimId rows = definer.dimension(block, "rows", kRows);
    const DimId columns = definer.dimension(block, "columns", size);
    definer.variable(block, "v", Type::kInt, {{rows, columns}});
    NMB_TRY(definer.status());
    NMB_TRY(writer->end_define());
    std::vector<int> values(kRows);
    for (std::uint64_t i = 0; i < kRows; ++i) values[i] = static_cast<int>(i * size + rank);
    calls.clear();
    NMB_TRY(writer->put_all(block, 0, {{0, rank}, {kRows, 1}, {}}, std::span<const int>(values)));
    const std::size_t made = calls.size();
    NMB_TRY(writer->close());
    NMB_TRY(ranks.agree(
        expect(made <= 10 + kRows * 4 / 65536, std::to_string(made) + " calls for a column")));
  }
  auto check = [&]() -> Status {
    NMB_ASSIGN(const std::unique_ptr<FileReader> reader, FileReader::open(path));
    NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> block, reader->block("matrix"));
    NMB_ASSIGN(const std::vector<int> values, block->read_all<int>(0));
    for (std::size_t i = 0; i < values.size(); ++i)
      NMB_TRY(expect(values[i] == static_cast<int>(i), "the values of all columns"));
    return {};
  };
  return ranks.agree(ranks.rank() == 0 ? check() : Status());
}

// If several ranks put an element in one call, the value of the highest rank stays.
RANK_CASE(PutAllTakesTheHighestRanksValues) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  const std::string path = folder.file("overlap.nmb");
  {
    NMB_ASSIGN(std::unique_ptr<FileWriter> writer, FileWriter::create(path, small_pieces(), ranks));
    Definer definer(*writer);
    define_records(definer, "steps");
    NMB_TRY(definer.status());
    NMB_TRY(writer->end_define());
    NMB_ASSIGN(const BlockId block, writer->find_block("steps"));
    // Rank r puts records r to size + 2, all with its number.
    const auto r = static_cast<std::uint64_t>(ranks.rank());
    const auto n = static_cast<std::uint64_t>(ranks.size());
    const std::vector<int> values((n + 3 - r) * 1000, ranks.rank());
    NMB_TRY(
        writer->put_all(block, 0, {{r, 0}, {n + 3 - r, 1000}, {}}, std::span<const int>(values)));
    NMB_ASSIGN(const std::uint64_t records, writer->records(block));
    NMB_TRY(expect(records == n + 3, "records on all ranks"));
    // Again, in place; rank 0 has nothing.
    const std::vector<int> more(ranks.rank() == 0 ? 0 : 10, 100 + ranks.rank());
    NMB_TRY(writer->put_all(block, 0, {{0, 0}, {1, more.size()}, {}}, std::span<const int>(more)));
    NMB_TRY(writer->close());
  }
  auto check = [&]() -> Status {
    NMB_ASSIGN(const std::unique_ptr<FileReader> reader, FileReader::open(path));
    NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> block, reader->block("steps"));
    for (int record = 0; record < ranks.size() + 3; ++record) {
      std::vector<int> values(1000);
      const Hyperslab slab{{static_cast<std::uint64_t>(record), 0}, {1, 1000}, {}};
      NMB_TRY(block->read(0, slab, values));
      const int highest = std::min(record, ranks.size() - 1);
      const int first = record == 0 && ranks.size() > 1 ? 100 + ranks.size() - 1 : highest;
      NMB_TRY(expect(values[0] == first && values[999] == highest, "the highest rank's values"));
    }
    return {};
  };
  return ranks.agree(ranks.rank() == 0 ? check() : Status());
}

constexpr std::uint64_t kSharers = 6;  // of a block, dealt to the ranks

// Each sharer puts a column of its own of more records than those before it, then all extend.
Status write_extended(const std::string& path, Communicator& ranks) {
  NMB_ASSIGN(const std::unique_ptr<FileWriter> writer,
             FileWriter::create(path, small_pieces(), ranks));
  NMB_ASSIGN(const BlockId block, writer->define_block("series"));
  NMB_ASSIGN(const DimId time, writer->def_dim(block, "time", kUnlimited));
  NMB_ASSIGN(const DimId x, writer->def_dim(block, "x", 100 * kSharers));
  NMB_TRY(writer->def_var(block, "v", Type::kInt, {{time, x}}).status());
  NMB_TRY(writer->end_define());
  for (std::uint64_t first = 0; first < 3 * kSharers; first += kSharers) {
    for (std::uint64_t sharer = 0; sharer < kSharers; ++sharer) {
      const auto size = static_cast<std::uint64_t>(ranks.size());
      if (sharer * size / kSharers != static_cast<std::uint64_t>(ranks.rank())) continue;
      const std::vector<int> column(sharer + 1, static_cast<int>(first + sharer));
      NMB_TRY(writer->put(block, 0, {{first, 100 * sharer}, {sharer + 1, 1}, {}},
                          std::span<const int>(column)));
    }
    NMB_TRY(writer->extend(block, first + kSharers));
    if (first == kSharers) NMB_TRY(writer->sync());
  }
  return writer->close();
}

RANK_CASE(SameBytesOfExtendedRecordsThatSomeHavePut) {
  return expect_bytes_of_one(ranks, write_extended);
}

// A committed block of all ranks with records of `cells` integers; cells 0: no variable.
Result<BlockId> define_series(FileWriter& writer, std::uint64_t cells) {
  NMB_ASSIGN(const BlockId block, writer.define_block("series"));
  NMB_ASSIGN(const DimId time, writer.def_dim(block, "time", kUnlimited));
  if (cells > 0) {
    NMB_ASSIGN(const DimId x, writer.def_dim(block, "x", cells));
    const std::array<DimId, 2> dimensions{time, x};
    NMB_TRY(writer.def_var(block, "v", Type::kInt, dimensions).status());
  }
  NMB_TRY(writer.end_define());
  NMB_TRY(writer.sync());
  return block;
}

// extend() to the records that there are changes nothing, on no rank.
Status write_extended_by_nothing(const std::string& path, Communicator& ranks) {
  FileWriterOptions options = small_pieces();
  options.statistics = StatisticsLevel::kBasic;
  NMB_ASSIGN(const std::unique_ptr<FileWriter> writer, FileWriter::create(path, options, ranks));
  constexpr std::uint64_t kCells = 8, kRecords = 3;
  NMB_ASSIGN(const BlockId block, define_series(*writer, kCells));
  const bool puts = ranks.rank() == 0;
  const std::vector<int> record(puts ? kCells : 0, 7);
  for (std::uint64_t i = 0; i < kRecords; ++i) {
    NMB_TRY(
        writer->put_all(block, 0, {{i, 0}, {1, record.size()}, {}}, std::span<const int>(record)));
    NMB_TRY(writer->sync());
  }
  NMB_TRY(writer->extend(block, kRecords));
  return writer->close();
}

RANK_CASE(SameBytesWhereRecordsAreExtendedByNone) {
  return expect_bytes_of_one(ranks, write_extended_by_nothing);
}

Status write_records_without_bytes(const std::string& path, Communicator& ranks) {
  FileWriterOptions options = small_pieces();
  options.statistics = StatisticsLevel::kBasic;
  NMB_ASSIGN(const std::unique_ptr<FileWriter> writer, FileWriter::create(path, options, ranks));
  NMB_ASSIGN(const BlockId block, define_series(*writer, 0));
  NMB_TRY(writer->extend(block, 5));
  NMB_TRY(writer->sync());
  NMB_TRY(writer->extend(block, 5));
  NMB_TRY(writer->extend(block, 6));
  return writer->close();
}

RANK_CASE(SameBytesOfRecordsWithoutBytes) {
  return expect_bytes_of_one(ranks, write_records_without_bytes);
}

// A rank puts the first record by itself, then all put the same elements together.
Status write_over_waiting_values(const std::string& path, Communicator& ranks) {
  NMB_ASSIGN(const std::unique_ptr<FileWriter> writer,
             FileWriter::create(path, small_pieces(), ranks));
  constexpr std::uint64_t kCells = 20'000;
  NMB_ASSIGN(const BlockId block, define_series(*writer, kCells));
  const auto rank = static_cast<std::uint64_t>(ranks.rank());
  const auto size = static_cast<std::uint64_t>(ranks.size());
  const std::vector<int> before(kCells, 1);
  if (rank == 0)
    NMB_TRY(writer->put(block, 0, {{0, 0}, {1, kCells}, {}}, std::span<const int>(before)));
  const std::uint64_t first = kCells * rank / size, end = kCells * (rank + 1) / size;
  const std::vector<int> later(end - first, 2);
  NMB_TRY(
      writer->put_all(block, 0, {{0, first}, {1, end - first}, {}}, std::span<const int>(later)));
  return writer->close();
}

RANK_CASE(SameBytesWhereAllPutOverWhatWaits) {
  return expect_bytes_of_one(ranks, write_over_waiting_values);
}

// Records of a length that is no multiple of 8, by which the space of the block goes on and on.
Status write_odd_records(const std::string& path, Communicator& ranks) {
  NMB_ASSIGN(const std::unique_ptr<FileWriter> writer,
             FileWriter::create(path, small_pieces(), ranks));
  constexpr std::uint64_t kCells = 1281, kRecords = 40;
  NMB_ASSIGN(const BlockId block, define_series(*writer, kCells));
  const auto rank = static_cast<std::uint64_t>(ranks.rank());
  const auto size = static_cast<std::uint64_t>(ranks.size());
  const std::uint64_t first = kCells * rank / size, end = kCells * (rank + 1) / size;
  for (std::uint64_t i = 0; i < kRecords; ++i) {
    const std::vector<int> values(end - first, static_cast<int>(i));
    NMB_TRY(writer->put_all(block, 0, {{i, first}, {1, end - first}, {}},
                            std::span<const int>(values)));
    if (i == 0) NMB_TRY(writer->sync());
  }
  return writer->close();
}

RANK_CASE(SameBytesOfRecordsOfOddLength) { return expect_bytes_of_one(ranks, write_odd_records); }

// Two workers, of one rank or two: one puts a record together with all, where the other has
// nothing, and then both put parts of it and of the next by themselves.
Status write_into_known_places(const std::string& path, Communicator& ranks) {
  NMB_ASSIGN(const std::unique_ptr<FileWriter> writer,
             FileWriter::create(path, small_pieces(), ranks));
  constexpr std::uint64_t kCells = 30;
  NMB_ASSIGN(const BlockId block, define_series(*writer, kCells));
  const bool first = ranks.rank() == 0, last = ranks.rank() == ranks.size() - 1;
  const std::vector<int> record(first ? kCells : 0, 1), part(6, 2);
  NMB_TRY(
      writer->put_all(block, 0, {{0, 0}, {1, record.size()}, {}}, std::span<const int>(record)));
  if (first)
    NMB_TRY(writer->put(block, 0, {{1, 4}, {1, 5}, {}}, std::span<const int>(part).first(5)));
  if (last) NMB_TRY(writer->put(block, 0, {{0, 24}, {1, 6}, {}}, std::span<const int>(part)));
  return writer->close();
}

RANK_CASE(SameBytesWhereARankDoesNotKnowThePlaces) {
  return expect_bytes_of_one(ranks, write_into_known_places);
}

// Records that the primary has put since end_define() have no space where the block was laid out.
RANK_CASE(AGrownBlockIsOpenedByOthers) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  const std::string path = folder.file("f.nmb");
  const bool keeps = ranks.rank() == 0, puts = ranks.rank() == ranks.size() - 1;
  constexpr std::uint64_t kCells = 30'000, kRecords = 4;
  const std::vector<int> record(kCells, 7), other(kCells, 8);
  {
    NMB_ASSIGN(const std::unique_ptr<FileWriter> writer,
               FileWriter::create(path, small_pieces(), ranks));
    for (const char* name : {"grown", "next"}) {
      if (!keeps) break;
      Metadata metadata;
      NMB_ASSIGN(const DimId time, metadata.def_dim("time", kUnlimited));
      NMB_ASSIGN(const DimId x, metadata.def_dim("x", kCells));
      NMB_TRY(metadata.def_var("v", Type::kInt, {{time, x}}).status());
      NMB_TRY(writer->define_block(name, metadata, 1).status());
    }
    NMB_TRY(writer->end_define());
    if (keeps) {
      NMB_ASSIGN(const BlockId next, writer->find_block("next"));
      NMB_TRY(writer->put(next, 0, {{0, 0}, {1, kCells}, {}}, std::span<const int>(other)));
      NMB_ASSIGN(const BlockId grown, writer->find_block("grown"));
      for (std::uint64_t i = 0; i + 1 < kRecords; ++i)
        NMB_TRY(writer->put(grown, 0, {{i, 0}, {1, kCells}, {}}, std::span<const int>(record)));
    }
    const std::string_view name = "grown";
    NMB_ASSIGN(const std::vector<BlockId> opened, writer->open_blocks(std::span(&name, 1)));
    for (std::uint64_t i = 1; puts && i < kRecords; ++i)
      NMB_TRY(writer->put(opened[0], 0, {{i, 0}, {1, kCells}, {}}, std::span<const int>(record)));
    NMB_TRY(writer->close());
  }
  auto check = [&]() -> Status {
    NMB_ASSIGN(const std::unique_ptr<FileReader> reader, FileReader::open(path));
    NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> grown, reader->block("grown"));
    NMB_ASSIGN(const std::vector<int> values, grown->read_all<int>(0));
    NMB_TRY(expect(values == std::vector<int>(kRecords * kCells, 7), "values of all records"));
    NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> next, reader->block("next"));
    NMB_ASSIGN(const std::vector<int> beside, next->read_all<int>(0));
    NMB_TRY(expect(beside == other, "values of the next block"));
    return expect(test::findings_of(std::filesystem::path(path)).empty(), "no findings");
  };
  return ranks.agree(ranks.rank() == 0 ? check() : Status());
}

// A block of the file that one rank has renamed, opened by the others before the commit: what they
// put to it, before or after, is there.
RANK_CASE(BlocksAreOpenedByTheirNewNamesBeforeTheCommit) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  const auto share = static_cast<std::uint64_t>(ranks.size());
  const std::vector<int> old(8, 5);
  std::vector<int> mine(8);
  std::iota(mine.begin(), mine.end(), 100 * (ranks.rank() + 1));
  for (const bool commits_between : {false, true}) {
    const std::string path = folder.file(commits_between ? "after.nmb" : "before.nmb");
    {
      NMB_ASSIGN(const std::unique_ptr<FileWriter> writer,
                 FileWriter::create(path, small_pieces(), ranks));
      Definer definer(*writer);
      if (ranks.rank() == 0) {
        const BlockId block = definer.block("old");
        const DimId dims[] = {definer.dimension(block, "t", kUnlimited),
                              definer.dimension(block, "x", 8)};
        definer.variable(block, "f", Type::kInt, std::span(dims).last(1));
        definer.variable(block, "v", Type::kInt, dims);
      }
      NMB_TRY(ranks.agree(definer.status()));
      NMB_TRY(writer->end_define());
      if (ranks.rank() == 0) {
        NMB_ASSIGN(const BlockId block, writer->find_block("old"));
        for (std::uint64_t i = 0; i < share; ++i)
          NMB_TRY(writer->put(block, 1, {{i, 0}, {1, 8}, {}}, std::span<const int>(old)));
      }
      NMB_TRY(writer->close());
    }
    {
      NMB_ASSIGN(const std::unique_ptr<FileWriter> writer,
                 FileWriter::open(path, small_pieces(), ranks));
      if (ranks.rank() == 0) {
        NMB_ASSIGN(const BlockId block, writer->find_block("old"));
        NMB_TRY(writer->rename_block(block, "new"));
      }
      NMB_TRY(writer->end_define());
      const std::string_view name = "new";
      NMB_ASSIGN(const std::vector<BlockId> opened, writer->open_blocks(std::span(&name, 1)));
      if (commits_between) NMB_TRY(writer->sync());
      const auto rank = static_cast<std::uint64_t>(ranks.rank());
      NMB_TRY(writer->put(opened[0], 1, {{rank, 0}, {1, 8}, {}}, std::span<const int>(mine)));
      NMB_TRY(writer->put_all(opened[0], 1, {{share + rank, 0}, {1, 8}, {}},
                              std::span<const int>(mine)));
      NMB_TRY(writer->close());
    }
    auto check = [&]() -> Status {
      NMB_ASSIGN(const std::unique_ptr<FileReader> reader, FileReader::open(path));
      NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> block, reader->block("new"));
      NMB_ASSIGN(const std::vector<int> values, block->read_all<int>(1));
      NMB_TRY(expect(values.size() == 2 * share * 8, "all records"));
      for (std::uint64_t i = 0; i < values.size(); ++i)
        NMB_TRY(expect(values[i] == static_cast<int>(100 * (i / 8 % share + 1) + i % 8),
                       "the values of each rank"));
      return expect(test::findings_of(std::filesystem::path(path)).empty(), "no findings");
    };
    NMB_TRY(ranks.agree(ranks.rank() == 0 ? check() : Status()));
  }
  return {};
}

// The handle of a block that another rank has removed is of no other block of its name.
RANK_CASE(AHandleOfARemovedBlockFindsNoNewOne) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  NMB_ASSIGN(const std::unique_ptr<FileWriter> writer,
             FileWriter::create(folder.file("f.nmb"), small_pieces(), ranks));
  Definer definer(*writer);
  const bool removes = ranks.rank() == ranks.size() - 1;
  auto define = [&] { definer.variable(definer.block("b"), "v", Type::kInt, {}); };
  define();
  NMB_TRY(ranks.agree(definer.status()));
  NMB_TRY(writer->end_define());
  NMB_TRY(writer->sync());
  NMB_ASSIGN(const BlockId stale, writer->find_block("b"));
  NMB_TRY(writer->redefine());
  if (removes) {
    NMB_TRY(writer->remove_block(stale));
    define();
  }
  NMB_TRY(ranks.agree(definer.status()));
  NMB_TRY(writer->end_define());
  NMB_TRY(writer->sync());
  const int value = 1;
  const Status status = writer->put(stale, 0, {}, std::span<const int>(&value, 1));
  NMB_TRY(expect(status.code() == (removes ? Code::kUsage : Code::kNotFound), status.text()));
  // By its name the new one is found.
  NMB_ASSIGN(const BlockId found, writer->find_block("b"));
  NMB_TRY(expect(found != stale, "another block"));
  const std::string_view name = "b";
  NMB_ASSIGN(const std::vector<BlockId> opened, writer->open_blocks(std::span(&name, 1)));
  NMB_TRY(writer->put_all(opened[0], 0, {}, std::span<const int>(&value, 1)));
  return writer->close();
}

// A rank that knows the name as that of a block which another rank has replaced takes part in
// folding what the new one has grown by.
RANK_CASE(GrowthOfAReplacedBlockIsFolded) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  const std::string path = folder.file("f.nmb");
  const bool replaces = ranks.rank() == 0, defines = ranks.rank() == ranks.size() - 1;
  const std::vector<int> record(4, 7);
  {
    NMB_ASSIGN(const std::unique_ptr<FileWriter> writer,
               FileWriter::create(path, small_pieces(), ranks));
    Definer definer(*writer);
    auto define = [&](std::string_view name) {
      const BlockId block = definer.block(name);
      const DimId dims[] = {definer.dimension(block, "t", kUnlimited),
                            definer.dimension(block, "x", 4)};
      definer.variable(block, "v", Type::kInt, dims);
      return block;
    };
    if (defines) {
      define("b");
      define("c");
    }
    NMB_TRY(ranks.agree(definer.status()));
    NMB_TRY(writer->end_define());
    NMB_TRY(writer->sync());
    NMB_TRY(writer->redefine());
    if (replaces) {
      NMB_ASSIGN(const BlockId old, writer->find_block("b"));
      NMB_TRY(writer->remove_block(old));
      define("b");
    }
    NMB_TRY(ranks.agree(definer.status()));
    NMB_TRY(writer->end_define());
    NMB_TRY(writer->sync());
    for (std::uint64_t i = 0; i < 3; ++i) {
      if (replaces) {
        NMB_ASSIGN(const BlockId block, writer->find_block(i == 0 ? "b" : "c"));
        NMB_TRY(writer->put(block, 0, {{i, 0}, {1, 4}, {}}, std::span<const int>(record)));
      }
      NMB_TRY(writer->sync());
    }
    // What changes "c" otherwise folds what both have grown by.
    NMB_TRY(writer->redefine());
    if (replaces) {
      NMB_ASSIGN(const BlockId block, writer->find_block("c"));
      NMB_TRY(writer->put_att_text(block, kGlobal, "history", "changed"));
    }
    NMB_TRY(writer->end_define());
    NMB_TRY(writer->close());
  }
  return ranks.agree(
      ranks.rank() == 0
          ? expect(test::findings_of(std::filesystem::path(path)).empty(), "no findings")
          : Status());
}

}  // namespace
}  // namespace nmb
