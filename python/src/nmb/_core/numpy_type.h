// NumpyType: the dtype for elements of a DataType (nmb/datatype.h), and the conversion of elements
// with parts of variable length into Python's objects.
#pragma once

#include <nanobind/nanobind.h>
#include <nmb/datatype.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace nmb_python {

namespace nb = nanobind;

// All functions need the interpreter's lock.
class NumpyType {
 public:
  // Types that are equal share one object.
  static std::shared_ptr<const NumpyType> of(const nmb::DataType& type);

  const nmb::DataType& type() const { return type_; }
  // The dtype of an array of elements. A member or an element that is an array is an array of numpy
  // too; a part of variable length is an object.
  const nb::object& dtype() const { return dtype_; }
  // Whether elements have other bytes in numpy than in the library's memory.
  bool has_objects() const { return has_objects_; }
  // Stores elements in an array of dtype(), which has room for them.
  void place(const nmb::Elements& elements, std::uint64_t count, std::byte* to) const;

 private:
  explicit NumpyType(const nmb::DataType& type);
  void place(const std::byte* from, std::span<const std::byte> heap, std::byte* to) const;
  nb::object part(const std::byte* from, std::span<const std::byte> heap) const;

  nmb::DataType type_;
  nb::object dtype_;
  bool has_objects_;
  std::uint64_t size_ = 0;                               // of an element in numpy
  std::vector<std::uint64_t> offsets_;                   // of the members in numpy
  std::vector<std::shared_ptr<const NumpyType>> inner_;  // members, or the base
};

}  // namespace nmb_python
