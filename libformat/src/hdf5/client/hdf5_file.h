// Reads HDF5 files as blocks of kind 6 with the process `nmb-hdf5 import` (spec/format.md, section
// 15).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "nmb/bytes.h"
#include "nmb/status.h"
#include "wire/spool_file.h"

namespace nmb::hdf5 {

// A run of an extent whose bytes are stored in the same form in the HDF5 file.
struct RunInFile {
  std::uint64_t offset = 0;  // offset in the extent
  std::uint64_t length = 0;
  std::uint64_t position = 0;  // position in the HDF5 file
};

// A group of an HDF5 file.
struct GroupBlock {
  std::string name;  // the group's path without the first '/'
  std::vector<std::byte> body;
  std::uint64_t extent_length = 0;
  std::shared_ptr<const ByteSource>
      extent;                      // reads the file and the spool; nullptr if the extent is empty
  std::vector<RunInFile> in_file;  // runs by ascending offset
};

// How values of external and virtual data sets are treated. `kLeft` leaves them in their files.
// `kCopied` copies them to the spool; HDF5 then opens the other files without limits.
enum class OtherFiles : std::uint8_t { kLeft, kCopied };

struct ReadOptions {
  OtherFiles other_files = OtherFiles::kLeft;
  // Name of the block that the root group becomes. All other groups become blocks below it. The
  // paths in references, hard links and named datatypes begin with this name.
  std::string place{};
};

class Hdf5Process;

// A file that another process already reads while this process does other work.
class StartedFile {
 public:
  // Starts to read a file. `spool` receives values that the file does not store in the same form.
  // Several files may be read with one spool, but only one after another. Errors: kUnsupported if
  // the program for HDF5 is not installed; kIo.
  static Result<std::unique_ptr<StartedFile>> start(const std::string& path,
                                                    std::shared_ptr<const SpoolFile> spool,
                                                    const ReadOptions& options = {});
  // Ends the other process.
  ~StartedFile();

  // Does the same as read_file(). Call this function only once. `file` is the file at the path that
  // start() got.
  Status read(std::shared_ptr<const ByteSource> file,
              const std::function<Status(GroupBlock)>& visit);

 private:
  StartedFile(std::unique_ptr<Hdf5Process> process, std::shared_ptr<const SpoolFile> spool);

  const std::unique_ptr<Hdf5Process> process_;
  const std::shared_ptr<const SpoolFile> spool_;
};

// Calls visit() for each group of the file, the root group first. `spool` receives values that the
// file does not store in the same form; several files may be read with one spool. Errors: kDamaged
// if HDF5 cannot read the file or its process ended; kUnsupported for contents that NMB cannot
// represent; kLimit for too much time or memory; kIo; the first failure of visit().
Status read_file(std::shared_ptr<const ByteSource> file, std::shared_ptr<const SpoolFile> spool,
                 const std::function<Status(GroupBlock)>& visit, const ReadOptions& options = {});

}  // namespace nmb::hdf5
