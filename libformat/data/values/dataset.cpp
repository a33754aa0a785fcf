#include "model/dataset.h"

#include "sources/value_source.h"
#include "values/open_array.h"
#include "wire/joined_text.h"

namespace nmb {

Status Dataset::check_has_values(VarId variable) const {
  NMB_ASSIGN(const bool is_null, has_null_space(metadata, variable));
  if (!is_null) return {};
  return Status(Code::kUsage, joined_text("variable ", metadata.variable(variable).name,
                                          " has no values: its dataspace in HDF5 is null"));
}

Status Dataset::read(VarId variable, const Hyperslab& slab, MutableArray out) const {
  NMB_TRY(check_has_values(variable));
  NMB_ASSIGN(const ValueArray array, value_array(metadata, layout, records, variable, extent));
  return read_array(array, metadata.variable(variable).name, slab, out, kind());
}

Result<std::shared_ptr<const Dataset>> open_classic(std::shared_ptr<const ByteSource> file) {
  NMB_ASSIGN(ClassicHeader header, decode_classic_header(*file));
  auto dataset = std::make_shared<Dataset>();
  dataset->name = file->name();
  dataset->metadata = std::move(header.metadata);
  dataset->layout = header.layout;
  dataset->remarks = std::move(header.remarks);
  dataset->records = dataset->metadata.record_dimension() ? header.layout.records : 0;
  const std::uint64_t header_length = header.layout.header_length;
  const std::uint64_t values = file->size() - header_length;
  dataset->extent = run_of(std::move(file), header_length, values);
  return std::shared_ptr<const Dataset>(std::move(dataset));
}

}  // namespace nmb
