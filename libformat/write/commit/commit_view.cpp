// Commits: writes the HDF5 view (spec/hdf5_view.md, section 12).

#include "commit/automatic_view.h"
#include "state/commit_steps.h"
#include "superblock/view_header.h"
#include "view/view_encoder.h"
#include "wire/checked.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

Status encode_view_of(WriterCore& w) {
  Superblock& next = w.next.superblock;
  class FileSink final : public ViewSink {
   public:
    explicit FileSink(OutputFile& file) : file_(file) {}
    Status write_at(std::uint64_t position, std::span<const std::byte> bytes) override {
      return file_.write_at(position, bytes);
    }

   private:
    OutputFile& file_;
  };
  ViewEncoding how;
  how.position = round_up(w.next.cursor, 8);
  how.cancel = w.options.cancel;
  how.options = w.next.view_options;
  how.numbers = &w.next.view_numbers;
  if (w.options.hdf5_view != Hdf5View::kOn) {
    NMB_TRY(limit_automatic_view(next.totals, &how));
    if (w.options.hdf5_view == Hdf5View::kSmall && w.committed.superblock.view.absent())
      how.most_bytes = how.position / kSmallViewPart;
  }
  LeftOutList left_out;
  how.on_left_out = [&](const LeftOut& object) {
    left_out.add(object);
    return Status();
  };
  Head head;
  head.superblock = next;
  head.superblock.file_length = how.position;
  head.dictionary = w.committed.dictionary;
  const Source source = written(*w.file, how.position);
  const ReaderCore core(*source, std::move(head));
  FileSink sink(*w.file);
  const Result<EncodedView> encoded = encode_view(core, how, sink);
  if (encoded.status().code() == Code::kLimit)
    return Status(Code::kUnsupported,
                  joined_text("HDF5 view: a view would take more than ", 100 / kSmallViewPart,
                              " % of the file; nmconvert --add-hdf5-view adds one"));
  NMB_TRY(encoded.status());
  const EncodedView& view = *encoded;
  if (view.lost_records.blocks > 0 && w.options.on_lost_records)
    NMB_TRY(w.options.on_lost_records(view.lost_records));
  if (left_out.count > 0 && w.options.on_left_out) NMB_TRY(w.options.on_left_out(left_out));
  if (w.options.on_view)
    NMB_TRY(w.options.on_view(
        {view.length, how.position, next.totals.dimensions + next.totals.variables}));
  if (const Place& old = w.committed.superblock.view; !old.absent())
    w.next.dead.push_back({old.position, round_up(old.length, 8), 0, false});
  next.view = {how.position, view.length, 0};
  NMB_ASSIGN(next.view.sum, sum_in_file(w.buffer, how.position, view.length));
  next.readonly_compatible |= kFeatureView;
  w.next.cursor = how.position + view.length;
  w.next.view = view;
  return {};
}

}  // namespace

// Only rank 0 reads the header of the file's view. `differs` is combined over all ranks.
Result<bool> choose_view_options(WriterCore& w) {
  const Superblock& committed = w.committed.superblock;
  bool differs = !view_is_newest(committed);
  auto choose = [&]() -> Status {
    NMB_ASSIGN(const std::optional<ViewHeader> header,
               ViewHeader::read(*written(*w.file, committed.file_length), committed));
    const ViewOptions old =
        header ? ViewOptions{header->dimensions, header->copies} : ViewOptions();
    if (header) {
      NMB_ASSIGN(w.next.view_numbers,
                 header->read_numbers(*written(*w.file, committed.file_length), committed.view));
    }
    w.next.view_options = {w.options.view_dimensions.value_or(old.dimensions),
                           w.options.view_copies.value_or(old.copies)};
    differs = differs || w.next.view_options != old;
    return {};
  };
  NMB_TRY(w.ranks.agree(w.ranks.is_first() ? choose() : Status()));
  return w.ranks.combine(differs, [](bool a, bool b) { return a || b; });
}

Status warn_of_old_view(WriterCore& w) {
  if (!view_is_newest(w.committed.superblock) || w.options.hdf5_view != Hdf5View::kOff) return {};
  const bool tells = w.ranks.is_first() && w.options.on_no_view;
  return w.ranks.agree(
      tells ? w.options.on_no_view(joined_text(
                  "a new HDF5 view: the existing view shows generation ",
                  w.committed.superblock.generation, " without the changes of this commit"))
            : Status());
}

Status write_view(WriterCore& w) {
  NMB_TRY(w.stripes.pass_on({}));
  auto finish = [&]() -> Status {
    NMB_TRY(w.buffer.flush());
    // With MPI-IO, a rank sees the writes of another rank only after both ranks have called sync().
    return w.options.io == Io::kMpiIo ? w.file->sync() : Status();
  };
  NMB_TRY(w.ranks.agree(finish()));
  if (!w.ranks.is_first()) return w.ranks.agree({});
  auto write = [&]() -> Status {
    if (w.options.io == Io::kMpiIo) NMB_TRY(w.file->sync());
    const Status status = encode_view_of(w);
    if (status.ok()) return {};
    const Status cut = w.file->truncate(w.next.cursor);
    if (status.code() != Code::kUnsupported || w.options.hdf5_view == Hdf5View::kOn) return status;
    if (w.options.on_no_view) NMB_TRY(w.options.on_no_view(status.message()));
    return cut;
  };
  return w.ranks.agree(write());
}

}  // namespace nmb
