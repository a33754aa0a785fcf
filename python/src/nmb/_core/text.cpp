#include "text.h"

namespace nmb_python {

nb::object to_text(std::string_view bytes) {
  PyObject* const text =
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogateescape");
  if (!text) nb::raise_python_error();
  return nb::steal(text);
}

std::string from_text(nb::handle text) {
  if (!PyUnicode_Check(text.ptr())) {
    PyErr_SetString(PyExc_TypeError, "a name must be a str");
    nb::raise_python_error();
  }
  Py_ssize_t length = 0;
  if (const char* const utf8 = PyUnicode_AsUTF8AndSize(text.ptr(), &length))
    return {utf8, static_cast<std::size_t>(length)};
  PyErr_Clear();
  PyObject* const encoded = PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogateescape");
  if (!encoded) nb::raise_python_error();
  const nb::bytes bytes = nb::steal<nb::bytes>(encoded);
  return {bytes.c_str(), bytes.size()};
}

}  // namespace nmb_python
