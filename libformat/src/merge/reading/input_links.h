// InputLinks: where the values of inputs lie, for a merge that leaves them there (spec/format.md,
// section 10.3).
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
#include "nmb/bytes.h"
#include "nmb/external_files.h"
#include "nmb/reader.h"
#include "writer/stored_values.h"

namespace nmb {

// Files in which coded pieces lie, by their file numbers.
using CodedFiles = std::map<std::uint32_t, std::shared_ptr<const ByteSource>>;

// nullopt of its functions: there is nothing to link. Failures: kUnsupported, kNotFound, kIo (of
// external_path()). No input lies in the output: pack() has checked that.
class InputLinks {
 public:
  // piece_size: of the output.
  InputLinks(std::string output, ExternalPaths allowed, std::uint32_t piece_size)
      : output_(std::move(output)), allowed_(allowed), piece_size_(piece_size) {}

  // Values that lie in `file` from `begin` on, to its end. origin: of them.
  Result<std::optional<LinkedValues>> behind(const std::shared_ptr<const ByteSource>& file,
                                             std::uint64_t begin,
                                             std::shared_ptr<const ByteSource> values,
                                             std::string origin);
  // Values of which those in `runs` (ascending) lie in `file`; the others are to be copied.
  Result<std::optional<LinkedValues>> in_runs(const std::shared_ptr<const ByteSource>& file,
                                              std::span<const hdf5::RunInFile> runs,
                                              std::shared_ptr<const ByteSource> values);
  // The stored pieces of a block, also those that its file has in others: each where it lies in the
  // end. kUnsupported: pieces that the output cannot have. kDamaged.
  Result<std::optional<LinkedValues>> of_block(const Reader& reader,
                                               const std::shared_ptr<const ByteSource>& file,
                                               const BlockEntry& entry);

 private:
  Result<ExternalFile> named(const ByteSource& file);

  const std::string output_;
  const ExternalPaths allowed_;
  const std::uint32_t piece_size_;
  std::unordered_map<std::string, std::string> paths_;  // by the names of files
};

}  // namespace nmb
