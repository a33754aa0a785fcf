#include "state/file_space.h"

namespace nmb {

Result<std::uint64_t> take_space(WriterCore& w, const Placement& own) {
  NMB_ASSIGN(const auto placed,
             w.ranks.in_order(own, Placement(),
                              [](const Placement& a, const Placement& b) { return a.then(b); }));
  const std::uint64_t start = placed.before.end(w.next.cursor);
  w.next.cursor = placed.all.end(w.next.cursor);
  return start;
}

Status set_length(WriterCore& w) {
  if (!w.ranks.is_first()) return {};
  NMB_ASSIGN(const std::uint64_t size, w.file->size());
  return size < w.next.cursor ? w.file->truncate(w.next.cursor) : Status();
}

}  // namespace nmb
