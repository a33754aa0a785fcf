#include "recover/scan.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <mutex>
#include <utility>

#include "parallel/workers.h"
#include "wire/endian.h"
#include "wire/hash.h"

namespace nmb {

namespace {

constexpr std::uint64_t kScanPart = 4 << 20;
constexpr std::uint64_t kSumPart = 1 << 20;
// A window has this many bytes after its part, so that it holds a superblock, or a header without
// its name, that begins at the end of the part.
constexpr std::uint64_t kOverlap = kSlotUnit;

// Structures of an undamaged file do not overlap, so all their sums together take at most as long
// as one sum of the file. Damaged bytes rarely contain a magic with the right position, so only a
// file that was made to take long exceeds this limit.
constexpr std::uint64_t kMostSums = 64, kFreeSums = 64 << 20;

class FileScanner {
 public:
  FileScanner(const ByteSource& file, const ScanOptions& options)
      : file_(file), options_(options), size_(file.size()) {}

  Result<Scan> run() {
    std::vector<Scan> parts((size_ + kScanPart - 1) / kScanPart);
    std::atomic<std::size_t> next{0};
    NMB_TRY(share_work(std::min<std::size_t>(std::max(1u, options_.threads), parts.size()),
                       [&](const std::atomic<bool>& stop) -> Status {
                         std::vector<std::byte> window;
                         for (std::size_t i; !stop && (i = next++) < parts.size();)
                           NMB_TRY(scan_part(i * kScanPart, window, &parts[i]));
                         return {};
                       }));
    Scan all;
    for (Scan& part : parts) {
      std::ranges::move(part.blocks, std::back_inserter(all.blocks));
      std::ranges::move(part.pages, std::back_inserter(all.pages));
      std::ranges::move(part.superblocks, std::back_inserter(all.superblocks));
      part = {};
    }
    return all;
  }

 private:
  Status scan_part(std::uint64_t begin, std::vector<std::byte>& window, Scan* found) {
    if (options_.cancel && options_.cancel->load())
      return Status(Code::kIo, file_.name(), kNoOffset, "", "interrupted");
    const std::uint64_t end = std::min(begin + kScanPart, size_);
    window.resize(std::min(end + kOverlap, size_) - begin);
    NMB_TRY(file_.read_at(begin, window));
    const auto magic = load_le<std::uint32_t>(kStructureMagic.data());
    for (std::uint64_t at = begin; at < end && size_ - at >= 8; at += 8)
      if (load_le<std::uint32_t>(window.data() + (at - begin)) == magic)
        NMB_TRY(look(at, std::span(window).subspan(at - begin), found));
    tell(end - begin);
    return {};
  }

  // Looks at the structure that may begin at `at`. `window` holds its first bytes.
  Status look(std::uint64_t at, std::span<const std::byte> window, Scan* found) {
    if (Superblock::has_magic(window)) return look_at_superblock(at, window, found);
    if (at < kBodyStart) return {};
    if (const std::optional<PageHeader> page = PageHeader::decode(window))
      return look_at_page(at, *page, found);
    return look_at_block(at, window, found);
  }

  Status look_at_superblock(std::uint64_t at, std::span<const std::byte> window, Scan* found) {
    if (at % kSlotUnit != 0 || window.size() < kSlotUnit) return {};
    const auto bytes = window.first(kSlotUnit);
    if (!Superblock::valid(bytes)) return {};
    ScannedSuperblock superblock{at, {}};
    FirstFinding first;
    Superblock::decode(bytes, at, &superblock.fields, first);
    const Superblock& fields = superblock.fields;
    if (first.found() || fields.generation == 0) return {};
    if (at != Superblock::slot_position(fields.generation) && at != fields.trailer_position())
      return {};
    found->superblocks.push_back(std::move(superblock));
    return {};
  }

  Status look_at_block(std::uint64_t at, std::span<const std::byte> window, Scan* found) {
    if (window.size() < kBlockHeaderSize ||
        load_le<std::uint64_t>(window.data() + in_block_header::kPosition) != at)
      return {};
    const auto name = load_le<std::uint16_t>(window.data() + in_block_header::kNameLength);
    const std::uint64_t length = block_body_offset(name);
    if (length > size_ - at) return {};
    NMB_TRY(spend(length));
    std::vector<std::byte> longer;
    if (length > window.size()) {
      longer.resize(length);
      NMB_TRY(file_.read_at(at, longer));
      window = longer;
    }
    ScannedHeader block;
    std::string_view found_name;
    FirstFinding first;
    if (!BlockHeader::decode(window.first(length), at, &block.header, &found_name, first) ||
        first.found() || block.header.origin.generation == 0)
      return {};
    block.name = found_name;
    found->blocks.push_back(std::move(block));
    return {};
  }

  Status look_at_page(std::uint64_t at, const PageHeader& page, Scan* found) {
    if (page.position != at || page.length < kPageHeaderSize || page.length % 8 != 0 ||
        page.length > size_ - at || page.origin.generation == 0)
      return {};
    NMB_TRY(spend(page.length));
    NMB_ASSIGN(const bool is_right, has_right_sum(page));
    if (!is_right) return {};
    const Result<std::shared_ptr<const Page>> decoded = read_page(file_, page.expectation());
    if (decoded.ok()) found->pages.push_back(page);
    return decoded.status().code() == Code::kIo ? decoded.status() : Status();
  }

  // Checks the sum of a page without taking memory for the whole page, because its length may be
  // wrong.
  Result<bool> has_right_sum(const PageHeader& page) const {
    SumStream sum;
    std::vector<std::byte> bytes(std::min<std::uint64_t>(page.length, kSumPart));
    for (std::uint64_t done = 0; done < page.length;) {
      const auto part = std::span(bytes).first(std::min(kSumPart, page.length - done));
      NMB_TRY(file_.read_at(page.position + done, part));
      if (done == 0) {
        sum.add(part.first(kPageSumOffset));
        sum.add(part.subspan(kPageHeaderSize));
      } else {
        sum.add(part);
      }
      done += part.size();
    }
    return sum.sum() == page.sum;
  }

  Status spend(std::uint64_t bytes) {
    if ((spent_ += bytes) <= size_ * kMostSums + kFreeSums) return {};
    return Status(Code::kLimit, file_.name(), kNoOffset, "",
                  "too many bytes that look like block headers or pages overlap each other; the "
                  "file was not damaged by chance");
  }

  void tell(std::uint64_t bytes) {
    if (!options_.progress) return;
    const std::lock_guard lock(mutex_);
    options_.progress(done_ += bytes, size_);
  }

  const ByteSource& file_;
  const ScanOptions& options_;
  const std::uint64_t size_;
  std::atomic<std::uint64_t> spent_{0};  // bytes whose sum was computed
  std::mutex mutex_;                     // protects done_
  std::uint64_t done_ = 0;
};

}  // namespace

Result<Scan> scan_file(const ByteSource& file, const ScanOptions& options) {
  return FileScanner(file, options).run();
}

}  // namespace nmb
