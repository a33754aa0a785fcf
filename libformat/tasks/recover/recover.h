// recover: copies the undamaged blocks of a damaged NMB file into a new file (spec/recovery.md,
// section 19). Neither the head nor the index of the damaged file is needed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "files/files.h"
#include "files/output_options.h"
#include "model/external_files.h"
#include "nmb/recover.h"
#include "wire/bytes.h"
#include "wire/failure.h"
#include "writer/file_writer.h"

namespace nmb {

struct RecoveryOptions {
  // Path of the new file. If empty, recover() writes nothing and only says what it would recover.
  std::string output{};
  // Whether to recover blocks with damaged values too. The damaged values become fill values.
  bool partial = false;
  // Whether to recover blocks with values whose checksums are lost. These values are copied as they
  // lie in the file, without a check.
  bool unverified = false;
  // Which external files may be opened to read values of the damaged file.
  ExternalPaths external = ExternalPaths::kBeneath;
  // Options of the new file. `threads` is also the number of threads that search and check the
  // damaged file.
  OutputOptions writer{};
  // All files that the caller is going to write, including `output`. nullptr means only `output`.
  std::shared_ptr<const OutputSet> outputs{};
  // Called by one thread at a time, with the number of bytes searched and the size of the file.
  std::function<void(std::uint64_t done, std::uint64_t total)> on_search{};
};

// Searches a damaged NMB file for blocks, checks them, and writes the undamaged blocks to a new
// file. If blocks are lost and none can be recovered, writes nothing. The file is read once to find
// the blocks, once to check their values, and once to copy them. Memory: about 500 bytes for each
// block and each page of the file, and a few MiB for each thread. Time: proportional to the size of
// the file. Errors: kUnknownKind if nothing of an NMB file is found; kUnsupported for other kinds
// of file, and for files of a later version of the format; kDamaged if a file has the head of an
// NMB file but no block; kLimit for a file that was made to take very long; kUsage; kExists; kIo;
// kNoSpace.
NMB_EXPORT Result<Recovery> recover(std::shared_ptr<const ByteSource> file,
                                    const RecoveryOptions& options);

}  // namespace nmb
