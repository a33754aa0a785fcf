// Finds structures of an NMB file without using any other structure (spec/recovery.md, section 19).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "block/block_header.h"
#include "page/page.h"
#include "superblock/superblock.h"
#include "wire/bytes.h"
#include "wire/failure.h"

namespace nmb {

// A block header with a right sum, which lies at its own position.
struct ScannedHeader {
  BlockHeader header;
  std::string name;
};

// A superblock that lies in its slot, or as the trailer at the position that it states.
struct ScannedSuperblock {
  std::uint64_t position = 0;
  Superblock fields;
};

// The structures of a file, of any file id. Each list is in the order of positions.
struct Scan {
  std::vector<ScannedHeader> blocks;
  std::vector<PageHeader> pages;
  std::vector<ScannedSuperblock> superblocks;
};

struct ScanOptions {
  unsigned threads = 1;
  const std::atomic<bool>* cancel = nullptr;
  std::function<void(std::uint64_t done, std::uint64_t total)> progress{};
};

// Reads the whole file once, in large parts. Errors: kLimit if the structures of the file have so
// many bytes in common that their sums would take very long; kIo, also if *cancel becomes true.
Result<Scan> scan_file(const ByteSource& file, const ScanOptions& options);

}  // namespace nmb
