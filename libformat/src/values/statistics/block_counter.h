// BlockCounter: counts the values of a block from the bytes of its extent, given in any order and
// in any parts, each byte once (spec/format.md, section 9.3). An element that lies in several parts
// is put together.
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

// Thread-safe but for finish().
class BlockCounter {
 public:
  // level: not kNone. Nothing given is referred to later. kDamaged: the definitions say what cannot
  // be.
  static Result<std::unique_ptr<BlockCounter>> make(const Metadata& metadata,
                                                    const ClassicLayout& layout,
                                                    std::uint64_t records, StatisticsLevel level);

  // Bytes of the extent from `offset` on.
  void add(std::uint64_t offset, std::span<const std::byte> bytes);
  // Bytes [from, to) of the extent for which nothing is stored: they are fill values.
  void add_hole(std::uint64_t from, std::uint64_t to);
  // Variables whose values are found by tables of chunks, which add() does not see.
  bool has_chunks() const { return !chunked_.empty(); }
  // Reads and counts them; not together with other calls. A variable with a damaged chunk, or
  // whose chunks would decode to very much more than is stored, is left out. Memory: 32 MiB, or a
  // chunk. kDamaged, kIo.
  Status count_chunks(const std::shared_ptr<const ByteSource>& extent, unsigned threads);
  // When all bytes were given that belong to values. kDamaged: they were not.
  Result<BlockStatistics> finish();
  // Of the variables, in order; empty of data sets that netCDF shows as dimensions only, whose
  // values nobody has written.
  std::vector<std::string> take_names() { return std::move(names_); }
  // Of all variables, none of them computed: in place of finish() where values cannot be read.
  BlockStatistics none() const;
  // Whether there is anything to be counted.
  bool counts_any() const { return !fixed_.empty() || !record_.empty(); }

 private:
  // Where a variable's elements lie: in the extent, or in a record.
  struct Slot {
    std::uint64_t begin = 0, end = 0;
    VarId variable = 0;
    ValueForm form;
    std::uint64_t most_buckets = 0;
  };
  // A variable in chunks. What was never written is slot.form.hole.
  struct Chunked {
    Slot slot;
    std::vector<std::uint64_t> lengths;  // of its dimensions
    Storage storage;
    std::uint64_t begin = 0;  // of its region
  };
  struct Total {
    ValueCounts counts;
    Histogram histogram;
  };
  // What one call counts of one variable.
  struct Local {
    ValueCounts counts;
    HistogramBuilder histogram;
    bool with_histogram = false;
    HistogramBuilder* builder() { return with_histogram ? &histogram : nullptr; }
  };
  // An element of which not all bytes are there.
  struct Cut {
    std::array<std::byte, 8> bytes{};
    std::uint8_t there = 0;  // bit n: byte n
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
                  const Bytes& bytes, Local* local);
  template <class Bytes>
  void keep_cut(const Slot& slot, std::uint64_t element, std::uint64_t from, std::uint64_t to,
                const Bytes& bytes, Local* local);
  template <class Bytes>
  void count_record(std::uint64_t record, std::uint64_t from, std::uint64_t to, const Bytes& bytes);
  template <class Bytes>
  void count_whole_records(std::uint64_t first, std::uint64_t end, const Bytes& bytes);
  void note_hole(std::vector<Slot>::const_iterator first, std::vector<Slot>::const_iterator end,
                 std::uint64_t records);
  void count_holes_noted();
  void note(Slot* slot, std::uint64_t elements);
  // Of a variable whose values are no plain array; false: it is not counted.
  bool take_stored(const Metadata& metadata, const Storage& storage,
                   std::span<const hdf5::Property> properties, Slot slot);
  Status count_chunks_of(const Chunked& chunked, const std::shared_ptr<const ByteSource>& extent,
                         unsigned threads);
  void begin(const Slot& slot, Local* local) const;
  void keep(const Slot& slot, const Local& local);

  StatisticsLevel level_ = StatisticsLevel::kBasic;
  std::vector<Slot> fixed_, record_;  // by begin, without overlap
  std::vector<Chunked> chunked_;
  std::uint64_t record_begin_ = 0, record_size_ = 0, records_ = 0;
  std::vector<Variable> variables_;
  std::vector<std::string> names_;

  std::mutex mutex_;                   // of what follows
  std::vector<Total> totals_;          // of each variable
  std::map<std::uint64_t, Cut> cuts_;  // by where the element begins
  // How many records of a variable lie in holes whole, less that of the one before.
  std::vector<std::uint64_t> in_holes_;
};

}  // namespace nmb
