// Attributes and dimensions of a block, as readers and writers see them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "nmb/array.h"
#include "nmb/datatype.h"
#include "nmb/error.h"
#include "nmb/types.h"

namespace nmb {

struct Dataset;      // private
struct ReaderState;  // private

// An attribute of a variable or block.
class AttView {
 public:
  const std::string& name() const { return name_; }
  // Returns the type of the values; nullopt if they are neither numbers nor text.
  std::optional<Type> type() const { return type_; }
  std::uint64_t count() const { return count_; }
  // Returns the lengths of the dimensions, which only attributes from HDF5 have: {count()} if there
  // is one, nothing for a single value.
  const std::vector<std::uint64_t>& shape() const { return shape_; }
  // Returns the text of an attribute that has characters or one string, without trailing NULs.
  // Errors: kUsage if it has other values.
  std::string text() const { return check(try_text()); }
  NMB_EXPORT Result<std::string> try_text() const;
  // Returns the number of an attribute with one number. Errors: kUsage; kRange if T cannot hold it.
  template <class T>
  T number() const {
    return check(try_number<T>());
  }
  template <class T>
  std::vector<T> numbers() const {
    return check(try_numbers<T>());
  }
  template <class T>
  Result<T> try_number() const {
    check_element<T>();
    T value{};
    const Status status = try_read(std::span(&value, 1));
    return status.ok() ? Result<T>(value) : status;
  }
  template <class T>
  Result<std::vector<T>> try_numbers() const {
    check_element<T>();
    std::vector<T> values(static_cast<std::size_t>(count_));
    const Status status = try_read(values);
    return status.ok() ? Result<std::vector<T>>(std::move(values)) : status;
  }
  // Fills `out`, which has count() elements. Errors: kUsage, kRange.
  void read(MutableArray out) const { check(try_read(out)); }
  NMB_EXPORT Status try_read(MutableArray out) const;
  // Return the type of the values, whatever it is, and the values in this type. Errors: kLimit,
  // kDamaged.
  DataType datatype() const { return check(try_datatype()); }
  NMB_EXPORT Result<DataType> try_datatype() const;
  Elements elements() const { return check(try_elements()); }
  NMB_EXPORT Result<Elements> try_elements() const;

 private:
  friend struct ReaderState;
  std::shared_ptr<const Dataset> dataset_;
  std::uint32_t owner_ = 0;
  std::string name_;
  std::optional<Type> type_;
  std::uint64_t count_ = 0;
  std::vector<std::uint64_t> shape_;
};

struct DimView {
  std::string name;
  std::uint64_t length = 0;  // for the record dimension: the number of records
  bool is_record = false;
  bool may_grow = false;  // the record dimension, and unlimited dimensions of HDF5
};

}  // namespace nmb
