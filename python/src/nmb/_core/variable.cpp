// The handles of a variable and of an attribute.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <utility>

#include "arrays.h"
#include "errors.h"
#include "handles.h"
#include "statistics.h"
#include "text.h"

namespace nmb_python {

std::shared_ptr<const NumpyType> numpy_type_of(const nmb::VarView& var) {
  // The types of classic netCDF need no search.
  static auto* const classic = new std::array<std::shared_ptr<const NumpyType>, 12>;
  if (const std::optional<nmb::Type> type = var.type()) {
    std::shared_ptr<const NumpyType>& known = (*classic)[static_cast<std::size_t>(*type)];
    if (!known) known = NumpyType::of(need(var.try_datatype()));
    return known;
  }
  return NumpyType::of(need(var.try_datatype()));
}

namespace {

const NumpyType& type_of(const VariableHandle& variable) {
  if (!variable.type) variable.type = numpy_type_of(variable.view);
  return *variable.type;
}

nb::tuple to_tuple(std::span<const std::uint64_t> numbers) {
  nb::list out;
  for (const std::uint64_t number : numbers) out.append(number);
  return nb::tuple(out);
}

// Returns elements as an array of this shape.
nb::object array_of(const NumpyType& type, const nmb::Elements& elements,
                    std::span<const std::uint64_t> shape) {
  const NewArray made = new_array(type.dtype(), shape);
  if (type.has_objects())
    type.place(elements, elements.values.size() / type.type().size, made.data);
  else if (!elements.values.empty())
    std::memcpy(made.data, elements.values.data(), elements.values.size());
  return made.array;
}

nb::tuple dimension_names(const VariableHandle& variable) {
  nb::list out;
  if (variable.shown) {
    for (const std::uint32_t dim : variable.shown->vars[variable.number].dims)
      out.append(to_text(variable.shown->dims[dim].name));
  } else {
    for (const std::string& name : variable.view.dims()) out.append(to_text(name));
  }
  return nb::tuple(out);
}

std::vector<AttributeHandle> variable_attributes(const VariableHandle& variable) {
  std::vector<AttributeHandle> out;
  for (const nmb::AttView& att :
       variable.shown ? variable.shown->vars[variable.number].atts : variable.view.atts())
    out.push_back({att, variable.full_name()});
  return out;
}

// Reads a hyperslab, or all elements without one, into a new array or into `out`.
nb::object read(const VariableHandle& variable, std::optional<std::vector<std::uint64_t>> start,
                std::vector<std::uint64_t> count, std::vector<std::uint64_t> stride,
                nb::handle out) {
  const NumpyType& type = type_of(variable);
  nmb::ElementRequest request{variable.view, {}, {}, nullptr};
  if (start) {
    request.slab.start = nmb::DimIndices(*std::move(start));
    request.slab.count = nmb::DimIndices(count);
    request.slab.stride = nmb::DimIndices(std::move(stride));
  } else {
    count = need(variable.view.try_shape());
  }
  nb::object array;
  std::span<std::byte> memory;
  nmb::Elements elements;
  if (out.is_none()) {
    const NewArray made = new_array(type.dtype(), count);
    array = made.array;
    memory = {made.data, made.bytes};
  } else {
    array = nb::borrow(out);
    memory = memory_of(out, type.dtype(), count);
  }
  request.out = memory;
  if (type.has_objects()) {
    std::uint64_t total = type.type().size;
    for (const std::uint64_t length : count)
      if (__builtin_mul_overflow(total, length, &total)) throw std::bad_alloc();
    elements.values.resize(total);
    request.out = elements.values;
    request.heap = &elements.heap;
  }
  const nmb::Status status = [&] {
    nb::gil_scoped_release unlocked;
    return variable.file->reader.try_read_elements({&request, 1});
  }();
  need(status, variable.full_name());
  if (type.has_objects())
    type.place(elements, elements.values.size() / type.type().size, memory.data());
  return array;
}

// Returns the fill value, and "attribute", "set" or "default".
nb::tuple fill_of(const VariableHandle& variable) {
  constexpr const char* from[] = {"attribute", "set", "default"};
  nmb::Result<nmb::FillValue> found = [&] {
    nb::gil_scoped_release unlocked;
    return variable.view.try_fill_value();
  }();
  const nmb::FillValue fill = need(std::move(found), variable.full_name());
  return nb::make_tuple(scalar_or_array(array_of(type_of(variable), fill.element, {})),
                        from[static_cast<std::size_t>(fill.from)]);
}

// Returns (whether numbers are little-endian, chunk, filters, whether there are no values).
nb::tuple stored_of(const VariableHandle& variable) {
  nmb::Result<nmb::StoredValues> found = [&] {
    nb::gil_scoped_release unlocked;
    return variable.view.try_stored();
  }();
  const nmb::StoredValues stored = need(std::move(found), variable.full_name());
  nb::list filters;
  for (const nmb::ChunkFilter& filter : stored.filters) {
    nb::list parameters;
    for (const std::uint32_t number : filter.parameters) parameters.append(number);
    filters.append(nb::make_tuple(filter.id, to_text(filter.name), nb::tuple(parameters)));
  }
  return nb::make_tuple(stored.is_little_endian, to_tuple(stored.chunk), nb::tuple(filters),
                        stored.is_null);
}

nb::object statistics_of(const VariableHandle& variable) {
  nmb::Result<std::optional<nmb::VariableStatistics>> found = [&] {
    nb::gil_scoped_release unlocked;
    return variable.view.try_statistics();
  }();
  const auto statistics = need(std::move(found), variable.full_name());
  return statistics ? to_python(*statistics) : nb::none();
}

nb::object compute_statistics(const VariableHandle& variable, int level, unsigned threads) {
  nmb::Result<nmb::VariableStatistics> found = [&] {
    nb::gil_scoped_release unlocked;
    return variable.view.try_compute_statistics(static_cast<nmb::StatisticsLevel>(level), threads);
  }();
  return to_python(need(std::move(found), variable.full_name()));
}

// Returns the value of an attribute: text as str, and other values as an array of its shape.
nb::object value_of(const AttributeHandle& attribute) {
  const nmb::AttView& view = attribute.view;
  const nmb::DataType type = need(view.try_datatype(), attribute.object);
  if (type.data_class == nmb::DataClass::kText && type.size == 1)
    return to_text(need(view.try_text(), attribute.object));
  const nmb::Elements elements = need(view.try_elements(), attribute.object);
  return array_of(*NumpyType::of(type), elements, view.shape());
}

}  // namespace

void bind_variable(nb::module_& module) {
  nb::class_<AttributeHandle>(module, "Attribute")
      .def_prop_ro("name", [](const AttributeHandle& a) { return to_text(a.view.name()); })
      .def("value", &value_of);
  nb::class_<VariableHandle>(module, "Variable")
      .def_prop_ro("name", [](const VariableHandle& v) { return to_text(v.name); })
      .def_prop_ro("dtype", [](const VariableHandle& v) { return type_of(v).dtype(); })
      .def_prop_ro("type_name",
                   [](const VariableHandle& v) {
                     return to_text(need(v.view.try_type_name(), v.full_name()));
                   })
      .def_prop_ro(
          "shape",
          [](const VariableHandle& v) { return to_tuple(need(v.view.try_shape(), v.full_name())); })
      .def("dimensions", &dimension_names)
      .def("attributes", &variable_attributes)
      .def("read", &read, nb::arg("start").none(), nb::arg("count"), nb::arg("stride"),
           nb::arg("out").none())
      .def("fill", &fill_of)
      .def("stored", &stored_of)
      .def("statistics", &statistics_of)
      .def("compute_statistics", &compute_statistics);
}

}  // namespace nmb_python
