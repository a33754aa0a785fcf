// FileTable holds the file table of an NMB file: its external files and originals (spec/files.md,
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

#include "model/external_files.h"
#include "page/page.h"
#include "superblock/superblock.h"
#include "wire/bytes.h"
#include "wire/failure.h"
#include "wire/place.h"

namespace nmb {

// The object is immutable, so threads may share it.
class FileTable {
 public:
  FileTable() = default;  // for a file without a file table
  // pages: oldest first. Each page must have passed check_file_table().
  explicit FileTable(std::vector<std::shared_ptr<const Page>> pages);

  std::uint32_t rows() const { return rows_; }
  ExternalFile row(std::uint32_t row) const;
  std::uint64_t size(std::uint32_t row) const { return value(row, kStoredLength); }
  bool is_original(std::uint32_t row) const { return value(row, kState) == kOriginal; }
  // Returns false for a row whose state only a later version defines.
  bool is_known(std::uint32_t row) const { return value(row, kState) <= kOriginal; }
  // Returns the Place of the root page of an original's data map.
  Place map(std::uint32_t row) const {
    return {value(row, kMapPosition), value(row, kMapLength), value(row, kMapSum)};
  }
  Digest digest(std::uint32_t row) const;
  // Returns the SHA-256 of an original, or nullopt if the row has none.
  std::optional<Sha256> sha256(std::uint32_t row) const;

  // Returns the pages, oldest first.
  std::span<const std::shared_ptr<const Page>> pages() const { return pages_; }
  // Returns the Place of the newest page, with the `sum` field of the page as sum; absent if there
  // are no pages.
  Place newest_page() const;
  // The next two functions return positions in the file, for findings.
  std::uint64_t path_offset(std::uint32_t row) const;
  std::uint64_t value_offset(std::uint32_t row, Column column) const;

  static constexpr std::uint64_t kOriginal = 2;  // state of the row of an original

 private:
  // Returns the page that contains a row of the table, and the index of the row in this page.
  std::pair<const Page*, std::uint32_t> find(std::uint32_t row) const;
  std::uint64_t value(std::uint32_t row, Column column) const;

  std::vector<std::shared_ptr<const Page>> pages_;
  std::vector<std::uint32_t> first_rows_;  // for each page: table index of its first row
  std::uint32_t rows_ = 0;
};

// Paths of external files in the pages that were checked so far.
using TablePaths = std::unordered_set<std::string>;

// Checks the rows of a page: R-FT-1 to R-FT-3, R-FT-6, R-FT-8, R-FT-9, R-FT-14, and the part of
// R-FT-11 that needs no data maps. Call this for the oldest page first. superblock: decides whether
// rows may have states that only a later version defines. Returns false if the rows cannot be read.
// Memory: a few bytes for each row.
bool check_file_table(const Page& page, const Superblock& superblock, TablePaths* paths,
                      Findings& findings);

// Reads and checks the file table of the superblock. Returns a table without rows if there is none.
// Errors: kDamaged, kIo.
Result<std::shared_ptr<const FileTable>> read_file_table(const ByteSource& file,
                                                         const Superblock& superblock);

// Returns a page with one row for each file from files[first] on. maps: the Place of each
// original's data map, by the index in `files`. before: the Place of the previous page of the
// table, with the `sum` field of that page as sum; absent if there is none.
PageBuilder file_table_page(std::span<const ExternalFile> files, std::size_t first = 0,
                            const std::map<std::size_t, Place>& maps = {},
                            const Place& before = {});

}  // namespace nmb
