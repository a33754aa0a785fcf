// The meanings of the tools' exit codes.
#pragma once

#include "wire/failure.h"

namespace nmb::tools {

enum class Exit : int {
  kDone = 0,       // done without errors
  kFindings = 1,   // a conflict, a difference, or a damaged file of a known kind
  kCannotRun = 2,  // wrong usage, unknown or unsupported kind, unreadable file, or no space
  kLoss = 3,       // done, but data were lost (recovery only)
};

constexpr Exit exit_of(Code code) {
  switch (code) {
    case Code::kOk:
      return Exit::kDone;
    case Code::kDamaged:
    case Code::kConflict:
    case Code::kRange:
      return Exit::kFindings;
    default:
      return Exit::kCannotRun;
  }
}

// Returns the worse of two exit codes. From the worst to the best: kCannotRun, kFindings, kLoss,
// kDone.
constexpr Exit worse(Exit a, Exit b) {
  constexpr int weight[] = {0, 2, 3, 1};
  return weight[static_cast<int>(a)] >= weight[static_cast<int>(b)] ? a : b;
}

}  // namespace nmb::tools
