// Reads chains of pages. If the first row of a page has state 1, this row states the place of the
// previous page in the chain (spec/format.md, sections 6, 10.3 and 10.4).
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

// Returns the place of the previous page in the chain, or nullopt if `page` is the first page of
// its chain. The sum in this place is the `sum` field of the previous page.
std::optional<Place> page_before(const Page& page);

// Checks R-PG-9 for the states of the page's rows. Also checks that the previous page lies at a
// lower position.
void check_page_before(const Page& page, PageUse use, Findings& findings);

// Returns whether a page has none of the columns `columns`. Such a page may have more rows than
// bytes. In these columns, all rows of the page are equal, so it is enough to check one row.
inline bool is_endless(const Page& page, std::initializer_list<Column> columns) {
  for (const Column column : columns)
    if (page.has(column)) return false;
  return true;
}

// Returns all pages of a chain, the oldest first. `newest` is the place that the superblock states;
// it is absent if the file has no such chain. Fails if the chain has more than `most` pages (R-GR-4
// for growth pages). `known` is nullptr, or a page of the chain that was read earlier. The page
// `known` and all older pages are neither read nor returned. Errors: kDamaged, kIo. Memory: the
// pages.
Result<std::vector<std::shared_ptr<const Page>>> read_page_chain(const ByteSource& file,
                                                                 const Superblock& superblock,
                                                                 PageUse use, const Place& newest,
                                                                 std::uint64_t most,
                                                                 const Page* known = nullptr);

}  // namespace nmb
