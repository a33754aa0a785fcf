// CommittedState: describes the newest generation of the file, as far as the writer needs it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "files/files.h"
#include "reader/reader_core.h"
#include "sources/value_source.h"
#include "superblock/head.h"
#include "superblock/identity.h"
#include "superblock/superblock.h"

namespace nmb {

// Returns the first `bytes` bytes of a file that is being written. The file must outlive the
// result.
inline Source written(const OutputFile& file, std::uint64_t bytes) {
  return source_of(form::Called{
      bytes, file.name(),
      [&file](std::uint64_t at, std::span<std::byte> out) { return file.read_at(at, out); }});
}

struct CommittedState {
  // The superblock of the last commit. Before the first commit, only the fields that are known
  // already are set.
  Superblock superblock;
  std::array<std::byte, kSlotUnit> superblock_bytes{};  // the bytes in the file
  std::array<std::byte, kIdentitySize>
      identity{};  // the identity's bytes in the file; only on rank 0
  std::vector<std::byte> dictionary;
  bool has_file_id = false;
  // This writer never makes the file shorter than this length, because all bytes within this length
  // are committed or were written by other processes.
  std::uint64_t kept_length = 0;
  Source source;
  std::unique_ptr<ReaderCore> reader;               // null before the first commit
  std::uint64_t growth_pages = 0, growth_rows = 0;  // on rank 0

  bool is_none() const { return superblock.generation == 0; }
  // Opens a reader of the new generation. Must be called after a commit. Does not read the file's
  // head, because all ranks know the superblock.
  void read_from(const OutputFile& file) {
    Head head;
    head.superblock = superblock;
    head.superblock_bytes = superblock_bytes;
    head.position = superblock.trailer_position();
    head.dictionary = dictionary;
    Source new_source = written(file, superblock.file_length);
    auto new_reader = std::make_unique<ReaderCore>(*new_source, std::move(head));
    if (reader) new_reader->continue_from(*reader);
    reader = std::move(new_reader);
    source = std::move(new_source);
  }
};

}  // namespace nmb
