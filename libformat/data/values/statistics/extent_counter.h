// ExtentCounter: counts the values of a block (spec/tables.md, section 9.3). The bytes of the
// extent can be added in any order and in parts that divide elements, but each byte only once.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/classic.h"
#include "model/extension.h"
#include "model/metadata.h"
#include "nmb/statistics.h"
#include "values/statistics/histogram_builder.h"
#include "values/statistics/value_counter.h"
#include "wire/bytes.h"
#include "wire/failure.h"

namespace nmb {

// How the values of a variable are divided into parts (see PartRanges in nmb/statistics.h).
class PartDivision {
 public:
  // The values are not divided.
  PartDivision() = default;
  static PartDivision of_units(std::uint64_t units);
  // Returns the division of an array without chunks.
  static PartDivision of_elements(std::uint64_t elements);
  unsigned shift() const { return shift_; }
  // Returns the number of parts, or 0 if the values are not divided.
  std::size_t parts() const { return parts_; }
  std::size_t part_of(std::uint64_t unit) const { return static_cast<std::size_t>(unit >> shift_); }
  // Returns the first unit of the part that follows the part with `unit`.
  std::uint64_t next_part(std::uint64_t unit) const { return ((unit >> shift_) + 1) << shift_; }

 private:
  unsigned shift_ = 0;
  std::size_t parts_ = 0;
};

// Which results are computed from the values of a block.
struct CountRequest {
  StatisticsLevel level = StatisticsLevel::kBasic;  // not kNone
  bool with_moments = false;                        // whether to set VariableStatistics::moments
  std::span<const ValueFunction> functions{};
  // If set, only this variable is counted.
  std::optional<VarId> only{};
  // Which parts of the values of `only` are counted; all if empty.
  std::vector<bool> wanted{};
  // Which variables get PartRanges, whatever the level is. If not set, level kParts adds PartRanges
  // until the block has 2^20 parts; the other variables have none.
  std::optional<std::vector<bool>> divided{};
};

// Thread-safe except for finish().
class ExtentCounter {
 public:
  // Keeps no reference to the arguments. Errors: kDamaged if the definitions contradict each other.
  static Result<std::unique_ptr<ExtentCounter>> make(const Metadata& metadata,
                                                     const ClassicLayout& layout,
                                                     std::uint64_t records,
                                                     const CountRequest& request);

  // Adds bytes of the extent, from `offset` on.
  void add(std::uint64_t offset, std::span<const std::byte> bytes);
  // Adds bytes [from, to) of the extent that are not stored, so that their values are fill values.
  void add_hole(std::uint64_t from, std::uint64_t to);
  // Returns whether variables are stored in chunks, whose values add() does not count.
  bool has_chunks() const { return !chunked_.empty(); }
  // Reads and counts the values in chunks. Leaves out a variable if its chunks would decode to far
  // more bytes than are stored. Must not be called concurrently with other functions. Needs 32 MiB
  // of memory, or the memory for one chunk if that is more. Errors: kDamaged if a chunk is damaged,
  // kIo.
  Status count_chunks(const std::shared_ptr<const ByteSource>& extent, unsigned threads);
  // Returns the statistics. Call this after all bytes of the values were added. Errors: kDamaged if
  // some values were not added.
  Result<BlockStatistics> finish();
  // Returns the names of all variables in the order of their IDs. The name is empty for a variable
  // that netCDF shows only as a dimension, and whose values were never written.
  std::vector<std::string> take_names() { return std::move(names_); }
  // Returns statistics that list all variables without results. Call this instead of finish() if
  // the values of the block cannot be read.
  BlockStatistics none() const;
  // Returns the first range of the extent, from `offset` on, that has values to count, or nullopt
  // if there is none. It ends before the next values that are not counted. Does not find values in
  // chunks. length: length of the extent.
  std::optional<ByteRange> next_range(std::uint64_t offset, std::uint64_t length) const;

 private:
  // The range of a variable's elements in the extent or, for a record variable, in a record.
  struct Slot {
    std::uint64_t begin = 0, end = 0;
    VarId variable = 0;
    bool is_record = false;  // whether the slot is in record_
    ValueForm form;
    std::uint64_t most_buckets = 0;
    PartDivision division;

    std::uint64_t elements() const { return (end - begin) / form.size(); }
  };
  // A variable that is stored in chunks. slot.form.hole is the value of chunks that were never
  // written.
  struct Chunked {
    Slot slot;
    std::vector<std::uint64_t> lengths;  // lengths of the variable's dimensions
    Storage storage;
    std::uint64_t begin = 0;  // offset of the variable's region
  };
  struct PartCounts {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    std::int64_t greatest = std::numeric_limits<std::int64_t>::min();
    std::uint64_t ordered = 0;
  };
  struct Total {
    ValueCounts counts;
    Histogram histogram;
    std::unique_ptr<ExactSums> sums;
    std::vector<PartCounts> parts;
    // For each function of the variable, the accumulator of all values.
    std::vector<std::unique_ptr<ValueAccumulator>> functions;
  };
  // An element of which only some bytes were added.
  struct Cut {
    std::array<std::byte, 8> bytes{};
    std::uint8_t there = 0;  // bit n is set if byte n was added
  };
  struct Variable {
    bool computed = false;
    Type type = Type::kByte;
    bool nan_is_missing = false;
    std::uint64_t elements = 0;
    unsigned shift = 0;                  // PartRanges::shift
    std::vector<std::string> functions;  // names
  };

  template <class Bytes>
  void count(std::uint64_t from, std::uint64_t to, const Bytes& bytes);
  template <class Bytes>
  void count_slot(const Slot& slot, std::uint64_t record, std::uint64_t from, std::uint64_t to,
                  const Bytes& bytes, ValueTally* tally);
  template <class Count>
  void count_elements(const Slot& slot, std::uint64_t first, std::uint64_t end, ValueTally* tally,
                      const Count& count);
  template <class Count>
  void count_part(const Slot& slot, std::size_t part, ValueTally* tally, const Count& count);
  template <class Bytes>
  std::optional<std::array<std::byte, 8>> keep_cut(const Slot& slot, std::uint64_t offset,
                                                   std::uint64_t from, std::uint64_t to,
                                                   const Bytes& bytes);
  bool wants(std::size_t part) const { return request_.wanted.empty() || request_.wanted[part]; }
  template <class Bytes>
  void count_record(std::uint64_t record, std::uint64_t from, std::uint64_t to, const Bytes& bytes);
  template <class Bytes>
  void count_whole_records(std::uint64_t first, std::uint64_t end, const Bytes& bytes);
  void note_hole(std::size_t first, std::size_t end, ByteRange records);
  void count_holes_noted();
  void note(Slot* slot, std::uint64_t elements, PartDivision division);
  void add_functions(std::string_view name, const Slot& slot,
                     std::span<const ValueFunction> functions);
  // Prepares a variable whose values are not a plain array.
  void take_stored(const Metadata& metadata, const Storage& storage,
                   std::span<const hdf5::Property> properties, Slot slot);
  Status count_chunks_of(const Chunked& chunked, const std::shared_ptr<const ByteSource>& extent,
                         unsigned threads);
  void begin(const Slot& slot, ValueTally* tally) const;
  void keep(const Slot& slot, const ValueTally& tally);

  CountRequest request_;  // without functions
  std::size_t parts_left_ = 1 << 20;
  std::vector<Slot> fixed_, record_;  // ordered by begin, without overlap
  // Indexes in record_ of the variables whose values are divided into parts.
  std::vector<std::size_t> divided_;
  std::vector<Chunked> chunked_;
  std::uint64_t record_begin_ = 0, record_size_ = 0, records_ = 0;
  std::vector<Variable> variables_;
  // For each variable and function, an accumulator that has received no values.
  std::vector<std::vector<std::unique_ptr<ValueAccumulator>>> functions_;
  std::vector<std::string> names_;

  std::mutex mutex_;                   // protects the members below
  std::vector<Total> totals_;          // totals for each variable
  std::map<std::uint64_t, Cut> cuts_;  // incomplete elements, by their offsets
  // For each variable in record_, how many of its records lie completely in holes, as the
  // difference from the number of the variable before it. Not used for the variables in divided_.
  std::vector<std::uint64_t> in_holes_;
};

template <class Count>
void ExtentCounter::count_part(const Slot& slot, std::size_t part, ValueTally* tally,
                               const Count& count) {
  const ValueCounts before = std::exchange(tally->counts, ValueCounts());
  count();
  {
    std::lock_guard lock(mutex_);
    PartCounts& total = totals_[slot.variable].parts[part];
    total.least = std::min(total.least, tally->counts.least);
    total.greatest = std::max(total.greatest, tally->counts.greatest);
    total.ordered += tally->counts.ordered();
  }
  tally->counts.add(before);
}

// Counts elements [first, end) of a variable without chunks. count(i, n) counts n elements from
// element i on.
template <class Count>
void ExtentCounter::count_elements(const Slot& slot, std::uint64_t first, std::uint64_t end,
                                   ValueTally* tally, const Count& count) {
  if (slot.division.parts() == 0) return count(first, end - first);
  while (first < end) {
    const std::uint64_t unit = first / PartRanges::kUnitValues;
    const std::uint64_t part_end = slot.division.next_part(unit) * PartRanges::kUnitValues;
    const std::uint64_t n = std::min(end, part_end) - first;
    if (const std::size_t part = slot.division.part_of(unit); wants(part))
      count_part(slot, part, tally, [&] { count(first, n); });
    first += n;
  }
}

}  // namespace nmb
