// The values of a hyperslab as text (see nmb/dump.h).
#include "dump/cdl_rows.h"
#include "dump/json_rows.h"
#include "dump/rows.h"
#include "nmb/dump.h"

namespace nmb {

Status write_values(const DatasetText& dataset, const ClassicLayout& layout,
                    const ByteSource& extent, VarId variable, const Hyperslab& slab,
                    ValueFormat format, const TextSink& sink) {
  NMB_ASSIGN(const VariableShape shape,
             shape_of(dataset.metadata, layout, variable, dataset.records));
  NMB_TRY(check_hyperslab(shape, slab));
  const Type type = dataset.metadata.variable(variable).type;
  const bool any = element_count(slab) > 0;
  TextOut out(sink);
  if (format == ValueFormat::kCdl) {
    CdlRows rows(out, dataset.metadata, variable, {});
    NMB_TRY(for_each_row(shape, type, extent, slab, out, rows));
    if (any) out.put('\n');
  } else {
    JsonRows rows(out, type, slab);
    NMB_TRY(for_each_row(shape, type, extent, slab, out, rows));
    if (!any) out.put("[]");
  }
  return out.finish();
}

}  // namespace nmb
