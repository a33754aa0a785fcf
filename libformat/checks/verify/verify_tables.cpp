// Verifies the table of statistics and the table of tags, row by row (spec/tables.md, section 9.2).
#include <unordered_set>

#include "table/statistics_row.h"
#include "table/tag_row.h"
#include "verify/nmb_verifier.h"
#include "verify/status_finding.h"
#include "wire/hash.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

constexpr std::uint64_t kLastState =
    2;  // largest valid state of a row; larger states violate R-TB-1

const char* name_of(PageUse use) { return use == PageUse::kStatistics ? "statistics" : "tags"; }

}  // namespace

// The state of a walk through the trees of a table. The walk visits the leaf pages of a tree in
// order.
struct NmbVerifier::TableWalk {
  PageUse use;
  std::shared_ptr<const Page> last_leaf;     // the page that contains the bytes of `last`
  std::optional<TableRow> last;              // the last row visited so far
  std::optional<Place> before;               // place of the previous (older) tree
  std::uint64_t before_at = 0;               // file position of the field that contains `before`
  std::unordered_set<std::uint64_t> newer;   // blocks that have rows in newer trees
  std::unordered_set<std::uint64_t> orders;  // blocks that have rows in this tree
};

// Checks the trees of a table, from the newest to the oldest. The loop ends, because claim()
// refuses a page that was claimed before.
void NmbVerifier::check_table(PageUse use) {
  const Place& newest = table_place(superblock(), use);
  if (newest.absent()) return;
  const std::string object = name_of(use);
  const bool is_statistics = use == PageUse::kStatistics;
  used_readonly_compatible_ |= is_statistics ? kFeatureStatistics : kFeatureTags;
  const std::size_t at = is_statistics ? in_superblock::kStatistics : in_superblock::kTags;
  if (newest.position == 0 || newest.length == 0) {
    all_walked_ = false;
    return;  // R-SB-9 was reported
  }
  if (is_old(newest)) return;
  const std::uint64_t findings = summary_.findings;
  TableWalk walk{use, {}, {}, newest, field(at), {}, {}};
  std::uint64_t above = superblock().generation, position = ~std::uint64_t{0};
  for (std::size_t trees = 0; walk.before; ++trees) {
    const Place place = *walk.before;
    if (trees == kMostTrees) {
      report("R-TB-4", walk.before_at, object, "more than 64 trees", "at most 64");
      all_walked_ = false;
      return;
    }
    auto bytes = read_page_bytes(use, place.position, place.length, walk.before_at, object);
    if (!bytes) return;
    if (const std::uint64_t sum = trees == 0 ? sum_of(*bytes) : place.sum; sum != place.sum) {
      report("R-SB-9", field(at), object, sum_text(sum), sum_text(place.sum));
      all_walked_ = false;
      return;
    }
    PageExpectation expect = expectation(use, place.position);
    expect.any_level = true;
    if (trees > 0) expect.sum = place.sum;
    std::optional<Page> root = decode_page(std::move(*bytes), expect);
    if (!root) return;
    if (trees > 0 && place.position >= position)
      report("R-PG-18", walk.before_at, object, joined_text("a previous tree at ", place.position),
             "a lower position");
    if (trees > 0 && root->generation() > above)
      report("R-PG-19", root->position() + 56, object,
             joined_text("a previous tree of generation ", root->generation()),
             joined_text("at most ", above));
    above = root->generation();
    position = place.position;
    walk.last.reset();
    walk.before.reset();
    walk.newer.merge(walk.orders);
    walk.orders.clear();
    if (!check_table_page(std::make_shared<const Page>(std::move(*root)), &walk)) return;
  }
  if (is_statistics && summary_.findings == findings) statistics_sound_ = true;
}

// Checks a page and the pages below it. Returns false if a page below it cannot be read.
bool NmbVerifier::check_table_page(const std::shared_ptr<const Page>& page, TableWalk* walk) {
  const std::string object = name_of(walk->use);
  if (page->level() == 0) {
    check_table_rows(page, walk);
    return true;
  }
  bool all = true;
  for (std::uint32_t row = 0; row < page->rows(); ++row) {
    const TableChild child = table_child_at(*page, row);
    auto bytes = read_page_bytes(walk->use, child.position, page->value(row, kStoredLength),
                                 page->value_offset(row, kPosition), "page of " + object);
    PageExpectation expect = expectation(walk->use, child.position);
    expect.level = static_cast<std::uint16_t>(page->level() - 1);
    expect.sum = child.sum;
    std::optional<Page> below;
    if (bytes) below = decode_page(std::move(*bytes), expect);
    if (!below) {
      all = false;
      continue;
    }
    if (below->shared_name(0) != child.name || below->value(0, kOrder) != child.order)
      report("R-TB-2", page->value_offset(row, kOrder), "page of " + object,
             joined_text("separator \"", child.name, "\", ", child.order),
             "the name and order of the first row in the child page");
    if (const std::uint64_t rows = table_rows(*below); rows != child.rows)
      report("R-TB-7", page->value_offset(row, kBlocks), "page of " + object,
             joined_text(child.rows, " rows"), std::to_string(rows));
    all = check_table_page(std::make_shared<const Page>(std::move(*below)), walk) && all;
  }
  return all;
}

void NmbVerifier::check_table_rows(const std::shared_ptr<const Page>& leaf, TableWalk* walk) {
  check_table_leaf(*leaf, superblock().next_order, walk->last ? &*walk->last : nullptr, findings_);
  if (!walk->last) {
    walk->before = tree_before(*leaf);
    walk->before_at = leaf->value_offset(0, kPosition);
  }
  const bool is_statistics = walk->use == PageUse::kStatistics;
  for (std::uint32_t row = 0; row < leaf->rows(); ++row) {
    const TableRow value = table_row_at(*leaf, row);
    if (value.state == TableRow::State::kBefore || leaf->value(row, kState) > kLastState) continue;
    walk->orders.insert(value.order);
    if (value.state != TableRow::State::kRow) continue;
    const Status status = is_statistics ? check_statistics_row(value) : row_tag(value).status();
    if (!status.ok()) {
      Finding finding = finding_of(status);
      finding.offset = leaf->value_offset(row, kOrder);
      finding.object =
          joined_text(name_of(walk->use), " \"", value.name, "\" of block ", value.order);
      if (finding.expected.empty()) finding.expected = "a valid row";
      findings_.report(std::move(finding));
    }
    if (is_statistics && !walk->newer.contains(value.order)) ++statistics_rows_[value.order];
  }
  for (std::uint32_t row = leaf->rows(); row-- > 0;) {
    if (leaf->value(row, kState) > kLastState) continue;
    walk->last = table_row_at(*leaf, row);
    walk->last_leaf = leaf;
    break;
  }
}

}  // namespace nmb
