// LevelPages collects the pages that a rank makes for one level of a tree, and the rows that refer
// to them.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "page/origin.h"
#include "page/page.h"
#include "page/page_sink.h"
#include "parallel/communicator.h"

namespace nmb {

// If a level has at most this many pages, rank 0 alone makes the levels above it, whose rows need
// much less than 1 MiB of memory. If all ranks made them, they would have to wait for each other at
// each level.
inline constexpr std::uint64_t kFewPages = 4096;

// Pages are made before their positions are known; place() sets the positions. Child is the type of
// a row that refers to a page, with the members position, length and sum. Memory: the pages without
// a position.
template <class Child>
class LevelPages {
 public:
  std::vector<Child>& children() { return children_; }
  const std::vector<Child>& children() const { return children_; }
  std::size_t count() const { return children_.size(); }
  // Returns the number of bytes of all pages without a position.
  std::uint64_t unplaced() const { return bytes_.size(); }

  void start() {
    children_.clear();
    placed_ = 0;
  }

  Status add(const PageBuilder& builder, Child child, const Origin& origin) {
    NMB_ASSIGN(const PageBuilder::Encoded page, builder.encode(origin, 0));
    bytes_.insert(bytes_.end(), page.bytes.begin(), page.bytes.end());
    child.length = static_cast<std::uint32_t>(page.bytes.size());
    children_.push_back(std::move(child));
    return {};
  }

  // Places the pages one after another from `position` on, and writes them. Calls last(child,
  // bytes) with the last page.
  template <class Last>
  Status place(std::uint64_t position, const WritePages& write, Last last) {
    auto rest = std::span(bytes_);
    const std::uint64_t from = position;
    for (; placed_ < children_.size(); ++placed_) {
      Child& child = children_[placed_];
      const auto page = rest.first(child.length);
      child.position = position;
      child.sum = place_page(page, position);
      position += child.length;
      rest = rest.subspan(child.length);
      if (rest.empty()) last(std::as_const(child), std::span<const std::byte>(page));
    }
    const Status status = write(from, bytes_);
    bytes_.clear();
    return status;
  }

  // Places and writes the collected pages if they are large enough. Call this only if one rank
  // makes the whole level, because only then does it know the position of its next page
  // (*position).
  template <class Last>
  Status place_alone(std::uint64_t* position, const WritePages& write, Last last) {
    constexpr std::size_t kEnough = 1 << 20;
    if (bytes_.size() < kEnough) return {};
    const std::uint64_t length = bytes_.size();
    NMB_TRY(place(*position, write, last));
    *position += length;
    return {};
  }

 private:
  std::vector<Child> children_;
  std::size_t placed_ = 0;        // number of children with a position
  std::vector<std::byte> bytes_;  // bytes of the pages without a position
};

// Calls make(ranks, write) on rank 0 only, which makes pages from *position on and advances
// *position. Then all ranks write these pages together, as if several ranks had made them. Returns
// the result of `make`, whose type must be trivially copyable. Collective.
template <class Outcome, class Make>
Result<Outcome> make_pages_on_first(Communicator& ranks, std::uint64_t* position,
                                    const WritePages& write, Make make) {
  struct Made {
    Outcome outcome{};
    std::uint64_t position = 0;
    bool failed = false;
  } made;
  const std::uint64_t first = *position;
  std::vector<std::byte> bytes;
  const WritePages gather = [&](std::uint64_t, std::span<const std::byte> pages) {
    bytes.insert(bytes.end(), pages.begin(), pages.end());
    return Status();
  };
  Status status;
  if (ranks.rank() == 0) {
    Communicator alone;
    Result<Outcome> outcome = make(alone, gather);
    status = outcome.status();
    if (status.ok()) made.outcome = *outcome;
    made.position = *position;
    made.failed = !status.ok();
  }
  NMB_ASSIGN(made, ranks.broadcast_value(0, made));
  if (made.failed) return ranks.agree(status);
  NMB_TRY(write(first, bytes));
  *position = made.position;
  return made.outcome;
}

}  // namespace nmb
