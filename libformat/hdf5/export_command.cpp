// Runs the export (see export_command.h).
#include "export_command.h"

#include <hdf5.h>

#include <memory>
#include <new>
#include <utility>

#include "common/diagnostics.h"
#include "hdf5/client/hdf5_stream.h"
#include "hdf5_export.h"
#include "nmb/reader.h"

namespace nmb::hdf5 {

namespace {

Status run(const std::string& input, const std::string& output, ClassicStyle style,
           std::string_view chunk) {
  if (!chunk.empty()) {
    Compression asked;
    NMB_TRY(asked.set_chunk(chunk));
    style.chunk = std::move(asked.chunk);
  }
  NMB_ASSIGN(const std::unique_ptr<Reader> reader, Reader::open(input));
  return export_hdf5(*reader, output, std::move(style)).in_file(input);
}

}  // namespace

int export_file(const std::string& input, const std::string& output, ClassicStyle style,
                std::string_view chunk) {
  // All is closed by the end of this; HDF5 would try again then what has failed.
  H5dont_atexit();
  tools::Diagnostics diagnostics("nmb-hdf5");
  try {
    const Status status = run(input, output, std::move(style), chunk);
    diagnostics.error(status);
    if (status.code() == Code::kNoSpace) return kNoSpaceExit;
  } catch (const std::bad_alloc&) {
    diagnostics.error(Status(Code::kLimit, input, kNoOffset, {}, "out of memory"));
  }
  return static_cast<int>(diagnostics.exit());
}

}  // namespace nmb::hdf5
