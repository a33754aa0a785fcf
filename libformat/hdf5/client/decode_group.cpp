#include "client/decode_group.h"

#include <utility>

#include "hdf5_types/hdf5_section.h"
#include "hdf5_types/netcdf_marks.h"
#include "model/classic.h"
#include "model/paths.h"
#include "reader/reader_core.h"
#include "sources/value_source.h"
#include "wire/joined_text.h"

namespace nmb::hdf5 {

Result<std::shared_ptr<const LoadedBlock>> decode_group(Hdf5Group group, const std::string& file) {
  NMB_ASSIGN(ClassicHeader header,
             decode_classic_header(MemorySource(group.body, file), {.values_follow = false}));
  if (header.layout.kind != Kind::kExtended)
    return Status(Code::kDamaged, file, kNoOffset, "",
                  joined_text("group /", group.name, ": found a body of kind ",
                              static_cast<int>(header.layout.kind), ", expected 6"));
  auto block = std::make_shared<LoadedBlock>();
  block->name = group.name;
  BlockEntry& entry = block->entry;
  entry.name = std::move(group.name);
  entry.kind = static_cast<std::uint16_t>(header.layout.kind);
  entry.stored_length = entry.raw_length = group.body.size();
  entry.extent_length = group.extent_length;
  count_objects(header.metadata, &entry);
  entry.records = header.metadata.record_count(header.layout.records);
  entry.samples = default_samples(entry.variables);
  const std::uint64_t values = values_end(header, entry.records) - header.layout.header_length;
  if (entry.extent_length < values)
    return Status(Code::kDamaged, file, kNoOffset, "R-BK-20",
                  joined_text("block \"", entry.name, "\": found ", entry.extent_length,
                              " bytes of values, expected at least ", values));
  block->metadata = std::move(header.metadata);
  block->metadata.shrink();
  block->layout = header.layout;
  block->layout.records = block->records = entry.records;
  block->extent = std::move(group.extent);
  if (!block->extent) block->extent = owned_bytes(std::vector<std::byte>(), file);
  return std::shared_ptr<const LoadedBlock>(std::move(block));
}

Result<std::shared_ptr<const LoadedBlock>> decode_group(const std::string& name,
                                                        const ByteSource& body, Source extent,
                                                        const std::string& file) {
  std::vector<std::byte> bytes(body.size());
  NMB_TRY(body.read_at(0, bytes));
  const std::uint64_t length = extent ? extent->size() : 0;
  return decode_group({name, std::move(bytes), length, std::move(extent), {}}, file);
}

Result<std::vector<Undecoded>> undecoded_variables(const Dataset& dataset) {
  std::vector<Undecoded> out;
  if (!dataset.metadata.extension()) return out;
  constexpr Property::Number kWanted[] = {Property::Number::kUndecoded};
  NMB_ASSIGN(const std::vector<Property> properties,
             decode_properties(dataset.metadata.extension()->hdf5, kWanted));
  for (const Property& p : properties)
    if (p.owner < dataset.metadata.variable_count())
      out.push_back({joined_path(dataset.name, dataset.metadata.variable(p.owner).name),
                     why_absent(properties, p.owner), p.filter == 0});
  return out;
}

Result<bool> forget_originals(Metadata* metadata) {
  if (!metadata->extension()) return false;
  NMB_ASSIGN(std::vector<Property> properties, decode_properties(metadata->extension()->hdf5));
  bool changes = false;
  for (Property& p : properties) {
    if (p.number != Property::Number::kUndecoded || p.filter == 0) continue;
    p.filter_name = joined_text("filter ", p.filter, " (", p.filter_name, ") was not installed");
    p.filter = 0;
    changes = true;
  }
  if (!changes) return false;
  auto extension = std::make_shared<Extension>(*metadata->extension());
  extension->hdf5.clear();
  for (const Property& p : properties) append_property(p, &extension->hdf5);
  metadata->set_extension(std::move(extension));
  return true;
}

}  // namespace nmb::hdf5
