#include "superblock/page_chain.h"

#include <algorithm>
#include <string>

#include "wire/hash.h"
#include "wire/joined_text.h"

namespace nmb {

std::optional<Place> page_before(const Page& page) {
  if (page.value(0, kState) != 1) return std::nullopt;
  return Place{page.value(0, kPosition), page.value(0, kStoredLength), page.value(0, kSum)};
}

void check_page_before(const Page& page, PageUse use, Findings& findings) {
  const auto report = [&](const char* rule, std::uint32_t row, Column column, std::string found,
                          std::string expected) {
    findings.report({rule, page.value_offset(row, column), "place of the page before",
                     std::move(found), std::move(expected)});
  };
  if (!page.has(kState)) return;
  if (const std::optional<Place> before = page_before(page);
      before && before->position >= page.position())
    report("R-PG-18", 0, kPosition, joined_text("position ", before->position),
           joined_text("a position below ", page.position()));
  for (std::uint32_t row = 0; row < page.rows(); ++row) {
    const std::uint64_t state = page.value(row, kState);
    if (row > 0 && state == 1)
      report("R-PG-9", row, kState, joined_text("state 1 in row ", row),
             "state 1 only in the first row");
    else if (use == PageUse::kGrowth && state > 1)
      report("R-PG-9", row, kState, joined_text("state ", state), "0 or 1");
  }
}

Result<std::vector<std::shared_ptr<const Page>>> read_page_chain(const ByteSource& file,
                                                                 const Superblock& superblock,
                                                                 PageUse use, const Place& newest,
                                                                 std::uint64_t most,
                                                                 const Page* known) {
  std::vector<std::shared_ptr<const Page>> pages;
  const auto damaged = [&](std::uint64_t offset, const char* rule, std::string message) {
    return Status(Code::kDamaged, file.name(), offset, rule, std::move(message));
  };
  std::optional<Place> place;
  if (!newest.absent()) place = newest;
  std::uint64_t placed_at = 0;
  while (place && !(known && place->position == known->position())) {
    if (place->length > ~std::uint32_t{0})
      return damaged(
          place->position, "R-PG-3",
          joined_text("found a page of ", place->length, " bytes, expected less than 2^32"));
    if (pages.size() == most)
      return damaged(placed_at, "R-GR-4",
                     joined_text("found more than ", most, " pages in a chain, which is too many"));
    PageExpectation expect = superblock.expectation(use);
    expect.position = place->position;
    expect.length = static_cast<std::uint32_t>(place->length);
    if (!pages.empty()) expect.sum = place->sum;
    NMB_ASSIGN(std::shared_ptr<const Page> page, read_page(file, expect));
    if (const std::uint64_t sum = pages.empty() ? sum_of(page->bytes()) : place->sum;
        sum != place->sum)
      return damaged(place->position, "R-SB-9",
                     "found a page with " + sum_text(sum) + ", expected " + sum_text(place->sum));
    if (!pages.empty() && page->generation() > pages.back()->generation())
      return damaged(
          page->position() + kPageGenerationOffset, "R-PG-19",
          joined_text("found the previous page of the chain with generation ", page->generation(),
                      ", expected at most ", pages.back()->generation()));
    FirstFinding first;
    check_page_before(*page, use, first);
    NMB_TRY(first.status(file.name()));
    place = page_before(*page);
    placed_at = page->value_offset(0, kPosition);
    pages.push_back(std::move(page));
  }
  std::ranges::reverse(pages);
  return pages;
}

}  // namespace nmb
