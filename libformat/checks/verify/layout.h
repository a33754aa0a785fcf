// layout: what each byte of a file holds. An NMB file has a head, an index, blocks with metadata
// and values, and other structures (spec/format.md, section 3). A classic file has a header and
// variables.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "reader/file_reader.h"
#include "wire/bytes.h"
#include "wire/failure.h"

namespace nmb {

// The content of a region. Maps and tables show the kinds in this order.
enum class RegionKind : std::uint8_t {
  kHead,         // the first 4096 bytes of an NMB file; the header of a classic file
  kSuperblock,   // slots and trailers
  kDictionary,   // both copies of the dictionary
  kIndex,        // pages of the index
  kDataMap,      // pages of data maps, growth pages
  kTable,        // pages of the file table, statistics, tags and dead space; sections
  kMetadata,     // headers and bodies of blocks
  kValues,       // values of blocks; values of variables of a classic file
  kOriginal,     // files that are stored whole
  kView,         // the HDF5 view
  kDead,         // dead and abandoned ranges
  kUnused,       // bytes that belong to no structure
  kUncommitted,  // bytes after the last committed generation
};
inline constexpr std::size_t kRegionKinds = 13;

// Returns the name of a kind: "head", "superblock", "data map", ...
NMB_EXPORT std::string_view region_name(RegionKind kind);

// To what a region belongs. Adjacent regions of the same kind and owner are one region.
struct RegionOwner {
  enum class Of : std::uint8_t {
    kFile,      // the file as a whole
    kBlock,     // `number` is the position of the block in the order of the index
    kOriginal,  // `number` is the row in FileReader::external_files()
    kVariable,  // `number` is the VarId of a variable of a classic file
    kRecords,   // all records of a classic file (see kMostRecordRegions)
  };
  Of of = Of::kFile;
  std::uint32_t number = 0;
  friend bool operator==(const RegionOwner&, const RegionOwner&) = default;
};

struct Region {
  std::uint64_t position = 0;
  std::uint64_t length = 0;
  RegionKind kind = RegionKind::kUnused;
  RegionOwner owner{};
  std::uint64_t end() const { return position + length; }
};

struct Layout {
  FileKind kind = FileKind::kUnknown;
  std::uint64_t generation = 0;  // 0 for a classic file
  // All bytes of the file, in order: the first region begins at 0, and each region begins where the
  // region before it ends. No region is empty.
  std::vector<Region> regions;
};

// A file may have at most this many regions.
inline constexpr std::size_t kMostRegions = std::size_t{1} << 24;

// In each record of a classic file, the values of each variable are a region. If there would be
// more than this number of such regions, all records are one region.
inline constexpr std::uint64_t kMostRecordRegions = 1 << 16;

// Returns the layout of an NMB or classic file. In an NMB file, reads the head, the trailers, the
// global sections, and all pages: those of the index, data maps, statistics, tags and dead space.
// Does not read headers and bodies of blocks, values, or the HDF5 view: the index has their
// positions and lengths. Needs at most 64 bytes of memory for each region, and memory for a list of
// the ranges between structures. Errors: kDamaged if damage hides where a structure lies, or if
// structures share bytes; kUnsupported for other kinds of files, and if the file has structures of
// a later version of the format; kUnknownKind; kLimit if there are more than kMostRegions regions;
// kIo.
NMB_EXPORT Result<Layout> layout_of(const ByteSource& file);

}  // namespace nmb
