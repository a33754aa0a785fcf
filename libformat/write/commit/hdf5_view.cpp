// Adds an HDF5 view to a file (see nmb/writer.h).
#include "nmb/writer.h"

namespace nmb {

Status add_hdf5_view(const std::string& path, const WriterOptions& options) {
  WriterOptions of_view;
  of_view.sync = options.sync;
  of_view.locking = options.locking;
  of_view.cancel = options.cancel;
  of_view.layer = options.layer;
  of_view.on_repair = options.on_repair;
  of_view.on_left_out = options.on_left_out;
  of_view.hdf5_view = Hdf5View::kOn;
  of_view.view_dimensions = options.view_dimensions;
  of_view.view_copies = options.view_copies;
  NMB_ASSIGN(const std::unique_ptr<Writer> writer, Writer::open(path, of_view));
  return writer->close();
}

}  // namespace nmb
