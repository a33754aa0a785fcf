// The parts of a CDL text before its data.
#pragma once

#include "dump/text_out.h"
#include "nmb/dump.h"

namespace nmb {

// Writes everything from "netcdf NAME {" to the global attributes. `view` is that of
// write_cdl_header.
void put_cdl_header(TextOut& out, const DatasetText& dataset, const NetcdfView* view);

}  // namespace nmb
