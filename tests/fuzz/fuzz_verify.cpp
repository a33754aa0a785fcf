// Whatever the bytes, verify and the reader end; what verify has no findings on the reader reads
// whole. Every input is run as it is and with its sums made right.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "fuzz/fuzz_target.h"
#include "reader/file_reader.h"
#include "support/corpus.h"
#include "support/right_sums.h"
#include "support/vectors.h"
#include "verify/verify.h"

using namespace nmb;

// Values read of each block: extents that are holes may be of any length.
static constexpr std::uint64_t kMostValues = 1 << 16;

static Status read_all(std::shared_ptr<const ByteSource> file) {
  NMB_ASSIGN(const std::unique_ptr<FileReader> reader, FileReader::open(std::move(file)));
  Status first;
  const Status visited = reader->for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    Status status;
    const auto block = reader->block(entry);
    if (block.ok()) {
      std::vector<std::byte> values(std::min((*block)->extent->size(), kMostValues));
      status = (*block)->extent->read_at(0, values);
    } else {
      status = block.status();
    }
    if (first.ok()) first = status;
    return true;
  });
  NMB_ASSIGN(const std::vector<ExternalFile> files, reader->external_files());
  for (std::uint32_t number = 1; number <= files.size(); ++number) {
    if (!files[number - 1].is_original) continue;
    const Status given = reader->give_back(number, [](auto) { return Status(); });
    if (first.ok()) first = given;
  }
  (void)reader->find("a/b");
  (void)reader->totals_of_subtree("a");
  (void)reader->global_id("b");
  return visited.ok() ? first : visited;
}

static void run(std::span<const std::byte> bytes) {
  const auto file = std::make_shared<MemorySource>(bytes, "input");
  // An HDF5 file is read by a process of its own, by its name.
  if (const auto kind = kind_of(*file); kind.ok() && *kind == FileKind::kHdf5) return;
  test::FindingList findings;
  const auto summary = verify(*file, {}, findings);
  const Status read = read_all(file);
  if (!summary.ok() || !summary->incomplete.ok() || summary->kind != "NMB") return;
  if (summary->findings == 0 && !read.ok()) {
    std::fprintf(stderr, "no findings, but: %s\n", read.text().c_str());
    std::abort();
  }
  if (summary->findings == 0 && summary->sound_blocks != summary->recorded_blocks) {
    std::fprintf(stderr, "no findings, but not all blocks are sound\n");
    std::abort();
  }
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  test::run_with_right_sums_too(data, size, run);
  return 0;
}

std::vector<std::vector<std::byte>> nmb::test::fuzz_seeds() {
  std::vector<std::vector<std::byte>> seeds;
  if (test::vectors().empty()) return seeds;
  for (const char* name :
       {"coded_pieces", "dead_space", "external_files", "hole_in_a_data_map", "pieces_side_by_side",
        "future_pattern", "future_part", "sections", "zstd_dictionary"})
    seeds.push_back(test::read_file(test::vectors() / (std::string(name) + ".nmb")));
  return seeds;
}
