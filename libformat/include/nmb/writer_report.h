// WriterReport: what a rank has done since its writer was made.
#pragma once

#include <cstdint>
#include <string>

#include "nmb/export.h"

namespace nmb {

struct WriterReport {
  // Wall seconds, waits for other ranks included, by the phases of "Parallel Data Object Creation".
  double create = 0;          // end_define(): definitions are laid out, encoded and placed
  double check = 0;           // end_define(): definitions of several ranks are compared
  double write_values = 0;    // put_all(), wait_all(), extend(), and values that a commit writes
  double write_metadata = 0;  // a commit's blocks
  double write_index = 0;     // a commit's maps, index, statistics, tags and file table
  double commit = 0;          // the rest of a commit: view, dead space, superblock, the device
  // Messages to other ranks.
  std::uint64_t messages = 0;
  std::uint64_t message_bytes = 0;
  std::uint64_t message_peak = 0;  // most bytes held at a time; since the ranks were made
  // Calls and bytes of the output file.
  std::uint64_t writes = 0;  // calls
  std::uint64_t bytes_written = 0;
  std::uint64_t reads = 0;       // calls
  std::uint64_t bytes_read = 0;  // asked for, also where the file has ended

  // The higher of each number: with all_reduce(), that of the rank which has most.
  NMB_EXPORT static WriterReport highest(const WriterReport& a, const WriterReport& b);
  // One line: the phases in ms, then counts.
  NMB_EXPORT std::string text() const;
};

}  // namespace nmb
