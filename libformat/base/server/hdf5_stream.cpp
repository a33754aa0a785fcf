#include "server/hdf5_stream.h"

namespace nmb::hdf5 {

Status decode_failure(std::span<const std::byte> content) {
  Status failure;
  if (take_fields(content, &failure).ok() && !failure.ok()) return failure;
  return Status(Code::kDamaged, "found a failure that nmb-hdf5 reported without its code");
}

}  // namespace nmb::hdf5
