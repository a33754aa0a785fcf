// A decoded header must encode to a header that decodes to the same.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "fuzz/fuzz_target.h"
#include "support/header_bytes.h"

using namespace nmb;

static void require(const std::string& problem) {
  if (problem.empty()) return;
  std::fprintf(stderr, "%s\n", problem.c_str());
  std::abort();
}

static void check(std::span<const std::byte> bytes, const DecodeOptions& options) {
  const auto header = decode_classic_header(MemorySource(bytes), options);
  if (!header.ok()) return;
  require(test::reencoding_problem(*header, bytes));
  const ClassicLayout& layout = header->layout;
  if (layout.header_length > layout.fixed_end || layout.fixed_end > layout.record_begin ||
      layout.record_begin > layout.end(layout.records))
    require("parts out of order");
  if (options.values_follow && layout.records > 0 && layout.record_size > 0 &&
      layout.end(layout.records) > bytes.size() + 3)
    require("records that are not there");
  Metadata canonical = header->metadata;
  const auto placed = layout_classic(canonical, layout.kind);
  if (placed.ok() && placed->header_length != layout.header_length) require("length of the header");
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  check(bytes, {.values_follow = true});
  check(bytes, {.values_follow = false});
  return 0;
}

std::vector<std::vector<std::byte>> nmb::test::fuzz_seeds() {
  std::vector<std::vector<std::byte>> seeds;
  for (const Kind kind : kClassicKinds) {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      std::mt19937_64 random(seed);
      Metadata metadata = random_metadata(kind, random);
      const auto layout = layout_classic(metadata, kind);
      const std::uint64_t records = seed % 3;
      auto bytes = encode(metadata, kind, seed % 5 == 4 ? kStreamingRecords : records);
      if (!layout.ok() || !bytes.ok()) std::abort();
      if (seed % 2 == 0) bytes->resize(layout->end(records));
      seeds.push_back(*std::move(bytes));
    }
  }
  return seeds;
}
