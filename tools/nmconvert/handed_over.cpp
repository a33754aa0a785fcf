#include "nmconvert/handed_over.h"

#include <algorithm>
#include <future>
#include <vector>

#include "compare/compare.h"

namespace nmb::tools {

namespace {

constexpr std::uint64_t kComparedPart = 1 << 20;
// If the system refuses to start a thread, the calling thread does the work later.
constexpr std::launch kSideBySide = std::launch::async | std::launch::deferred;

class HandedOverFile final : public OutputFileLayer {
 public:
  HandedOverFile(std::unique_ptr<OutputFile> file, const HandOver& how)
      : OutputFileLayer(std::move(file)), how_(how) {}

  Status publish() override {
    NMB_ASSIGN(how_.record->bytes_out, base_->size());
    if (how_.digest) NMB_TRY(take_digests());
    NMB_ASSIGN(const std::unique_ptr<FileSource> now, FileSource::open(how_.input->name()));
    if (how_.unchanged)
      NMB_TRY(how_.unchanged(*now));
    else if (now->stamp() != how_.input->stamp())
      return Status(Code::kDamaged, how_.input->name(), kNoOffset, "",
                    "the file changed while it was read");
    return how_.compare ? compare() : base_->publish();
  }

 private:
  Status take_digests() {
    const auto of_input = [this] { return sha256(*how_.input, how_.cancel); };
    std::future<Result<Sha256>> input =
        std::async(how_.threads > 1 ? kSideBySide : std::launch::deferred, of_input);
    const Result<Sha256> output = sha256(
        *how_.record->bytes_out,
        [this](std::uint64_t at, std::span<std::byte> out) { return base_->read_at(at, out); },
        how_.cancel);
    NMB_ASSIGN(const Sha256 digest, input.get());
    NMB_TRY(output.status());
    how_.record->sha256_in = digest_text(digest);
    how_.record->sha256_out = digest_text(*output);
    return {};
  }

  Status compare() {
    NMB_ASSIGN(const std::unique_ptr<FileSource> target, FileSource::open(base_->name()));
    const std::uint64_t length = *how_.record->bytes_out;
    bool same = target->size() == length;
    const auto room = static_cast<std::size_t>(std::min(length, kComparedPart));
    std::vector<std::byte> a(room), b(room);
    for (std::uint64_t at = 0; same && at < length; at += kComparedPart) {
      const auto part = static_cast<std::size_t>(std::min(length - at, kComparedPart));
      NMB_TRY(base_->read_at(at, std::span(a).first(part)));
      NMB_TRY(target->read_at(at, std::span(b).first(part)));
      same = std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(part), b.begin());
    }
    if (same) return {};
    return Status(Code::kExists, base_->name(), kNoOffset, "",
                  "the file exists, no report lists it as it is now, and it differs from what the "
                  "conversion makes; use -f to replace it");
  }

  HandOver how_;
};

}  // namespace

std::unique_ptr<OutputFile> hand_over(std::unique_ptr<OutputFile> file, const HandOver& how) {
  return std::make_unique<HandedOverFile>(std::move(file), how);
}

}  // namespace nmb::tools
