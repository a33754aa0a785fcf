// Writes a tree of statistics or tags (see table/table_build.h).
#include "table/table_build.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "parallel/merge_runs.h"
#include "parallel/name_slices.h"
#include "wire/joined_text.h"

namespace nmb {

static void put_row(MessageWriter& out, const TableChild& child) {
  out.put_text(child.name);
  out.put(child.order), out.put(child.position), out.put(child.length), out.put(child.sum);
  out.put(child.rows);
}
static void get_row(MessageReader& in, TableChild* child) {
  child->name = in.get_text();
  child->order = in.get<std::uint64_t>();
  child->position = in.get<std::uint64_t>();
  child->length = in.get<std::uint32_t>();
  child->sum = in.get<std::uint64_t>();
  child->rows = in.get<std::uint64_t>();
}

namespace {

// A row that owns its name and bytes.
struct OwnRow {
  std::unique_ptr<TableRows> rows = std::make_unique<TableRows>();
};

class TableTree {
 public:
  using Rows = TableRows;
  using Row = OwnRow;
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
  static void put(MessageWriter& out, const Rows& rows, std::size_t i) { Rows::put(out, rows[i]); }
  static void get(MessageReader& in, Row* row) { row->rows->get(in); }
  void add(PageBuilder& leaf, const Rows& rows, std::size_t i, Child* child) {
    add_row(leaf, rows[i], child);
  }
  void add(PageBuilder& leaf, const Row& row, Child* child) {
    add_row(leaf, (*row.rows)[0], child);
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
  void add_row(PageBuilder& leaf, const TableRow& row, Child* child) {
    if (leaf.rows() == 0) {
      child->name = row.name;
      child->order = row.order;
      name_ = {};
    }
    add_table_row(leaf, row, name_, before_);
    name_ = row.name;
    ++child->rows;
  }

  const PageUse use_;
  const Place before_;
  std::string_view name_;  // name of the row that was added last to the leaf
};

bool comes_before(const TableRow& a, const TableRow& b) { return a.key() < b.key(); }

// Returns the key of a row as bytes. Such byte strings sort in the same order as the keys.
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

// Exchanges rows between the ranks, so that each rank gets one slice of all rows. Returns this
// rank's slice, sorted.
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
  std::vector<Communicator::Parcel> parcels;
  for (std::size_t s = 0; s < slices.count(); ++s) {
    MessageWriter out;
    for (std::size_t i = begins[s]; i < begins[s + 1]; ++i) {
      if (slices.owner(s) == ranks.rank())
        own.add(rows[i]);
      else
        TableRows::put(out, rows[i]);
    }
    if (out.size() > 0) parcels.push_back({slices.owner(s), out.take()});
  }
  std::vector<std::size_t> ends{own.count()};
  rows = {};
  NMB_ASSIGN(const std::vector<Message> arrived, ranks.exchange(std::move(parcels)));
  for (const Message& message : arrived) {
    for (MessageReader in(message.bytes()); !in.at_end();) own.get(in);
    ends.push_back(own.count());
  }
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

void TableRows::put(MessageWriter& out, const TableRow& row) {
  out.put(row.state), out.put(row.kind), out.put(row.order), out.put(row.elements);
  out.put(row.missing), out.put(row.nans), out.put(row.minimum), out.put(row.maximum);
  out.put_text(row.name), out.put_bytes(row.bytes);
  out.put<std::uint64_t>(row.unknown.size());
  for (const UnknownValue& value : row.unknown) out.put(value);
}

void TableRows::get(MessageReader& in) {
  TableRow row;
  row.state = in.get<TableRow::State>();
  row.kind = in.get<std::uint8_t>();
  for (std::uint64_t* field :
       {&row.order, &row.elements, &row.missing, &row.nans, &row.minimum, &row.maximum})
    *field = in.get<std::uint64_t>();
  row.name = in.get_text();
  row.bytes = in.get_bytes();
  std::vector<UnknownValue> unknown(in.get<std::uint64_t>());
  for (UnknownValue& value : unknown) value = in.get<UnknownValue>();
  row.unknown = unknown;
  add(row);
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
