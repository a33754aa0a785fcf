// Verifies the HDF5 view: encodes the view again and compares the result with the file
// (spec/hdf5_view.md, section 12).
#include <algorithm>

#include "superblock/view_header.h"
#include "verify/nmb_verifier.h"
#include "verify/status_finding.h"
#include "view/view_encoder.h"
#include "wire/endian.h"
#include "wire/joined_text.h"
#include "wire/zero.h"

namespace nmb {

namespace {

constexpr const char* kObject = "HDF5 view";
// The minimum number of bytes that a view stores for one chunk (a key and an address). The new
// encoding, with which the view is compared, stops when it has more chunks than a view of this
// length can hold.
constexpr std::uint64_t kBytesOfChunk = 24;

// Compares the written bytes with the bytes of the file. Stops at the first difference.
class ComparingSink final : public ViewSink {
 public:
  ComparingSink(const ByteSource& file, const Place& view) : file_(file), view_(view) {}
  Status write_at(std::uint64_t position, std::span<const std::byte> bytes) override {
    const std::uint64_t end = view_.position + view_.length;
    const std::uint64_t there = end - std::min(position, end);
    buffer_.resize(std::min<std::uint64_t>(bytes.size(), there));
    NMB_TRY(file_.read_at(position, buffer_));
    const auto differ = std::ranges::mismatch(bytes, buffer_);
    if (differ.in1 == bytes.end()) return {};
    differs_at_ = std::min(end, position + static_cast<std::uint64_t>(differ.in1 - bytes.begin()));
    return Status(Code::kConflict, "another byte");
  }
  std::uint64_t differs_at() const { return differs_at_; }  // 0: no difference

 private:
  const ByteSource& file_;
  const Place view_;
  std::uint64_t differs_at_ = 0;
  std::vector<std::byte> buffer_;
};

}  // namespace

void NmbVerifier::check_hdf5_superblock() {
  const auto& copy = superblock().hdf5;
  const Place& view = superblock().view;
  if (all_zero(copy) != view.absent())
    report("R-HV-1", field(in_superblock::kHdf5), "HDF5 superblock",
           all_zero(copy) ? "no HDF5 superblock in a file with a view"
                          : "an HDF5 superblock in a file without a view",
           "an HDF5 superblock if and only if the file has a view");
}

// Checks the view. Compares the view's bytes with a newly encoded view only if the file has no
// findings, because a view of damaged blocks cannot be encoded.
void NmbVerifier::check_view() {
  const Place& view = superblock().view;
  if (!view_sound_ || is_old(view)) return;
  std::vector<std::byte> header(std::min<std::uint64_t>(view.length, ViewHeader::kSize));
  if (Status status = file_.read_at(view.position, header); !status.ok()) return missed(status);
  if (!check_view_header(header)) return;
  const ViewHeader decoded = ViewHeader::decode(header);
  const Result<ViewNumbers> numbers = decoded.read_numbers(file_, view);
  if (!numbers.ok()) {
    if (numbers.status().code() != Code::kDamaged) return missed(numbers.status());
    Finding finding = finding_of(numbers.status());
    finding.object = kObject;
    findings_.report(std::move(finding));
  }
  const std::optional<Superblock> shown = shown_generation(decoded.generation);
  if (!numbers.ok() || !shown || !at_least(VerifyLevel::kBlocks)) return;
  if (summary_.findings == 0 && summary_.incomplete.ok()) compare_view(*shown, decoded, *numbers);
}

// Follows the trailers, which were checked before, to the generation that the view shows, and
// returns its superblock. Returns nullopt if a finding about the view's generation or a trailer was
// reported.
std::optional<Superblock> NmbVerifier::shown_generation(std::uint64_t generation) {
  const Place& view = superblock().view;
  const auto wrong = [&](std::string found, std::string expected) {
    report("R-HV-5", view.position + 40, kObject, std::move(found), std::move(expected));
  };
  Superblock shown = superblock();
  if (generation == 0 || generation > shown.generation) {
    wrong(joined_text("generation ", generation),
          joined_text("a generation from 1 to ", shown.generation));
    return std::nullopt;
  }
  while (shown.generation > generation) {
    std::array<std::byte, kSlotUnit> bytes{};
    if (shown.previous_trailer.length != kSlotUnit) return std::nullopt;
    if (Status status = file_.read_at(shown.previous_trailer.position, bytes); !status.ok()) {
      missed(status);
      return std::nullopt;
    }
    if (!Superblock::valid(bytes)) return std::nullopt;
    const std::uint64_t above = shown.generation;
    FirstFinding unused;
    Superblock::decode(bytes, shown.previous_trailer.position, &shown, unused);
    if (shown.generation != above - 1) return std::nullopt;
  }
  if (shown.view.position == view.position && shown.view.length == view.length &&
      shown.view.sum == view.sum)
    return shown;
  wrong(joined_text("generation ", generation, ", whose superblock does not refer to this view"),
        "a generation whose superblock refers to this view");
  return std::nullopt;
}

// Returns false if the version of the view is unknown.
bool NmbVerifier::check_view_header(std::span<const std::byte> header) {
  const std::uint64_t at = superblock().view.position;
  const std::uint16_t version = ViewHeader::version_of(header);
  if (version != kViewVersion) {
    Finding finding{"R-HV-2", at, kObject, "no view header", "a view header of version 1"};
    if (version != 0) {
      finding.found = joined_text("version ", version, "; only the sum of the view is checked");
      finding.severity = Severity::kWarning;
    }
    findings_.report(std::move(finding));
    return false;
  }
  const auto expect = [&](std::uint64_t offset, std::uint64_t found, std::uint64_t expected,
                          const char* what) {
    if (found != expected)
      report("R-HV-2", at + offset, kObject, joined_text(what, " ", found),
             std::to_string(expected));
  };
  expect(10, load_le<std::uint16_t>(&header[10]), ViewHeader::kSize, "header length");
  constexpr std::uint32_t kKnown = ViewHeader::kNoDimensions | ViewHeader::kCopies;
  const auto flags = load_le<std::uint32_t>(&header[12]);
  expect(12, flags, flags & kKnown, "flags");
  if (load_le<std::uint64_t>(&header[16]) != superblock().file_id.low ||
      load_le<std::uint64_t>(&header[24]) != superblock().file_id.high)
    report("R-HV-2", at + 16, kObject, "another file id", "the id of this file");
  expect(32, load_le<std::uint64_t>(&header[32]), at, "own position");
  return true;
}

void NmbVerifier::compare_view(const Superblock& shown, const ViewHeader& header,
                               const ViewNumbers& numbers) {
  const Place& view = superblock().view;
  ComparingSink sink(file_, view);
  ViewEncoding how;
  how.position = view.position;
  how.options = {header.dimensions, header.copies};
  how.numbers = &numbers;
  how.most_chunks = view.length / kBytesOfChunk;
  Head head = head_;
  head.superblock = shown;
  const Result<EncodedView> encoded = encode_view(ReaderCore(file_, std::move(head)), how, sink);
  if (sink.differs_at() != 0)
    return report("R-HV-3", sink.differs_at(), kObject,
                  "a byte that differs from the view of the blocks",
                  "the view computed from the blocks");
  if (!encoded.ok()) {
    if (encoded.status().code() != Code::kUnsupported) return missed(encoded.status());
    return report("R-HV-3", view.position, kObject, "a view of blocks that no view can show",
                  encoded.status().message());
  }
  if (encoded->length != view.length)
    return report("R-HV-3", view.position + std::min(encoded->length, view.length), kObject,
                  joined_text(view.length, " bytes"),
                  joined_text(encoded->length, ", the length computed from the blocks"));
  const auto expected = encoded->superblock(shown.file_length);
  const auto differ = std::ranges::mismatch(superblock().hdf5, expected);
  if (differ.in1 != superblock().hdf5.end())
    report("R-HV-4",
           field(in_superblock::kHdf5) +
               static_cast<std::uint64_t>(differ.in1 - superblock().hdf5.begin()),
           "HDF5 superblock", "a byte that differs", "the HDF5 superblock that refers to the view");
}

}  // namespace nmb
