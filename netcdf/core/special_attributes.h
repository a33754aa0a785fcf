// Attributes that the file does not have as such. No list shows them; programs ask by name.
//   of a group:    _NmbTags: the tags of the block, as a JSON object
//   of a variable: _NmbMinimum, _NmbMaximum, _NmbElements, _NmbMissing: stored statistics
#pragma once

#include <netcdf.h>

#include <cstddef>
#include <string_view>
#include <vector>

#include "open_file.h"

namespace nmb::udf {

struct SpecialAttribute {
  nc_type type = NC_NAT;
  std::vector<std::byte> values;  // in external form

  std::size_t count() const { return values.size() / atomic_size(type); }
  int read(nc_type memory, void* out) const;
};

// Returns NC_ENOTATT if there is no such attribute, or the file does not have what it would say.
int find_special(OpenFile& file, Group& group, const GroupVariable* variable, std::string_view name,
                 SpecialAttribute* out);

}  // namespace nmb::udf
