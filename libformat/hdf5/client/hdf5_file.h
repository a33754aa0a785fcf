// Reads HDF5 files as blocks of kind 6 with the process `nmb-hdf5 import` (spec/extended.md,
// section 15).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "files/spool_file.h"
#include "nmb/options.h"
#include "wire/bytes.h"
#include "wire/failure.h"

namespace nmb::hdf5 {

// A range of an extent whose bytes the HDF5 file stores at `position`.
struct RunInFile {
  std::uint64_t offset = 0;  // offset in the extent
  std::uint64_t length = 0;
  std::uint64_t position = 0;
};

struct Hdf5Group {
  std::string name;  // the group's path without the first '/'
  std::vector<std::byte> body;
  std::uint64_t extent_length = 0;
  std::shared_ptr<const ByteSource>
      extent;  // source that reads the file and the spool; nullptr if the extent is empty
  std::vector<RunInFile> in_file;  // runs, in ascending order of their offsets
  // Attributes and data sets that have references to deleted objects, as texts for messages. These
  // references are null in the block, or left out of DIMENSION_LIST.
  std::vector<std::string> lost_references{};
};

// How values of external and virtual data sets are treated. kLeft leaves them in their files.
// kCopied copies them to the spool; HDF5 then opens the other files without limits of time and
// space.
enum class OtherFiles : std::uint8_t { kLeft, kCopied };
// HDF5 finds files by rules of its own, so that only a caller who allows all paths gets copies.
inline OtherFiles other_files(ExternalPaths allowed) {
  return allowed == ExternalPaths::kAny ? OtherFiles::kCopied : OtherFiles::kLeft;
}

struct ReadOptions {
  OtherFiles other_files = OtherFiles::kLeft;
  // Name of the block that the root group becomes. All other groups become blocks below it. The
  // paths in references, hard links and named datatypes begin with this name.
  std::string place{};
};

class Hdf5Process;

// A file that another process reads while this process does other work.
class StartedFile {
 public:
  // Starts to read a file. `spool` receives the values that have other bytes in the extent than in
  // the file. Several files may be read with one spool, but only one after another. Errors:
  // kUnsupported if the program for HDF5 is not installed; kIo.
  static Result<std::unique_ptr<StartedFile>> start(const std::string& path,
                                                    std::shared_ptr<const SpoolFile> spool,
                                                    const ReadOptions& options = {});
  // Ends the other process.
  ~StartedFile();

  // Does the same as read_file(). Call this function only once. `file` must be the file at the path
  // that start() got.
  Status read(std::shared_ptr<const ByteSource> file,
              const std::function<Status(Hdf5Group)>& visit);

 private:
  StartedFile(std::unique_ptr<Hdf5Process> process, std::shared_ptr<const SpoolFile> spool);
  Result<Hdf5Group> decode(const std::shared_ptr<const ByteSource>& file,
                           std::vector<std::byte> content) const;

  const std::unique_ptr<Hdf5Process> process_;
  const std::shared_ptr<const SpoolFile> spool_;
};

// Calls visit() for each group of the file, the root group first. Errors: kDamaged if HDF5 cannot
// read the file, or if the process that runs HDF5 ended; kUnsupported for contents that NMB cannot
// represent; kLimit for too much time or memory; kIo; the first failure of visit().
Status read_file(std::shared_ptr<const ByteSource> file,
                 const std::function<Status(Hdf5Group)>& visit, const ReadOptions& options = {});

}  // namespace nmb::hdf5
