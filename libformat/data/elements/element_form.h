// ElementForm: how the elements of a stored type lie in memory (nmb/datatype.h), and their
// conversion from the stored form (spec/extended.md, section 15.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "elements/heap_reader.h"
#include "model/extension.h"
#include "netcdf/classic_type.h"
#include "nmb/datatype.h"
#include "wire/failure.h"

namespace nmb {

// A step of the conversion of an element. Offsets count from the beginning of the element or, in
// kEach and kSequence, of the inner element.
struct ElementStep {
  enum class Action : std::uint8_t {
    kCopy,      // `size` bytes
    kSwap,      // `count` numbers of `size` bytes, in reverse byte order
    kNumber,    // a number in another form, as `number` converts it
    kText,      // `size` characters, of which those that fill the text up become zeros
    kEach,      // `count` inner elements, each with `inner`
    kString,    // variable length: characters
    kSequence,  // variable length: elements with `inner`
    kObject,    // variable length: the path of an object
    kRegion,    // variable length: the path of an object, and a selection
  };
  Action action = Action::kCopy;
  std::uint64_t from = 0, to = 0;  // offsets in the stored element and in memory
  std::uint64_t size = 0, count = 1;
  StringPadding padding = StringPadding::kNullPadded;
  std::shared_ptr<const ClassicValues> number{};
  std::uint64_t from_bytes = 0, to_bytes = 0;  // of an inner element
  std::vector<ElementStep> inner{};
};

// Immutable: safe to share between threads.
class ElementForm {
 public:
  // types: the block's own types; nullptr if there are none. Errors: kLimit if the type has more
  // than kMostParts parts.
  static Result<ElementForm> of(const TypeTable* types, Type type);
  static constexpr std::size_t kMostParts = 65536;

  const DataType& type() const { return type_; }
  std::uint64_t stored_bytes() const { return stored_bytes_; }
  // Returns whether an element has the same bytes in memory.
  bool is_copy() const;
  // Converts whole elements. `out` has room for all of them. `heap` may be nullptr if the type has
  // no parts of variable length. Errors: kDamaged (R-XV-1, R-XV-2); those of reading.
  Status convert(std::span<const std::byte> stored, std::byte* out, HeapReader* heap) const;

 private:
  friend class FormMaker;
  DataType type_;
  std::uint64_t stored_bytes_ = 0;
  std::vector<ElementStep> steps_;
};

}  // namespace nmb
