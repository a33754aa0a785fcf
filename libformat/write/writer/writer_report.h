// Returns the times and counts of the writer on this rank so far.
#pragma once

#include "state/writer_core.h"
#include "writer/file_writer.h"

namespace nmb {

FileWriterReport report_of(const WriterCore& w);

}  // namespace nmb
