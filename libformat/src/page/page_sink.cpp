// Writing a page (see page/page_sink.h).
#include "page/page_sink.h"

namespace nmb {

Result<Place> write_page(PageSink& sink, const PageBuilder& builder, const Origin& origin,
                         std::uint64_t owner, std::vector<std::byte>* copy) {
  const std::uint64_t position = sink.next_position();
  PageBuilder::Encoded page = builder.encode(origin, position, owner);
  NMB_TRY(sink.append(page.bytes));
  Place place{position, page.bytes.size(), page.sum};
  if (copy) *copy = std::move(page.bytes);
  return place;
}

}  // namespace nmb
