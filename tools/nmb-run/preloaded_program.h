// PreloadedProgram: starts a program with libnmb-pnetcdf.so preloaded and waits for it.
#pragma once

#include <string>
#include <vector>

#include "nmb/status.h"

namespace nmb::tools {

struct PreloadedProgram {
  std::vector<std::string> arguments;  // the program first
  bool reports = false;                // whether costs are shown at the end

  // Returns the exit code of the program, or 128 + the number of the signal that ended it. Errors:
  // kNotFound; kUnsupported for a statically linked program, or if the library is missing.
  Result<int> run() const;
};

}  // namespace nmb::tools
