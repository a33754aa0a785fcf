// Windows of values that other ranks encode. Rank 0 describes the values of a job; the other rank
// reads them itself.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "merge/uniting/sent_values.h"
#include "model/stored_piece.h"
#include "values/chunk_coding.h"
#include "wire/bytes.h"

namespace nmb {

// Successive windows of one extent.
struct WindowJob {
  PieceCodec codec = PieceCodec::kNone;
  int level = 0;
  std::vector<ByteRange> windows;  // ranges of the extent
  std::vector<std::byte> values;   // the result of send_values()
};

std::vector<std::byte> message_of(const std::vector<WindowJob>& jobs);

// Encodes the windows of the jobs in `message`, in their order. A result without bytes is a window
// that the codec does not shorten enough; nullopt is a window that failed.
std::vector<std::optional<CodedChunk>> encode_windows(std::span<const std::byte> message,
                                                      const ReceivedFrom& from,
                                                      const CodingRules& rules);

}  // namespace nmb
