#include "wire/codecs.h"

#include "wire/joined_text.h"

namespace nmb {

std::string codec_names() {
  std::vector<std::string> names;
  for (const CodecRow& row : kPieceCodecs) names.emplace_back(row.name);
  return alternatives_text(names);
}

std::string codec_numbers() {
  std::vector<int> numbers;
  for (const CodecRow& row : kPieceCodecs) numbers.push_back(static_cast<int>(row.codec));
  std::ranges::sort(numbers);
  std::vector<std::string> texts;
  for (const int number : numbers) texts.push_back(std::to_string(number));
  return alternatives_text(texts);
}

Decoded decode_bytes(PieceCodec codec, std::span<const std::byte> stored, std::span<std::byte> out,
                     std::size_t* used) {
  const CodecRow& row = codec_row(codec);
  return row.decode ? row.decode(stored, out, used) : Decoded();
}

std::size_t encode_bytes(PieceCodec codec, int level, std::span<const std::byte> bytes,
                         std::span<std::byte> out) {
  const CodecRow& row = codec_row(codec);
  return row.encode ? row.encode(bytes, out, level) : 0;
}

}  // namespace nmb
