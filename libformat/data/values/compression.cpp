// Parses compression options (see model/values.h).
#include <algorithm>
#include <iterator>
#include <optional>

#include "model/name_rules.h"
#include "model/values.h"
#include "wire/codecs.h"
#include "wire/joined_text.h"
#include "wire/whole_number.h"

namespace nmb {

std::string Compression::codec_choices() {
  std::vector<std::string> choices;
  for (const CodecRow& row : kPieceCodecs)
    choices.push_back(row.highest_level == 0
                          ? std::string(row.name)
                          : joined_text(row.name, "[:1-", row.highest_level, "]"));
  return alternatives_text(choices);
}

Status Compression::set_codec(std::string_view text) {
  const std::size_t colon = text.find(':');
  const auto* const known = std::ranges::find(kPieceCodecs, text.substr(0, colon), &CodecRow::name);
  if (known == std::end(kPieceCodecs))
    return Status(Code::kUsage, "found codec " + in_quotes(text) + ", expected " + codec_names());
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
    std::string_view dimension = item.substr(0, colon);
    const std::size_t first = dimension.rfind(':');
    std::string_view variable;
    if (first != dimension.npos) {
      variable = dimension.substr(0, first);
      dimension.remove_prefix(first + 1);
    }
    const std::optional<std::uint64_t> length =
        colon == item.npos ? std::nullopt : whole_number(item.substr(colon + 1));
    if (!length || *length == 0 || dimension.empty() || first == 0)
      return Status(Code::kUsage,
                    "found chunk " + in_quotes(item) +
                        ", expected DIM:LEN or VAR:DIM:LEN with a length of at least 1");
    if (item.find('/') != item.npos)
      return Status(Code::kUsage, "found chunk " + in_quotes(item) +
                                      ", expected DIM:LEN or VAR:DIM:LEN with names in a block; a "
                                      "length applies to all blocks");
    for (const ChunkLength& other : chunk)
      if (other.dimension == dimension && other.variable == variable)
        return Status(Code::kUsage,
                      "found two chunk lengths for " + other.object() + ", expected one");
    chunk.push_back({std::string(dimension), *length, std::string(variable)});
    if (comma == text.npos) break;
    text.remove_prefix(comma + 1);
  }
  std::stable_partition(chunk.begin(), chunk.end(),
                        [](const ChunkLength& one) { return !one.variable.empty(); });
  return {};
}

std::string Compression::ChunkLength::text() const {
  return (variable.empty() ? "" : variable + ":") + dimension + ":" + std::to_string(length);
}

std::string Compression::ChunkLength::object() const {
  return "dimension " + in_quotes(dimension) +
         (variable.empty() ? "" : " of variable " + in_quotes(variable));
}

}  // namespace nmb
