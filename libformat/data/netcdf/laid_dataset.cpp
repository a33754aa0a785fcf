#include "netcdf/laid_dataset.h"

#include <utility>

#include "netcdf/shared_dimensions.h"
#include "sources/value_source.h"

namespace nmb {

std::shared_ptr<const Dataset> laid_dataset(std::shared_ptr<const Dataset> of, Metadata metadata,
                                            ClassicLayout layout, std::uint64_t records,
                                            std::shared_ptr<const LaidValues> values) {
  Dataset dataset;
  dataset.name = of->name;
  dataset.metadata = std::move(metadata);
  dataset.layout = layout;
  dataset.layout.records = records;
  dataset.records = records;
  dataset.extent = source_of(std::move(values));
  return dataset_keeping(std::move(of), std::move(dataset));
}

Source relaid_values(const Dataset& dataset, const Metadata& metadata,
                     const ClassicLayout& layout) {
  auto values =
      std::make_shared<LaidValues>(laid_values(layout, dataset.records, dataset.extent->name()));
  for (VarId v = 0; v < metadata.variable_count(); ++v)
    values->add(metadata, v, dataset.extent,
                dataset.metadata.begin(v) - dataset.layout.header_length,
                dataset.layout.record_size);
  return source_of(std::move(values));
}

}  // namespace nmb
