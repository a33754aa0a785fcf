#include "commit/automatic_view.h"

#include <span>
#include <utility>

#include "ranks/writer_options.h"
#include "wire/checked.h"
#include "wire/joined_text.h"

namespace nmb {

Status limit_automatic_view(const Totals& totals, ViewEncoding* how) {
  const std::uint64_t objects = totals.dimensions + totals.variables;
  if (objects > kMostAutoViewObjects)
    return Status(
        Code::kUnsupported,
        joined_text("HDF5 view: the file has ", objects,
                    " dimensions and variables; a view is made automatically for at most ",
                    kMostAutoViewObjects));
  how->most_chunks = kMostAutoViewRecords;
  return {};
}

Status check_view_of_copy(const ByteSource& file, const std::atomic<bool>* cancel) {
  class NoFindings final : public Findings {
    void report(Finding) override {}
  } findings;
  class NoSink final : public ViewSink {
    Status write_at(std::uint64_t, std::span<const std::byte>) override { return {}; }
  } sink;
  NMB_ASSIGN(Head head, read_head(file, findings));
  ViewEncoding how;
  how.position = round_up(head.superblock.file_length, 8);
  how.cancel = cancel;
  how.of_copy = true;
  NMB_TRY(limit_automatic_view(head.superblock.totals, &how));
  return encode_view(ReaderCore(file, std::move(head)), how, sink).status();
}

}  // namespace nmb
