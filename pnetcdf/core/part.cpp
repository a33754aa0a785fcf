// The object that the preloaded library finds in this part.
#include <cstring>

#include "calls.h"
#include "open_file.h"

namespace nmb::pnetcdf {

const char* message() { return last_message().c_str(); }

namespace {

void start(Function (*real)(int number)) { real_lookup = real; }

Function extra(const char* name) {
  const struct {
    const char* name;
    Function function;
  } all[] = {{"def_block", reinterpret_cast<Function>(&define_block)},
             {"open_block", reinterpret_cast<Function>(&open_block)},
             {"inq_global_ids", reinterpret_cast<Function>(&global_ids)},
             {"inq_nblocks", reinterpret_cast<Function>(&count_blocks)},
             {"inq_blockname", reinterpret_cast<Function>(&name_of_block)},
             {"message", reinterpret_cast<Function>(&message)}};
  for (const auto& one : all)
    if (std::strcmp(one.name, name) == 0) return one.function;
  return nullptr;
}

}  // namespace

}  // namespace nmb::pnetcdf

extern "C" [[gnu::visibility("default")]] const nmb::pnetcdf::Part nmb_pnetcdf_part;
const nmb::pnetcdf::Part nmb_pnetcdf_part{nmb::pnetcdf::kTableVersion, nmb::pnetcdf::kFunctionCount,
                                          nmb::pnetcdf::kFunctions, nmb::pnetcdf::start,
                                          nmb::pnetcdf::extra};
