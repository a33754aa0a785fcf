#include "page/page_cache.h"

namespace nmb {

Result<std::shared_ptr<const Page>> PageCache::read(const ByteSource& file,
                                                    const PageExpectation& expect) {
  {
    std::lock_guard lock(mutex_);
    if (auto it = pages_.find(expect.position);
        it != pages_.end() && (expect.any_level || it->second.page->level() == expect.level)) {
      uses_.splice(uses_.begin(), uses_, it->second.use);
      return it->second.page;
    }
  }
  NMB_ASSIGN(std::shared_ptr<const Page> page, read_page(file, expect));
  std::lock_guard lock(mutex_);
  if (pages_.contains(expect.position)) return page;
  uses_.push_front(expect.position);
  pages_[expect.position] = {page, uses_.begin()};
  bytes_ += page->bytes().size();
  while (bytes_ > kBytes && uses_.size() > 1) {
    const auto oldest = pages_.find(uses_.back());
    bytes_ -= oldest->second.page->bytes().size();
    pages_.erase(oldest);
    uses_.pop_back();
  }
  return page;
}

}  // namespace nmb
