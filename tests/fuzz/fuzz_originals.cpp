// Whatever the bytes, a file that is given back whole has the length and the digests that the NMB
// file records. If nmverify has no findings, every original can be given back. Each input is
// tried twice: unchanged, and with corrected checksums.
#include <xxhash.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "fuzz/fuzz_target.h"
#include "reader/file_reader.h"
#include "support/corpus.h"
#include "support/right_sums.h"
#include "support/vectors.h"
#include "verify/verify.h"
#include "wire/sha256.h"

using namespace nmb;

// Recorded lengths may be of any size.
static constexpr std::uint64_t kMostBytes = 1 << 20;

static void fail(const char* what, const std::string& text) {
  std::fprintf(stderr, "%s: %s\n", what, text.c_str());
  std::abort();
}

// Keeps the bytes of a file that is given back.
class Received {
 public:
  Status take(std::span<const std::byte> bytes) {
    if (bytes.size() > kMostBytes - bytes_.size()) {
      is_cut_ = true;
      return Status(Code::kLimit, "longer than this test reads");
    }
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return Status();
  }
  bool is_cut() const { return is_cut_; }
  std::uint64_t size() const { return bytes_.size(); }
  bool is(const Digest& digest) const {
    const XXH128_hash_t hash = XXH3_128bits(bytes_.data(), bytes_.size());
    return Digest{hash.low64, hash.high64} == digest;
  }
  bool is(const Sha256& digest) const {
    Sha256Stream stream;
    stream.add(bytes_);
    return stream.digest() == digest;
  }

 private:
  std::vector<std::byte> bytes_;
  bool is_cut_ = false;
};

struct Counts {
  std::uint64_t originals = 0, whole = 0;
  bool any_cut = false;
};

static Status count_originals(const FileReader& reader, Counts& counts) {
  NMB_ASSIGN(const std::vector<ExternalFile> files, reader.external_files());
  for (std::uint32_t number = 1; number <= files.size(); ++number) {
    const ExternalFile& file = files[number - 1];
    Received received;
    const Status given = reader.give_back(number, [&](auto bytes) { return received.take(bytes); });
    if (given.ok() && !file.is_original) fail("given back, but no original", file.path);
    if (!file.is_original) continue;
    ++counts.originals;
    counts.any_cut |= received.is_cut();
    if (!given.ok()) continue;
    ++counts.whole;
    if (received.size() != file.size) fail("other length", file.path);
    if (!received.is(file.digest)) fail("other digest", file.path);
    if (file.sha256 && !received.is(*file.sha256)) fail("other SHA-256", file.path);
  }
  return Status();
}

static Status check_blocks(const FileReader& reader) {
  return reader.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    Received received;
    const Status given = reader.give_back(entry, [&](auto bytes) { return received.take(bytes); });
    if (!given.ok()) return true;
    const FileDigests& digests = entry.file_digests;
    if (!digests.has_xxh3()) fail("given back without a digest", entry.name);
    if (!received.is(digests.xxh3)) fail("other digest", entry.name);
    if (digests.has_sha256() && !received.is(digests.sha256)) fail("other SHA-256", entry.name);
    return true;
  });
}

static void run(std::span<const std::byte> bytes) {
  const auto file = std::make_shared<MemorySource>(bytes, "input");
  if (const auto kind = kind_of(*file); !kind.ok() || *kind != FileKind::kNmb) return;
  const auto reader = FileReader::open(file, {});
  if (!reader.ok()) return;
  Counts counts;
  const Status counted = count_originals(**reader, counts);
  (void)check_blocks(**reader);
  if (!counted.ok() || counts.any_cut || counts.originals == 0) return;

  test::FindingList findings;
  VerifierOptions options;
  options.level = VerifyLevel::kIndex;
  options.originals = true;
  const auto summary = verify(*file, options, findings);
  if (!summary.ok() || !summary->incomplete.ok()) return;
  if (summary->whole_originals > summary->originals) fail("more whole than there are", "");
  if (summary->findings == 0 && counts.whole != counts.originals)
    fail("no findings, but not every original is given back", "");
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  test::run_with_right_sums_too(data, size, run);
  return 0;
}

std::vector<std::vector<std::byte>> nmb::test::fuzz_seeds() {
  std::vector<std::vector<std::byte>> seeds;
  if (test::vectors().empty()) return seeds;
  for (const char* name : {"file_digests", "originals"})
    seeds.push_back(test::read_file(test::vectors() / (std::string(name) + ".nmb")));
  return seeds;
}
