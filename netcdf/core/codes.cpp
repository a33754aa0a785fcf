#include "codes.h"

#include <cstdio>
#include <cstdlib>

namespace nmb::udf {

namespace {

thread_local std::string message;

int code_of(Code code) {
  switch (code) {
    case Code::kOk:
      return NC_NOERR;
    case Code::kNotFound:
      return NC_ENOTFOUND;
    case Code::kDamaged:
    case Code::kIo:
    case Code::kNoSpace:
    case Code::kBusy:
      return NC_EIO;
    case Code::kUnsupported:
      return NC_ENOTBUILT;
    case Code::kUnknownKind:
      return NC_ENOTNC;
    case Code::kRange:
      return NC_ERANGE;
    case Code::kLimit:
      return NC_ENOMEM;
    case Code::kUsage:
    case Code::kExists:
    case Code::kConflict:
      break;
  }
  return NC_EINVAL;
}

void keep(std::string text) {
  message = std::move(text);
  const char* const wanted = std::getenv("NMB_NETCDF_MESSAGES");
  if (wanted && *wanted != '\0') std::fprintf(stderr, "nmb: %s\n", message.c_str());
}

}  // namespace

int failed(const Status& status) {
  const int code = code_of(status.code());
  // A program asks for conversions that may fail, and expects the code.
  if (code != NC_NOERR && code != NC_ERANGE) keep(status.text());
  return code;
}

int failed(int code, const std::string& file, const std::string& text) {
  keep(file + ": " + text);
  return code;
}

const char* last_message() { return message.c_str(); }

}  // namespace nmb::udf
