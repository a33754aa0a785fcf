// Encodes a Status as bytes, for messages between ranks.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "nmb/status.h"
#include "parallel/message_codec.h"

namespace nmb {

inline std::vector<std::byte> status_bytes(const Status& status) {
  MessageWriter out;
  out.put(static_cast<std::uint8_t>(status.code()));
  out.put(status.offset());
  out.put_text(status.file());
  out.put_text(status.rule());
  out.put_text(status.message());
  out.put(status.rank());
  return out.take();
}

inline Status status_from(std::span<const std::byte> bytes) {
  MessageReader in(bytes);
  const auto code = static_cast<Code>(in.get<std::uint8_t>());
  const auto offset = in.get<std::uint64_t>();
  std::string file(in.get_text()), rule(in.get_text()), message(in.get_text());
  const int rank = in.get<int>();
  if (code == Code::kOk) return {};
  return Status(code, std::move(file), offset, std::move(rule), std::move(message), rank);
}

}  // namespace nmb
