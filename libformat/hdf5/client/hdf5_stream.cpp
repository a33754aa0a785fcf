// Encodes and decodes failures in messages of nmb-hdf5 (see hdf5_stream.h).
#include "client/hdf5_stream.h"

#include <string>
#include <utility>

#include "wire/items.h"

namespace nmb::hdf5 {

std::vector<std::byte> encode_failure(const Status& status) {
  std::vector<std::byte> content;
  ItemsOut out(&content);
  out.put(static_cast<std::uint32_t>(status.code()));
  out.put(std::uint64_t{status.offset()});
  out.put_text(status.file());
  out.put_text(status.rule());
  out.put_text(status.message());
  return content;
}

Status decode_failure(std::span<const std::byte> content) {
  ItemsIn in(content, 0);
  const auto code = in.number<std::uint32_t>("");
  const auto offset = in.number<std::uint64_t>("");
  std::string file = in.text(""), rule = in.text(""), message = in.text("");
  if (!in.ok() || code == 0 || code > static_cast<std::uint32_t>(Code::kBusy))
    return Status(Code::kDamaged, "found a failure that nmb-hdf5 reported without its code");
  return Status(static_cast<Code>(code), std::move(file), offset, std::move(rule),
                std::move(message));
}

}  // namespace nmb::hdf5
