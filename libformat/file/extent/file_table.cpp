#include "extent/file_table.h"

#include <algorithm>
#include <string_view>

#include "extent/external_path.h"
#include "model/name_rules.h"
#include "superblock/page_chain.h"
#include "wire/joined_text.h"

namespace nmb {

FileTable::FileTable(std::vector<std::shared_ptr<const Page>> pages) : pages_(std::move(pages)) {
  for (const auto& page : pages_) {
    first_rows_.push_back(rows_);
    rows_ += page->rows() - (page_before(*page) ? 1 : 0);
  }
}

std::pair<const Page*, std::uint32_t> FileTable::find(std::uint32_t row) const {
  const auto behind = std::ranges::upper_bound(first_rows_, row);
  const auto k = static_cast<std::size_t>(behind - first_rows_.begin()) - 1;
  const Page& page = *pages_[k];
  return {&page, row - first_rows_[k] + (page_before(page) ? 1 : 0)};
}

std::uint64_t FileTable::value(std::uint32_t row, Column column) const {
  const auto [page, at] = find(row);
  return page->value(at, column);
}

Place FileTable::newest_page() const {
  if (pages_.empty()) return {};
  const Page& page = *pages_.back();
  return {page.position(), page.bytes().size(), page.sum()};
}

Digest FileTable::digest(std::uint32_t row) const {
  const auto [page, at] = find(row);
  return page->digest(at);
}

ExternalFile FileTable::row(std::uint32_t row) const {
  const auto [page, at] = find(row);
  ExternalFile file{std::string(page->name(at)), size(row)};
  file.is_original = is_original(row);
  if (file.is_original) {
    file.digest = page->digest(at);
    file.order = page->value(at, kOrder);
    file.sha256 = sha256(row);
  }
  return file;
}

std::uint64_t FileTable::path_offset(std::uint32_t row) const {
  const auto [page, at] = find(row);
  return page->name_offset(at);
}

std::uint64_t FileTable::value_offset(std::uint32_t row, Column column) const {
  const auto [page, at] = find(row);
  return page->value_offset(at, column);
}

std::optional<Sha256> FileTable::sha256(std::uint32_t row) const {
  const auto [page, at] = find(row);
  const std::span<const std::byte> bytes = page->row_bytes(at);
  Sha256 out;
  if (bytes.size() != out.size()) return std::nullopt;
  std::ranges::copy(bytes, out.begin());
  return out;
}

bool check_file_table(const Page& page, const Superblock& superblock, TablePaths* paths,
                      Findings& findings) {
  const auto report = [&](const char* rule, std::uint64_t offset, std::string found,
                          std::string expected) {
    findings.report({rule, offset, "file table", std::move(found), std::move(expected)});
  };
  const std::uint32_t first = page_before(page) ? 1 : 0;
  if (is_endless(page, {kNameEnd, kStoredLength, kState, kMapPosition, kDigest})) {
    report("R-FT-1", page.name_offset(0), "a path with an empty part", "a path without it");
    return false;
  }
  bool known = true;
  for (std::uint32_t row = first; row < page.rows(); ++row) {
    const std::uint64_t state = page.value(row, kState);
    if (state > FileTable::kOriginal && !superblock.all_known()) continue;
    if (state == 1 || state > FileTable::kOriginal) {
      known = false;
      if (state != 1)  // R-PG-9 reports state 1
        report("R-FT-6", page.value_offset(row, kState), joined_text("state ", state), "0, 1 or 2");
      continue;
    }
    const std::uint64_t size = page.value(row, kStoredLength);
    if (size >> 63)
      report("R-FT-3", page.value_offset(row, kStoredLength), joined_text("size ", size),
             "less than 2^63");
    const bool original = state == FileTable::kOriginal;
    const Place map{page.value(row, kMapPosition), page.value(row, kMapLength),
                    page.value(row, kMapSum)};
    if (original ? map.absent() != (size == 0) : !map.absent())
      report("R-FT-11", page.value_offset(row, kMapPosition),
             map.absent() ? "an original without data map" : "a data map",
             original ? "a data map if and only if the size is not 0"
                      : "no data map for an external file");
    else if (original && !map.absent() && (map.position == 0 || map.length == 0))
      report("R-FT-11", page.value_offset(row, kMapPosition),
             "a data map without a position or without a length", "a position and a length");
    const std::uint64_t order = page.value(row, kOrder);
    if (original ? order >= superblock.next_order : order != 0)
      report(
          original ? "R-FT-8" : "R-FT-14", page.value_offset(row, kOrder),
          joined_text("order ", order),
          original ? joined_text("less than ", superblock.next_order) : "0 for an external file");
    const std::size_t length = page.row_bytes(row).size();
    if (length != 0 && (!original || length != std::tuple_size_v<Sha256>))
      report("R-FT-9", page.value_offset(row, kBytesEnd),
             joined_text(length, length == 1 ? " byte" : " bytes", " in the row"),
             original ? "0 bytes, or the 32 bytes of a SHA-256" : "0 bytes for an external file");
    if (original) continue;
    const std::string_view path = page.name(row);
    if (const char* error = external_path_error(path))
      report("R-FT-1", page.name_offset(row), joined_text("a path with ", error),
             "a path without it");
    else if (!paths->emplace(path).second)
      report("R-FT-2", page.name_offset(row), "the path " + in_quotes(path) + " twice",
             "each path once");
  }
  return known;
}

Result<std::shared_ptr<const FileTable>> read_file_table(const ByteSource& file,
                                                         const Superblock& superblock) {
  NMB_ASSIGN(std::vector<std::shared_ptr<const Page>> pages,
             read_page_chain(file, superblock, PageUse::kFileTable, superblock.file_table,
                             ~std::uint64_t{0}));
  FirstFinding first;
  TablePaths paths;
  for (const auto& page : pages) {
    check_file_table(*page, superblock, &paths, first);
    NMB_TRY(first.status(file.name()));
  }
  return std::make_shared<const FileTable>(std::move(pages));
}

PageBuilder file_table_page(std::span<const ExternalFile> files, std::size_t first,
                            const std::map<std::size_t, Place>& maps, const Place& before) {
  PageBuilder page(PageUse::kFileTable, 0);
  if (!before.absent()) {
    page.add_row();
    page.set(kState, 1);
    page.set(kPosition, before.position);
    page.set(kStoredLength, before.length);
    page.set(kSum, before.sum);
  }
  for (std::size_t i = first; i < files.size(); ++i) {
    const ExternalFile& file = files[i];
    page.add_row(file.path);
    page.set(kStoredLength, file.size);
    if (!file.is_original) continue;
    page.set(kState, FileTable::kOriginal);
    page.set_digest(file.digest);
    page.set(kOrder, file.order);
    if (file.sha256) page.set_bytes(*file.sha256);
    if (const auto map = maps.find(i); map != maps.end()) {
      page.set(kMapPosition, map->second.position);
      page.set(kMapLength, map->second.length);
      page.set(kMapSum, map->second.sum);
    }
  }
  return page;
}

}  // namespace nmb
