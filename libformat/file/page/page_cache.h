// PageCache keeps the most recently used pages of a file, up to a limit of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "page/page.h"
#include "wire/bytes.h"

namespace nmb {

// Thread-safe.
class PageCache {
 public:
  // Works like read_page(), but takes the page from the cache if possible.
  Result<std::shared_ptr<const Page>> read(const ByteSource& file, const PageExpectation& expect);

 private:
  static constexpr std::size_t kBytes = 8 << 20;
  struct Cached {
    std::shared_ptr<const Page> page;
    std::list<std::uint64_t>::iterator use;
  };
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, Cached> pages_;  // by position
  std::list<std::uint64_t> uses_;                    // positions, most recently used first
  std::size_t bytes_ = 0;
};

}  // namespace nmb
