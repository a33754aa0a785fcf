// Chains of pages: a page whose first row has state 1 continues the page at that place
// (spec/format.md, sections 6, 10.3 and 10.4).
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

// The page before, of a page that continues one. Its sum is the page's `sum` field.
std::optional<Place> page_before(const Page& page);

// Checks R-PG-9 of the page's states, and that the page that it continues lies lower.
void check_page_before(const Page& page, PageUse use, Findings& findings);

// Whether there may be more rows than bytes, as none of these columns is there: then all rows are
// the same, and one of them tells what is wrong.
inline bool is_endless(const Page& page, std::initializer_list<Column> columns) {
  for (const Column column : columns)
    if (page.has(column)) return false;
  return true;
}

// All pages of a chain, the oldest first. newest: as the superblock places it; absent: none. At
// most `most` pages (R-GR-4 of growth pages). known: a page at hand; those from it on backwards are
// neither read nor returned. kDamaged, kIo. Memory: that of the pages.
Result<std::vector<std::shared_ptr<const Page>>> read_page_chain(const ByteSource& file,
                                                                 const Superblock& superblock,
                                                                 PageUse use, const Place& newest,
                                                                 std::uint64_t most,
                                                                 const Page* known = nullptr);

}  // namespace nmb
