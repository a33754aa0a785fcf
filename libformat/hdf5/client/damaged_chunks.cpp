#include "client/damaged_chunks.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "hdf5_types/hdf5_section.h"
#include "wire/joined_text.h"

namespace nmb::hdf5 {

std::string DamagedChunks::text() const {
  const std::string found = chunks == 0 ? "some chunks cannot be decoded"
                                        : joined_text(chunks, chunks == 1 ? " chunk" : " chunks",
                                                      " cannot be decoded (first: ", first, ")");
  return found +
         "; the stored bytes of these chunks are kept, but their values cannot be read; use an "
         "undamaged copy of this file";
}

Result<std::vector<DamagedChunks>> marked_chunks(const Metadata& metadata) {
  std::vector<DamagedChunks> marked;
  if (!metadata.extension()) return marked;
  constexpr Property::Number kWanted[] = {Property::Number::kDamagedChunks};
  NMB_ASSIGN(const std::vector<Property> properties,
             decode_properties(metadata.extension()->hdf5, kWanted));
  for (const Property& p : properties)
    if (p.owner < metadata.variable_count()) marked.push_back({p.owner});
  return marked;
}

Status mark_damaged_chunks(const std::vector<DamagedChunks>& damaged, Metadata* metadata) {
  if (damaged.empty()) return {};
  auto extension = std::make_shared<Extension>(*metadata->extension());
  NMB_ASSIGN(std::vector<Property> properties, decode_properties(extension->hdf5));
  for (const DamagedChunks& chunks : damaged) {
    Property mark;
    mark.number = Property::Number::kDamagedChunks;
    mark.owner = chunks.variable;
    if (std::ranges::find(properties, place_of(mark), place_of) == properties.end())
      properties.push_back(std::move(mark));
  }
  std::ranges::stable_sort(properties, {}, place_of);
  extension->hdf5.clear();
  for (const Property& p : properties) append_property(p, &extension->hdf5);
  metadata->set_extension(std::move(extension));
  return {};
}

}  // namespace nmb::hdf5
