// ClassicFile: a new classic file that all ranks write: rank 0 writes the header, each rank writes
// some of the values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "netcdf/laid_values.h"
#include "nmb/bytes.h"
#include "nmb/communicator.h"
#include "nmb/convert.h"
#include "nmb/dataset.h"
#include "nmb/files.h"
#include "nmb/writer.h"

namespace nmb {

// A dataset in the form of a classic file.
struct ClassicContent {
  std::vector<std::byte> header;
  std::shared_ptr<const LaidValues> values;  // everything after the header
};

// Errors: kConflict if the kind cannot hold the dataset.
Result<ClassicContent> classic_content(const Dataset& dataset, Kind kind);

class ClassicFile {
 public:
  // All arguments must outlive the object.
  ClassicFile(const std::string& path, const ConvertOptions& options, Communicator& ranks)
      : path_(path), options_(options), ranks_(ranks) {
    mover_.threads = options.threads;
    mover_.cancel = options.cancel;
  }

  // Returns the range of `length` bytes of values that a rank writes.
  static ByteRange share_of(int rank, int ranks, std::uint64_t length);

  // Each rank sets its own check, which is called after all values are written and before the file
  // gets its name.
  void set_check(std::function<Status()> check) { check_ = std::move(check); }

  struct Values {
    std::shared_ptr<const ByteSource> source;  // has at least the bytes of the share
    ByteRange share;
  };
  // Collective; the file has its name when this returns. header: that of rank 0 is written;
  // header_length and the length of all values are the same on all ranks. own: the bytes that this
  // rank writes; together the ranks write each byte once. may_be_sparse: that of rank 0 applies: no
  // space is reserved.
  Status write(std::span<const std::byte> header, std::uint64_t header_length, std::uint64_t length,
               bool may_be_sparse, const std::vector<Values>& own);

 private:
  Status agree(const Status& status) { return ranks_.agree(status.in_file(path_)); }
  Status write_header(std::span<const std::byte> header, std::uint64_t length, bool may_be_sparse);
  Status move(std::uint64_t header_length, std::uint64_t length, const std::vector<Values>& own);

  const std::string& path_;
  const ConvertOptions& options_;
  Communicator& ranks_;
  std::unique_ptr<OutputFile> file_;
  WriterOptions mover_;
  std::function<Status()> check_;
};

}  // namespace nmb
