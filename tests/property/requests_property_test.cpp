// Random requests, waited for together, against the same calls one by one: the same bytes in the
// file, the same values in memory, the same failures.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <numeric>
#include <random>

#include "reader/file_reader.h"
#include "support/corpus.h"
#include "support/model.h"
#include "support/programs.h"
#include "support/sanitized.h"
#include "writer/file_writer.h"

namespace nmb::test {
namespace {

constexpr Type kTypes[] = {Type::kByte, Type::kShort, Type::kInt, Type::kDouble, Type::kUInt64};

class Random {
 public:
  explicit Random(std::uint64_t seed) : random_(seed) {}
  std::uint64_t below(std::uint64_t end) { return random_() % end; }

  // Three blocks of up to five variables, whose records lie among one another.
  void define(FileWriter& writer) {
    for (BlockId block = 0; block < 3; ++block) {
      ASSERT_TRUE(writer.define_block("b" + std::to_string(block)).ok());
      const DimId dimensions[] = {*writer.def_dim(block, "time", kUnlimited),
                                  *writer.def_dim(block, "few", 1 + below(9)),
                                  *writer.def_dim(block, "many", 1 + below(4000))};
      for (std::uint64_t v = 0, count = 1 + below(5); v < count; ++v) {
        std::vector<DimId> chosen;
        for (const DimId id : dimensions)
          if (below(3) != 0) chosen.push_back(id);
        ASSERT_TRUE(writer.def_var(block, "v" + std::to_string(v), kTypes[below(5)], chosen).ok());
      }
    }
  }

  // A selection within `lengths`; empty now and then.
  Hyperslab slab(std::vector<std::uint64_t> lengths) {
    Hyperslab slab;
    const bool strided = below(3) == 0;
    for (const std::uint64_t length : lengths) {
      if (length == 0 || below(40) == 0) {
        slab.start.push_back(0);
        slab.count.push_back(0);
        if (strided) slab.stride.push_back(1);
        continue;
      }
      const std::uint64_t start = below(2) == 0 ? 0 : below(length);
      const std::uint64_t stride = strided ? 1 + below(5) : 1;
      const std::uint64_t most = (length - start - 1) / stride + 1;
      slab.start.push_back(start);
      slab.count.push_back(below(2) == 0 ? most : 1 + below(most));
      if (strided) slab.stride.push_back(stride);
    }
    return slab;
  }

 private:
  std::mt19937_64 random_;
};

struct Put {
  BlockId block;
  VarId variable;
  Hyperslab slab;
  std::vector<double> values;
};

// Records as many as there will be at most.
std::vector<Put> draw_puts(Random& random, FileWriter& writer, std::uint64_t records) {
  std::vector<Put> puts(random.below(25));
  for (Put& put : puts) {
    put.block = static_cast<BlockId>(random.below(3));
    const Metadata& metadata = **writer.metadata(put.block);
    put.variable = static_cast<VarId>(random.below(metadata.variable_count()));
    std::vector<std::uint64_t> lengths;
    for (const DimId id : metadata.variable(put.variable).dimensions)
      lengths.push_back(metadata.dimension(id).is_record() ? records
                                                           : metadata.dimension(id).length);
    put.slab = random.slab(lengths);
    put.values.resize(element_count(put.slab));
    for (double& value : put.values) value = static_cast<double>(random.below(120));
    if (!put.values.empty() && random.below(10) == 0) put.values[0] = 300;
  }
  return puts;
}

// The statuses of puts, one by one.
std::vector<Status> put_alone(FileWriter& writer, const std::vector<Put>& puts) {
  std::vector<Status> statuses;
  for (const Put& put : puts)
    statuses.push_back(
        writer.put(put.block, put.variable, put.slab, std::span<const double>(put.values)));
  return statuses;
}

// One selection as many without strides, in a random order if `shuffled`.
struct Parts {
  std::vector<std::uint64_t> numbers;  // as Hyperslabs has them
  std::vector<double> values;
};
Parts parts_of(const Put& put, Random& random, bool shuffled) {
  const std::size_t rank = put.slab.count.size();
  // Each index of the first `outer` dimensions becomes a selection.
  std::size_t outer = random.below(rank);
  for (std::size_t d = 0; d < rank; ++d)
    if (!put.slab.stride.empty() && put.slab.stride[d] != 1) outer = std::max(outer, d + 1);
  std::uint64_t count = 1, inner = 1;
  for (std::size_t d = 0; d < rank; ++d) (d < outer ? count : inner) *= put.slab.count[d];
  std::vector<std::uint64_t> order(put.values.empty() ? 0 : count);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = 0; shuffled && i < order.size(); ++i)
    std::swap(order[i], order[i + random.below(order.size() - i)]);
  Parts parts;
  for (const std::uint64_t i : order) {
    std::vector<std::uint64_t> start = put.slab.start, one(put.slab.count);
    std::uint64_t left = i;
    for (std::size_t d = outer; d-- > 0; left /= put.slab.count[d]) {
      start[d] += left % put.slab.count[d] * (put.slab.stride.empty() ? 1 : put.slab.stride[d]);
      one[d] = 1;
    }
    parts.numbers.insert(parts.numbers.end(), start.begin(), start.end());
    parts.numbers.insert(parts.numbers.end(), one.begin(), one.end());
    const auto from = put.values.begin() + static_cast<std::ptrdiff_t>(i * inner);
    parts.values.insert(parts.values.end(), from, from + static_cast<std::ptrdiff_t>(inner));
  }
  return parts;
}

// `random` also decides which puts are many selections.
std::vector<Status> put_together(FileWriter& writer, const std::vector<Put>& puts, Random& random) {
  std::vector<RequestId> ids;
  std::deque<Parts> parts;
  for (const Put& put : puts) {
    if (random.below(2) == 0 && !put.slab.count.empty()) {
      const Parts& some = parts.emplace_back(parts_of(put, random, random.below(3) == 0));
      ids.push_back(*writer.iput(put.block, put.variable, Hyperslabs{some.numbers},
                                 std::span<const double>(some.values)));
    } else {
      ids.push_back(
          *writer.iput(put.block, put.variable, put.slab, std::span<const double>(put.values)));
    }
  }
  std::vector<Status> statuses(ids.size());
  for (std::size_t from = 0; from < ids.size();) {
    const std::size_t count = 1 + random.below(ids.size() - from);
    const std::span<Status> some = std::span(statuses).subspan(from, count);
    const Status status = writer.wait(std::span(ids).subspan(from, count), some);
    EXPECT_EQ(status.ok(), std::ranges::all_of(some, [](const Status& s) { return s.ok(); }));
    from += count;
  }
  return statuses;
}

void expect_same(const std::vector<Status>& one, const std::vector<Status>& other) {
  ASSERT_EQ(one.size(), other.size());
  for (std::size_t i = 0; i < one.size(); ++i) ASSERT_EQ(one[i].text(), other[i].text()) << i;
}

// Writes three generations, by requests or by calls one by one.
void write(const std::string& path, std::uint64_t seed, std::vector<Status>* statuses,
           bool together) {
  Random random(seed), waits(seed + 1);
  FileWriterOptions options;
  options.piece_size = 65536;
  options.inline_limit = random.below(2) == 0 ? 0 : 4096;
  options.sync = false;
  options.overwrite = true;
  auto writer = *FileWriter::create(path, options);
  ASSERT_NO_FATAL_FAILURE(random.define(*writer));
  ASSERT_TRUE(writer->end_define().ok());
  for (std::uint64_t generation = 1; generation <= 3; ++generation) {
    const std::vector<Put> puts = draw_puts(random, *writer, generation * 3);
    const std::vector<Status> some =
        together ? put_together(*writer, puts, waits) : put_alone(*writer, puts);
    statuses->insert(statuses->end(), some.begin(), some.end());
    const Status status = writer->sync();
    ASSERT_TRUE(status.ok()) << status.text();
  }
  ASSERT_TRUE(writer->close().ok());
}

TEST(RequestsProperty, PutTheSameBytesAsCallsOneByOne) {
  const TemporaryFolder folder;
  const auto alone = folder.path() / "alone.nmb", together = folder.path() / "together.nmb";
  for (std::uint64_t seed = 1; seed <= 80 / kShare; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::vector<Status> statuses_alone, statuses_together;
    ASSERT_NO_FATAL_FAILURE(write(alone.string(), seed, &statuses_alone, false));
    ASSERT_NO_FATAL_FAILURE(write(together.string(), seed, &statuses_together, true));
    ASSERT_NO_FATAL_FAILURE(expect_same(statuses_alone, statuses_together));
    ASSERT_TRUE(read_file(alone) == read_file(together));
    ASSERT_EQ(findings_of(together), "");
  }
}

TEST(RequestsProperty, GetTheSameValuesAsCallsOneByOne) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "f.nmb";
  for (std::uint64_t seed = 1000; seed < 1000 + 60 / kShare; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::vector<Status> ignored;
    ASSERT_NO_FATAL_FAILURE(write(path.string(), seed, &ignored, true));
    Random random(seed + 7);
    ReadOptions options;
    if (random.below(2) == 0) options.unverified = Unverified::kPartsOfPieces;
    options.cache_bytes = random.below(2) == 0 ? 0 : 1 << 20;  // without, blocks are loaded again
    const auto reader = *FileReader::open(path.string(), options);
    GetRequests requests;
    std::vector<RequestId> ids;
    std::vector<Status> alone;
    std::vector<std::vector<std::int16_t>> expected, found;
    for (int i = 0; i < 40; ++i) {
      const auto block = *reader->block("b" + std::to_string(random.below(3)));
      const Object object{block,
                          static_cast<VarId>(random.below(block->metadata.variable_count()))};
      const Hyperslab slab = random.slab(block->shape(object.variable)->lengths);
      expected.emplace_back(element_count(slab));
      found.emplace_back(element_count(slab));
      alone.push_back(block->read(object.variable, slab, expected.back()));
      // The arrays stay where they are.
      ids.push_back(*requests.iget(object, slab, std::span(found.back())));
    }
    std::vector<Status> statuses(ids.size());
    (void)requests.wait(ids, statuses).ok();
    ASSERT_NO_FATAL_FAILURE(expect_same(alone, statuses));
    ASSERT_EQ(found, expected);
  }
}

}  // namespace
}  // namespace nmb::test
