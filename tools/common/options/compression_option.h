// The options --compress, --shuffle and --chunk.
#pragma once

#include <optional>
#include <string>

#include "model/values.h"
#include "wire/failure.h"

namespace nmb::tools {

// The texts of the options. A text is empty if the option was not given.
struct CompressionTexts {
  std::string codec, chunk;
  bool shuffle = false;

  // Returns nullopt if none of the options was given. Errors: kUsage.
  Result<std::optional<Compression>> parse() const;
};

}  // namespace nmb::tools
