// Encodes differences between bytes (see parallel/byte_changes.h).
#include "parallel/byte_changes.h"

#include <algorithm>
#include <cstdint>

namespace nmb {

namespace {

enum class Change : std::uint8_t { kNone, kMiddle, kRuns };

// If fewer than kShortest equal bytes lie between two runs, the runs are sent as one run, because
// the header of a run also takes kShortest bytes.
constexpr std::size_t kShortest = 8;

struct Run {
  std::uint32_t begin, length;
};

// Returns the runs of bytes that differ. `now` and `before` must have the same length, which is
// less than 4 GiB.
std::vector<Run> runs_of(std::span<const std::byte> now, std::span<const std::byte> before) {
  std::vector<Run> runs;
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

void put_changes(std::span<const std::byte> bytes, std::vector<std::byte>* known,
                 MessageWriter* out) {
  const std::span<const std::byte> before = *known;
  if (std::ranges::equal(bytes, before)) return out->put(Change::kNone);
  if (bytes.size() == before.size() && bytes.size() <= ~std::uint32_t{0}) {
    const std::vector<Run> runs = runs_of(bytes, before);
    out->put(Change::kRuns);
    out->put<std::uint64_t>(runs.size());
    for (const Run& run : runs) {
      out->put(run);
      out->put_raw(bytes.subspan(run.begin, run.length));
    }
  } else {
    const std::size_t shorter = std::min(bytes.size(), before.size());
    const auto first = std::ranges::mismatch(bytes.first(shorter), before.first(shorter)).in1 -
                       bytes.first(shorter).begin();
    const auto head = static_cast<std::size_t>(first);
    std::size_t tail = 0;
    while (tail < shorter - head &&
           bytes[bytes.size() - 1 - tail] == before[before.size() - 1 - tail])
      ++tail;
    out->put(Change::kMiddle);
    out->put<std::uint64_t>(head);
    out->put<std::uint64_t>(tail);
    out->put_bytes(bytes.subspan(head, bytes.size() - head - tail));
  }
  known->assign(bytes.begin(), bytes.end());
}

bool get_changes(MessageReader* in, std::vector<std::byte>* known) {
  switch (in->get<Change>()) {
    case Change::kNone:
      return false;
    case Change::kRuns:
      for (auto left = in->get<std::uint64_t>(); left > 0; --left) {
        const Run run = in->get<Run>();
        std::ranges::copy(in->get_raw(run.length), known->begin() + run.begin);
      }
      return true;
    case Change::kMiddle:
      break;
  }
  const auto head = in->get<std::uint64_t>(), tail = in->get<std::uint64_t>();
  const auto middle = in->get_bytes();
  std::vector<std::byte> bytes(known->begin(), known->begin() + static_cast<std::ptrdiff_t>(head));
  bytes.insert(bytes.end(), middle.begin(), middle.end());
  bytes.insert(bytes.end(), known->end() - static_cast<std::ptrdiff_t>(tail), known->end());
  *known = std::move(bytes);
  return true;
}

}  // namespace nmb
