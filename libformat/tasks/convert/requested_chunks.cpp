#include "convert/requested_chunks.h"

#include <algorithm>

#include "hdf5_types/netcdf_marks.h"

namespace nmb {

RequestedChunks::RequestedChunks(const Dataset& dataset, const NetcdfView& view, bool is_numbered,
                                 const std::vector<Compression::ChunkLength>& asked) {
  for (std::size_t place = 0; place < asked.size(); ++place) {
    const std::string& name = asked[place].dimension;
    // Names phony_dim_N are not compared with stored names, because each block has its own numbers.
    const bool is_shown =
        (is_numbered && is_made_up(name)) ||
        (view.is_netcdf &&
         std::ranges::any_of(view.dimensions, [&](const auto& d) { return d.name == name; }));
    for (const NetcdfView::Variable& variable : view.variables) {
      if (!asked[place].is_for(variable.name)) continue;
      const Variable stored = dataset.metadata.variable(variable.id);
      for (std::size_t i = 0; i < stored.dimensions.size(); ++i)
        if (is_shown ? view.dimensions[variable.dimensions[i]].name == name
                     : dataset.metadata.dimension(stored.dimensions[i]).name == name)
          places_.emplace(std::pair(variable.id, i), place);
    }
  }
}

std::optional<std::size_t> RequestedChunks::find(VarId variable, std::size_t i) const {
  const auto found = places_.find({variable, i});
  return found == places_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace nmb
