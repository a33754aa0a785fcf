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

// Returns the place of the page that a page continues, if any. Its sum is the page's `sum` field.
std::optional<Place> page_before(const Page& page);

// Checks R-PG-9 of the page's states, and that the page before lies at a lower position.
void check_page_before(const Page& page, PageUse use, Findings& findings);

// Returns whether there may be more rows than bytes, because none of these columns exists: then all
// rows are equal, and checking one is enough.
inline bool is_endless(const Page& page, std::initializer_list<Column> columns) {
  for (const Column column : columns)
    if (page.has(column)) return false;
  return true;
}

// Returns all pages of a chain, the oldest first. newest: the place in the superblock; absent:
// none. Reads at most `most` pages (R-GR-4 for growth pages). known: a page in memory; it and the
// pages before it are neither read nor returned. Errors: kDamaged, kIo. Memory: that of the pages.
Result<std::vector<std::shared_ptr<const Page>>> read_page_chain(const ByteSource& file,
                                                                 const Superblock& superblock,
                                                                 PageUse use, const Place& newest,
                                                                 std::uint64_t most,
                                                                 const Page* known = nullptr);

}  // namespace nmb
