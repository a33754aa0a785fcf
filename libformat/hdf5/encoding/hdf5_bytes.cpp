#include "encoding/hdf5_bytes.h"

namespace nmb {

// This function is not inline, because g++ 12 would assume that the vector has no capacity.
void Hdf5Bytes::put(std::span<const std::byte> bytes) {
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

}  // namespace nmb
