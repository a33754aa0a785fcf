// InputLinks: finds where the values of inputs are stored, for a merge that links values instead of
// copying them (spec/format.md, section 10.3).
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

// The functions return nullopt if no values can be linked. Errors: kUnsupported, kNotFound and kIo
// as for external_path(). pack() has checked that no input is also the output.
class InputLinks {
 public:
  // piece_size: the piece size of the output in bytes.
  InputLinks(std::string output, ExternalPaths allowed, std::uint32_t piece_size)
      : output_(std::move(output)), allowed_(allowed), piece_size_(piece_size) {}

  // Links the values in `file` from offset `begin` to the end of the file. With `origin`, other
  // ranks can open the values.
  Result<std::optional<LinkedValues>> behind(const Source& file, std::uint64_t begin, Source values,
                                             std::string origin);
  // Links the values that lie in the given runs of `file`. Values outside the runs must be copied.
  // runs: must be ascending.
  Result<std::optional<LinkedValues>> in_runs(const Source& file,
                                              std::span<const hdf5::RunInFile> runs, Source values);
  // Links the values of a source that is made of other sources, if most of them lie in long runs of
  // files. Other values must be copied.
  Result<std::optional<LinkedValues>> of_parts(const Source& values);
  // Links the stored pieces of a block. If the block's file links a piece in another file, the
  // output links this other file directly. Errors: kUnsupported if the output cannot have such a
  // piece; kDamaged.
  Result<std::optional<LinkedValues>> of_block(const Reader& reader, const Source& file,
                                               const BlockEntry& entry);

 private:
  Result<ExternalFile> named(const ByteSource& file);

  const std::string output_;
  const ExternalPaths allowed_;
  const std::uint32_t piece_size_;
  void add_pieces(std::uint64_t length, std::optional<std::uint64_t> position, std::uint32_t file,
                  LinkedValues* out) const;
  Status link_parts(const ByteSource& source, std::uint64_t from, std::uint64_t length,
                    std::unordered_map<std::string, std::uint32_t>* numbers, LinkedValues* out);

  std::unordered_map<std::string, std::string> paths_;  // path of each linked file, by file name
};

}  // namespace nmb
