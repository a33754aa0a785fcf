#include "superblock/features.h"

#include "wire/joined_text.h"

namespace nmb {

namespace {

// Returns text(bit) of each bit in `mask`, separated by commas.
template <class Text>
std::string list_of(std::uint64_t mask, Text text) {
  std::string out;
  for (unsigned bit = 0; bit < 64; ++bit) {
    if (!(mask >> bit & 1)) continue;
    if (!out.empty()) out += ", ";
    out += text(bit);
  }
  return out;
}

}  // namespace

std::string unsupported_features(std::uint64_t mask) {
  return list_of(mask & ~kKnownIncompatible,
                 [](unsigned bit) { return joined_text("feature bit ", bit); });
}

std::string text_of_refused_needs(std::uint64_t needs) {
  return "needs " +
         list_of(needs & ~kKnownNeeds,
                 [](unsigned bit) {
                   return joined_text("a feature of a later version (need bit ", bit, ")");
                 }) +
         ", which this version does not read";
}

}  // namespace nmb
