// Failures as error codes of netCDF-C, whose messages are fixed. The library's own message is kept
// for nmb_netcdf_message(), and goes to standard error if NMB_NETCDF_MESSAGES is
// set and not empty.
#pragma once

#include <netcdf.h>

#include <new>
#include <string>

#include "nmb/status.h"

// Returns a code that is not NC_NOERR.
#define NMB_NC_TRY(call)                                    \
  do {                                                      \
    if (const int nmb_nc_code = (call)) return nmb_nc_code; \
  } while (false)

namespace nmb::udf {

// Keeps the message of a failure and returns its code.
int failed(const Status& status);
int failed(int code, const std::string& file, const std::string& message);
const char* last_message();

// Runs a call of the dispatch table. No exception crosses the border to C.
template <class Work>
int guarded(Work work) noexcept {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return NC_ENOMEM;
  } catch (...) {
    return NC_EINVAL;
  }
}

}  // namespace nmb::udf
