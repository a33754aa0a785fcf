// ContentValues: all elements of a variable, in row-major order and canonical form, with fill
// values in place of elements that were never written (spec/digest.md, section 4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "compare/dataset_content.h"
#include "model/values.h"
#include "values/chunk_cache.h"
#include "wire/bytes.h"
#include "wire/failure.h"

namespace nmb {

// Thread-safe.
class ContentValues {
 public:
  // `block` must outlive the object. number: number of the variable in `block`. Errors: kDamaged;
  // kUnsupported if the values cannot be read; kLimit. The message names the variable.
  static Result<std::shared_ptr<const ContentValues>> open(
      const DatasetContent& block, std::size_t number, const std::shared_ptr<ChunkCache>& cache);

  // The number of elements of a variable, and the number of elements in one of its windows.
  // Errors: kDamaged, kLimit.
  struct Extent {
    std::uint64_t elements = 0, window = 1;
    std::uint64_t bytes = 0;  // bytes of all elements as they are stored, without compression
    // Number of elements that are read together. Usually they fit into a core's cache. But if a row
    // of chunks does not fit into the cache for chunks, many windows are read together, because
    // each read decodes its chunks again.
    std::uint64_t at_once = 1;
    // Number of windows in a job, unless more windows are read together. The number is small, so
    // that threads work on neighbouring chunks of a variable.
    std::uint64_t job_windows = 4;
    // Bytes of a record with the values of all variables, if the values lie in records; otherwise
    // 0.
    std::uint64_t record_bytes = 0;
    std::uint64_t windows() const { return elements / window + (elements % window != 0 ? 1 : 0); }
  };
  // Memory in bytes: for the decoded chunks of a file, and for the values that a thread reads
  // together.
  struct ReadBudget {
    std::uint64_t chunks, values;
  };
  static Result<Extent> extent_of(const DatasetContent& block, std::size_t number,
                                  ReadBudget budget);

  // Number of canonical bytes of an element; 0 if it differs between elements.
  std::uint64_t element_bytes() const { return element_bytes_; }
  // Type of the elements: a classic type if their canonical bytes are the external form of this
  // type, otherwise one of the block's own types.
  Type type() const { return array_.type; }

  // Reads the canonical bytes of `count` elements. element_bytes() must not be 0.
  Status read(std::uint64_t first, std::uint64_t count, std::vector<std::byte>* out) const;
  // Reads the same bytes, except that NaNs keep their bits: make_canonical() changes them.
  Status read_bits(std::uint64_t first, std::uint64_t count, std::vector<std::byte>* out) const;
  void make_canonical(std::span<std::byte> bits) const { make_nans_canonical(array_.type, bits); }
  // Calls take() with successive parts of the canonical bytes of one element, for elements that are
  // arrays too large to hold in memory at once. element_bytes() must not be 0.
  Status parts(std::uint64_t element,
               const std::function<void(std::span<const std::byte>)>& take) const;
  // Calls take() with the canonical bytes of each of `count` elements.
  Status each(std::uint64_t first, std::uint64_t count,
              const std::function<Status(std::span<const std::byte>)>& take) const;

 private:
  ContentValues(const DatasetContent& block, std::size_t number) : block_(block), number_(number) {}
  Status find_source(const std::vector<AxisContent>& axes);
  std::vector<std::byte> fill(const std::vector<std::byte>& stored) const;
  // Reads the stored bytes of elements.
  Status read_stored(std::uint64_t first, std::uint64_t count, std::span<std::byte> out) const;
  // Reads `bytes` stored bytes of one element, beginning at its byte `from`.
  Status read_part(std::uint64_t element, std::uint64_t from, std::span<std::byte> out) const;
  Status of_variable(const Status& status) const;

  const DatasetContent& block_;
  const std::size_t number_;
  ValueArray array_;
  std::shared_ptr<const ByteSource> source_;  // the elements without gaps
  bool gathers_ = false;  // whether elements are gathered from many short records
  std::uint64_t stored_bytes_ = 0, element_bytes_ = 0;
};

}  // namespace nmb
