// Reads a hyperslab into a caller's array (see model/values.h).
#include "model/values.h"
#include "values/gather.h"
#include "values/read_checks.h"
#include "wire/joined_text.h"

namespace nmb {

Status read_array(const ValueArray& array, std::string_view name, const Hyperslab& slab,
                  MutableArray out, Kind kind) {
  const Variable v{name, array.type, {}, 0};
  if (TypeTable::is_extended(v.type))
    return failure(Code::kUnsupported, "variable ", name,
                   ": its values are neither numbers nor text, "
                   "so they cannot be read into an array of numbers or text");
  NMB_TRY(check_memory_type(v, out.type()));
  NMB_TRY(check_hyperslab(array.shape, slab));
  NMB_TRY(check_count(out.count(), element_count(slab)));
  std::byte* to = out.data();
  std::uint64_t out_of_range = 0;
  NMB_TRY(gather(array.shape, slab, *array.source, [&](std::span<const std::byte> values) {
    const std::uint64_t count = values.size() / array.shape.element_size;
    out_of_range += convert_from_external(v.type, values.data(), count, out.type(), to, kind);
    to += count * memory_type_size(out.type());
    return Status();
  }));
  return range_status(v, out_of_range);
}

Status read_hyperslab(const Metadata& metadata, const VariableShape& shape, VarId variable,
                      const ByteSource& extent, const Hyperslab& slab, MutableArray out,
                      Kind kind) {
  const Variable v = metadata.variable(variable);
  const std::shared_ptr<const ByteSource> kept(std::shared_ptr<void>(), &extent);
  return read_array({shape, v.type, kept, nullptr}, v.name, slab, out, kind);
}

}  // namespace nmb
