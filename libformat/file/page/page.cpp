#include "page/page.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <iterator>

#include "wire/checked.h"
#include "wire/endian.h"
#include "wire/hash.h"
#include "wire/joined_text.h"
#include "wire/zero.h"

namespace nmb {

namespace {

constexpr const char* kMagic[] = {"\x89NMBINDX", "\x89NMBDMAP", "\x89NMBDEAD", "\x89NMBFILE",
                                  "\x89NMBGROW", "\x89NMBSTAT", "\x89NMBTAGS"};
constexpr std::uint16_t kCriticalForReading = 1 << 15;
constexpr std::uint16_t kCriticalForWriting = 1 << 14;

// Columns with ids from kFirstPlace to kPlacesEnd - 1 give the places of structures that later
// versions define, three columns for each place: position, length and sum.
constexpr std::uint16_t kFirstPlace = 256, kPlacesEnd = 8192, kIdsOfPlace = 3;

constexpr bool is_of_place(std::uint16_t id) { return id >= kFirstPlace && id < kPlacesEnd; }

constexpr bool is_table(PageUse use) {
  return use == PageUse::kStatistics || use == PageUse::kTags;
}

// Returns the index of a column in kWideColumns, or kWideColumns.size() if it is not wide.
constexpr std::size_t wide_index(std::uint16_t id) {
  return static_cast<std::size_t>(std::ranges::find(kWideColumns, id) - kWideColumns.begin());
}
constexpr bool is_wide(std::uint16_t id) { return wide_index(id) < kWideColumns.size(); }

std::uint64_t load_width(const std::byte* from, std::uint32_t width) {
  if (width == 8) return load_le<std::uint64_t>(from);
  // The bytes in groups of 4, 2 and 1: this takes half of the time of a loop.
  std::uint64_t value = 0;
  if (width & 1) value = std::to_integer<std::uint64_t>(from[width - 1]);
  if (width & 2) value = value << 16 | load_le<std::uint16_t>(from + (width & 4));
  if (width & 4) value = value << 32 | load_le<std::uint32_t>(from);
  return value;
}

std::uint32_t smallest_width(std::uint64_t largest) {
  std::uint32_t width = 0;
  for (; largest; largest >>= 8) ++width;
  return width;
}

std::uint64_t page_sum(std::span<const std::byte> bytes) {
  SumStream stream;
  stream.add(bytes.first(kPageSumOffset));
  stream.add(bytes.subspan(kPageHeaderSize));
  return stream.sum();
}

}  // namespace

std::optional<PageHeader> PageHeader::decode(std::span<const std::byte> bytes) {
  if (bytes.size() < kPageHeaderSize) return std::nullopt;
  const std::byte* const p = bytes.data();
  const auto* const magic = std::ranges::find_if(
      kMagic, [&](const char* known) { return std::memcmp(p, known, 8) == 0; });
  if (magic == std::end(kMagic) || load_le<std::uint16_t>(p + 8) != 1) return std::nullopt;
  PageHeader header;
  header.use = static_cast<PageUse>(magic - std::begin(kMagic));
  header.level = load_le<std::uint16_t>(p + 10);
  header.length = load_le<std::uint32_t>(p + kPageLengthOffset);
  header.origin.file_id = {load_le<std::uint64_t>(p + 32), load_le<std::uint64_t>(p + 40)};
  header.position = load_le<std::uint64_t>(p + 48);
  header.origin.generation = load_le<std::uint64_t>(p + kPageGenerationOffset);
  header.owner = load_le<std::uint64_t>(p + 64);
  header.origin.stamp = load_le<std::uint64_t>(p + 72);
  header.sum = load_le<std::uint64_t>(p + kPageSumOffset);
  return header;
}

PageExpectation PageHeader::expectation() const {
  PageExpectation expect;
  expect.use = use;
  expect.level = level;
  expect.newest = origin;
  expect.position = position;
  expect.length = length;
  expect.sum = sum;
  expect.owner = owner;
  // Later versions may use reserved bytes. Only the superblock, which may be lost, states whether
  // they do.
  expect.reserved_in_use = true;
  return expect;
}

std::uint64_t Page::value(std::uint32_t row, Column column) const {
  const ColumnPlace& place = columns_[column];
  if (place.width == 0) return 0;
  return load_width(&bytes_[place.offset + std::size_t{row} * place.width], place.width);
}

Digest Page::digest(std::uint32_t row, Column column) const {
  const ColumnPlace& place = columns_[column];
  if (place.width == 0) return {};
  const std::byte* from = &bytes_[place.offset + std::size_t{row} * 16];
  return {load_le<std::uint64_t>(from), load_le<std::uint64_t>(from + 8)};
}

std::uint64_t Page::value_offset(std::uint32_t row, Column column) const {
  const ColumnPlace& place = columns_[column];
  if (place.width == 0) return position_;
  return position_ + place.offset + std::uint64_t{row} * place.width;
}

std::string_view Page::name(std::uint32_t row) const {
  std::uint32_t begin = name_begin(row);
  std::uint32_t end = static_cast<std::uint32_t>(value(row, kNameEnd));
  return {reinterpret_cast<const char*>(bytes_.data()) + heap_ + begin, end - begin};
}

std::string_view Page::shared_name(std::uint32_t row) const {
  // Rows with equal name ends share a name, which only the first of them stores.
  const std::uint64_t end = value(row, kNameEnd);
  std::uint32_t low = 0, high = row;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (value(middle, kNameEnd) == end)
      high = middle;
    else
      low = middle + 1;
  }
  return name(low);
}

std::span<const std::byte> Page::row_bytes(std::uint32_t row) const {
  const std::uint64_t begin = row == 0 ? 0 : value(row - 1, kBytesEnd);
  return std::span(bytes_).subspan(row_bytes_ + begin, value(row, kBytesEnd) - begin);
}

std::uint64_t Page::name_offset(std::uint32_t row) const {
  return position_ + heap_ + name_begin(row);
}

Digest Page::unknown_value(const UnknownColumn& column, std::uint32_t row) const {
  const std::byte* from = &bytes_[column.offset + std::size_t{row} * column.width];
  if (column.width == 16) return {load_le<std::uint64_t>(from), load_le<std::uint64_t>(from + 8)};
  return {load_width(from, column.width), 0};
}

bool Page::forbids_changes() const {
  return std::ranges::any_of(unknown_,
                             [](const UnknownColumn& c) { return c.id & kCriticalForWriting; });
}

std::vector<std::uint16_t> Page::unknown_columns() const {
  std::vector<std::uint16_t> ids;
  for (const UnknownColumn& column : unknown_) ids.push_back(column.id);
  return ids;
}

std::vector<UnknownValue> Page::unknown_values(std::uint32_t row) const {
  std::vector<UnknownValue> out;
  for (const UnknownColumn& column : unknown_)
    if (const Digest value = unknown_value(column, row); !value.is_zero())
      out.push_back({column.id, column.width == 16, value});
  return out;
}

std::vector<LaterPlace> Page::later_places(std::uint32_t row) const {
  std::vector<LaterPlace> out;
  int last = -1;
  for (const UnknownColumn& column : unknown_) {
    if (!is_of_place(column.id)) continue;
    const std::uint64_t value = unknown_value(column, row).low;
    const int number = (column.id - kFirstPlace) / kIdsOfPlace;
    if (number != last) out.push_back({{}, position_});
    last = number;
    LaterPlace& later = out.back();
    switch ((column.id - kFirstPlace) % kIdsOfPlace) {
      case 0:
        later.place.position = value;
        later.placed_at = position_ + column.offset + std::uint64_t{row} * column.width;
        break;
      case 1:
        later.place.length = value;
        break;
      default:
        later.place.sum = value;
    }
  }
  std::erase_if(out, [](const LaterPlace& later) { return later.place.absent(); });
  return out;
}

std::vector<Place> later_places_of(std::span<const UnknownValue> values) {
  std::vector<Place> out;
  int last = -1;
  for (const UnknownValue& value : values) {
    if (!is_of_place(value.id)) continue;
    const int number = (value.id - kFirstPlace) / kIdsOfPlace;
    if (number != last) out.emplace_back();
    last = number;
    const int field = (value.id - kFirstPlace) % kIdsOfPlace;
    (field == 0   ? out.back().position
     : field == 1 ? out.back().length
                  : out.back().sum) = value.value.low;
  }
  return out;
}

// Decodes and checks one page, in the order of section 18.4.
class Page::Decoder {
 public:
  Decoder(std::vector<std::byte> bytes, const PageExpectation& expect, Findings& findings)
      : expect_(expect),
        findings_(findings),
        object_(joined_text(kMagic[static_cast<int>(expect.use)] + 4, " page")) {
    page_.bytes_ = std::move(bytes);
    page_.position_ = expect.position;
  }

  std::optional<Page> decode() {
    if (!is_whole() || !read_header() || !place_columns()) return std::nullopt;
    check_widths();
    if (!check_names()) return std::nullopt;
    return std::move(page_);
  }

 private:
  template <class T>
  T field(std::size_t offset) const {
    return load_le<T>(page_.bytes_.data() + offset);
  }
  void report(const char* rule, std::uint64_t offset, std::string found, std::string expected,
              Severity severity = Severity::kFinding) {
    findings_.report(
        {rule, page_.position_ + offset, object_, std::move(found), std::move(expected), severity});
  }
  bool fails(const char* rule, std::uint64_t offset, std::string found, std::string expected) {
    report(rule, offset, std::move(found), std::move(expected));
    return false;
  }
  bool expect_field(const char* rule, std::size_t offset, std::uint64_t found,
                    std::uint64_t expected, const char* what) {
    return found == expected ||
           fails(rule, offset, joined_text(what, " ", found), std::to_string(expected));
  }
  void expect_zero(std::size_t offset, std::size_t length, const char* what) {
    const std::size_t bad = first_nonzero(std::span(page_.bytes_).subspan(offset, length));
    if (bad != kAllZero) report("R-PG-5", offset + bad, joined_text(what, " other than zero"), "0");
  }

  // Returns whether these are the bytes of the expected page.
  bool is_whole() {
    const std::size_t size = page_.bytes_.size();
    if (size < kPageHeaderSize)
      return fails("R-PG-3", kPageLengthOffset, joined_text(size, " bytes"), "at least 88");
    if (std::memcmp(page_.bytes_.data(), kMagic[static_cast<int>(expect_.use)], 8) != 0 ||
        field<std::uint16_t>(8) != 1)
      return fails("R-PG-1", 0, "a wrong magic or version", "the magic and version of this page");
    const auto length = field<std::uint32_t>(kPageLengthOffset);
    if (length != expect_.length)
      return fails("R-PG-3", kPageLengthOffset, joined_text("length ", length),
                   std::to_string(expect_.length));
    // The sum in the parent, the page's `sum` field and the sum of the page's bytes must be equal.
    const auto own_sum = field<std::uint64_t>(kPageSumOffset);
    const std::uint64_t expected = expect_.sum.value_or(own_sum);
    page_.sum_ = own_sum != expected ? own_sum : page_sum(page_.bytes_);
    return page_.sum_ == expected || fails("R-PG-2", 0, sum_text(page_.sum_), sum_text(expected));
  }

  bool read_header() {
    page_.level_ = field<std::uint16_t>(10);
    const bool level_right = (expect_.any_level && page_.level_ <= kMaxMapLevel) ||
                             expect_field("R-PG-13", 10, page_.level_, expect_.level, "level");
    const Origin& newest = expect_.newest;
    if (Digest{field<std::uint64_t>(32), field<std::uint64_t>(40)} != newest.file_id)
      report("R-PG-4", 32, "another file id", "the id of this file");
    expect_field("R-PG-10", 48, field<std::uint64_t>(48), expect_.position, "own position");
    page_.generation_ = field<std::uint64_t>(kPageGenerationOffset);
    if (page_.generation_ == 0 || page_.generation_ > newest.generation)
      report("R-PG-11", kPageGenerationOffset, joined_text("generation ", page_.generation_),
             joined_text("1 to ", newest.generation));
    expect_field("R-PG-14", 64, field<std::uint64_t>(64), expect_.owner, "owner");
    if (page_.generation_ == newest.generation)
      expect_field("R-PG-12", 72, field<std::uint64_t>(72), newest.stamp, "stamp");
    if (!expect_.reserved_in_use) {
      expect_zero(12, 4, "flags");
      expect_zero(26, 2, "reserved bytes");
    }
    if (!level_right) return false;
    page_.rows_ = field<std::uint32_t>(16);
    const std::uint32_t max_rows =
        expect_.max_rows == 0 ? expect_.length : std::min(expect_.max_rows, expect_.length);
    if (page_.rows_ == 0 || page_.rows_ > max_rows)
      report("R-PG-8", 16, joined_text(page_.rows_, " rows"), joined_text("1 to ", max_rows));
    heap_length_ = field<std::uint32_t>(28);
    return page_.rows_ != 0 && page_.rows_ <= expect_.length;
  }

  // Reads the table of columns.
  bool place_columns() {
    const std::size_t size = page_.bytes_.size();
    const auto columns = field<std::uint16_t>(24);
    std::uint64_t offset = kPageHeaderSize + std::uint64_t{columns} * 4;
    if (offset > size)
      return fails("R-PG-3", kPageLengthOffset, joined_text(columns, " columns"),
                   "as many as fit in the page");
    std::uint16_t previous = 0;
    for (std::size_t entry = kPageHeaderSize, c = 0; c < columns; ++c, entry += 4) {
      const auto id = field<std::uint16_t>(entry), width = field<std::uint16_t>(entry + 2);
      const bool known = find_column(id) != nullptr;
      const bool width_ok =
          is_wide(id) ? width == 16
                      : (width >= 1 && width <= 8) || (!known && !is_of_place(id) && width == 16);
      const auto refused = [&](const char* rule, const char* expected) {
        return fails(rule, entry, joined_text("column ", id, " of width ", width), expected);
      };
      if (id <= previous) return refused("R-PG-6", "ascending ids");
      if (known && !may_have(expect_.use, page_.level_ == 0, id))
        return refused("R-PG-15", "a column that this page may have");
      if (!width_ok) return refused("R-PG-16", "width 1 to 8, or 16 for digests");
      if (!known && (id & kCriticalForReading)) {
        report("R-PG-17", entry, joined_text("critical column ", id),
               "a column that this version knows", Severity::kUnsupported);
        return false;
      }
      previous = id;
      columns_.push_back({id, width, offset, entry});
      offset += std::uint64_t{width} * page_.rows_;
    }
    if (offset > size || round_up(offset + heap_length_, 8) != size)
      return fails("R-PG-3", kPageLengthOffset, joined_text(size, " bytes"),
                   "the length that follows from rows, columns and heap");
    page_.heap_ = static_cast<std::uint32_t>(offset);
    return true;
  }

  // Checks that each column is as narrow as its values allow, and that padding is 0.
  void check_widths() {
    for (const auto& [id, width, offset, entry] : columns_) {
      if (find_column(id))
        page_.columns_[id] = {static_cast<std::uint32_t>(offset), width};
      else
        page_.unknown_.push_back({id, width, static_cast<std::uint32_t>(offset)});
      std::uint64_t all = 0;
      for (std::uint64_t i = 0; i < page_.rows_; ++i) {
        const std::byte* from = page_.bytes_.data() + offset + i * width;
        all |= width == 16 ? load_le<std::uint64_t>(from) | load_le<std::uint64_t>(from + 8)
                           : load_width(from, width);
      }
      if (all == 0 || (width <= 8 && smallest_width(all) != width))
        report("R-PG-7", entry, joined_text("column ", id, " of width ", width),
               all == 0 ? "no column of zeros" : joined_text("width ", smallest_width(all)),
               Severity::kWarning);
    }
    const std::uint64_t used = page_.heap_ + heap_length_;
    expect_zero(used, page_.bytes_.size() - used, "padding");
  }

  // Checks that the names and the bytes of rows together fill the heap.
  bool check_names() {
    std::uint64_t end = 0;
    // Without column kNameEnd, all names are empty, and a page may have more rows than bytes.
    const std::uint32_t named_rows = page_.has(kNameEnd) ? page_.rows_ : 0;
    for (std::uint32_t row = 0; row < named_rows; ++row) {
      const std::uint64_t next = page_.value(row, kNameEnd);
      if (next < end || next > heap_length_)
        return fails_at(row, kNameEnd, joined_text("name end ", next),
                        joined_text(end, " to ", heap_length_));
      if (next - end > 65535)
        report("R-IX-3", page_.heap_ + end, joined_text("a name of ", next - end, " bytes"),
               "at most 65535");
      end = next;
    }
    page_.row_bytes_ = static_cast<std::uint32_t>(page_.heap_ + end);
    std::uint64_t bytes_end = 0;
    const bool has_bytes = page_.has(kBytesEnd);
    for (std::uint32_t row = 0; has_bytes && row < page_.rows_; ++row) {
      const std::uint64_t next = page_.value(row, kBytesEnd);
      if (next < bytes_end || next > heap_length_ - end)
        return fails_at(row, kBytesEnd, joined_text("bytes end ", next),
                        joined_text(bytes_end, " to ", heap_length_ - end));
      bytes_end = next;
    }
    return end + bytes_end == heap_length_ ||
           fails_at(page_.rows_ - 1, has_bytes ? kBytesEnd : kNameEnd,
                    joined_text("names and bytes of rows that take ", end + bytes_end,
                                " bytes in total"),
                    std::to_string(heap_length_));
  }
  bool fails_at(std::uint32_t row, Column column, std::string found, std::string expected) {
    return fails("R-IX-1", page_.value_offset(row, column) - page_.position_, std::move(found),
                 std::move(expected));
  }

  struct PlacedColumn {
    std::uint16_t id, width;
    std::uint64_t offset;
    std::size_t entry;  // offset in the table of columns
  };
  const PageExpectation& expect_;
  Findings& findings_;
  std::string object_;
  Page page_;
  std::vector<PlacedColumn> columns_;
  std::uint64_t heap_length_ = 0;
};

std::optional<Page> Page::decode(std::vector<std::byte> bytes, const PageExpectation& expect,
                                 Findings& findings) {
  return Decoder(std::move(bytes), expect, findings).decode();
}

void PageBuilder::add_row(std::string_view name) {
  ++rows_;
  heap_ += name;
  if (use_ == PageUse::kIndex || use_ == PageUse::kFileTable || is_table(use_))
    set(kNameEnd, heap_.size());
  if (!bytes_.empty()) set(kBytesEnd, bytes_.size());
}

std::string_view PageBuilder::last_name() const {
  const auto& ends = values_[kNameEnd];
  const std::size_t begin =
      rows_ >= 2 && ends.size() >= rows_ - 1 ? static_cast<std::size_t>(ends[rows_ - 2]) : 0;
  return std::string_view(heap_).substr(begin);
}

void PageBuilder::set(Column column, std::uint64_t value) {
  auto& values = values_[column];
  if (value == 0 && values.empty()) return;
  assert(may_have(use_, level_ == 0, column));
  values.resize(rows_);
  values[rows_ - 1] = value;
}

void PageBuilder::set_digest(Digest digest, Column column) {
  auto& digests = digests_[wide_index(column)];
  if (digest.is_zero() && digests.empty()) return;
  assert(may_have(use_, level_ == 0, column));
  digests.resize(rows_);
  digests[rows_ - 1] = digest;
}

void PageBuilder::set_bytes(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  set(kBytesEnd, bytes_.size());
}

void PageBuilder::keep(std::span<const UnknownValue> values) {
  for (const UnknownValue& value : values) {
    auto at = std::ranges::lower_bound(kept_, value.id, {}, &KeptColumn::id);
    if (at == kept_.end() || at->id != value.id) at = kept_.insert(at, {value.id, false, {}});
    at->wide = at->wide || value.wide;
    at->values.resize(rows_);
    at->values[rows_ - 1] = value.value;
  }
}

std::uint16_t PageBuilder::KeptColumn::width() const {
  if (wide) return 16;
  std::uint64_t all = 0;
  for (const Digest& value : values) all |= value.low;
  return static_cast<std::uint16_t>(smallest_width(all));
}

void PageBuilder::clear() {
  rows_ = 0;
  for (auto& values : values_) values.clear();
  for (auto& digests : digests_) digests.clear();
  kept_.clear();
  heap_.clear();
  bytes_.clear();
}

std::uint32_t PageBuilder::width(std::uint16_t column) const {
  if (is_wide(column)) return digests_[wide_index(column)].empty() ? 0 : 16;
  std::uint64_t all = 0;
  for (std::uint64_t value : values_[column]) all |= value;
  return smallest_width(all);
}

Result<std::uint32_t> PageBuilder::length() const {
  std::uint64_t bytes = kPageHeaderSize + heap_.size() + bytes_.size();
  for (std::uint16_t c = 1; c < kColumnCount; ++c)
    if (std::uint32_t w = width(c)) bytes += 4 + std::uint64_t{w} * rows_;
  for (const KeptColumn& kept : kept_) bytes += 4 + std::uint64_t{kept.width()} * rows_;
  bytes = round_up(bytes, 8);
  if (bytes > ~std::uint32_t{0})
    return Status(Code::kLimit, joined_text("found ", rows_, " rows that need a page of ", bytes,
                                            " bytes, expected less than 2^32"));
  return static_cast<std::uint32_t>(bytes);
}

Result<PageBuilder::Encoded> PageBuilder::encode(const Origin& origin, std::uint64_t position,
                                                 std::uint64_t owner) const {
  Encoded out;
  NMB_ASSIGN(const std::uint32_t length_of_page, length());
  out.bytes.resize(length_of_page);
  std::byte* p = out.bytes.data();
  std::memcpy(p, kMagic[static_cast<int>(use_)], 8);
  store_le<std::uint16_t>(p + 8, 1);
  store_le(p + 10, level_);
  store_le(p + 16, rows_);
  store_le(p + 20, static_cast<std::uint32_t>(out.bytes.size()));
  store_le(p + 28, static_cast<std::uint32_t>(heap_.size() + bytes_.size()));
  store_le(p + 32, origin.file_id.low);
  store_le(p + 40, origin.file_id.high);
  store_le(p + 48, position);
  store_le(p + 56, origin.generation);
  store_le(p + 64, owner);
  store_le(p + 72, origin.stamp);
  std::uint16_t columns = 0;
  for (std::uint16_t c = 1; c < kColumnCount; ++c) columns += width(c) != 0;
  columns = static_cast<std::uint16_t>(columns + kept_.size());
  store_le(p + 24, columns);
  std::byte* entry = p + kPageHeaderSize;
  std::byte* to = entry + std::size_t{columns} * 4;
  for (std::uint16_t c = 1; c < kColumnCount; ++c) {
    const std::uint32_t w = width(c);
    if (w == 0) continue;
    store_le(entry, c);
    store_le(entry + 2, static_cast<std::uint16_t>(w));
    entry += 4;
    if (is_wide(c)) {
      const std::vector<Digest>& digests = digests_[wide_index(c)];
      for (std::size_t i = 0; i < digests.size(); ++i) {
        store_le(to + i * 16, digests[i].low);
        store_le(to + i * 16 + 8, digests[i].high);
      }
    } else {
      for (std::size_t i = 0; i < values_[c].size(); ++i)
        for (std::uint32_t b = 0; b < w; ++b)
          to[i * w + b] = static_cast<std::byte>(values_[c][i] >> (8 * b));
    }
    to += std::size_t{w} * rows_;
  }
  for (const KeptColumn& kept : kept_) {
    const std::uint16_t w = kept.width();
    store_le(entry, kept.id);
    store_le(entry + 2, w);
    entry += 4;
    for (std::size_t i = 0; i < kept.values.size(); ++i)
      for (std::uint16_t b = 0; b < w; ++b)
        to[i * w + b] = static_cast<std::byte>((b < 8 ? kept.values[i].low : kept.values[i].high) >>
                                               (8 * (b % 8)));
    to += std::size_t{w} * rows_;
  }
  std::memcpy(to, heap_.data(), heap_.size());
  std::ranges::copy(bytes_, to + heap_.size());
  out.sum = page_sum(out.bytes);
  store_le(p + kPageSumOffset, out.sum);
  return out;
}

std::uint64_t place_page(std::span<std::byte> page, std::uint64_t position) {
  store_le(page.data() + 48, position);
  const std::uint64_t sum = page_sum(page);
  store_le(page.data() + kPageSumOffset, sum);
  return sum;
}

Result<std::shared_ptr<const Page>> read_page(const ByteSource& file,
                                              const PageExpectation& expect) {
  std::vector<std::byte> bytes;
  if (expect.position > file.size() || expect.length > file.size() - expect.position)
    return Status(
        Code::kDamaged, file.name(), expect.position, "R-FL-5",
        joined_text("found a page of ", expect.length, " bytes, expected a page within the file"));
  bytes.resize(expect.length);
  NMB_TRY(file.read_at(expect.position, bytes));
  FirstFinding first;
  std::optional<Page> page = Page::decode(std::move(bytes), expect, first);
  NMB_TRY(first.status(file.name()));
  return std::make_shared<const Page>(std::move(*page));
}

Result<std::optional<std::vector<std::uint64_t>>> peek_column(const ByteSource& file,
                                                              const PageExpectation& expect,
                                                              Column column) {
  // Enough for the column tables of the pages that this version writes.
  constexpr std::size_t kUsualColumns = 32;
  constexpr std::uint32_t kMostRows = 65536;
  using Values = std::optional<std::vector<std::uint64_t>>;
  if (expect.position > file.size() || expect.length > file.size() - expect.position ||
      expect.length < kPageHeaderSize)
    return Values();
  std::vector<std::byte> head(
      std::min<std::size_t>(expect.length, kPageHeaderSize + kUsualColumns * 4));
  NMB_TRY(file.read_at(expect.position, head));
  const std::optional<PageHeader> found = PageHeader::decode(head);
  const auto rows = load_le<std::uint32_t>(&head[16]);
  const auto columns = load_le<std::uint16_t>(&head[24]);
  std::uint64_t offset = kPageHeaderSize + std::uint64_t{columns} * 4;
  if (!found || found->use != expect.use || found->level != expect.level ||
      found->length != expect.length || found->position != expect.position ||
      (expect.sum && found->sum != *expect.sum) || offset > head.size() || rows == 0 ||
      rows > kMostRows)
    return Values();
  std::vector<std::uint64_t> values(rows);
  for (std::size_t entry = kPageHeaderSize; entry < kPageHeaderSize + std::size_t{columns} * 4;
       entry += 4) {
    const auto id = load_le<std::uint16_t>(&head[entry]);
    const auto width = load_le<std::uint16_t>(&head[entry + 2]);
    const std::uint64_t length = std::uint64_t{width} * rows;
    if (!find_column(id) && (id & kCriticalForReading)) return Values();
    if (offset > expect.length || length > expect.length - offset) return Values();
    if (id == column) {
      if (width == 0 || width > 8) return Values();
      std::vector<std::byte> bytes(length);
      NMB_TRY(file.read_at(expect.position + offset, bytes));
      for (std::uint32_t row = 0; row < rows; ++row)
        values[row] = load_width(&bytes[std::size_t{row} * width], width);
    }
    offset += length;
  }
  return Values(std::move(values));
}

}  // namespace nmb
