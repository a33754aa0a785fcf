// The file table: the external files of an NMB file (spec/format.md, section 10.3).
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

// Immutable, so safe to share between threads.
class FileTable {
 public:
  FileTable() = default;  // of a file without a table
  // pages: the oldest first, each checked by check_file_table().
  explicit FileTable(std::vector<std::shared_ptr<const Page>> pages);

  std::uint32_t rows() const { return rows_; }
  ExternalFile row(std::uint32_t row) const;
  std::uint64_t size(std::uint32_t row) const { return value(row, kStoredLength); }
  bool is_original(std::uint32_t row) const { return value(row, kState) == kOriginal; }
  // Returns the root of an original's data map.
  Place map(std::uint32_t row) const {
    return {value(row, kMapPosition), value(row, kMapLength), value(row, kMapSum)};
  }
  Digest digest(std::uint32_t row) const;
  std::optional<Sha256> sha256(std::uint32_t row) const;
  // Its sum is the page's `sum` field; absent: there is none.
  Place newest_page() const;
  // Returns positions in the file, for findings.
  std::uint64_t path_offset(std::uint32_t row) const;
  std::uint64_t value_offset(std::uint32_t row, Column column) const;

  static constexpr std::uint64_t kOriginal = 2;  // state of a row

 private:
  // Returns the page that has a row, and the row's number in the page.
  std::pair<const Page*, std::uint32_t> find(std::uint32_t row) const;
  std::uint64_t value(std::uint32_t row, Column column) const;

  std::vector<std::shared_ptr<const Page>> pages_;
  std::vector<std::uint32_t> first_rows_;  // the first row of each page, counted over all pages
  std::uint32_t rows_ = 0;
};

// Paths of external files in the pages so far.
using TablePaths = std::unordered_set<std::string>;

// Checks R-FT-1 to R-FT-3, R-FT-6 (without maps), R-FT-8 and the length in R-FT-9 of the rows of a
// page; call with the oldest page first. next_order: of the superblock. Memory: a few bytes for
// each row. Returns false if its rows cannot be read.
bool check_file_table(const Page& page, std::uint64_t next_order, TablePaths* paths,
                      Findings& findings);

// Reads and checks the table that the superblock places, if any. Errors: kDamaged, kIo.
Result<std::shared_ptr<const FileTable>> read_file_table(const ByteSource& file,
                                                         const Superblock& superblock);

// Returns a page with the rows from number `first` on. maps: the data maps of originals, by number
// of the row. before: the page that it continues, with the page's `sum` field as its sum; absent:
// none.
PageBuilder file_table_page(std::span<const ExternalFile> files, std::size_t first = 0,
                            const std::map<std::size_t, Place>& maps = {},
                            const Place& before = {});

}  // namespace nmb
