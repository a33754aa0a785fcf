// Defines the lock that a writer of an NMB file holds (spec/writer.md, section 5.5).
#pragma once

#include <fcntl.h>

namespace nmb {

// Returns the lock for F_OFD_SETLK and F_OFD_GETLK: an exclusive lock of the slots, which are bytes
// 4096 to 12287.
inline struct flock writer_lock() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = 4096;
  lock.l_len = 8192;
  return lock;
}

}  // namespace nmb
