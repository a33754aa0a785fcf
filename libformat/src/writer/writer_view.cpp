// Commits: the HDF5 view (spec/format.md, section 12).
#include <algorithm>

#include "superblock/view_header.h"
#include "view/view_encoder.h"
#include "wire/checked.h"
#include "writer/extent_state.h"
#include "writer/writer_impl.h"

namespace nmb {

// Collective: that a view stays behind what is committed is told by the first commit for which it
// is so.
Status Writer::Impl::tell_of_old_view() {
  if (!view_is_newest(superblock_) || options_.hdf5_view != Hdf5View::kOff) return {};
  const bool tells = ranks_.rank() == 0 && options_.on_no_view;
  return ranks_.agree(
      tells ? options_.on_no_view("a new HDF5 view: the one that is there shows generation " +
                                  std::to_string(superblock_.generation) +
                                  ", nothing of what is added")
            : Status());
}

// Collective: rank 0 writes the view of what all have written, behind it. One that was there before
// stays where none can be made.
Status Writer::Impl::write_view(Superblock& next) {
  NMB_TRY(stripes_.pass_on({}));
  auto finish = [&]() -> Status {
    NMB_TRY(buffer_.flush());
    // MPI-IO shows ranks what others wrote when both have synced.
    return options_.io == Io::kMpiIo ? file_->sync() : Status();
  };
  NMB_TRY(ranks_.agree(finish()));
  if (ranks_.rank() != 0) return ranks_.agree({});
  auto write = [&]() -> Status {
    if (options_.io == Io::kMpiIo) NMB_TRY(file_->sync());
    const Status status = encode_view_of(next);
    if (status.ok()) return {};
    const Status cut = file_->truncate(cursor_);
    if (status.code() != Code::kUnsupported || options_.hdf5_view != Hdf5View::kAuto) return status;
    if (options_.on_no_view) NMB_TRY(options_.on_no_view(status.message()));
    return cut;
  };
  return ranks_.agree(write());
}

Status Writer::Impl::encode_view_of(Superblock& next) {
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
  how.position = round_up(cursor_, 8);
  how.cancel = options_.cancel;
  if (options_.hdf5_view == Hdf5View::kAuto) {
    const std::uint64_t objects = next.totals.dimensions + next.totals.variables;
    if (objects > kMostAutoViewObjects)
      return Status(Code::kUnsupported, "HDF5 view: found " + std::to_string(objects) +
                                            " dimensions and variables, expected at most " +
                                            std::to_string(kMostAutoViewObjects));
    how.most_chunks = kMostAutoViewRecords;
  }
  Head head;
  head.superblock = next;
  head.superblock.file_length = how.position;
  head.dictionary = dictionary_;
  const OutputSource source(*file_, how.position);
  const ReaderCore core(source, std::move(head));
  FileSink sink(*file_);
  NMB_ASSIGN(const EncodedView view, encode_view(core, how, sink));
  if (view.lost_records.blocks > 0 && options_.on_lost_records)
    NMB_TRY(options_.on_lost_records(view.lost_records));
  if (const Place& old = superblock_.view; !old.absent())
    dead_.push_back({old.position, round_up(old.length, 8), 0, false});
  next.view = {how.position, view.length, 0};
  NMB_ASSIGN(next.view.sum, sum_in_file(buffer_, how.position, view.length));
  next.readonly_compatible |= kFeatureView;
  cursor_ = how.position + view.length;
  new_view_ = view;
  return {};
}

}  // namespace nmb
