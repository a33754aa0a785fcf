// Adds an HDF5 view to a file (see writer/file_writer.h).
#include "writer/file_writer.h"

namespace nmb {

Status add_hdf5_view(const std::string& path, const FileWriterOptions& options) {
  FileWriterOptions of_view = options;
  of_view.hdf5_view = Hdf5View::kOn;
  NMB_ASSIGN(const std::unique_ptr<FileWriter> writer, FileWriter::open(path, of_view));
  return writer->close();
}

}  // namespace nmb
