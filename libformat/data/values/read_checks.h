// Checks before values are read into a caller's array (spec/format.md, section 10).
#pragma once

#include <cstdint>
#include <string>

#include "model/metadata.h"
#include "model/values.h"
#include "wire/failure.h"
#include "wire/joined_text.h"

namespace nmb {

inline Status check_memory_type(const Variable& variable, MemoryType memory) {
  if ((variable.type == Type::kChar) == (memory == MemoryType::kText)) return {};
  return failure(Code::kUsage, "variable ", variable.name, ": found type ",
                 type_name(variable.type), ", expected ",
                 variable.type == Type::kChar ? "text" : "numbers", " in memory");
}

inline Status range_status(const Variable& variable, std::uint64_t out_of_range) {
  if (out_of_range == 0) return {};
  return failure(Code::kRange, "variable ", variable.name, ": found ", out_of_range,
                 " values out of the range of the type in memory, expected none");
}

}  // namespace nmb
