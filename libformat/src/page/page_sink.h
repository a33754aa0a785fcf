// PageSink: where new pages go, one after the other (spec/format.md, section 6).
#pragma once

#include <cstdint>
#include <span>

#include "nmb/digest.h"
#include "nmb/place.h"
#include "nmb/status.h"
#include "page/page.h"

namespace nmb {

class PageSink {
 public:
  virtual ~PageSink() = default;
  // Where the next page will lie (a multiple of 8).
  virtual std::uint64_t next_position() const = 0;
  // Appends whole pages.
  virtual Status append(std::span<const std::byte> page) = 0;
  // A committed page that the new state no longer uses.
  virtual void replaced(const Page& page) = 0;
};

// Encodes `builder` at the sink's next position; the place's sum is the page's `sum` field. `copy`:
// receives the bytes, if wanted.
Result<Place> write_page(PageSink& sink, const PageBuilder& builder, const Origin& origin,
                         std::uint64_t owner = 0, std::vector<std::byte>* copy = nullptr);

}  // namespace nmb
