// ManyReads: reads of many variables into new arrays, together.
#pragma once

#include <nanobind/nanobind.h>
#include <nmb/reader.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arrays.h"
#include "handles.h"

namespace nmb_python {

class ManyReads {
 public:
  explicit ManyReads(std::size_t expected) { items_.reserve(expected); }

  // Adds a read of a whole variable, or of a hyperslab. out: none, or the array that gets the
  // elements. Needs the lock.
  void add(nmb::VarView var, std::vector<std::uint64_t> shape, std::string name,
           std::optional<nmb::Hyperslab> slab = std::nullopt, nb::handle out = nb::none());
  // Reads all, without the lock. Raises the first failure. Needs the lock.
  void run(const nmb::Reader& reader, unsigned threads);
  // Returns the array of a read after run(). Needs the lock.
  nb::object array(std::size_t i) const { return items_[i].array; }

 private:
  struct Item {
    nmb::VarView var;
    std::shared_ptr<const NumpyType> type;
    std::vector<std::uint64_t> shape;  // of the result
    std::string name;                  // for exceptions
    std::optional<nmb::Hyperslab> slab;
    nb::object array;
    std::span<std::byte> memory;
    std::unique_ptr<nmb::Elements> elements;  // if the type has objects
  };
  std::vector<Item> items_;
};

}  // namespace nmb_python
