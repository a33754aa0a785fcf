#include "name_index.h"

#include "model/name_tag.h"

namespace nmb::pnetcdf {

std::uint32_t name_tag(std::string_view name) { return tag_of(name); }

}  // namespace nmb::pnetcdf
