// OutputSet: the files that a call is going to write, so that none of them is one that it reads, or
// is written twice.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>

#include "nmb/export.h"
#include "nmb/status.h"

namespace nmb {

class ByteSource;
struct Dataset;
class Reader;
class VisitedFiles;

// Files are compared by what they are, not by their names: device and inode of a file that exists,
// symbolic links followed; of another one, those of the nearest folder that exists and the rest of
// the path. All failures are kUsage, in the output's name: "is also the input a.nc; choose another
// output". The const functions are thread-safe. Nothing is opened or kept open: a file that gets
// another name after it was added is not recognised.
class OutputSet {
 public:
  NMB_EXPORT OutputSet();
  // what: what messages call the file, as "output" or "report". kUsage: it was added before.
  NMB_EXPORT Status add(const std::string& path, std::string_view what);
  // The same of an output and, where it is resumable (CreateOptions::resume_key), of the files that
  // it is until it gets its name.
  NMB_EXPORT Status add_output(const std::string& path, bool resumable);
  // Whether one of the files existed when it was added. If none did, no file that exists is one.
  bool replaces() const { return replaces_; }

  // kUsage: `path`, which exists and is read, is one of the outputs. what: as of add(), "input".
  NMB_EXPORT Status check_input(const std::string& path, std::string_view what) const;
  // kUsage: `path` is one of the outputs. by: the file that refers to it, for the message.
  NMB_EXPORT Status check_reference(const std::string& path, const std::string& by) const;
  // kUsage, in the name of an output that exists: whether `input` refers to it cannot be told.
  // why: for the message. Ok where no output exists.
  NMB_EXPORT Status refuse_unknown(const std::string& input, const std::string& why) const;

 private:
  // Device, inode, and the rest of the path where there is no such file.
  using Identity = std::tuple<std::uint64_t, std::uint64_t, std::string>;
  struct Output {
    std::string path, what;
  };
  static Identity identity_of(const std::string& path);
  const Output* find(const std::string& path) const;

  friend Status check_file_table(const OutputSet&, const Reader&);
  friend Status check_references(const OutputSet&, const Reader&);
  friend Status check_references(const OutputSet&, const Dataset&, const std::string&);
  friend Status check_references(const OutputSet&, const std::shared_ptr<const ByteSource>&);

  std::map<Identity, Output> outputs_;
  bool replaces_ = false;
  // Files that inputs refer to, and that were compared with these outputs (nmb/references.h).
  std::shared_ptr<VisitedFiles> visited_;
};

}  // namespace nmb
