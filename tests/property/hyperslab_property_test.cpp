// Runs and reads of random hyperslabs against element-by-element arithmetic.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "model/values.h"
#include "support/counting_source.h"

namespace nmb {
namespace {

struct Stretch {
  std::uint64_t offset, element, count;
  bool operator==(const Stretch&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Stretch& run) {
  return out << "{" << run.offset << ", " << run.element << ", " << run.count << "}";
}

class RandomCase {
 public:
  explicit RandomCase(std::mt19937_64* random) : random_(*random) {
    const std::size_t rank = below(5);
    shape.element_size = std::uint64_t{1} << below(4);
    shape.begin = below(50);
    for (std::size_t d = 0; d < rank; ++d) shape.lengths.push_back(1 + below(5));
    if (rank > 0 && below(2) == 0) {
      std::uint64_t slice = shape.element_size;
      for (std::size_t d = 1; d < rank; ++d) slice *= shape.lengths[d];
      // Now and then a single record variable, whose records touch.
      shape.record_size = slice + below(3) * 6000 * below(2) + below(2) * 4;
      shape.lengths[0] = below(7);
    }
    for (std::uint64_t length : shape.lengths) {
      const std::uint64_t start = below(length + 1);
      const std::uint64_t stride = 1 + below(3);
      const std::uint64_t most = start == length ? 0 : (length - start - 1) / stride + 1;
      const std::uint64_t count = below(2) == 0 ? most : below(most + 1);
      slab.start.push_back(start);
      slab.stride.push_back(stride);
      slab.count.push_back(count);
    }
    if (below(3) == 0) {
      slab.stride.clear();
      if (below(2) == 0) {
        slab.start.assign(rank, 0);
        slab.count = shape.lengths;
      } else {
        for (std::size_t d = 0; d < rank; ++d)
          if (slab.start[d] + slab.count[d] > shape.lengths[d]) slab.count[d] = 0;
      }
    }
  }

  // Offsets of the selected elements in row-major order, by counting through all.
  std::vector<std::uint64_t> offsets() const {
    std::vector<std::uint64_t> out;
    const std::uint64_t total = element_count(slab);
    for (std::uint64_t n = 0; n < total; ++n) {
      std::uint64_t rest = n, offset = shape.begin, distance = shape.element_size;
      for (std::size_t d = shape.lengths.size(); d-- > 0;) {
        const std::uint64_t place = rest % slab.count[d];
        rest /= slab.count[d];
        const std::uint64_t index =
            slab.start[d] + place * (slab.stride.empty() ? 1 : slab.stride[d]);
        offset += index * (d == 0 && shape.record_size > 0 ? shape.record_size : distance);
        distance *= shape.lengths[d];
      }
      out.push_back(offset);
    }
    return out;
  }

  VariableShape shape;
  Hyperslab slab;

 private:
  std::uint64_t below(std::uint64_t end) { return random_() % end; }
  std::mt19937_64& random_;
};

std::vector<Stretch> longest_runs(const std::vector<std::uint64_t>& offsets, std::uint64_t size) {
  std::vector<Stretch> runs;
  for (std::uint64_t n = 0; n < offsets.size(); ++n) {
    if (!runs.empty() && offsets[n] == runs.back().offset + runs.back().count * size)
      ++runs.back().count;
    else
      runs.push_back({offsets[n], n, 1});
  }
  return runs;
}

TEST(HyperslabProperty, RunsCoverTheSelection) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const RandomCase c(&random);
    ASSERT_TRUE(check_hyperslab(c.shape, c.slab).ok()) << "case " << i;
    std::vector<Stretch> runs;
    ASSERT_TRUE(for_each_run(c.shape, c.slab, [&](auto offset, auto element, auto count) {
                  runs.push_back({offset, element, count});
                  return Status();
                }).ok());
    const auto longest = longest_runs(c.offsets(), c.shape.element_size);
    // Only a strided selection may have runs that happen to touch.
    if (c.slab.stride.empty()) {
      ASSERT_EQ(runs, longest) << "case " << i;
    }
    std::vector<Stretch> joined;
    for (const Stretch& run : runs) {
      if (!joined.empty() &&
          run.offset == joined.back().offset + joined.back().count * c.shape.element_size)
        joined.back().count += run.count;
      else
        joined.push_back(run);
    }
    ASSERT_EQ(joined, longest) << "case " << i;
  }
}

TEST(HyperslabProperty, ReadsTheSelectedElements) {
  std::mt19937_64 random(2);
  std::vector<std::byte> bytes(200000);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random());
  const MemorySource memory(bytes);
  for (int i = 0; i < 3000; ++i) {
    const RandomCase c(&random);
    Metadata metadata;
    const Type type = c.shape.element_size == 1   ? Type::kUByte
                      : c.shape.element_size == 2 ? Type::kUShort
                      : c.shape.element_size == 4 ? Type::kUInt
                                                  : Type::kUInt64;
    const VarId v = *metadata.def_var("v", type, {});
    const std::vector<std::uint64_t> offsets = c.offsets();
    std::vector<std::uint64_t> expected;
    for (std::uint64_t offset : offsets) {
      std::uint64_t value = 0;
      for (std::uint64_t k = 0; k < c.shape.element_size; ++k)
        value = value << 8 | static_cast<std::uint64_t>(bytes[offset + k]);
      expected.push_back(value);
    }
    std::vector<std::uint64_t> out(expected.size());
    const test::CountingSource source(memory);
    ASSERT_TRUE(read_hyperslab(metadata, c.shape, v, source, c.slab, out).ok());
    ASSERT_EQ(out, expected) << "case " << i;
    // Reads are fewer than runs wherever holes are small.
    ASSERT_LE(source.reads(), longest_runs(offsets, c.shape.element_size).size());
  }
}

TEST(HyperslabProperty, StopsAtTheFirstFailure) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 1000; ++i) {
    const RandomCase c(&random);
    std::size_t runs = 0;
    ASSERT_TRUE(for_each_run(c.shape, c.slab, [&](auto, auto, auto) {
                  ++runs;
                  return Status();
                }).ok());
    if (runs == 0) continue;
    const std::size_t stop = 1 + random() % runs;
    std::size_t calls = 0;
    const Status status = for_each_run(c.shape, c.slab, [&](auto, auto, auto) {
      return ++calls == stop ? Status(Code::kIo, "stop") : Status();
    });
    ASSERT_EQ(status.code(), Code::kIo);
    ASSERT_EQ(calls, stop);
  }
}

}  // namespace
}  // namespace nmb
