// InputLinks: finds where the values of inputs are stored, for a merge that links values instead of
// copying them (spec/files.md, section 10.3).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "client/hdf5_file.h"
#include "model/external_files.h"
#include "origins/stored_values.h"
#include "reader/file_reader.h"
#include "sources/value_source.h"
#include "wire/block_entry.h"

namespace nmb {

// The files of coded pieces, by their file numbers.
using CodedFiles = std::map<std::uint32_t, Source>;

// A file that the output stores whole.
struct InputOriginal {
  std::uint32_t number = 0;  // file number in an NMB input; 0 means the input itself
  std::string path;          // the path to record
  Source file;
  std::optional<Digest> digest{};
  std::optional<Sha256> sha256{};
};

// Returns the path that is recorded for an original. If the input's path is relative, that path is
// recorded. If the input's path is absolute, only its file name is recorded.
std::string original_path(const std::string& input);

// The bytes of an extent that lie in an original.
struct ValuesInOriginal {
  std::uint32_t number = 0;  // InputOriginal::number
  Source file;
  std::vector<hdf5::RunInFile> runs{};  // ascending
  std::vector<ByteRange> holes{};       // ascending; no run overlaps a hole
};
// Links those values that lie in the given runs of an original. All other values are copied.
// LinkedValues::original is set to the file number in the input. Returns nullopt if copying all
// values takes less space.
std::optional<LinkedValues> linked_to_original(ValuesInOriginal places, Source values,
                                               std::uint32_t piece_size);
// Returns how many bytes of a block's values are copied, without the tables of chunks. `links` are
// the values that are not copied.
std::uint64_t copied_values(const std::optional<LinkedValues>& links, std::uint64_t extent_length,
                            const Metadata& metadata);
// Returns which values of an NMB input's block lie in an original. originals: the file numbers of
// the originals. Returns nullopt if no values lie in an original, if a piece is coded, or if values
// lie in several files. Errors: kDamaged.
Result<std::optional<ValuesInOriginal>> values_in_original(
    const FileReader& reader, const BlockEntry& entry, const std::set<std::uint32_t>& originals);

// The functions return nullopt if no values can be linked. Errors: kUnsupported, kNotFound and kIo
// as for external_path(). pack() has checked that no input is also the output.
class InputLinks {
 public:
  // piece_size: the piece size of the output in bytes.
  InputLinks(std::string output, ExternalPaths allowed, std::uint32_t piece_size)
      : output_(std::move(output)), allowed_(allowed), piece_size_(piece_size) {}

  // Links the values in `file` from offset `begin` to the end of the file. Other ranks use `origin`
  // to open the values.
  Result<std::optional<LinkedValues>> behind(const Source& file, std::uint64_t begin, Source values,
                                             std::string origin);
  // Links the values that lie in the given runs of `file`. Values outside the runs must be copied.
  // runs: must be ascending.
  Result<std::optional<LinkedValues>> in_runs(const Source& file,
                                              std::span<const hdf5::RunInFile> runs, Source values);
  // Links the values of a source that combines other sources. Values that do not lie in files must
  // be copied. Returns nullopt if the linked pieces would be short on average.
  Result<std::optional<LinkedValues>> of_parts(const Source& values);
  // Links the stored pieces of a block. If the block's file links a piece in another file, the
  // output links this other file directly. Errors: kUnsupported if the output cannot have a piece
  // of the block; kDamaged.
  Result<std::optional<LinkedValues>> of_block(const FileReader& reader, const Source& file,
                                               const BlockEntry& entry);

 private:
  Result<ExternalFile> named(const ByteSource& file);

  const std::string output_;
  const ExternalPaths allowed_;
  const std::uint32_t piece_size_;
  std::unordered_map<std::string, std::string> paths_;  // path of each linked file, by file name
};

}  // namespace nmb
