// Writes a dataset as CDL with its data section (see dump/dump.h).
#include <string>

#include "dump/cdl_header.h"
#include "dump/cdl_rows.h"
#include "dump/rows.h"

namespace nmb {
namespace {

constexpr std::size_t kLineLength = 80;

Status put_data(TextOut& out, const DatasetText& dataset, const ClassicLayout& layout,
                std::shared_ptr<const ByteSource> extent, VarId id) {
  const Variable variable = dataset.metadata.variable(id);
  NMB_ASSIGN(const ValueArray array,
             value_array(dataset.metadata, layout, dataset.records, id, std::move(extent)));
  const VariableShape& shape = array.shape;
  const Hyperslab all{std::vector<std::uint64_t>(shape.lengths.size(), 0), shape.lengths, {}};
  if (element_count(all) == 0) return {};
  const bool one_row = shape.lengths.size() <= 1;
  out.put("\n ");
  put_cdl_name(out, variable.name, CdlForm::kExact);
  out.put(one_row ? " = " : " =\n");
  CdlRows::Style style;
  if (one_row)
    style.first_column = variable.name.size() + 4;
  else
    style.indent = "  ";
  style.line_length = kLineLength;
  // ncgen computes the number of records from the length of this string, so the NULs at its end
  // must be written.
  style.keep_nuls = one_row && shape.record_size > 0;
  CdlRows rows(out, dataset.metadata, id, array, style);
  NMB_TRY(for_each_row(array, all, out, rows));
  out.put(" ;\n");
  return {};
}

}  // namespace

Status write_cdl(const DatasetText& dataset, const ClassicLayout& layout,
                 std::shared_ptr<const ByteSource> extent, std::optional<VarId> only,
                 const TextSink& sink) {
  TextOut out(sink);
  NMB_TRY(put_cdl_header(out, dataset, nullptr, CdlForm::kExact));
  if (dataset.metadata.variable_count() > 0) out.put("data:\n");
  const VarId first = only.value_or(0);
  const VarId end = only ? *only + 1 : dataset.metadata.variable_count();
  for (VarId id = first; id < end; ++id) NMB_TRY(put_data(out, dataset, layout, extent, id));
  out.put("}\n");
  return out.finish();
}

}  // namespace nmb
