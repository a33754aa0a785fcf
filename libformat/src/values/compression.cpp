// Parses compression options (see nmb/values.h).
#include <algorithm>
#include <iterator>
#include <optional>

#include "model/name_rules.h"
#include "nmb/values.h"
#include "wire/joined_text.h"
#include "wire/whole_number.h"

namespace nmb {

Status Compression::set_codec(std::string_view text) {
  const std::size_t colon = text.find(':');
  const auto* const known =
      std::ranges::find(kPieceCodecs, text.substr(0, colon), &PieceCodecWord::name);
  if (known == std::end(kPieceCodecs))
    return Status(Code::kUsage,
                  "found codec " + in_quotes(text) + ", expected none, deflate or zstd");
  codec = known->codec;
  level = known->usual_level;
  if (colon == text.npos) return {};
  const auto most = static_cast<std::uint64_t>(known->highest_level);
  const std::optional<std::uint64_t> found = whole_number(text.substr(colon + 1));
  if (!found || *found < 1 || *found > most)
    return Status(Code::kUsage,
                  "found codec " + in_quotes(text) + ", expected " +
                      (most == 0 ? "no level" : joined_text("a level from 1 to ", most)));
  level = static_cast<int>(*found);
  return {};
}

Status Compression::set_chunk(std::string_view text) {
  chunk.clear();
  for (;;) {
    const std::size_t comma = text.find(',');
    const std::string_view item = text.substr(0, comma);
    const std::size_t colon = item.rfind(':');
    const std::optional<std::uint64_t> length =
        colon == item.npos ? std::nullopt : whole_number(item.substr(colon + 1));
    if (!length || *length == 0 || colon == 0)
      return Status(Code::kUsage, "found chunk " + in_quotes(item) +
                                      ", expected DIM:LEN with a length of at least 1");
    for (const ChunkLength& other : chunk)
      if (other.dimension == item.substr(0, colon))
        return Status(Code::kUsage, "found two chunk lengths for dimension " +
                                        in_quotes(other.dimension) + ", expected one");
    chunk.push_back({std::string(item.substr(0, colon)), *length});
    if (comma == text.npos) return {};
    text.remove_prefix(comma + 1);
  }
}

}  // namespace nmb
