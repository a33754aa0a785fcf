// Chunks that other ranks encode: the same bytes and the same errors as with one rank.
#include "merge/uniting/chunk_jobs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "sources/value_source.h"
#include "values/chunk_filters.h"
#include "values/chunk_table.h"
#include "wire/endian.h"

namespace nmb {
namespace {

// An array that is joined from two boxes with other chunks. The values of the second box have
// another type. The last rows are in no box.
class JoinedArray {
 public:
  JoinedArray() {
    boxes_.push_back(box({0, 0}, {7, 10}, {Type::kInt, false}));
    boxes_.push_back(box({7, 0}, {9, 10}, {Type::kShort, true}));
  }

  // Makes the stored bytes of a chunk of the first box useless.
  void damage(std::uint64_t number) { boxes_[0] = box({0, 0}, {7, 10}, forms_[0], number); }

  struct Outcome {
    Status status;
    std::vector<CodedChunk> chunks;
    std::uint64_t loads = 0;  // number of chunks that rank 0 encoded
  };
  // most: the maximum number of bytes in the stored chunks of a job, if it has a value.
  Outcome encode(int size, std::optional<std::uint64_t> most = {}) const {
    auto ends = make_thread_network(size);
    std::vector<std::jthread> others;
    for (int rank = 1; rank < size; ++rank)
      others.emplace_back([end = std::move(ends[static_cast<std::size_t>(rank)])]() mutable {
        Communicator ranks(std::move(end));
        EXPECT_TRUE(serve_jobs(ranks, [](std::span<const std::byte> job) {
                      return encode_chunks(job, {2});
                    }).ok());
      });
    Communicator ranks(std::move(ends[0]));
    RankHelpers helpers(ranks);
    Outcome out;
    const auto load = [&](std::uint64_t number) {
      ++out.loads;
      return values_of(number);
    };
    const auto job = [&](std::span<const std::uint64_t> numbers,
                         std::uint64_t room) -> Result<std::vector<std::byte>> {
      ChunkJobMaker maker({grid_.lengths(), grid_.chunk(), kForm, kFilters, fill_}, grid_,
                          most.value_or(room));
      for (const std::uint64_t number : numbers) {
        maker.add(number);
        for (std::size_t i = 0; i < boxes_.size() && is_in_boxes(number); ++i) {
          if (!touches(boxes_[i], number)) continue;
          NMB_TRY(maker.take_from(boxes_[i], {forms_[i], false}));
        }
      }
      return maker.finish([&](std::uint64_t number) { return values_of(number); });
    };
    const auto take = [&](std::uint64_t, std::span<const CodedChunk> coded) {
      out.chunks.insert(out.chunks.end(), coded.begin(), coded.end());
      return Status();
    };
    out.status = code_chunks({grid_, kFilters, load, 0, [](std::uint64_t) { return true; }, job},
                             {1, nullptr, &helpers}, take);
    EXPECT_TRUE(helpers.end().ok());
    return out;
  }
  std::uint64_t count() const { return grid_.count(); }

 private:
  static inline const std::vector<Filter> kFilters = {{2, 0, "shuffle", {4}},
                                                      {1, 0, "deflate", {6}}};
  static constexpr ArrayForm kForm{Type::kInt, true};

  BoxInChunks box(ChunkGrid::Lengths first, ChunkGrid::Lengths lengths, ArrayForm form,
                  std::optional<std::uint64_t> damaged = {}) {
    if (!damaged) forms_.push_back(form);
    BoxInChunks out;
    out.first = std::move(first);
    out.grid = *ChunkGrid::make(std::move(lengths), {3, 4}, kForm.size());
    out.fill = fill_;
    Storage storage;
    storage.chunk = out.grid.chunk();
    storage.filters = filters_for(kFilters, form.size());
    std::vector<std::byte> region(out.grid.count() * ChunkRow::kLength);
    for (std::uint64_t n = 1; n < out.grid.count(); ++n) {  // chunk 0 was never written
      std::vector<std::byte> values;
      for (int i = 0; i < 12; ++i)
        values.insert(values.end(), form.size(), static_cast<std::byte>(n * 12));
      CodedChunk coded;
      coded.bytes = encode_chunk(storage.filters, std::move(values), form.size(), &coded.mask);
      if (n == damaged) coded = {std::vector<std::byte>(20, std::byte{0xFF}), 0};
      std::byte* const row = region.data() + n * ChunkRow::kLength;
      store_le<std::uint64_t>(row, region.size());
      store_le<std::uint64_t>(row + 8, coded.bytes.size());
      store_le(row + 16, coded.mask);
      region.insert(region.end(), coded.bytes.begin(), coded.bytes.end());
    }
    out.table = std::make_shared<const ChunkTable>(owned_bytes(std::move(region), "region"),
                                                   storage, form.size());
    if (form != kForm)
      out.convert = [form](std::vector<std::byte> values) {
        return converted(std::move(values), form, kForm, false);
      };
    return out;
  }

  bool touches(const BoxInChunks& box, std::uint64_t number) const {
    const ChunkGrid::Lengths first = grid_.first_of(number), count = grid_.count_of(first);
    return first[0] < box.first[0] + box.grid.lengths()[0] && box.first[0] < first[0] + count[0];
  }
  bool is_in_boxes(std::uint64_t number) const {
    const ChunkGrid::Lengths first = grid_.first_of(number);
    return first[0] + grid_.count_of(first)[0] <= 16;
  }

  Result<std::vector<std::byte>> values_of(std::uint64_t number) const {
    GatheredChunk chunk(grid_, number, fill_);
    for (const BoxInChunks& box : boxes_) NMB_TRY(chunk.add(box).status());
    return chunk.take();
  }

  const std::vector<std::byte> fill_{4, std::byte{1}};
  const ChunkGrid grid_ = *ChunkGrid::make({18, 10}, {5, 3}, kForm.size());
  std::vector<ArrayForm> forms_;
  std::vector<BoxInChunks> boxes_;
};

TEST(ChunkJobs, SameBytesForAnyNumberOfRanks) {
  const JoinedArray array;
  const JoinedArray::Outcome one = array.encode(1);
  ASSERT_TRUE(one.status.ok()) << one.status.message();
  EXPECT_EQ(one.loads, array.count());
  for (const int size : {2, 3, 5, 40}) {
    const JoinedArray::Outcome many = array.encode(size);
    ASSERT_TRUE(many.status.ok()) << many.status.message();
    EXPECT_TRUE(many.chunks == one.chunks) << size;
    EXPECT_EQ(many.loads, std::max<std::uint64_t>(array.count() / static_cast<unsigned>(size), 1));
  }
}

TEST(ChunkJobs, LongJobsAreNotSent) {
  const JoinedArray array;
  const JoinedArray::Outcome many = array.encode(3, 10);
  ASSERT_TRUE(many.status.ok()) << many.status.message();
  EXPECT_TRUE(many.chunks == array.encode(1).chunks);
  EXPECT_GT(many.loads, array.count() / 3);
}

TEST(ChunkJobs, SameErrorForAnyNumberOfRanks) {
  for (const std::uint64_t number : {1U, 4U, 8U}) {
    JoinedArray array;
    array.damage(number);
    const Status one = array.encode(1).status;
    EXPECT_EQ(one.code(), Code::kDamaged);
    for (const int size : {2, 3, 5}) {
      const Status many = array.encode(size).status;
      EXPECT_EQ(many.code(), Code::kDamaged);
      EXPECT_EQ(many.message(), one.message());
    }
  }
}

}  // namespace
}  // namespace nmb
