// Reading a hyperslab into a caller's array (see nmb/values.h).
#include <string>

#include "nmb/values.h"
#include "values/gather.h"

namespace nmb {

Status read_hyperslab(const Metadata& metadata, const VariableShape& shape, VarId variable,
                      const ByteSource& extent, const Hyperslab& slab, MemoryType memory, void* out,
                      Kind kind) {
  const Variable v = metadata.variable(variable);
  if ((v.type == Type::kChar) != (memory == MemoryType::kText))
    return Status(Code::kUsage, "variable " + std::string(v.name) + ": found type " +
                                    std::string(type_name(v.type)) + ", expected " +
                                    (v.type == Type::kChar ? "text" : "numbers") + " in memory");
  NMB_TRY(check_hyperslab(shape, slab));
  auto* to = static_cast<std::byte*>(out);
  std::uint64_t out_of_range = 0;
  NMB_TRY(gather(shape, slab, extent, [&](std::span<const std::byte> values) {
    const std::uint64_t count = values.size() / shape.element_size;
    out_of_range += convert_from_external(v.type, values.data(), count, memory, to, kind);
    to += count * memory_type_size(memory);
    return Status();
  }));
  if (out_of_range == 0) return {};
  return Status(Code::kRange, "variable " + std::string(v.name) + ": found " +
                                  std::to_string(out_of_range) +
                                  " values out of the range of the type in memory, expected none");
}

}  // namespace nmb
