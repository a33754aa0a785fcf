// Runs the export (see export_command.h).
#include "export_command.h"

#include <hdf5.h>

#include <memory>
#include <new>
#include <utility>

#include "hdf5_export.h"
#include "nmb/reader.h"
#include "send_message.h"

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
  // Everything is closed at the end of this function; at exit, HDF5 would repeat the operations
  // that failed.
  H5dont_atexit();
  try {
    return send_end(run(input, output, std::move(style), chunk));
  } catch (const std::bad_alloc&) {
    return send_end(Status(Code::kLimit, input, kNoOffset, {}, "out of memory"));
  }
}

}  // namespace nmb::hdf5
