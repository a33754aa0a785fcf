// ChunkPlan: how the values of a united dataset are stored, if a dataset of the union has chunks or
// chunks are requested. Making a plan reads definitions, but no values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "convert/recode.h"
#include "hdf5_types/hdf5_section.h"
#include "merge/uniting/array_form.h"
#include "merge/uniting/dataset_union.h"
#include "model/dataset.h"
#include "model/extension.h"
#include "model/values.h"
#include "sources/value_source.h"
#include "values/gathered_chunk.h"
#include "wire/failure.h"

namespace nmb {

// The type of the values in an array.
struct StoredType {
  ArrayForm form;
  std::optional<ExtendedType> extended{};  // set if the type is not one of CDF-5
  std::vector<std::byte> fill;  // the value of elements that were never written, in this form

  bool operator==(const StoredType&) const = default;
};

// The chunks and filters of an array.
struct Chunking {
  StoredType type;
  std::vector<std::uint64_t> chunk;  // lengths of a chunk
  std::vector<Filter> filters{};
  hdf5::Allocation allocation = hdf5::Allocation::kIncremental;
  hdf5::FillTime fill_time = hdf5::FillTime::kIfSet;
  hdf5::FillState fill_state = hdf5::FillState::kUser;  // else type.fill is what HDF5 assumes, 0

  bool operator==(const Chunking&) const = default;
};

// Arrays without chunks in datasets of the union. One after the other, they have all values of a
// united variable.
struct PlainArray {
  struct MemberRun {
    std::uint32_t member = 0;             // index in ChunkPlan::extents
    std::uint64_t begin = 0, length = 0;  // in bytes
  };
  StoredType type;
  std::vector<MemberRun> runs{};
};

// The part of a variable that one dataset has, and where the chunks of this part are stored.
struct ChunkedPart {
  DatasetUnion::Box box;
  // How the part's chunks are stored; nullptr if the chunks do not have all values of the part.
  std::shared_ptr<const Chunking> own{};
  std::uint64_t region_begin = 0, region_length = 0;  // in ChunkPlan::extents[box.member]
  // Set if the part is not the whole array that the block stores. That array has the lengths
  // `stored_lengths`.
  std::optional<BoxInChunks::Part> stored{};
  std::vector<std::uint64_t> stored_lengths{};
  // Set if the dataset stores the part as one array without chunks, and in the type of the united
  // variable: how the values are stored. The array begins at region_begin or, if the part is not a
  // whole array, `plain_values` has its values.
  std::optional<StoredType> plain{};
  Source plain_values{};
  bool is_alike = false;   // whether the part's chunks can be copied to the united variable
  bool is_marked = false;  // whether some of the part's chunks cannot be decoded
};

// The properties of a data set with values of variable length, which have no stored chunks. The
// chunk lengths and filters are those of the first dataset.
struct HeapStorage {
  hdf5::Creation creation;
};

struct UnitedVariable {
  std::vector<std::uint64_t> lengths;  // by dimension, slowest first
  std::vector<ChunkedPart> parts;
  // std::monostate: an array of CDF-5, as in the united dataset.
  std::variant<std::monostate, PlainArray, Chunking, HeapStorage> storage{};
};

struct ChunkPlan {
  std::vector<UnitedVariable> variables;  // by VarId
  // The extents of the datasets that were blocks of kind 6; nullptr for other datasets. After them,
  // the values of PlainArray that are parts of stored arrays.
  std::vector<Source> extents;
  WantedChunks wanted;  // how the requested compression is used
};

// Decides how the variables of `all`, which is the result of united.take(), are stored.
// compression: the requested chunk lengths and filters; nullptr if each variable keeps its chunk
// lengths and filters. small_array: see ChunkUnionOptions. Returns nullopt if no variable needs
// chunks. Without `is_forced`, variables need chunks only if a dataset of the union has chunks.
// keeps_byte_order: also returns a plan if arrays without chunks have little-endian values. Errors:
// kDamaged, kIo.
Result<std::optional<ChunkPlan>> plan_chunks(const DatasetUnion& united, const Dataset& all,
                                             const Compression* compression,
                                             std::uint64_t small_array, bool is_forced,
                                             bool keeps_byte_order);

// Returns how many variables of `all` have compressed chunks in the first dataset of the union.
// Errors: kDamaged, kIo.
Result<std::size_t> count_compressed(const DatasetUnion& united, const Dataset& all);

}  // namespace nmb
