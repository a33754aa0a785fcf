// BlockCounter: counts the values of a block from the bytes of its extent, which are given in any
// order and in any parts, each byte once (spec/format.md, section 9.3). It joins the bytes of an
// element that is divided among parts.
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
  // level: not kNone. The object keeps no reference to the arguments. Errors: kDamaged if the
  // definitions contradict each other.
  static Result<std::unique_ptr<BlockCounter>> make(const Metadata& metadata,
                                                    const ClassicLayout& layout,
                                                    std::uint64_t records, StatisticsLevel level);

  // Adds bytes of the extent from `offset` on.
  void add(std::uint64_t offset, std::span<const std::byte> bytes);
  // Adds bytes [from, to) of the extent for which nothing is stored: their values are fill values.
  void add_hole(std::uint64_t from, std::uint64_t to);
  // Returns whether variables have tables of chunks, whose values add() does not see.
  bool has_chunks() const { return !chunked_.empty(); }
  // Reads and counts the values in chunks; not concurrent with other calls. Leaves out a variable
  // that has a damaged chunk or whose chunks would decode to far more bytes than are stored.
  // Memory: 32 MiB, or one chunk. Errors: kDamaged, kIo.
  Status count_chunks(const std::shared_ptr<const ByteSource>& extent, unsigned threads);
  // Call this after all bytes of values were added. Errors: kDamaged if some are missing.
  Result<BlockStatistics> finish();
  // Returns the names of the variables, in order; empty for data sets that netCDF shows only as
  // dimensions, whose values nobody has written.
  std::vector<std::string> take_names() { return std::move(names_); }
  // Returns statistics in which no variable is computed, for a block whose values cannot be read;
  // call it instead of finish().
  BlockStatistics none() const;
  // Returns whether there are values to count.
  bool counts_any() const { return !fixed_.empty() || !record_.empty(); }

 private:
  // The place of a variable's elements: in the extent, or in a record.
  struct Slot {
    std::uint64_t begin = 0, end = 0;
    VarId variable = 0;
    ValueForm form;
    std::uint64_t most_buckets = 0;
  };
  // A variable in chunks. slot.form.hole is the value of chunks that were never written.
  struct Chunked {
    Slot slot;
    std::vector<std::uint64_t> lengths;  // lengths of its dimensions
    Storage storage;
    std::uint64_t begin = 0;  // where its region begins
  };
  struct Total {
    ValueCounts counts;
    Histogram histogram;
  };
  // The values of one variable that one call counts.
  struct Local {
    ValueCounts counts;
    HistogramBuilder histogram;
    bool with_histogram = false;
    HistogramBuilder* builder() { return with_histogram ? &histogram : nullptr; }
  };
  // An element some of whose bytes are still missing.
  struct Cut {
    std::array<std::byte, 8> bytes{};
    std::uint8_t there = 0;  // bit n is set: byte n was added
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
  // Prepares a variable whose values are not a plain array; false: it is not counted.
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

  std::mutex mutex_;                   // protects the members below
  std::vector<Total> totals_;          // by variable
  std::map<std::uint64_t, Cut> cuts_;  // by the offset of the element
  // By index in record_: how many records of the variable are completely in holes, as the
  // difference from the variable before.
  std::vector<std::uint64_t> in_holes_;
};

}  // namespace nmb
