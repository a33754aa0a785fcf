// HDF5 metadata as it is put together (see hdf5/bytes/hdf5_bytes.h).
#include "hdf5/bytes/hdf5_bytes.h"

namespace nmb {

// Not inline, because g++ 12 then assumes a vector without capacity.
void Hdf5Bytes::put(std::span<const std::byte> bytes) {
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

}  // namespace nmb
