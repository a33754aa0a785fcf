// See right_sums.h. Offsets are those of spec/format.md.
#include "support/right_sums.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <set>
#include <span>

#include "block/block_header.h"
#include "page/page.h"
#include "superblock/superblock.h"
#include "wire/endian.h"
#include "wire/hash.h"

namespace nmb::test {
namespace {

// Columns of a page that need not be sound.
class RawPage {
 public:
  explicit RawPage(std::span<std::byte> bytes) : bytes_(bytes) {
    rows_ = load_le<std::uint32_t>(&bytes[16]);
    const std::size_t columns = load_le<std::uint16_t>(&bytes[24]);
    std::uint64_t offset = kPageHeaderSize + columns * 4;
    for (std::size_t c = 0; c < columns && kPageHeaderSize + c * 4 + 4 <= bytes.size(); ++c) {
      const std::uint16_t id = load_le<std::uint16_t>(&bytes[kPageHeaderSize + c * 4]);
      const std::uint16_t width = load_le<std::uint16_t>(&bytes[kPageHeaderSize + c * 4 + 2]);
      const std::uint64_t length = std::uint64_t{rows_} * width;
      if (offset > bytes.size() || length > bytes.size() - offset) break;
      if (id < kColumnCount && width <= 16) columns_[id] = {offset, width};
      offset += length;
    }
  }
  std::uint32_t rows() const { return std::min<std::uint32_t>(rows_, 128); }
  std::uint64_t get(std::uint32_t row, Column column) const {
    std::array<std::byte, 8> value{};
    const auto [offset, width] = columns_[column];
    if (width != 0)
      std::memcpy(value.data(), &bytes_[offset + std::uint64_t{row} * width],
                  std::min<std::size_t>(width, 8));
    return load_le<std::uint64_t>(value.data());
  }
  void set(std::uint32_t row, Column column, std::span<const std::byte> value) {
    const auto [offset, width] = columns_[column];
    if (width != 0)
      std::memcpy(&bytes_[offset + std::uint64_t{row} * width], value.data(),
                  std::min<std::size_t>(width, value.size()));
  }

 private:
  struct Place {
    std::uint64_t offset = 0;
    std::size_t width = 0;
  };
  std::span<std::byte> bytes_;
  std::uint32_t rows_ = 0;
  std::array<Place, kColumnCount> columns_{};
};

using namespace in_superblock;

class RightSums {
 public:
  explicit RightSums(std::vector<std::byte>& file) : file_(file) {}

  void run() {
    if (file_.size() < 20480) return;
    put_sum(512 + 248, {512, 248});
    const bool second = load_le<std::uint64_t>(&file_[8208]) > load_le<std::uint64_t>(&file_[4112]);
    const std::uint64_t slot = second ? 8192 : 4096, other = second ? 4096 : 8192;
    generation_ = get(slot + kGeneration);
    stored_from_ = generation_ > 1 ? get(slot + kPreviousTrailer) + 4096 : 16384;
    // The stamp is known behind a first walk; what carries it is written in the second one.
    fix_structures(slot);
    put(slot + kStamp, stamp_sum_);
    stamp_ = stamp_sum_;
    seen_.clear();
    fix_structures(slot);
    if (get(other) != 0) put_sum(other + 4088, {other, 4088});
    for (const std::uint64_t place : {kPreviousTrailer, kDeadMap, kFileTable, kGrowth,
                                      kGlobalSections, kStatistics, kTags, kView}) {
      const std::uint64_t position = get(slot + place), length = get(slot + place + 8);
      if (within(position, length)) put_sum(slot + place + 16, {position, length});
    }
    if (get(slot) != 0) put_sum(slot + 4088, {slot, 4088});
    const std::uint64_t length = get(slot + kFileLength);
    if (length % 4096 == 0 && length >= 20480 && length <= file_.size())
      std::memcpy(&file_[length - 4096], &file_[slot], 4096);
    // The mark is of the newest generation, the cover a copy of the identity unless it has a view.
    put(256 + 24, sum_of(bytes({slot, 4096})));
    put_sum(256 + 56, {256, 56});
    if (get(slot + kHdf5) == 0) std::memcpy(file_.data(), &file_[512], 256);
  }

 private:
  struct Range {
    std::uint64_t position, length;
  };

  // From the superblock in `slot` down.
  void fix_structures(std::uint64_t slot) {
    stamp_sum_ = 0;
    const std::uint64_t root = get(slot + kRootPosition);
    const std::uint64_t root_length = get(slot + kRootLength) & 0xffffffff;
    const std::uint64_t height = get(slot + kRootLength) >> 32;
    if (height >= 1 && height <= 10) fix_index(root, root_length, height - 1);
    if (within(root, root_length)) put_digest(slot + kRootDigest, {root, root_length});
    fix_dead(get(slot + kDeadMap), get(slot + kDeadMap + 8));
    fix_chain(get(slot + kFileTable), get(slot + kFileTable + 8), false);
    fix_chain(get(slot + kGrowth), get(slot + kGrowth + 8), true);
    const std::uint64_t dictionary = get(slot + kDictionary);
    if (within(dictionary, kBlockHeaderSize)) finish_header(dictionary);
  }

  bool within(std::uint64_t position, std::uint64_t length) const {
    return position >= 16384 && length != 0 && position <= file_.size() &&
           length <= file_.size() - position;
  }
  std::span<std::byte> bytes(Range range) {
    return std::span(file_).subspan(range.position, range.length);
  }
  std::uint64_t get(std::uint64_t at) const { return load_le<std::uint64_t>(&file_[at]); }
  void put(std::uint64_t at, std::uint64_t value) { store_le(&file_[at], value); }
  void put_sum(std::uint64_t at, Range range) { put(at, sum_of(bytes(range))); }
  void put_digest(std::uint64_t at, Range range) {
    const Digest digest = digest_of(bytes(range));
    put(at, digest.low);
    put(at + 8, digest.high);
  }

  // True the first time that a page is met.
  bool enter(std::uint64_t position, std::uint64_t length) {
    return length >= kPageHeaderSize && within(position, length) && seen_.insert(position).second;
  }
  void put_stamp(std::uint64_t generation_at, std::uint64_t stamp_at) {
    if (stamp_ && get(generation_at) == generation_) put(stamp_at, *stamp_);
  }
  void finish_page(std::uint64_t position, std::uint64_t length) {
    put_stamp(position + 56, position + 72);
    SumStream stream;
    stream.add(bytes({position, kPageSumOffset}));
    stream.add(bytes({position + kPageHeaderSize, length - kPageHeaderSize}));
    put(position + kPageSumOffset, stream.sum());
  }

  void fix_index(std::uint64_t position, std::uint64_t length, std::uint64_t level) {
    if (!enter(position, length)) return;
    RawPage page(bytes({position, length}));
    for (std::uint32_t row = 0; row < page.rows(); ++row) {
      const std::uint64_t child = page.get(row, kPosition);
      if (level == 0) {
        fix_entry(page, row);
      } else {
        const std::uint64_t child_length = page.get(row, kStoredLength);
        fix_index(child, child_length, level - 1);
        if (within(child, kPageHeaderSize)) page.set(row, kSum, bytes({child + kPageSumOffset, 8}));
      }
    }
    finish_page(position, length);
  }

  void fix_entry(RawPage& page, std::uint32_t row) {
    const std::uint64_t block = page.get(row, kPosition);
    const std::uint64_t extent = page.get(row, kExtentPosition);
    const std::uint64_t extent_length = page.get(row, kExtentLength);
    const std::uint64_t map = page.get(row, kMapPosition);
    if (!within(block, kBlockHeaderSize)) return;
    const std::uint64_t name = load_le<std::uint16_t>(&file_[block + 14]);
    const std::uint64_t body = block + kBlockHeaderSize + (name + 7) / 8 * 8;
    const std::uint64_t stored = get(block + 48), padded = (stored + 7) / 8 * 8;
    if (map != 0) {
      fix_map(map, page.get(row, kMapLength), 8);
      if (within(map, kPageHeaderSize)) page.set(row, kMapSum, bytes({map + kPageSumOffset, 8}));
    } else if (within(extent, extent_length)) {
      put_sum(block + 80, {extent, extent_length});
      page.set(row, kExtentSum, bytes({block + 80, 8}));
      add_to_stamp(extent, get(block + 80));
    }
    if (!within(body, stored) || !within(body, padded)) return;
    put_sum(block + 128, {body, padded});
    if (load_le<std::uint8_t>(&file_[block + 9]) == 0) {
      put_digest(block + 112, {body, stored});
      page.set(row, kDigest, bytes({block + 112, 16}));
    }
    finish_header(block);
    page.set(row, kSum, bytes({block + 144, 8}));
  }

  void finish_header(std::uint64_t block) {
    put_stamp(block + 40, block + 136);
    const std::uint64_t name = load_le<std::uint16_t>(&file_[block + 14]);
    if (!within(block, kBlockHeaderSize + (name + 7) / 8 * 8)) return;
    SumStream stream;
    stream.add(bytes({block, 144}));
    stream.add(bytes({block + kBlockHeaderSize, (name + 7) / 8 * 8}));
    put(block + 144, stream.sum());
  }

  void fix_map(std::uint64_t position, std::uint64_t length, int depth) {
    if (depth < 0 || !enter(position, length)) return;
    RawPage page(bytes({position, length}));
    const bool leaf = load_le<std::uint16_t>(&file_[position + 10]) == 0;
    for (std::uint32_t row = 0; row < page.rows(); ++row) {
      const std::uint64_t child = page.get(row, kPosition);
      const std::uint64_t child_length = page.get(row, kStoredLength);
      if (leaf) {
        fix_range(page, row, true);
      } else {
        fix_map(child, child_length, depth - 1);
        if (within(child, kPageHeaderSize)) page.set(row, kSum, bytes({child + kPageSumOffset, 8}));
      }
    }
    finish_page(position, length);
  }

  void fix_dead(std::uint64_t position, std::uint64_t length) {
    if (!enter(position, length)) return;
    RawPage page(bytes({position, length}));
    for (std::uint32_t row = 0; row < page.rows(); ++row) {
      const std::uint64_t before = page.get(row, kPosition);
      if (row == 0 && page.get(row, kState) == 1) {
        fix_dead(before, page.get(row, kStoredLength));
        if (within(before, kPageHeaderSize))
          page.set(row, kSum, bytes({before + kPageSumOffset, 8}));
      } else {
        fix_range(page, row, false);
      }
    }
    finish_page(position, length);
  }

  // Growth pages, or those of a file table, from the newest down.
  void fix_chain(std::uint64_t position, std::uint64_t length, bool growth) {
    constexpr std::uint64_t kPageBefore = 1, kOriginal = 2;
    if (!enter(position, length)) return;
    RawPage page(bytes({position, length}));
    for (std::uint32_t row = 0; row < page.rows(); ++row) {
      const std::uint64_t before = page.get(row, kPosition), state = page.get(row, kState);
      const std::uint64_t map = page.get(row, kMapPosition);
      if (row == 0 && state == kPageBefore) {
        fix_chain(before, page.get(row, kStoredLength), growth);
        if (within(before, kPageHeaderSize))
          page.set(row, kSum, bytes({before + kPageSumOffset, 8}));
      } else if (growth) {
        fix_range(page, row, true);
      } else if (state == kOriginal) {
        fix_map(map, page.get(row, kMapLength), 8);
        if (within(map, kPageHeaderSize)) page.set(row, kMapSum, bytes({map + kPageSumOffset, 8}));
      }
    }
    finish_page(position, length);
  }

  void add_to_stamp(std::uint64_t position, std::uint64_t sum) {
    if (position >= stored_from_) stamp_sum_ += sum;
  }

  // A piece of this file or a dead range.
  void fix_range(RawPage& page, std::uint32_t row, bool piece) {
    if (page.get(row, kFileNumber) != 0) return;
    const Range range{page.get(row, kPosition), page.get(row, kStoredLength)};
    if (!within(range.position, range.length)) return;
    std::array<std::byte, 8> sum;
    store_le(sum.data(), sum_of(bytes(range)));
    page.set(row, kSum, sum);
    if (piece) add_to_stamp(range.position, load_le<std::uint64_t>(sum.data()));
  }

  std::vector<std::byte>& file_;
  std::set<std::uint64_t> seen_;
  std::uint64_t generation_ = 0, stored_from_ = 0;
  std::uint64_t stamp_sum_ = 0;         // of the pieces met in this walk
  std::optional<std::uint64_t> stamp_;  // known in the second walk
};

}  // namespace

void make_sums_right(std::vector<std::byte>& file) { RightSums(file).run(); }

}  // namespace nmb::test
