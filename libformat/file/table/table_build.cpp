#include "table/table_build.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "parallel/merge_runs.h"
#include "parallel/name_slices.h"
#include "parallel/outbox.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

class TableTree {
 public:
  using Rows = TableRows;
  using Row = SentRow;
  using Child = TableChild;
  using Total = std::uint64_t;
  TableTree(PageUse use, const Place& before) : use_(use), before_(before) {}

  PageUse use() const { return use_; }
  static Total total(const Child& child) { return child.rows; }
  static constexpr std::uint32_t leaf_rows() { return kTableLeafRows; }
  static constexpr std::uint32_t node_rows() { return kTableNodeRows; }
  static Status check_level(std::uint16_t level) {
    if (level <= kMaxMapLevel) return {};
    return {Code::kLimit, joined_text("found so many statistics or tags that the tree has level ",
                                      level, ", expected at most ", kMaxMapLevel)};
  }
  static Status begin(Communicator&, const Rows&, std::size_t) { return {}; }
  static Row row(const Rows& rows, std::size_t i) { return rows[i]; }
  void add(PageBuilder& leaf, const Row& sent, Child* child) {
    const TableRow row = sent.row();
    if (leaf.rows() == 0) {
      child->name = row.name;
      child->order = row.order;
      name_ = {};
    }
    add_table_row(leaf, row, name_, before_);
    name_ = row.name;
    ++child->rows;
  }
  static void end_leaf(const PageBuilder&) {}
  static std::size_t fill_node(PageBuilder& node, std::span<const Child> children, Child* parent) {
    const std::size_t count = std::min<std::size_t>(children.size(), node_rows());
    parent->name = children[0].name;
    parent->order = children[0].order;
    std::string_view last;
    for (const Child& child : children.first(count)) {
      add_table_child(node, child, last);
      last = child.name;
      parent->rows += child.rows;
    }
    return count;
  }

 private:
  const PageUse use_;
  const Place before_;
  std::string_view name_;  // name of the row that was added last to the leaf
};

bool comes_before(const TableRow& a, const TableRow& b) { return a.key() < b.key(); }

// Returns the key of a row as bytes that sort in the order of the keys.
std::string key_bytes(const TableRow& row) {
  std::string key(1, static_cast<char>(row.state));
  for (const char c : row.name) {
    key += c;
    if (c == '\0') key += '\xff';
  }
  key.append(2, '\0');
  for (int shift = 56; shift >= 0; shift -= 8) key += static_cast<char>(row.order >> shift & 0xff);
  return key;
}

// Exchanges rows between the ranks. Returns this rank's slice of all rows, sorted.
Result<TableRows> own_slice(Communicator& ranks, TableRows rows) {
  rows.sort();
  if (ranks.size() == 1) return rows;
  std::vector<std::string> keys;
  keys.reserve(rows.count());
  for (std::size_t i = 0; i < rows.count(); ++i) keys.push_back(key_bytes(rows[i]));
  const std::vector<std::string_view> names(keys.begin(), keys.end());
  NMB_ASSIGN(const NameSlices slices, NameSlices::choose(ranks, names, kTableLeafRows));
  const std::vector<std::size_t> begins = slices.cut(names);
  TableRows own;
  Outbox<SentRow> sent;
  for (std::size_t s = 0; s < slices.count(); ++s) {
    for (std::size_t i = begins[s]; i < begins[s + 1]; ++i) {
      if (slices.owner(s) == ranks.rank())
        own.add(rows[i]);
      else
        sent.add(slices.owner(s), rows[i]);
    }
  }
  rows = {};
  NMB_ASSIGN(const Inbox<SentRow> arrived, exchange(ranks, sent));
  std::vector<std::size_t> ends;
  int before = -1;  // sender of the previous row
  for (const auto& [rank, row] : arrived) {
    if (rank != std::exchange(before, rank)) ends.push_back(own.count());
    own.add(row.row());
  }
  ends.push_back(own.count());
  own.merge(ends);
  return own;
}

}  // namespace

void TableRows::add(const TableRow& row) {
  TableRow& own = rows_.emplace_back(row);
  if (rows_.size() > 1 && rows_[rows_.size() - 2].name == row.name)
    own.name = rows_[rows_.size() - 2].name;
  else
    own.name = *names_.emplace(row.name).first;
  if (!row.bytes.empty()) own.bytes = bytes_.emplace_back(row.bytes.begin(), row.bytes.end());
  if (!row.unknown.empty())
    own.unknown = unknown_.emplace_back(row.unknown.begin(), row.unknown.end());
}

// Groups the rows by name first. Blocks are added in ascending order, so most rows of the same name
// are already sorted and need few comparisons.
void TableRows::sort() {
  if (std::ranges::is_sorted(rows_, comes_before)) return;
  std::vector<std::string_view> names(names_.begin(), names_.end());
  std::ranges::sort(names);
  constexpr std::size_t kStates = 2;  // number of states whose rows have no name
  std::unordered_map<const char*, std::size_t> groups;
  for (std::size_t i = 0; i < names.size(); ++i) groups[names[i].data()] = kStates + i;
  const auto group_of = [&](const TableRow& row) {
    return row.state == TableRow::State::kRow ? groups.at(row.name.data())
                                              : static_cast<std::size_t>(row.state);
  };
  std::vector<std::size_t> ends(kStates + names.size() + 1);
  for (const TableRow& row : rows_) ++ends[group_of(row) + 1];
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  std::vector<std::size_t> next(ends.begin(), ends.end() - 1);
  std::vector<TableRow> sorted(rows_.size());
  for (const TableRow& row : rows_) sorted[next[group_of(row)]++] = row;
  rows_ = std::move(sorted);
  for (std::size_t group = 0; group + 1 < ends.size(); ++group) {
    const auto rows = std::span(rows_).subspan(ends[group], ends[group + 1] - ends[group]);
    if (!std::ranges::is_sorted(rows, {}, &TableRow::order))
      std::ranges::sort(rows, {}, &TableRow::order);
  }
}

void TableRows::merge(const std::vector<std::size_t>& ends) {
  merge_runs(rows_, ends, comes_before);
}

Result<BuiltTable> build_table(Communicator& ranks, TableRows rows, const Place& before,
                               PageUse use, std::uint64_t position, const WritePages& write,
                               const Origin& origin) {
  NMB_ASSIGN(const TableRows own, own_slice(ranks, std::move(rows)));
  TableTree tree(use, before);
  NMB_ASSIGN(const auto built,
             PageTreeBuild<TableTree>(tree, ranks, position, write, origin).run(own));
  return BuiltTable{built.position == 0 ? Place() : Place{built.position, built.length, built.sum},
                    built.end};
}

}  // namespace nmb
