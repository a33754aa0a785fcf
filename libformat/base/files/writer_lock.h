// Defines the lock that a writer of an NMB file holds (spec/writer.md, section 5.5).
#pragma once

#include <fcntl.h>

namespace nmb {

// Returns the argument of F_OFD_SETLK and F_OFD_GETLK: an exclusive lock of the byte at 2^62. This
// byte lies behind all bytes of a file, so the lock conflicts with no lock that an MPI-IO library
// takes for reads or writes.
inline struct flock writer_lock() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = off_t{1} << 62;
  lock.l_len = 1;
  return lock;
}

}  // namespace nmb
