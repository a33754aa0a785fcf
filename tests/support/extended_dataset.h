// A dataset of kind 6 in memory, for tests: types and dimensions first, then variables and
// attributes, then properties of the hdf5 section.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "hdf5_types/hdf5_section.h"
#include "model/dataset.h"
#include "sources/value_source.h"
#include "wire/endian.h"

namespace nmb::test {

using ByteVector = std::vector<std::byte>;

// Of numbers of up to 8 bytes.
template <class T>
ByteVector little(const std::vector<T>& values) {
  using Bits = std::conditional_t<
      sizeof(T) == 8, std::uint64_t,
      std::conditional_t<sizeof(T) == 4, std::uint32_t,
                         std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>>;
  ByteVector out(values.size() * sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i)
    store_le(out.data() + i * sizeof(T), std::bit_cast<Bits>(values[i]));
  return out;
}

inline ByteVector bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

inline ExtendedType little_integer(std::uint64_t size, bool is_signed = true) {
  ExtendedType t;
  t.size = size;
  t.is_signed = is_signed;
  t.precision = static_cast<std::uint32_t>(size * 8);
  return t;
}

// A float of little-endian bytes whose exponent lies behind the mantissa, the sign behind both.
inline ExtendedType little_float(std::uint64_t size, std::uint32_t exponent,
                                 std::uint32_t mantissa) {
  ExtendedType t;
  t.type_class = TypeClass::kFloat;
  t.size = size;
  t.precision = exponent + mantissa + 1;
  t.sign_position = exponent + mantissa;
  t.exponent_position = mantissa;
  t.exponent_size = exponent;
  t.mantissa_size = mantissa;
  t.exponent_bias = (std::uint64_t{1} << (exponent - 1)) - 1;
  t.normalization = Normalization::kImplied;
  return t;
}

// size 0: of variable length.
inline ExtendedType string_type(std::uint64_t size) {
  ExtendedType t;
  t.type_class = TypeClass::kString;
  t.variable_length = size == 0;
  t.size = t.variable_length ? TypeTable::kHeapValue : size;
  return t;
}

inline ExtendedType type_on(TypeClass type_class, Type base) {
  ExtendedType t;
  t.type_class = type_class;
  t.size = TypeTable::kHeapValue;
  t.base = base;
  return t;
}

class ExtendedDataset {
 public:
  Type type(ExtendedType type) {
    const Result<Type> added = extension_.types.add(std::move(type));
    EXPECT_TRUE(added.ok()) << added.status().text();
    share();
    return added.ok() ? *added : Type::kByte;
  }
  DimId dimension(std::string_view name, std::uint64_t length, bool grows = false) {
    const Result<DimId> id = metadata_.def_dim(name, length);
    EXPECT_TRUE(id.ok()) << id.status().text();
    if (grows) extension_.unlimited.push_back({*id, length == kUnlimited});
    return *id;
  }
  // Its values are the next bytes of the extent, from a multiple of 8 on.
  VarId variable(std::string_view name, Type type, const std::vector<DimId>& dimensions,
                 const ByteVector& values) {
    share();
    const Result<VarId> id = metadata_.def_var(name, type, dimensions);
    EXPECT_TRUE(id.ok()) << id.status().text();
    extent_.resize((extent_.size() + 7) / 8 * 8);
    metadata_.set_begin(*id, extent_.size());
    extent_.insert(extent_.end(), values.begin(), values.end());
    return *id;
  }
  // With a region.
  VarId stored(std::string_view name, Type type, const std::vector<DimId>& dimensions,
               Storage storage, const ByteVector& region) {
    storage.variable = metadata_.variable_count();
    storage.region_length = region.size();
    extension_.storage.push_back(std::move(storage));
    return variable(name, type, dimensions, region);
  }
  // Nothing was written.
  VarId unwritten(std::string_view name, Type type, const std::vector<DimId>& dimensions) {
    Storage none;
    none.kind = StorageKind::kNone;
    return stored(name, type, dimensions, std::move(none), {});
  }
  void attribute(VarId owner, std::string_view name, Type type, std::uint64_t count,
                 const ByteVector& values) {
    share();
    const Status status = TypeTable::is_extended(type)
                              ? metadata_.def_extended_att(owner, name, type, count, values)
                              : metadata_.def_att(owner, name, type, values);
    EXPECT_TRUE(status.ok()) << status.text();
  }
  // A string of fixed length, with its NUL.
  void text(VarId owner, std::string_view name, const std::string& text) {
    ByteVector values = bytes_of(text);
    values.push_back(std::byte{0});
    attribute(owner, name, type(string_type(values.size())), 1, values);
  }
  // Little-endian ints.
  void ints(VarId owner, std::string_view name, const std::vector<std::int32_t>& values) {
    attribute(owner, name, type(little_integer(4)), values.size(), little(values));
  }
  // As netCDF-C marks a scale.
  void scale(VarId variable, std::string_view name, std::int32_t id) {
    text(variable, "CLASS", "DIMENSION_SCALE");
    text(variable, "NAME", std::string(name));
    ints(variable, "_Netcdf4Dimid", {id});
  }
  // The DIMENSION_LIST of a variable.
  void scales(VarId variable, const std::vector<std::string>& paths) {
    const Type reference = type(type_on(TypeClass::kReference, Type::kByte));
    ByteVector lists, references, texts;
    const std::uint64_t n = paths.size();
    for (std::uint64_t i = 0; i < n; ++i) {
      const ByteVector list = little<std::uint64_t>({1, 16 * (n + i)});
      const ByteVector to = little<std::uint64_t>({paths[i].size(), 32 * n + texts.size()});
      lists.insert(lists.end(), list.begin(), list.end());
      references.insert(references.end(), to.begin(), to.end());
      const ByteVector text = bytes_of(paths[i]);
      texts.insert(texts.end(), text.begin(), text.end());
    }
    lists.insert(lists.end(), references.begin(), references.end());
    lists.insert(lists.end(), texts.begin(), texts.end());
    attribute(variable, "DIMENSION_LIST", type(type_on(TypeClass::kVlen, reference)), n, lists);
  }
  // In the order of the section.
  void property(const hdf5::Property& property) {
    hdf5::append_property(property, &extension_.hdf5);
  }
  void set_records(std::uint64_t records, std::uint64_t record_size, std::uint64_t begin) {
    records_ = records;
    layout_.record_size = record_size;
    layout_.record_begin = begin;
  }

  std::shared_ptr<const nmb::Dataset> dataset(std::string name = "") {
    return dataset(owned_bytes(extent_, "made.nmb"), std::move(name));
  }
  // The values from another source.
  std::shared_ptr<const nmb::Dataset> dataset(std::shared_ptr<const ByteSource> extent,
                                              std::string name = "") {
    share();
    auto out = std::make_shared<nmb::Dataset>();
    out->name = std::move(name);
    out->metadata = metadata_;
    out->layout = layout_;
    out->layout.kind = Kind::kExtended;
    out->records = metadata_.record_count(records_);
    out->extent = std::move(extent);
    return out;
  }
  const ByteVector& extent() const { return extent_; }

 private:
  void share() { metadata_.set_extension(std::make_shared<const Extension>(extension_)); }

  Metadata metadata_{Metadata::Names::kAsFound};
  Extension extension_;
  ClassicLayout layout_;
  ByteVector extent_;
  std::uint64_t records_ = 0;
};

}  // namespace nmb::test
