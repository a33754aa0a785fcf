// Reading a hyperslab into a caller's array (see nmb/values.h).
#include "nmb/values.h"
#include "values/gather.h"
#include "values/read_checks.h"

namespace nmb {

Status read_hyperslab(const Metadata& metadata, const VariableShape& shape, VarId variable,
                      const ByteSource& extent, const Hyperslab& slab, MemoryType memory, void* out,
                      Kind kind) {
  const Variable v = metadata.variable(variable);
  NMB_TRY(check_memory_type(v, memory));
  NMB_TRY(check_hyperslab(shape, slab));
  auto* to = static_cast<std::byte*>(out);
  std::uint64_t out_of_range = 0;
  NMB_TRY(gather(shape, slab, extent, [&](std::span<const std::byte> values) {
    const std::uint64_t count = values.size() / shape.element_size;
    out_of_range += convert_from_external(v.type, values.data(), count, memory, to, kind);
    to += count * memory_type_size(memory);
    return Status();
  }));
  return range_status(v, out_of_range);
}

}  // namespace nmb
