// The file table: which external files an NMB file names (spec/format.md, section 10.3).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "nmb/byte_source.h"
#include "nmb/external_file.h"
#include "nmb/finding.h"
#include "nmb/place.h"
#include "page/page.h"
#include "superblock/superblock.h"

namespace nmb {

// Immutable, so safe to share between threads.
class FileTable {
 public:
  FileTable() = default;  // of a file that has none
  explicit FileTable(std::shared_ptr<const Page> page) : page_(std::move(page)) {}

  std::uint32_t rows() const { return page_ ? page_->rows() : 0; }
  ExternalFile row(std::uint32_t row) const { return {std::string(page_->name(row)), size(row)}; }
  std::uint64_t size(std::uint32_t row) const { return page_->value(row, kStoredLength); }
  // Where they lie in the file, for findings.
  std::uint64_t path_offset(std::uint32_t row) const { return page_->name_offset(row); }
  std::uint64_t size_offset(std::uint32_t row) const {
    return page_->value_offset(row, kStoredLength);
  }
  const std::shared_ptr<const Page>& page() const { return page_; }

 private:
  std::shared_ptr<const Page> page_;
};

// What a file table's page must be.
PageExpectation file_table_expectation(const Superblock& superblock);

// Checks R-FT-1 to R-FT-3 of a page's rows. Memory: a few bytes for each row that there is.
void check_file_table(const Page& page, Findings& findings);

// Reads and checks the table that the superblock places; empty where it places none. kDamaged, kIo.
Result<std::shared_ptr<const FileTable>> read_file_table(const ByteSource& file,
                                                         const Superblock& superblock);

// The page of a table with these rows.
PageBuilder file_table_page(std::span<const ExternalFile> files);

}  // namespace nmb
