// A report on what a rank has done so far.
#pragma once

#include "nmb/writer.h"
#include "writer/writer_core.h"

namespace nmb {

WriterReport report_of(const WriterCore& w);

}  // namespace nmb
