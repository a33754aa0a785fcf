// Reads chains of pages. If the first row of a page has state 1, the page continues the page at the
// place in that row (spec/format.md, sections 6, 10.3 and 10.4).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "format/page/page.h"
#include "format/superblock/superblock.h"
#include "nmb/bytes.h"
#include "nmb/status.h"
#include "wire/place.h"

namespace nmb {

// Returns the place of the page that a page continues, or nullopt if it continues none. The place's
// sum is the `sum` field of that earlier page.
std::optional<Place> page_before(const Page& page);

// Checks R-PG-9 for the states of the page's rows. Checks also that the page before lies at a lower
// position.
void check_page_before(const Page& page, PageUse use, Findings& findings);

// Returns whether a page has none of these columns. Such a page may have more rows than bytes. All
// its rows are equal in these columns, so it is enough to check one row.
inline bool is_endless(const Page& page, std::initializer_list<Column> columns) {
  for (const Column column : columns)
    if (page.has(column)) return false;
  return true;
}

// Returns all pages of a chain, the oldest first. `newest` is the place in the superblock, absent
// if there is no chain. Fails if there are more than `most` pages (R-GR-4 for growth pages).
// `known` is a page that was read earlier: it and the pages before it are neither read nor
// returned. Errors: kDamaged, kIo. Memory: the pages.
Result<std::vector<std::shared_ptr<const Page>>> read_page_chain(const ByteSource& file,
                                                                 const Superblock& superblock,
                                                                 PageUse use, const Place& newest,
                                                                 std::uint64_t most,
                                                                 const Page* known = nullptr);

}  // namespace nmb
