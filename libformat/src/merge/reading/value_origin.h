// ValueOrigin: where values for a merge are stored, for a rank that did not plan their input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "nmb/reader.h"
#include "parallel/message_codec.h"
#include "values/array_source.h"
#include "wire/pooled_file.h"

namespace nmb {

// For a classic file: the bytes from `begin` on. For an NMB file: the extent of a block whose entry
// has the sum `begin` (sum_of_entry()): the other rank may see a later generation.
struct ValueOrigin {
  std::uint32_t input = 0;  // in the list of inputs
  std::uint64_t begin = 0;
  std::optional<std::string_view> block{};

  // Returns a text for another rank of the program.
  std::string text() const {
    MessageWriter out;
    out.put(input);
    out.put(block.has_value());
    out.put(begin);
    if (block) out.put_raw(std::as_bytes(std::span(*block)));
    const std::vector<std::byte> bytes = out.take();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  // The block's name is a part of `text`.
  static ValueOrigin of(std::string_view text) {
    MessageReader in(std::as_bytes(std::span(text)));
    ValueOrigin origin;
    origin.input = in.get<std::uint32_t>();
    const bool is_block = in.get<bool>();
    origin.begin = in.get<std::uint64_t>();
    if (is_block)
      origin.block = text.substr(sizeof(std::uint32_t) + sizeof(bool) + sizeof(std::uint64_t));
    return origin;
  }
};

// Returns a sum over the places of a block's body and values.
std::uint64_t sum_of_entry(const BlockEntry& entry);

// Opens the values of an input of another rank. path: of the input. options: for the reader of an
// NMB file.
Result<Source> open_origin(const ValueOrigin& origin, const std::string& path,
                           std::shared_ptr<FilePool> pool, const ReadOptions& options);

}  // namespace nmb
