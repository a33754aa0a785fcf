// Writes the parts of a CDL text that precede its data.
#pragma once

#include "dump/text_out.h"
#include "nmb/dump.h"

namespace nmb {

// Writes all text from "netcdf NAME {" to the global attributes. For `view`, see write_cdl_header.
void put_cdl_header(TextOut& out, const DatasetText& dataset, const NetcdfView* view);

}  // namespace nmb
