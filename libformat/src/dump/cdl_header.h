// The parts of a CDL text before its data.
#pragma once

#include "dump/text_out.h"
#include "nmb/dump.h"

namespace nmb {

// From "netcdf NAME {" to the global attributes; view: as write_cdl_header has it.
void put_cdl_header(TextOut& out, const DatasetText& dataset, const NetcdfView* view);

}  // namespace nmb
