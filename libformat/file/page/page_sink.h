// PageSink receives new pages, one after another (spec/format.md, section 6).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "page/page.h"
#include "wire/bytes.h"
#include "wire/failure.h"
#include "wire/place.h"

namespace nmb {

// Writes whole pages at a position.
using WritePages = std::function<Status(std::uint64_t, std::span<const std::byte>)>;

// Receives the structures that become dead space.
class DeadPages {
 public:
  virtual ~DeadPages() = default;
  // Reports an old page that the new generation does not use.
  virtual void replaced(const Page& page) = 0;
  // Reports a committed structure of a later version to which the new generation no longer refers.
  virtual void dropped(const Place& place) = 0;
};

class PageSink : public DeadPages {
 public:
  // Returns the position of the next page, a multiple of 8.
  virtual std::uint64_t next_position() const = 0;
  // Appends whole pages.
  virtual Status append(std::span<const std::byte> page) = 0;
};

// Keeps new pages in memory. position: position of the first page.
class PagesInMemory final : public PageSink {
 public:
  explicit PagesInMemory(std::uint64_t position) : position_(position) {}
  std::uint64_t next_position() const override { return position_ + bytes.size(); }
  Status append(std::span<const std::byte> page) override {
    bytes.insert(bytes.end(), page.begin(), page.end());
    return {};
  }
  void replaced(const Page&) override {}
  void dropped(const Place&) override {}
  std::vector<std::byte> bytes;

 private:
  const std::uint64_t position_;
};

// Reports to `dead` the structures of later versions to which a row refers. Call this if the row is
// left out of a new page.
void drop_later_places(const Page& page, std::uint32_t row, DeadPages& dead);

// Returns kUnsupported if an unknown column forbids changes of the page's rows.
Status check_may_change(const Page& page, const ByteSource& file);

// Encodes the page in `builder` and appends it to the sink. Returns the page's place, with its
// `sum` field as sum. copy: receives the page's bytes; may be nullptr.
Result<Place> write_page(PageSink& sink, const PageBuilder& builder, const Origin& origin,
                         std::uint64_t owner = 0, std::vector<std::byte>* copy = nullptr);

}  // namespace nmb
