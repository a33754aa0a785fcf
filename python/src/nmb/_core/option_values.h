// OptionValues: the options of a call, which nmb/_tools.py passes as a dict with all keys.
#pragma once

#include <nanobind/nanobind.h>
#include <nmb/error.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "errors.h"
#include "text.h"

namespace nmb_python {

class OptionValues {
 public:
  explicit OptionValues(nb::dict values) : values_(std::move(values)) {}

  nb::object at(const char* key) const { return values_[key]; }
  bool is_none(const char* key) const { return at(key).is_none(); }
  bool flag(const char* key) const { return nb::cast<bool>(at(key)); }
  std::string text(const char* key) const { return from_text(at(key)); }
  template <class T>
  T number(const char* key) const {
    return nb::cast<T>(at(key));
  }
  std::vector<std::string> texts(const char* key) const {
    std::vector<std::string> out;
    for (nb::handle text : nb::list(at(key))) out.push_back(from_text(text));
    return out;
  }
  // Returns the enumerator whose name is the value: the position of the name in the list.
  template <class Enum>
  Enum choice(const char* key, std::initializer_list<const char*> names) const {
    const std::string name = text(key);
    std::string known;
    int number = 0;
    for (const char* const one : names) {
      if (name == one) return static_cast<Enum>(number);
      known += (number++ ? ", " : "") + std::string(one);
    }
    need(nmb::Status(nmb::Code::kUsage,
                     std::string(key) + ": found \"" + name + "\", expected one of " + known));
    return {};
  }

 private:
  nb::dict values_;
};

}  // namespace nmb_python
