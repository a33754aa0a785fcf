// FileTable holds the file table of an NMB file: its external files and originals (spec/format.md,
// section 10.3).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "format/page/page.h"
#include "format/superblock/superblock.h"
#include "nmb/bytes.h"
#include "nmb/external_files.h"
#include "nmb/status.h"
#include "wire/place.h"

namespace nmb {

// A file table is immutable, so threads may share it.
class FileTable {
 public:
  FileTable() = default;  // for a file without a file table
  // `pages` come with the oldest first. Each page was checked by check_file_table().
  explicit FileTable(std::vector<std::shared_ptr<const Page>> pages);

  std::uint32_t rows() const { return rows_; }
  ExternalFile row(std::uint32_t row) const;
  std::uint64_t size(std::uint32_t row) const { return value(row, kStoredLength); }
  bool is_original(std::uint32_t row) const { return value(row, kState) == kOriginal; }
  // Returns the place of the root of an original's data map.
  Place map(std::uint32_t row) const {
    return {value(row, kMapPosition), value(row, kMapLength), value(row, kMapSum)};
  }
  Digest digest(std::uint32_t row) const;
  // Returns the SHA-256 of an original, or nullopt if the row has none.
  std::optional<Sha256> sha256(std::uint32_t row) const;

  // The pages, with the oldest first.
  std::span<const std::shared_ptr<const Page>> pages() const { return pages_; }
  // Returns the place of the newest page, with the page's `sum` field as the sum. The place is
  // absent if there is no page.
  Place newest_page() const;
  // The next two functions return positions in the file, for findings.
  std::uint64_t path_offset(std::uint32_t row) const;
  std::uint64_t value_offset(std::uint32_t row, Column column) const;

  static constexpr std::uint64_t kOriginal = 2;  // state of a row

 private:
  // Returns the page that has the table's row `row`, and the number of this row in the page.
  std::pair<const Page*, std::uint32_t> find(std::uint32_t row) const;
  std::uint64_t value(std::uint32_t row, Column column) const;

  std::vector<std::shared_ptr<const Page>> pages_;
  std::vector<std::uint32_t> first_rows_;  // number in the table of each page's first row
  std::uint32_t rows_ = 0;
};

// Paths of external files in the pages that were checked so far.
using TablePaths = std::unordered_set<std::string>;

// Checks R-FT-1 to R-FT-3 for the rows of a page, R-FT-6 without reading data maps, R-FT-8, and the
// length in R-FT-9. Call this function with the oldest page first. next_order: the superblock's
// next order. Returns false if the rows of the page cannot be read.
// Memory: a few bytes for each row.
bool check_file_table(const Page& page, std::uint64_t next_order, TablePaths* paths,
                      Findings& findings);

// Reads and checks the file table to which the superblock leads. The result has no rows if there is
// no table. Errors: kDamaged, kIo.
Result<std::shared_ptr<const FileTable>> read_file_table(const ByteSource& file,
                                                         const Superblock& superblock);

// Returns a page with a row for each file from files[first] on. `maps` has the places of the data
// maps of originals, by index in `files`. `before` is the place of the page that this page
// continues, with that page's `sum` field as the sum. If this page continues no other, `before` is
// absent.
PageBuilder file_table_page(std::span<const ExternalFile> files, std::size_t first = 0,
                            const std::map<std::size_t, Place>& maps = {},
                            const Place& before = {});

}  // namespace nmb
