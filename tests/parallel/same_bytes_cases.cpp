// The same definitions and values make the same bytes, by however many ranks.
#include <string>

#include "support/rank_cases.h"
#include "support/rank_program.h"

namespace nmb {
namespace {

using test::Definer;
using test::RankPhase;
using test::same_bytes;

WriterOptions small_pieces() {
  WriterOptions options;
  options.piece_size = 65536;
  options.sync = false;
  return options;
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
  definer.samples(block, length % 5);
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
  WriterOptions options = small_pieces();
  options.metadata_codec = MetadataCodec::kNone;
  options.inline_limit = 0;
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
      if (rank == 1) definer.samples(block, 7);
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

}  // namespace
}  // namespace nmb
