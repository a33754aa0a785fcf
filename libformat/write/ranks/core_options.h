// CoreOptions: the options of a Writer as its parts use them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "ranks/writer_options.h"
#include "wire/bytes.h"
#include "wire/failure.h"

namespace nmb {

// The options of a Writer, and what only callers inside the library set.
struct CoreOptions : FileWriterOptions {
  // For new files: see CreateOptions::resume_key. Not allowed in a dry run or with kMpiIo (kUsage).
  std::string resume_key{};
  // Whether commits compute checksums of values that stay in other files, and read these values to
  // do so. Without these checksums, readers refuse such values unless ReadOptions::unverified
  // is Unverified::kLinkedValues. Set this to false only for temporary files.
  bool sum_links = true;
  // Called by a commit on every rank, after everything except the superblock has been written. If
  // the function fails, the commit fails.
  std::function<Status()> before_commit{};
  // Called on rank 0 before a new file gets its name, with the whole file as readers will see it.
  // If the function fails, no new file remains. In a dry run of one process, the file has all
  // metadata, but no values; in a dry run of several processes, the function is not called.
  std::function<Status(const ByteSource&)> before_publish{};
  // With several ranks: opens a source of values on another rank, by its `origin`
  // (PackedBlock::origin, take_values()). If a rank has many values to move, other ranks can then
  // move some of them. Must be set on all ranks or on none.
  std::function<Result<std::shared_ptr<const ByteSource>>(std::string_view origin)> open_values{};
  // Returns a shorter origin, with which open_values() opens only the range `wanted` of a source.
  // If the result is empty, the rank that has the source moves this range itself. If the function
  // is not set, open_values() gets the whole origin.
  std::function<Result<std::string>(std::string_view origin, ByteRange wanted)> narrow_origin{};
};

}  // namespace nmb
