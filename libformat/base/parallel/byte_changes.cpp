#include "parallel/byte_changes.h"

#include <algorithm>
#include <cstdint>

namespace nmb {

namespace {

// If fewer than kShortest equal bytes lie between two runs, the runs are sent as one run, because
// the header of a run also takes kShortest bytes.
constexpr std::size_t kShortest = 8;

using ChangedRange = ByteChanges::ChangedRange;

// Returns the runs of bytes that differ. `now` and `before` must have the same length, which is
// less than 4 GiB.
std::vector<ChangedRange> runs_of(std::span<const std::byte> now,
                                  std::span<const std::byte> before) {
  std::vector<ChangedRange> runs;
  for (auto [at, other] = std::ranges::mismatch(now, before); at != now.end();) {
    const auto begin = static_cast<std::size_t>(at - now.begin());
    std::size_t end = begin + 1;
    for (std::size_t same = 0; end + same < now.size() && same < kShortest;) {
      if (now[end + same] == before[end + same]) {
        ++same;
      } else {
        end += same + 1;
        same = 0;
      }
    }
    runs.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end - begin)});
    const auto next = std::ranges::mismatch(now.subspan(end), before.subspan(end));
    at = now.begin() + (next.in1 - now.subspan(end).begin()) + static_cast<std::ptrdiff_t>(end);
  }
  return runs;
}

}  // namespace

ByteChanges take_changes(std::span<const std::byte> bytes, std::vector<std::byte>* known) {
  ByteChanges changes;
  const std::span<const std::byte> before = *known;
  if (std::ranges::equal(bytes, before)) return changes;
  const auto add = [&](std::span<const std::byte> more) {
    changes.bytes.insert(changes.bytes.end(), more.begin(), more.end());
  };
  if (bytes.size() == before.size() && bytes.size() <= ~std::uint32_t{0}) {
    changes.kind = ByteChanges::Kind::kRuns;
    changes.runs = runs_of(bytes, before);
    for (const ChangedRange& run : changes.runs) add(bytes.subspan(run.begin, run.length));
  } else {
    const std::size_t shorter = std::min(bytes.size(), before.size());
    const auto first = std::ranges::mismatch(bytes.first(shorter), before.first(shorter)).in1 -
                       bytes.first(shorter).begin();
    const auto head = static_cast<std::size_t>(first);
    std::size_t tail = 0;
    while (tail < shorter - head &&
           bytes[bytes.size() - 1 - tail] == before[before.size() - 1 - tail])
      ++tail;
    changes.kind = ByteChanges::Kind::kMiddle;
    changes.head = head;
    changes.tail = tail;
    add(bytes.subspan(head, bytes.size() - head - tail));
  }
  known->assign(bytes.begin(), bytes.end());
  return changes;
}

Status apply_changes(const ByteChanges& changes, std::vector<std::byte>* known) {
  const Status wrong(Code::kDamaged, "a message has changes that do not fit");
  if (changes.kind == ByteChanges::Kind::kNone) return {};
  if (changes.kind == ByteChanges::Kind::kRuns) {
    std::span<const std::byte> rest = changes.bytes;
    for (const auto& [begin, length] : changes.runs) {
      if (length > rest.size() || begin > known->size() || length > known->size() - begin)
        return wrong;
      std::ranges::copy(rest.first(length), known->begin() + begin);
      rest = rest.subspan(length);
    }
    return {};
  }
  const std::size_t size = known->size();
  if (changes.head > size || changes.tail > size - changes.head) return wrong;
  const auto head = known->begin() + static_cast<std::ptrdiff_t>(changes.head);
  const auto tail = known->end() - static_cast<std::ptrdiff_t>(changes.tail);
  known->insert(known->erase(head, tail), changes.bytes.begin(), changes.bytes.end());
  return {};
}

}  // namespace nmb
