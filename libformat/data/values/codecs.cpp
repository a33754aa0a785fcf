#include "values/codecs.h"

#include <vector>

#include "model/values.h"
#include "wire/joined_text.h"

namespace nmb {

std::string codec_names() {
  std::vector<std::string> names;
  for (const PieceCodecWord& word : kPieceCodecs) names.emplace_back(word.name);
  return alternatives_text(names);
}

std::string codec_numbers() {
  std::vector<int> numbers;
  for (const PieceCodecWord& word : kPieceCodecs) numbers.push_back(static_cast<int>(word.codec));
  std::ranges::sort(numbers);
  std::vector<std::string> texts;
  for (const int number : numbers) texts.push_back(std::to_string(number));
  return alternatives_text(texts);
}

std::string Compression::codec_choices() {
  std::vector<std::string> choices;
  for (const PieceCodecWord& word : kPieceCodecs)
    choices.push_back(word.highest_level == 0
                          ? std::string(word.name)
                          : joined_text(word.name, "[:1-", word.highest_level, "]"));
  return alternatives_text(choices);
}

Decoded decode_bytes(PieceCodec codec, std::span<const std::byte> stored, std::span<std::byte> out,
                     std::size_t* used) {
  switch (codec) {
    case PieceCodec::kNone:
      break;
    case PieceCodec::kZstd:
      *used = stored.size();
      return decode_zstd(stored, out);
    case PieceCodec::kDeflate:
      return inflate_zlib(stored, out, used);
  }
  return {};
}

std::size_t encode_bytes(PieceCodec codec, int level, std::span<const std::byte> bytes,
                         std::span<std::byte> out) {
  switch (codec) {
    case PieceCodec::kNone:
      break;
    case PieceCodec::kZstd:
      return encode_zstd(bytes, out, level);
    case PieceCodec::kDeflate:
      return deflate_zlib(bytes, out, level);
  }
  return 0;
}

}  // namespace nmb
