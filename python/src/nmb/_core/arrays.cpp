#include "arrays.h"

#include <numpy/arrayobject.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "errors.h"

namespace nmb_python {

void import_numpy() {
  if (_import_array() < 0) nb::raise_python_error();
}

nb::object dtype_of(char kind, std::size_t size) {
  if (kind == 'S') {
    PyArray_Descr* const text = PyArray_DescrNewFromType(NPY_STRING);
    if (!text) nb::raise_python_error();
    PyDataType_SET_ELSIZE(text, static_cast<npy_intp>(size));
    return nb::steal(reinterpret_cast<PyObject*>(text));
  }
  int number = NPY_NOTYPE;
  if (kind == 'i')
    number = size == 1 ? NPY_INT8 : size == 2 ? NPY_INT16 : size == 4 ? NPY_INT32 : NPY_INT64;
  else if (kind == 'u')
    number = size == 1 ? NPY_UINT8 : size == 2 ? NPY_UINT16 : size == 4 ? NPY_UINT32 : NPY_UINT64;
  else
    number = size == 2 ? NPY_HALF : size == 4 ? NPY_FLOAT : size == 8 ? NPY_DOUBLE : NPY_LONGDOUBLE;
  return nb::steal(reinterpret_cast<PyObject*>(PyArray_DescrFromType(number)));
}

NewArray new_array(nb::handle dtype, std::span<const std::uint64_t> shape) {
  npy_intp dims[NPY_MAXDIMS_LEGACY_ITERS];
  if (shape.size() > std::size(dims)) {
    need(nmb::Status(nmb::Code::kLimit,
                     "numpy has no arrays of " + std::to_string(shape.size()) + " dimensions"));
  }
  std::ranges::transform(shape, dims, [](std::uint64_t n) { return static_cast<npy_intp>(n); });
  auto* const descr = reinterpret_cast<PyArray_Descr*>(dtype.ptr());
  Py_INCREF(dtype.ptr());
  PyObject* const made = PyArray_NewFromDescr(&PyArray_Type, descr, static_cast<int>(shape.size()),
                                              dims, nullptr, nullptr, 0, nullptr);
  if (!made) {
    PyErr_Clear();  // MemoryError, or ValueError for more bytes than an address space has
    need(nmb::Status(nmb::Code::kLimit, "there is no memory for an array of this shape"));
  }
  auto* const array = reinterpret_cast<PyArrayObject*>(made);
  return {nb::steal(made), static_cast<std::byte*>(PyArray_DATA(array)),
          static_cast<std::size_t>(PyArray_NBYTES(array))};
}

std::span<std::byte> memory_of(nb::handle object, nb::handle dtype,
                               std::span<const std::uint64_t> shape) {
  const auto refuse = [](const char* what) {
    PyErr_Format(PyExc_ValueError, "out must be %s", what);
    nb::raise_python_error();
  };
  if (!PyArray_Check(object.ptr())) refuse("an array of numpy");
  auto* const array = reinterpret_cast<PyArrayObject*>(object.ptr());
  if (!PyArray_CHKFLAGS(array, NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_WRITEABLE))
    refuse("writable and in C order");
  if (!PyArray_EquivTypes(PyArray_DESCR(array), reinterpret_cast<PyArray_Descr*>(dtype.ptr())))
    refuse("of the variable's type");
  const npy_intp* const dims = PyArray_DIMS(array);
  if (!std::equal(shape.begin(), shape.end(), dims, dims + PyArray_NDIM(array),
                  [](std::uint64_t a, npy_intp b) { return static_cast<npy_intp>(a) == b; }))
    refuse("of the selection's shape");
  return {static_cast<std::byte*>(PyArray_DATA(array)),
          static_cast<std::size_t>(PyArray_NBYTES(array))};
}

std::span<const std::byte> bytes_of(nb::handle object, char kind, std::size_t size) {
  auto* const array = reinterpret_cast<PyArrayObject*>(object.ptr());
  const nb::object dtype = dtype_of(kind, size);
  if (!PyArray_Check(object.ptr()) || !PyArray_CHKFLAGS(array, NPY_ARRAY_C_CONTIGUOUS) ||
      !PyArray_EquivTypes(PyArray_DESCR(array), reinterpret_cast<PyArray_Descr*>(dtype.ptr()))) {
    PyErr_SetString(PyExc_ValueError, "values must be an array of the variable's type in C order");
    nb::raise_python_error();
  }
  return {static_cast<const std::byte*>(PyArray_DATA(array)),
          static_cast<std::size_t>(PyArray_NBYTES(array))};
}

nb::object scalar_or_array(nb::object array) {
  if (PyArray_NDIM(reinterpret_cast<PyArrayObject*>(array.ptr())) != 0) return array;
  PyObject* const scalar = PyArray_Return(reinterpret_cast<PyArrayObject*>(array.release().ptr()));
  if (!scalar) nb::raise_python_error();
  return nb::steal(scalar);
}

std::vector<std::int64_t> integers_of(nb::handle object) {
  PyObject* const made =
      PyArray_FROMANY(object.ptr(), NPY_INT64, 1, 1, NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED);
  if (!made) nb::raise_python_error();
  const nb::object keep = nb::steal(made);
  auto* const array = reinterpret_cast<PyArrayObject*>(made);
  const auto* const first = static_cast<const std::int64_t*>(PyArray_DATA(array));
  return {first, first + PyArray_SIZE(array)};
}

}  // namespace nmb_python
