// PageSink: receives new pages, one after the other (spec/format.md, section 6).
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "format/page/page.h"
#include "nmb/bytes.h"
#include "nmb/status.h"
#include "wire/place.h"

namespace nmb {

// Writes whole pages at a position.
using WritePages = std::function<Status(std::uint64_t, std::span<const std::byte>)>;

// Receives structures that become dead space.
class DeadPages {
 public:
  virtual ~DeadPages() = default;
  // The new state does not use the page.
  virtual void replaced(const Page& page) = 0;
  // The new state no longer leads to this committed structure of a later version.
  virtual void dropped(const Place& place) = 0;
};

class PageSink : public DeadPages {
 public:
  // Returns the position of the next page (a multiple of 8).
  virtual std::uint64_t next_position() const = 0;
  // Appends whole pages.
  virtual Status append(std::span<const std::byte> page) = 0;
};

// Drops the structures of later versions at places of a row that is left out.
void drop_later_places(const Page& page, std::uint32_t row, DeadPages& dead);

// Returns kUnsupported if a column that this version does not know forbids changes of the page's
// rows.
Status check_may_change(const Page& page, const ByteSource& file);

// Encodes `builder` at the sink's next position; the place's sum is the page's `sum` field. copy:
// receives the bytes, may be nullptr.
Result<Place> write_page(PageSink& sink, const PageBuilder& builder, const Origin& origin,
                         std::uint64_t owner = 0, std::vector<std::byte>* copy = nullptr);

}  // namespace nmb
