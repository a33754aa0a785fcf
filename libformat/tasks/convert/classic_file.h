// ClassicFile writes a new classic file on all ranks (spec/format.md, section 8.1). Rank 0 writes
// the header, and each rank writes a share of the values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "convert/convert.h"
#include "files/files.h"
#include "model/dataset.h"
#include "parallel/communicator.h"
#include "wire/bytes.h"
#include "writer/file_writer.h"

namespace nmb {

// A dataset in the form of a classic file.
struct ClassicContent {
  std::vector<std::byte> header;
  std::shared_ptr<const ByteSource> values;  // all bytes after the header
};

// Converts a dataset to the form of a classic file of kind `kind`. Errors: kConflict if `kind`
// cannot hold the dataset.
Result<ClassicContent> classic_content(const Dataset& dataset, Kind kind);

class ClassicFile {
 public:
  // All arguments must outlive the object.
  ClassicFile(const std::string& path, const ExtractOptions& options, Communicator& ranks)
      : path_(path), options_(options), ranks_(ranks) {}

  // Returns the range of bytes that `rank` writes if all values together have `length` bytes.
  static ByteRange share_of(int rank, int ranks, std::uint64_t length);

  // Sets an additional check for this rank. The check is called after all values are written and
  // before the file gets its final name.
  void set_check(std::function<Status()> check) { check_ = std::move(check); }
  // See CreateOptions::resume_key. The key must be the same on all ranks.
  void set_resume_key(std::string key) { resume_key_ = std::move(key); }

  struct Values {
    std::shared_ptr<const ByteSource> source;  // contains at least the bytes of `share`
    ByteRange share;
  };
  // Writes the file and gives it its final name. Collective. Only rank 0's `header` and
  // `may_be_sparse` are used. `header_length`, and the `length` of all values, must be the same on
  // all ranks. `own` lists the bytes that this rank writes. Each byte of the values must be written
  // by exactly one rank. If `may_be_sparse` is true, no space is reserved for the file.
  Status write(std::span<const std::byte> header, std::uint64_t header_length, std::uint64_t length,
               bool may_be_sparse, const std::vector<Values>& own);

 private:
  Status agree(const Status& status) { return ranks_.agree(status.in_file(path_)); }
  Status write_header(std::span<const std::byte> header, std::uint64_t length, bool may_be_sparse);
  Status move(std::uint64_t header_length, std::uint64_t length, const std::vector<Values>& own);

  const std::string& path_;
  const ExtractOptions& options_;
  Communicator& ranks_;
  std::unique_ptr<OutputFile> file_;
  std::function<Status()> check_;
  std::string resume_key_;
};

}  // namespace nmb
