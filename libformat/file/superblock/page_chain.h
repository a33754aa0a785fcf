// Reads chains of pages. If the first row of a page has state 1, this row states the place of the
// previous page (spec/format.md, sections 6, 10.3 and 10.4).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "page/page.h"
#include "superblock/superblock.h"
#include "wire/bytes.h"
#include "wire/failure.h"
#include "wire/place.h"

namespace nmb {

// Returns the place of the previous page, with its `sum` field as sum, or nullopt if `page` is the
// first one of its chain.
std::optional<Place> page_before(const Page& page);

// Checks R-PG-9 for the states of the page's rows, and that the previous page lies at a lower
// position.
void check_page_before(const Page& page, PageUse use, Findings& findings);

// Returns whether a page has none of these columns. Such a page may have more rows than bytes, but
// all its rows are equal in these columns, so that it is enough to check one row.
inline bool is_endless(const Page& page, std::initializer_list<Column> columns) {
  for (const Column column : columns)
    if (page.has(column)) return false;
  return true;
}

// Returns all pages of a chain, oldest first. newest: the place in the superblock; absent if the
// file has no such chain. known: a page of the chain that was read earlier, or nullptr; this page
// and all older pages are neither read nor returned. Fails if the chain has more than `most` pages
// (R-GR-4 for growth pages). Errors: kDamaged, kIo. Memory: the pages.
Result<std::vector<std::shared_ptr<const Page>>> read_page_chain(const ByteSource& file,
                                                                 const Superblock& superblock,
                                                                 PageUse use, const Place& newest,
                                                                 std::uint64_t most,
                                                                 const Page* known = nullptr);

}  // namespace nmb
