// BlockCounter: counts the values of a block (spec/format.md, section 9.3). The bytes of the extent
// can be added in any order and in parts of any size, but each byte only once. An element can be
// divided among several parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "nmb/bytes.h"
#include "nmb/classic.h"
#include "nmb/extension.h"
#include "nmb/metadata.h"
#include "nmb/statistics.h"
#include "nmb/status.h"
#include "values/statistics/histogram_builder.h"
#include "values/statistics/value_counter.h"

namespace nmb {

// Thread-safe except for finish().
class BlockCounter {
 public:
  // level: must not be kNone. with_moments: whether to compute VariableStatistics::moments. The
  // object keeps no reference to the arguments. Errors: kDamaged if the definitions contradict each
  // other.
  static Result<std::unique_ptr<BlockCounter>> make(const Metadata& metadata,
                                                    const ClassicLayout& layout,
                                                    std::uint64_t records, StatisticsLevel level,
                                                    bool with_moments = false);

  // Adds bytes of the extent. The first byte is at `offset`.
  void add(std::uint64_t offset, std::span<const std::byte> bytes);
  // Adds bytes [from, to) of the extent that are not stored. The values in these bytes are fill
  // values.
  void add_hole(std::uint64_t from, std::uint64_t to);
  // Returns whether some variables are stored in chunks. add() does not count their values.
  bool has_chunks() const { return !chunked_.empty(); }
  // Reads and counts the values in chunks. Must not be called concurrently with other functions.
  // Leaves out a variable if its chunks would decode to far more bytes than are stored. Needs 32
  // MiB of memory, or the memory for one chunk if that is more. Errors: kDamaged if a chunk is
  // damaged, kIo.
  Status count_chunks(const std::shared_ptr<const ByteSource>& extent, unsigned threads);
  // Returns the statistics. Call this after all bytes of the values were added. Errors: kDamaged if
  // some values were not added.
  Result<BlockStatistics> finish();
  // Returns the names of all variables in the order of their IDs. A name is empty if netCDF shows
  // the variable only as a dimension. The values of such a variable were never written.
  std::vector<std::string> take_names() { return std::move(names_); }
  // Returns statistics that list all variables, without results for any of them. Call this instead
  // of finish() for a block whose values cannot be read.
  BlockStatistics none() const;
  // Returns whether there are values to count.
  bool counts_any() const { return !fixed_.empty() || !record_.empty(); }

 private:
  // The range of a variable's elements in the extent or, for a record variable, in a record.
  struct Slot {
    std::uint64_t begin = 0, end = 0;
    VarId variable = 0;
    ValueForm form;
    std::uint64_t most_buckets = 0;
  };
  // A variable that is stored in chunks. slot.form.hole is the value of chunks that were never
  // written.
  struct Chunked {
    Slot slot;
    std::vector<std::uint64_t> lengths;  // lengths of the variable's dimensions
    Storage storage;
    std::uint64_t begin = 0;  // offset of the variable's region
  };
  struct Total {
    ValueCounts counts;
    Histogram histogram;
    std::unique_ptr<ExactSums> sums;
  };
  // An element whose bytes were only partly added.
  struct Cut {
    std::array<std::byte, 8> bytes{};
    std::uint8_t there = 0;  // bit n is set if byte n was added
  };
  struct Variable {
    bool computed = false;
    Type type = Type::kByte;
    bool nan_is_missing = false;
    std::uint64_t elements = 0;
  };

  template <class Bytes>
  void count(std::uint64_t from, std::uint64_t to, const Bytes& bytes);
  template <class Bytes>
  void count_slot(const Slot& slot, std::uint64_t base, std::uint64_t from, std::uint64_t to,
                  const Bytes& bytes, ValueTally* tally);
  template <class Bytes>
  void keep_cut(const Slot& slot, std::uint64_t element, std::uint64_t from, std::uint64_t to,
                const Bytes& bytes, ValueTally* tally);
  template <class Bytes>
  void count_record(std::uint64_t record, std::uint64_t from, std::uint64_t to, const Bytes& bytes);
  template <class Bytes>
  void count_whole_records(std::uint64_t first, std::uint64_t end, const Bytes& bytes);
  void note_hole(std::vector<Slot>::const_iterator first, std::vector<Slot>::const_iterator end,
                 std::uint64_t records);
  void count_holes_noted();
  void note(Slot* slot, std::uint64_t elements);
  // Prepares a variable whose values are not a plain array. Returns false if the variable is not
  // counted.
  bool take_stored(const Metadata& metadata, const Storage& storage,
                   std::span<const hdf5::Property> properties, Slot slot);
  Status count_chunks_of(const Chunked& chunked, const std::shared_ptr<const ByteSource>& extent,
                         unsigned threads);
  void begin(const Slot& slot, ValueTally* tally) const;
  void keep(const Slot& slot, const ValueTally& tally);

  StatisticsLevel level_ = StatisticsLevel::kBasic;
  bool with_moments_ = false;
  std::vector<Slot> fixed_, record_;  // ordered by begin, without overlap
  std::vector<Chunked> chunked_;
  std::uint64_t record_begin_ = 0, record_size_ = 0, records_ = 0;
  std::vector<Variable> variables_;
  std::vector<std::string> names_;

  std::mutex mutex_;                   // protects the members below
  std::vector<Total> totals_;          // totals for each variable
  std::map<std::uint64_t, Cut> cuts_;  // incomplete elements, by their offsets
  // One number for each variable in record_: how many of its records are completely in holes. Each
  // number is stored as its difference from the number before it.
  std::vector<std::uint64_t> in_holes_;
};

}  // namespace nmb
