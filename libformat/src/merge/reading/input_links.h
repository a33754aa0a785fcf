// InputLinks: finds the places of the values of inputs, for a merge that does not copy them
// (spec/format.md, section 10.3).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "hdf5/client/hdf5_file.h"
#include "nmb/block_entry.h"
#include "nmb/external_files.h"
#include "nmb/reader.h"
#include "values/array_source.h"
#include "writer/stored_values.h"

namespace nmb {

// The files of coded pieces, by their file numbers.
using CodedFiles = std::map<std::uint32_t, Source>;

// A file that the output stores whole.
struct InputOriginal {
  std::uint32_t number = 0;  // in the file table of an NMB input; 0: the input itself
  std::string path;          // to record
  Source file;
  std::optional<Digest> digest{};
  std::optional<Sha256> sha256{};
};

// Returns the path of an input as an original has it.
std::string original_path(const std::string& input);

// Bytes of an extent that lie in an original.
struct ValuesInOriginal {
  std::uint32_t number = 0;  // InputOriginal::number
  Source file;
  std::vector<hdf5::RunInFile> runs{};  // ascending
  std::vector<ByteRange> holes{};       // ascending; no run overlaps them
};
// Links values of which some lie in an original; the others are copied. LinkedValues::original is
// the number in the input. nullopt: it is better to copy all.
std::optional<LinkedValues> linked_to_original(ValuesInOriginal places, Source values,
                                               std::uint32_t piece_size);
// Returns the values of a block of an NMB input that lie in an original; nullopt: there are none,
// or some are coded or lie in several files. Errors: kDamaged.
Result<std::optional<ValuesInOriginal>> values_in_original(const Reader& reader,
                                                           const BlockEntry& entry);

// Functions return nullopt if there is nothing to link. Errors: kUnsupported, kNotFound, kIo (those
// of external_path()). No input may be inside the output; pack() has checked that.
class InputLinks {
 public:
  // piece_size: that of the output.
  InputLinks(std::string output, ExternalPaths allowed, std::uint32_t piece_size)
      : output_(std::move(output)), allowed_(allowed), piece_size_(piece_size) {}

  // Links the values in `file` from `begin` to its end. origin: of the values.
  Result<std::optional<LinkedValues>> behind(const Source& file, std::uint64_t begin, Source values,
                                             std::string origin);
  // Links values of which those in `runs` (ascending) are in `file`; the others must be copied.
  Result<std::optional<LinkedValues>> in_runs(const Source& file,
                                              std::span<const hdf5::RunInFile> runs, Source values);
  // Links the stored pieces of a block, including those that its file has in other files: each is
  // linked where it finally is. Errors: kUnsupported for pieces that the output cannot have;
  // kDamaged.
  Result<std::optional<LinkedValues>> of_block(const Reader& reader, const Source& file,
                                               const BlockEntry& entry);

 private:
  Result<ExternalFile> named(const ByteSource& file);

  const std::string output_;
  const ExternalPaths allowed_;
  const std::uint32_t piece_size_;
  std::unordered_map<std::string, std::string> paths_;  // by the names of files
};

}  // namespace nmb
