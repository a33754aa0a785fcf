#include "import/creation_in.h"

#include <algorithm>
#include <utility>

#include "hdf5_error.h"
#include "import/values_in.h"

namespace nmb::hdf5 {

namespace {

// HDF5 leaves unused parameters of the scale-offset filter undefined.
void clear_unused(std::vector<std::uint32_t>* parameters) {
  constexpr std::size_t kClass = 3, kSize = 4, kSign = 5, kHasFill = 7, kFill = 8;
  if (parameters->size() <= kFill) return;
  std::vector<std::uint32_t>& p = *parameters;
  if (p[kClass] != 0) p[kSign] = 0;  // only for floats
  const std::size_t fill = p[kHasFill] == 0 ? 0 : (std::min<std::size_t>(p[kSize], 256) + 3) / 4;
  for (std::size_t i = kFill + fill; i < p.size(); ++i) p[i] = 0;
}

}  // namespace

Result<Creation> creation_in(const FileIn& file, const TypeTable& table, hid_t plist, hid_t type,
                             Type code, const std::string& object) {
  Creation creation;
  const H5D_layout_t layout = H5Pget_layout(plist);
  if (layout < H5D_COMPACT || layout > H5D_VIRTUAL) return hdf5_failure(object, Code::kDamaged);
  creation.layout = static_cast<Layout>(layout);
  H5D_alloc_time_t allocation;
  NMB_TRY(check_read(H5Pget_alloc_time(plist, &allocation), object));
  creation.allocation = allocation == H5D_ALLOC_TIME_DEFAULT ? Allocation::kLate
                                                             : static_cast<Allocation>(allocation);
  H5D_fill_time_t fill_time;
  NMB_TRY(check_read(H5Pget_fill_time(plist, &fill_time), object));
  creation.fill_time = static_cast<FillTime>(fill_time);
  H5D_fill_value_t state;
  NMB_TRY(check_read(H5Pfill_value_defined(plist, &state), object));
  creation.fill_state = state == H5D_FILL_VALUE_UNDEFINED ? FillState::kUndefined
                        : state == H5D_FILL_VALUE_DEFAULT ? FillState::kDefault
                                                          : FillState::kUser;
  if (creation.fill_state != FillState::kUser) return creation;
  NMB_ASSIGN(const Handle scalar, read_handle(H5Screate(H5S_SCALAR), object));
  ReadValues read{std::vector<std::byte>(H5Tget_size(type)), type, -1};
  NMB_TRY(check_read(H5Pget_fill_value(plist, type, read.bytes.data()), object));
  if (table.needs_heap(code)) read.space = scalar.get();
  Heap heap(table.value_size(code));
  NMB_TRY(encode_values(table, code, file.references, read.bytes.data(), 1, &creation.fill_value,
                        &heap));
  const std::vector<std::byte> rest = heap.take();
  creation.fill_value.insert(creation.fill_value.end(), rest.begin(), rest.end());
  return creation;
}

Result<std::vector<Filter>> filters_in(hid_t plist, const std::string& object) {
  std::vector<Filter> filters;
  NMB_ASSIGN(const int count, read_value(H5Pget_nfilters(plist), object));
  for (int i = 0; i < count; ++i) {
    Filter filter;
    unsigned flags = 0, config = 0;
    std::size_t parameters = 0;
    char name[257] = {};
    const auto n = static_cast<unsigned>(i);
    NMB_TRY(check_read(H5Pget_filter2(plist, n, &flags, &parameters, nullptr, 256, name, &config),
                       object));
    std::vector<unsigned> values(parameters);
    NMB_ASSIGN(const H5Z_filter_t id, read_value(H5Pget_filter2(plist, n, &flags, &parameters,
                                                                values.data(), 256, name, &config),
                                                 object));
    filter.id = static_cast<std::uint32_t>(id);
    filter.flags = flags;
    filter.name = name;
    filter.parameters.assign(values.begin(), values.end());
    if (filter.id == H5Z_FILTER_SCALEOFFSET) clear_unused(&filter.parameters);
    filters.push_back(std::move(filter));
  }
  return filters;
}

}  // namespace nmb::hdf5
