// ExternalFiles opens the files that hold values of an NMB file: external files, and originals
// inside the NMB file (spec/files.md, section 10.3).
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "extent/file_table.h"
#include "extent/piece_cache.h"
#include "model/external_files.h"
#include "superblock/superblock.h"
#include "wire/bytes.h"

namespace nmb {

// Thread-safe. Reads the file table when it is first needed, and opens a file when its values are
// first read. All objects of a process share a pool of few open files.
class ExternalFiles {
 public:
  // `file` must outlive this object. Relative paths of external files start from the folder of
  // `file.path()`. unverified: see ReadOptions.
  ExternalFiles(const ByteSource& file, const Superblock& superblock, ExternalPaths allowed,
                Unverified unverified)
      : file_(file), superblock_(superblock), allowed_(allowed), unverified_(unverified) {}

  Result<std::shared_ptr<const FileTable>> table() const;
  // Uses this table, which the caller has checked, instead of reading it.
  void take_table(std::shared_ptr<const FileTable> table) { table_ = std::move(table); }
  // Opens the external file or the original with this number; the first row of the file table has
  // number 1. The caller must check the sum of each piece that it reads, because the bytes have no
  // checksum here. Errors: kDamaged (R-EX-8, R-FT-4, R-FT-5); kUnsupported (R-FT-4) if external
  // files are not allowed or the NMB file has no path; kIo.
  Result<std::shared_ptr<const ByteSource>> open(std::uint32_t number) const;
  // Works like open(), but compares all bytes of an original with the checksums of its pieces.
  Result<std::shared_ptr<const ByteSource>> open_verified(std::uint32_t number) const;
  // Returns the position in this NMB file of a byte range of an original, or 0 if the range is
  // compressed or not contiguous. Errors: kDamaged (R-EX-8, rules of data maps); kUsage for a file
  // that is not an original.
  Result<std::uint64_t> place_in_original(std::uint32_t number, std::uint64_t position,
                                          std::uint64_t length) const;
  // Returns the name of the file for messages.
  Result<std::string> name_of(std::uint32_t number) const;
  Unverified unverified() const { return unverified_; }

 private:
  Result<std::shared_ptr<const ByteSource>> beside(const ExternalFile& row,
                                                   const std::string& name) const;
  std::shared_ptr<const ByteSource> original(std::uint32_t number, const Place& map,
                                             std::uint64_t size, Unverified unverified) const;

  const ByteSource& file_;
  const Superblock superblock_;
  const ExternalPaths allowed_;
  const Unverified unverified_;
  mutable PieceCache original_pieces_;
  mutable std::mutex mutex_;  // protects the mutable members
  mutable std::shared_ptr<const FileTable> table_;
  mutable std::unordered_map<std::uint32_t, std::shared_ptr<const ByteSource>> opened_;
  // A byte range of an original that is contiguous in this NMB file.
  struct OriginalRun {
    std::uint64_t begin, end;  // offsets in the original
    std::uint64_t position;    // position of the range in this NMB file
  };
  mutable std::unordered_map<std::uint32_t, std::vector<OriginalRun>> original_runs_;
};

}  // namespace nmb
