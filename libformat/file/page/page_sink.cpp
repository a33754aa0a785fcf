#include "page/page_sink.h"

namespace nmb {

Result<Place> write_page(PageSink& sink, const PageBuilder& builder, const Origin& origin,
                         std::uint64_t owner, std::vector<std::byte>* copy) {
  const std::uint64_t position = sink.next_position();
  NMB_ASSIGN(PageBuilder::Encoded page, builder.encode(origin, position, owner));
  NMB_TRY(sink.append(page.bytes));
  Place place{position, page.bytes.size(), page.sum};
  if (copy) *copy = std::move(page.bytes);
  return place;
}

void drop_later_places(const Page& page, std::uint32_t row, DeadPages& dead) {
  if (!page.has_unknown()) return;
  for (const LaterPlace& later : page.later_places(row)) dead.dropped(later.place);
}

Status check_may_change(const Page& page, const ByteSource& file) {
  if (!page.forbids_changes()) return {};
  return Status(Code::kUnsupported, file.name(), page.position(), "",
                "the page has a column that only a newer program can update, so its rows cannot be "
                "changed");
}

}  // namespace nmb
