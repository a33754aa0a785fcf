// HDF5 files as blocks of kind 6: read by `nmb-hdf5 import`, a process of its own (spec/format.md,
// section 15).
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

// Bytes of an extent that lie in the file as they are.
struct RunInFile {
  std::uint64_t offset = 0;  // in the extent
  std::uint64_t length = 0;
  std::uint64_t position = 0;  // in the file
};

// A group.
struct GroupBlock {
  std::string name;  // the group's path without the first '/'
  std::vector<std::byte> body;
  std::uint64_t extent_length = 0;
  std::shared_ptr<const ByteSource> extent;  // reads the file and the spool; nullptr: empty
  std::vector<RunInFile> in_file;            // by ascending offset
};

// Values of external and virtual data sets: their places are kept, or they are copied to the spool
// from files that HDF5 opens, without limits.
enum class OtherFiles : std::uint8_t { kLeft, kCopied };

struct ReadOptions {
  OtherFiles other_files = OtherFiles::kLeft;
  // The block that the root group is to be, below which the other groups will lie: paths of
  // references, hard links and named datatypes begin with it.
  std::string place{};
};

class Hdf5Process;

// A file that another process reads already, while this one does something else.
class StartedFile {
 public:
  // spool: for values that do not lie in the file as they are; any number of files may be read with
  // one, one after the other. kUnsupported: there is no program for HDF5; kIo.
  static Result<std::unique_ptr<StartedFile>> start(const std::string& path,
                                                    std::shared_ptr<const SpoolFile> spool,
                                                    const ReadOptions& options = {});
  // Ends that process.
  ~StartedFile();

  // Once, as read_file(). file: the one at that path.
  Status read(std::shared_ptr<const ByteSource> file,
              const std::function<Status(GroupBlock)>& visit);

 private:
  StartedFile(std::unique_ptr<Hdf5Process> process, std::shared_ptr<const SpoolFile> spool);

  const std::unique_ptr<Hdf5Process> process_;
  const std::shared_ptr<const SpoolFile> spool_;
};

// Calls visit() for each group of the file, the root group first. spool: for values that do not lie
// in the file as they are; any number of files may be read with one. kDamaged: HDF5 cannot read it
// or ended; kUnsupported: something in it that has no form here; kLimit: too much time or memory;
// kIo; visit's first failure.
Status read_file(std::shared_ptr<const ByteSource> file, std::shared_ptr<const SpoolFile> spool,
                 const std::function<Status(GroupBlock)>& visit, const ReadOptions& options = {});

}  // namespace nmb::hdf5
