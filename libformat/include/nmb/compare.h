// compare, digest: whether files have the same content (spec/digest.md). The content does not
// depend on the kind of the file, on chunks, compression and byte order, or on the order of blocks,
// variables and attributes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nmb/error.h"
#include "nmb/reader.h"

namespace nmb {

// How far two numbers may be apart and still count as the same. The numbers a and b are the same if
// |a - b| <= absolute + relative * |b|. Neither may be negative or NaN.
struct Tolerance {
  double absolute = 0, relative = 0;
  bool is_exact() const { return absolute == 0 && relative == 0; }
  // Parses "ABSOLUTE" or "ABSOLUTE,RELATIVE". Errors: kUsage.
  static Tolerance parse(std::string_view text) { return check(try_parse(text)); }
  NMB_EXPORT static Result<Tolerance> try_parse(std::string_view text);
};

enum class DifferenceKind : std::uint8_t { kOnlyInFirst, kOnlyInSecond, kDiffers };

// Any difference except one between values of variables.
struct DefinitionDifference {
  DifferenceKind kind = DifferenceKind::kDiffers;
  std::string block;
  // The object in the block, for example: variable "v", attribute "v:units", dimension "x". Empty
  // for the block itself.
  std::string object;
  // What differs: "type", "dimensions", "length", "value", ... Empty unless the kind is kDiffers.
  std::string property;
  std::string first, second;  // the property in both files
};

// An element of a variable that differs.
struct DifferentValue {
  std::vector<std::uint64_t> index;
  std::string first, second;
};

// The result of the comparison of a variable's values.
struct ComparedVariable {
  std::string block, variable;
  std::uint64_t values = 0;     // number of values in each file
  std::uint64_t different = 0;  // number of values that differ
  std::uint64_t missing = 0;    // of these: the value is the fill value in one of the files
  std::uint64_t nans = 0;       // of these: the value is NaN in one of the files
  // The first values that differ, in row-major order.
  std::vector<DifferentValue> first;
  // The value with the largest difference |first - second|, and this difference. Only for numbers
  // that are neither NaN nor a fill value in one of the files.
  std::optional<DifferentValue> largest;
  double largest_difference = 0;
};

struct CompareOptions {
  Tolerance tolerance{};
  std::size_t most_first = 3;  // number of elements in ComparedVariable::first
  unsigned threads = 1;
  // If set, the call stops with kIo "interrupted" once *cancel is true.
  const std::atomic<bool>* cancel = nullptr;
  // Memory for decoded chunks of each file, in bytes.
  std::uint64_t chunk_cache = std::uint64_t{256} << 20;
};

struct FileComparison {
  bool same = false;  // without tolerance: whether the digests are the same
  std::vector<DefinitionDifference> definitions{};
  std::vector<ComparedVariable> variables{};  // those with different values
};

// Compares the content of two files of any kinds. Errors: kUsage; those of reading.
NMB_EXPORT Result<FileComparison> try_compare(const Reader& first, const Reader& second,
                                              const CompareOptions& options = {});
inline FileComparison compare(const Reader& first, const Reader& second,
                              const CompareOptions& options = {}) {
  return check(try_compare(first, second, options));
}

struct ContentDigest {
  std::string file{};  // 32 hexadecimal digits, as those of each block
  std::vector<std::pair<std::string, std::string>> blocks{};  // names and digests, by name
};

// Computes the digest of a file's content: XXH3-128, which is no protection against forgery.
// cancel: as in CompareOptions. Errors: those of reading; kUnsupported if values cannot be decoded.
NMB_EXPORT Result<ContentDigest> try_digest(const Reader& file, unsigned threads = 1,
                                            const std::atomic<bool>* cancel = nullptr);
inline ContentDigest digest(const Reader& file, unsigned threads = 1,
                            const std::atomic<bool>* cancel = nullptr) {
  return check(try_digest(file, threads, cancel));
}

}  // namespace nmb
