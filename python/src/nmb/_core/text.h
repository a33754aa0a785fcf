// Names and texts between C++ and Python. Bytes that are not UTF-8 become lone surrogates, as in
// names of files (PEP 383), so that every name can be given back.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>

namespace nmb_python {

namespace nb = nanobind;

nb::object to_text(std::string_view bytes);
// Throws TypeError unless `text` is a str.
std::string from_text(nb::handle text);

}  // namespace nmb_python
