// Adds an HDF5 view to a file (see writer/writer.h).
#include "writer/writer.h"

namespace nmb {

Status add_hdf5_view(const std::string& path, const WriterOptions& options) {
  WriterOptions of_view = options;
  of_view.hdf5_view = Hdf5View::kOn;
  NMB_ASSIGN(const std::unique_ptr<Writer> writer, Writer::open(path, of_view));
  return writer->close();
}

}  // namespace nmb
