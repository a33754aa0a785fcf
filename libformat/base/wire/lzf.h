// Decodes LZF streams, which h5py's filter 32000 makes. A stream consists of runs, each of which
// begins with a control byte. Below 32, the byte is the number of literal bytes that follow,
// less 1. Otherwise, its three high bits are a length (7: the next byte is added to it), and its
// low bits with the byte after that are a distance: 2 more bytes than the length are copied from
// this distance before the end of the output, less 1.
#pragma once

#include <cstddef>
#include <span>

#include "wire/codecs.h"

namespace nmb {

// Decodes all of `stored` into `out`.
Decoded decode_lzf(std::span<const std::byte> stored, std::span<std::byte> out);

}  // namespace nmb
