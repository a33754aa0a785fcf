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

#include "hdf5/client/hdf5_file.h"
#include "nmb/block_entry.h"
#include "nmb/external_files.h"
#include "nmb/reader.h"
#include "values/array_source.h"
#include "writer/stored_values.h"

namespace nmb {

// The files of coded pieces, by their file numbers.
using CodedFiles = std::map<std::uint32_t, Source>;

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
