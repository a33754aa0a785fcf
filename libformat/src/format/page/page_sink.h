// PageSink receives new pages, one after another (spec/format.md, section 6).
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "format/page/page.h"
#include "nmb/bytes.h"
#include "nmb/status.h"
#include "wire/place.h"

namespace nmb {

// A function that writes whole pages at a position.
using WritePages = std::function<Status(std::uint64_t, std::span<const std::byte>)>;

// Receives the structures that become dead space.
class DeadPages {
 public:
  virtual ~DeadPages() = default;
  // The new generation does not use this old page.
  virtual void replaced(const Page& page) = 0;
  // The new generation no longer leads to this committed structure of a later version.
  virtual void dropped(const Place& place) = 0;
};

class PageSink : public DeadPages {
 public:
  // Returns the position of the next page, a multiple of 8.
  virtual std::uint64_t next_position() const = 0;
  // Appends whole pages.
  virtual Status append(std::span<const std::byte> page) = 0;
};

// Reports to `dead` the structures of later versions to which a row leads. The row is left out of
// the new page.
void drop_later_places(const Page& page, std::uint32_t row, DeadPages& dead);

// Returns kUnsupported if a column that this version does not know forbids changes of the page's
// rows.
Status check_may_change(const Page& page, const ByteSource& file);

// Encodes the page in `builder` and appends it to the sink. Returns the page's place, with the
// page's `sum` field as its sum. If `copy` is not nullptr, *copy receives the page's bytes.
Result<Place> write_page(PageSink& sink, const PageBuilder& builder, const Origin& origin,
                         std::uint64_t owner = 0, std::vector<std::byte>* copy = nullptr);

}  // namespace nmb
