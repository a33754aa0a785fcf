// The file table (see external/file_table.h).
#include "external/file_table.h"

#include <string>
#include <string_view>
#include <unordered_set>

#include "block/name_rules.h"
#include "external/external_path.h"
#include "wire/hash.h"

namespace nmb {

PageExpectation file_table_expectation(const Superblock& superblock) {
  PageExpectation expect;
  expect.use = PageUse::kFileTable;
  expect.newest = superblock.origin();
  expect.position = superblock.file_table.position;
  expect.length = static_cast<std::uint32_t>(superblock.file_table.length);
  return expect;
}

void check_file_table(const Page& page, Findings& findings) {
  const auto report = [&](const char* rule, std::uint64_t offset, std::string found,
                          std::string expected) {
    findings.report({rule, offset, "file table", std::move(found), std::move(expected)});
  };
  // Without the column there may be more rows than bytes: what is wrong with one is with all.
  if (!page.has(kNameEnd))
    return report("R-FT-1", page.name_offset(0), "a path with an empty part", "one without");
  std::unordered_set<std::string_view> paths;
  for (std::uint32_t row = 0; row < page.rows(); ++row) {
    const std::string_view path = page.name(row);
    if (const char* error = external_path_error(path))
      report("R-FT-1", page.name_offset(row), "a path with " + std::string(error), "one without");
    else if (!paths.insert(path).second)
      report("R-FT-2", page.name_offset(row), "the path " + in_quotes(path) + " twice", "it once");
    if (const std::uint64_t size = page.value(row, kStoredLength); size >> 63)
      report("R-FT-3", page.value_offset(row, kStoredLength), "size " + std::to_string(size),
             "less than 2^63");
  }
}

Result<std::shared_ptr<const FileTable>> read_file_table(const ByteSource& file,
                                                         const Superblock& superblock) {
  const Place& place = superblock.file_table;
  if (place.absent()) return std::make_shared<const FileTable>();
  if (place.length > ~std::uint32_t{0})
    return Status(Code::kDamaged, file.name(), place.position, "R-PG-3",
                  "found a file table of " + std::to_string(place.length) +
                      " bytes, expected less than 2^32");
  NMB_ASSIGN(std::shared_ptr<const Page> page, read_page(file, file_table_expectation(superblock)));
  if (sum_of(page->bytes()) != place.sum)
    return Status(Code::kDamaged, file.name(), place.position, "R-SB-9",
                  "found a file table with another sum, expected the one in the superblock");
  FirstFinding first;
  check_file_table(*page, first);
  NMB_TRY(first.status(file.name()));
  return std::make_shared<const FileTable>(std::move(page));
}

PageBuilder file_table_page(std::span<const ExternalFile> files) {
  PageBuilder page(PageUse::kFileTable, 0);
  for (const ExternalFile& file : files) {
    page.add_row(file.path);
    page.set(kStoredLength, file.size);
  }
  return page;
}

}  // namespace nmb
