#include "common/options/compression_option.h"

namespace nmb::tools {

Result<std::optional<Compression>> CompressionTexts::parse() const {
  std::optional<Compression> out;
  if (codec.empty() && chunk.empty() && !shuffle) return out;
  out.emplace();
  out->shuffle = shuffle;
  if (!codec.empty()) NMB_TRY(out->set_codec(codec));
  if (!chunk.empty()) NMB_TRY(out->set_chunk(chunk));
  return out;
}

}  // namespace nmb::tools
