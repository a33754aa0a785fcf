// Encodes and decodes pages, which are tables of rows stored by columns. The index, data maps,
// dead-space segments, file tables, growth, statistics and tags consist of pages (spec/format.md,
// section 6).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "page/origin.h"
#include "wire/bytes.h"
#include "wire/column.h"
#include "wire/failure.h"
#include "wire/place.h"

namespace nmb {

// Values of column kState (34).
inline constexpr std::uint64_t kStatePageBefore = 1;  // allowed only in the first row
inline constexpr std::uint64_t kStateAbandoned = 2;   // allowed only in dead-space segments

inline constexpr std::size_t kPageHeaderSize = 88;
inline constexpr std::size_t kPageSumOffset = 80;
// Default limits for the number of rows in a leaf and in a node of the index. The limit for a node
// also applies to all pages of a data map.
inline constexpr std::uint32_t kLeafRows = 64;
inline constexpr std::uint32_t kNodeRows = 128;
inline constexpr std::size_t kPageLengthOffset = 20;
inline constexpr std::size_t kPageGenerationOffset = 56;
inline constexpr std::uint16_t kMaxMapLevel = 8;

// The properties that a page must have according to the place that refers to it.
struct PageExpectation {
  PageUse use = PageUse::kIndex;
  std::uint16_t level = 0;
  // Whether any level up to kMaxMapLevel is allowed, as for roots of data maps and tables.
  bool any_level = false;
  Origin newest;  // newest generation that may have written the page
  std::uint64_t position = 0;
  std::uint32_t length = 0;
  std::optional<std::uint64_t> sum;  // sum that the parent states
  std::uint64_t owner = 0;
  std::uint32_t max_rows = 0;    // 0 means no limit
  bool reserved_in_use = false;  // whether an unknown feature may use reserved bytes (section 17)
};

// The fields with which a page identifies itself. With them, recovery finds pages without their
// parents (spec/recovery.md, section 19).
struct PageHeader {
  PageUse use = PageUse::kIndex;
  std::uint16_t level = 0;
  std::uint32_t length = 0;
  Origin origin;
  std::uint64_t position = 0;
  std::uint64_t owner = 0;
  std::uint64_t sum = 0;

  // Decodes the first kPageHeaderSize bytes of a page. Returns nullopt if they do not begin with
  // the magic and the version of a page. Checks nothing else.
  static std::optional<PageHeader> decode(std::span<const std::byte> bytes);
  // Returns the properties of a page that agrees with this header.
  PageExpectation expectation() const;
};

// A value of a column that this version does not know.
struct UnknownValue {
  std::uint16_t id = 0;
  bool wide = false;  // whether the value has 16 bytes
  Digest value;       // a value that is not wide has only the low half
};

// Returns the places of structures of later versions in a row's unknown values, in ascending order
// of column ids.
std::vector<Place> later_places_of(std::span<const UnknownValue> values);

// A structure that a later version defines, and to which a row refers.
struct LaterPlace {
  Place place;
  std::uint64_t placed_at = 0;  // offset in the file of the structure's position; offset of the
                                // page if the column of positions is missing
};

// A decoded page, with its bytes. It is immutable, so threads may share it.
class Page {
 public:
  // Decodes a page of expect.length bytes. Checks R-PG-1 to R-PG-8, and R-IX-1 and R-IX-3 for the
  // names, and reports all findings. Returns nullopt if the rows cannot be read.
  static std::optional<Page> decode(std::vector<std::byte> bytes, const PageExpectation& expect,
                                    Findings& findings);

  std::uint32_t rows() const { return rows_; }
  std::uint16_t level() const { return level_; }
  std::uint64_t generation() const { return generation_; }
  std::uint64_t position() const { return position_; }
  std::uint64_t sum() const { return sum_; }
  std::span<const std::byte> bytes() const { return bytes_; }
  std::uint64_t value(std::uint32_t row, Column column) const;
  // Returns whether the page has the column. A missing column has the value 0 in all rows.
  bool has(Column column) const { return columns_[column].width != 0; }
  // Returns a value of a wide column (kWideColumns).
  Digest digest(std::uint32_t row, Column column = kDigest) const;
  // Returns the position of a value in the file, or the position of the page if it does not have
  // the column. Messages state this position.
  std::uint64_t value_offset(std::uint32_t row, Column column) const;
  std::string_view name(std::uint32_t row) const;
  std::uint64_t name_offset(std::uint32_t row) const;
  // Returns the name of a row in a table of section 9.2, where a row without a name has the name of
  // the previous row.
  std::string_view shared_name(std::uint32_t row) const;
  // Returns a row's bytes, which the page stores after all names (column kBytesEnd).
  std::span<const std::byte> row_bytes(std::uint32_t row) const;

  // --- columns that this version does not know ---
  bool has_unknown() const { return !unknown_.empty(); }
  // Returns the ids of the unknown columns in ascending order.
  std::vector<std::uint16_t> unknown_columns() const;
  // Returns whether an unknown column forbids changes of the page's rows.
  bool forbids_changes() const;
  // Returns the values of a row in unknown columns, in ascending order of column ids, without those
  // that are 0.
  std::vector<UnknownValue> unknown_values(std::uint32_t row) const;
  // Returns the structures of later versions to which a row refers.
  std::vector<LaterPlace> later_places(std::uint32_t row) const;

 private:
  class Decoder;
  struct ColumnPlace {
    std::uint32_t offset = 0;
    std::uint32_t width = 0;
  };
  struct UnknownColumn {
    std::uint16_t id = 0;
    std::uint16_t width = 0;
    std::uint32_t offset = 0;
  };
  Page() = default;
  Digest unknown_value(const UnknownColumn& column, std::uint32_t row) const;
  std::uint32_t name_begin(std::uint32_t row) const {
    return row == 0 ? 0 : static_cast<std::uint32_t>(value(row - 1, kNameEnd));
  }
  std::vector<std::byte> bytes_;
  std::array<ColumnPlace, kColumnCount> columns_{};
  std::vector<UnknownColumn> unknown_;
  std::uint32_t rows_ = 0;
  std::uint32_t heap_ = 0;       // offset of the heap in the page
  std::uint32_t row_bytes_ = 0;  // offset in the page of the bytes after the names
  std::uint16_t level_ = 0;
  std::uint64_t generation_ = 0;
  std::uint64_t position_ = 0;
  std::uint64_t sum_ = 0;
};

// Collects rows and encodes them as a page. Can be reused after clear().
class PageBuilder {
 public:
  PageBuilder(PageUse use, std::uint16_t level) : use_(use), level_(level) {}

  // Starts a row with all columns 0.
  void add_row(std::string_view name = {});
  // Sets a value of the row that was added last.
  void set(Column column, std::uint64_t value);
  // Sets a value of a wide column (kWideColumns).
  void set_digest(Digest digest, Column column = kDigest);
  // Sets the row's bytes, which the page stores after all names (column kBytesEnd).
  void set_bytes(std::span<const std::byte> bytes);
  // Adds values of unknown columns from another page.
  void keep(std::span<const UnknownValue> values);
  std::uint32_t rows() const { return rows_; }
  std::string_view last_name() const;
  void clear();

  // Returns the number of bytes of the encoded page. It does not depend on the position of the
  // page. Errors: kLimit if it is 2^32 or more.
  Result<std::uint32_t> length() const;
  struct Encoded {
    std::vector<std::byte> bytes;
    std::uint64_t sum = 0;
  };
  // Encodes the page. Errors: kLimit, as for length().
  Result<Encoded> encode(const Origin& origin, std::uint64_t position,
                         std::uint64_t owner = 0) const;

 private:
  std::uint32_t width(std::uint16_t column) const;
  PageUse use_;
  std::uint16_t level_;
  std::uint32_t rows_ = 0;
  std::array<std::vector<std::uint64_t>, kColumnCount>
      values_;  // values of each column; empty if all are 0
  std::array<std::vector<Digest>, kWideColumns.size()>
      digests_;  // values of each wide column; empty if all are 0
  struct KeptColumn {
    std::uint16_t id = 0;
    bool wide = false;
    std::vector<Digest> values;
    std::uint16_t width() const;
  };
  std::vector<KeptColumn> kept_;  // by ascending ids
  std::string heap_;              // names
  std::vector<std::byte> bytes_;  // bytes after the names
};

// Sets the position in an encoded page. Returns the page's new sum.
std::uint64_t place_page(std::span<std::byte> page, std::uint64_t position);

// Reads and decodes a page. If there are findings, fails with the first finding.
Result<std::shared_ptr<const Page>> read_page(const ByteSource& file,
                                              const PageExpectation& expect);
// Reads one column of a page, and little else. The sum of the page is not checked, so the values
// may be wrong: use them only to decide which pages to read whole. Returns nullopt if the page is
// not as expected, has a column that this version must know, or has more than 65,536 rows. Errors:
// kIo.
Result<std::optional<std::vector<std::uint64_t>>> peek_column(const ByteSource& file,
                                                              const PageExpectation& expect,
                                                              Column column);

}  // namespace nmb
