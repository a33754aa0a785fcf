// The values of a hyperslab as text (see nmb/dump.h).
#include "dump/cdl_rows.h"
#include "dump/json_rows.h"
#include "dump/rows.h"
#include "nmb/dump.h"

namespace nmb {

Status write_values(const DatasetText& dataset, const ClassicLayout& layout,
                    std::shared_ptr<const ByteSource> extent, VarId variable, const Hyperslab& slab,
                    ValueFormat format, const TextSink& sink) {
  NMB_ASSIGN(const ValueArray array,
             value_array(dataset.metadata, layout, dataset.records, variable, std::move(extent)));
  NMB_TRY(check_hyperslab(array.shape, slab));
  const bool any = element_count(slab) > 0;
  TextOut out(sink);
  if (format == ValueFormat::kCdl) {
    CdlRows rows(out, dataset.metadata, variable, array, {});
    NMB_TRY(for_each_row(array, slab, out, rows));
    if (any) out.put('\n');
  } else {
    JsonRows rows(out, dataset.metadata, array, slab);
    NMB_TRY(for_each_row(array, slab, out, rows));
    if (!any) out.put("[]");
  }
  return out.finish();
}

}  // namespace nmb
