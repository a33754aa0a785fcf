// ExternalFiles opens the files that hold values of an NMB file: external files, and originals
// inside the NMB file (spec/format.md, section 10.3).
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "format/extent/file_table.h"
#include "format/extent/piece_cache.h"
#include "format/superblock/superblock.h"
#include "nmb/bytes.h"
#include "nmb/external_files.h"

namespace nmb {

// Thread-safe. Reads the file table when it is first needed, and opens a file when its values are
// read. The process has only a few such files open at a time, for all NMB files together.
class ExternalFiles {
 public:
  // `file` must outlive this object. `file.path()` determines where external files are searched
  // for. `check`: see ReadOptions::check_external.
  ExternalFiles(const ByteSource& file, const Superblock& superblock, ExternalPaths allowed,
                bool check)
      : file_(file), superblock_(superblock), allowed_(allowed), check_(check) {}

  Result<std::shared_ptr<const FileTable>> table() const;
  // Opens the external file, or the original, that has this number; number 1 is the table's first
  // row. Errors: kDamaged (R-EX-8, R-FT-4, R-FT-5); kUnsupported (R-FT-4) if external files are not
  // allowed or the NMB file has no path; kIo.
  Result<std::shared_ptr<const ByteSource>> open(std::uint32_t number) const;
  // Returns the position in this file of a range of bytes of an original. Returns 0 if the bytes
  // lie in several places, or are compressed. Errors: kDamaged (R-EX-8, rules of data maps); kUsage
  // for a file that is not an original.
  Result<std::uint64_t> place_in_original(std::uint32_t number, std::uint64_t position,
                                          std::uint64_t length) const;
  // Returns the file's name for messages.
  Result<std::string> name_of(std::uint32_t number) const;
  // Returns whether the checksums of pieces in other files are checked.
  bool checks() const { return check_; }

 private:
  Result<std::shared_ptr<const ByteSource>> beside(const ExternalFile& row,
                                                   const std::string& name) const;
  std::shared_ptr<const ByteSource> original(const Place& map, std::uint64_t size) const;

  const ByteSource& file_;
  const Superblock superblock_;
  const ExternalPaths allowed_;
  const bool check_;
  mutable PieceCache original_pieces_;
  mutable std::mutex mutex_;  // protects the mutable members
  mutable std::shared_ptr<const FileTable> table_;
  mutable std::unordered_map<std::uint32_t, std::shared_ptr<const ByteSource>> opened_;
  // Bytes of an original that are adjacent in this file.
  struct Run {
    std::uint64_t begin, end;  // offsets in the original
    std::uint64_t position;    // position of `begin` in this file
  };
  mutable std::unordered_map<std::uint32_t, std::vector<Run>> original_runs_;
};

}  // namespace nmb
