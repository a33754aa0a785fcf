// ClassicFile: a new classic file of all ranks: rank 0 writes its header, each some of the values.
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

// A dataset as a classic file has it.
struct ClassicContent {
  std::vector<std::byte> header;
  std::shared_ptr<const LaidValues> values;  // all that is behind it
};

// kConflict: the kind cannot hold the dataset.
Result<ClassicContent> classic_content(const Dataset& dataset, Kind kind);

class ClassicFile {
 public:
  // All must outlive this.
  ClassicFile(const std::string& path, const ConvertOptions& options, Communicator& ranks)
      : path_(path), options_(options), ranks_(ranks) {
    mover_.threads = options.threads;
    mover_.cancel = options.cancel;
  }

  // The range of `length` bytes of values that a rank writes.
  static ByteRange share_of(int rank, int ranks, std::uint64_t length);

  // Each rank's: asked when all values are there, before the file gets its name.
  void set_check(std::function<Status()> check) { check_ = std::move(check); }

  struct Values {
    std::shared_ptr<const ByteSource> source;  // has at least the bytes of the share
    ByteRange share;
  };
  // Collective; the file has its name when it returns. header: rank 0's counts; its length and that
  // of all values are the same on all. own: what this rank writes; all ranks together write each
  // byte once. may_be_sparse: rank 0's counts: room is not reserved.
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
