#include "calls/call_options.h"

#include "wire/joined_text.h"

namespace nmb {

Result<std::optional<Compression>> compression_of(const Storing& storing) {
  if (storing.codec.empty() && !storing.shuffle && storing.chunk.empty())
    return std::optional<Compression>();
  Compression out;
  out.shuffle = storing.shuffle;
  if (!storing.codec.empty()) NMB_TRY(out.set_codec(storing.codec));
  if (!storing.chunk.empty()) NMB_TRY(out.set_chunk(storing.chunk));
  return std::optional(std::move(out));
}

Result<Kind> classic_kind(FileKind kind) {
  if (kind == FileKind::kCdf1) return Kind::kCdf1;
  if (kind == FileKind::kCdf2) return Kind::kCdf2;
  if (kind == FileKind::kCdf5) return Kind::kCdf5;
  return Status(Code::kUsage,
                joined_text("a file of kind ", kind_name(kind), " cannot be written"));
}

}  // namespace nmb
