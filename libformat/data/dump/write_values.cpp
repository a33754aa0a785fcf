// Writes the values of a hyperslab as text (see dump/dump.h).
#include <algorithm>
#include <vector>

#include "dump/cdl_rows.h"
#include "dump/dump.h"
#include "dump/json_rows.h"
#include "dump/rows.h"
#include "model/name_rules.h"
#include "values/open_array.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

// An element may have at most this many bytes, because a whole element is held in memory.
constexpr std::uint64_t kMostElement = std::uint64_t{256} << 20;

}  // namespace

Status write_values(const DatasetText& dataset, const ClassicLayout& layout,
                    std::shared_ptr<const ByteSource> extent, VarId variable, const Hyperslab& slab,
                    ValueFormat format, const TextSink& sink) {
  const Variable shown = dataset.metadata.variable(variable);
  if (const std::uint64_t bytes = dataset.metadata.value_size(shown.type); bytes > kMostElement)
    return Status(Code::kLimit, extent->name(), kNoOffset, "",
                  joined_text("variable ", in_quotes(shown.name), ": a value has ", bytes,
                              " bytes; only values of at most ", kMostElement,
                              " bytes can be written as text"));
  NMB_ASSIGN(const bool is_null, has_null_space(dataset.metadata, variable));
  if (is_null) {
    TextOut out(sink);
    out.put(format == ValueFormat::kCdl ? "NULL\n" : "null");
    return out.finish();
  }
  NMB_ASSIGN(const ValueArray array,
             value_array(dataset.metadata, layout, dataset.records, variable, std::move(extent)));
  NMB_TRY(check_hyperslab(array.shape, slab));
  const bool any = element_count(slab) > 0;
  TextOut out(sink);
  Status read;
  if (format == ValueFormat::kCdl) {
    CdlRows rows(out, dataset.metadata, variable, array, {});
    read = for_each_row(array, slab, out, rows);
    if (!read.ok())
      rows.cut();
    else if (any)
      out.put('\n');
  } else {
    JsonRows rows(out, dataset.metadata, array, slab);
    read = for_each_row(array, slab, out, rows);
    if (!read.ok())
      rows.cut();
    else if (!any)
      out.put("[]");
  }
  const Status written = out.finish();
  return read.ok() ? written : read;
}

}  // namespace nmb
