// HDF5 files as blocks of kind 6. The process `nmb-hdf5 import` reads them (spec/format.md, section
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

// Bytes of an extent that are stored in the HDF5 file in the same form.
struct RunInFile {
  std::uint64_t offset = 0;  // in the extent
  std::uint64_t length = 0;
  std::uint64_t position = 0;  // in the HDF5 file
};

// A group.
struct GroupBlock {
  std::string name;  // the group's path without the first '/'
  std::vector<std::byte> body;
  std::uint64_t extent_length = 0;
  std::shared_ptr<const ByteSource> extent;  // reads the file and the spool; nullptr: it is empty
  std::vector<RunInFile> in_file;            // by ascending offset
};

// The values of external and virtual data sets: kLeft keeps their places; kCopied copies the values
// to the spool, from files that HDF5 opens, without limits.
enum class OtherFiles : std::uint8_t { kLeft, kCopied };

struct ReadOptions {
  OtherFiles other_files = OtherFiles::kLeft;
  // The block that the root group becomes; the other groups become blocks below it. Paths of
  // references, hard links and named datatypes begin with it.
  std::string place{};
};

class Hdf5Process;

// A file that another process is already reading while this process does something else.
class StartedFile {
 public:
  // spool: for values that the file does not store in the same form; several files may be read with
  // one spool, one after another. Errors: kUnsupported if the program for HDF5 is not installed;
  // kIo.
  static Result<std::unique_ptr<StartedFile>> start(const std::string& path,
                                                    std::shared_ptr<const SpoolFile> spool,
                                                    const ReadOptions& options = {});
  // Ends the process.
  ~StartedFile();

  // Like read_file(); call it once. file: the one at that path.
  Status read(std::shared_ptr<const ByteSource> file,
              const std::function<Status(GroupBlock)>& visit);

 private:
  StartedFile(std::unique_ptr<Hdf5Process> process, std::shared_ptr<const SpoolFile> spool);

  const std::unique_ptr<Hdf5Process> process_;
  const std::shared_ptr<const SpoolFile> spool_;
};

// Calls visit() for each group of the file, the root group first. spool: for values that the file
// does not store in the same form; several files may be read with one spool. Errors: kDamaged if
// HDF5 cannot read the file or ended; kUnsupported for something that NMB cannot represent; kLimit
// for too much time or memory; kIo; visit's first failure.
Status read_file(std::shared_ptr<const ByteSource> file, std::shared_ptr<const SpoolFile> spool,
                 const std::function<Status(GroupBlock)>& visit, const ReadOptions& options = {});

}  // namespace nmb::hdf5
