#include "ranks/stripe_writer.h"

#include <algorithm>

namespace nmb {

Status StripeWriter::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (bytes.empty()) return {};
  if (ranks_.size() == 1) return buffer_.write_at(offset, bytes);
  if (runs_.empty() || runs_.back().offset + runs_.back().length != offset)
    runs_.push_back({offset, 0});
  runs_.back().length += bytes.size();
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  return writes_ && bytes_.size() >= look_at_ ? write_whole_stripes() : Status();
}

Status StripeWriter::write_whole_stripes() {
  std::vector<WaitingRange> kept;
  auto to = bytes_.begin();
  auto keep = [&](std::uint64_t offset, std::span<const std::byte> part) {
    if (part.empty()) return;
    kept.push_back({offset, part.size()});
    to = std::ranges::copy(part, to).out;
  };
  std::span<const std::byte> rest = bytes_;
  for (const WaitingRange& run : runs_) {
    const std::span<const std::byte> bytes = rest.first(run.length);
    rest = rest.subspan(run.length);
    const std::uint64_t ahead =
        std::min(run.length, (how_.stripe - run.offset % how_.stripe) % how_.stripe);
    const std::uint64_t whole = (run.length - ahead) / how_.stripe * how_.stripe;
    keep(run.offset, bytes.first(ahead));
    if (whole > 0) NMB_TRY(file_.write_at(run.offset + ahead, bytes.subspan(ahead, whole)));
    keep(run.offset + ahead + whole, bytes.subspan(ahead + whole));
  }
  runs_ = std::move(kept);
  bytes_.erase(to, bytes_.end());
  look_at_ = bytes_.size() + kPart;
  return {};
}

Status StripeWriter::write_all(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (ranks_.size() == 1) return write_at(offset, bytes);
  const std::size_t parts = (bytes.size() + kPart - 1) / kPart;
  return in_rounds(parts, [&](std::size_t i) {
    const std::size_t from = i * kPart;
    return write_at(offset + from, bytes.subspan(from, std::min(kPart, bytes.size() - from)));
  });
}

std::vector<StripeWriter::FileWrite> StripeWriter::in_file_order() const {
  std::vector<FileWrite> parts;
  parts.reserve(runs_.size());
  std::span<const std::byte> rest = bytes_;
  for (const WaitingRange& run : runs_) {
    parts.push_back({run.offset, rest.first(run.length)});
    rest = rest.subspan(run.length);
  }
  std::ranges::sort(parts, {}, &FileWrite::offset);
  return parts;
}

Status StripeWriter::pass_on(Status status) {
  if (ranks_.size() == 1) return status;
  if (status.ok() && writes_) status = write_whole_stripes();
  struct Round {
    std::uint64_t from;
    bool failed;
  };
  constexpr std::uint64_t kNone = ~std::uint64_t{0};
  // Each round covers one range of the file, so that a rank that writes receives at most
  // kRoundBytes in a round, however many ranks send.
  const std::uint64_t stripes = std::max<std::uint64_t>(1, kRoundBytes / how_.stripe);
  const std::uint64_t range = stripes * how_.stripe * static_cast<std::uint64_t>(how_.writers);
  std::vector<FileWrite> parts = in_file_order();
  for (auto part = parts.begin();;) {
    const Round mine{part == parts.end() ? kNone : part->offset, !status.ok()};
    NMB_ASSIGN(const Round round, ranks_.all_reduce(mine, [](const Round& a, const Round& b) {
      return Round{std::min(a.from, b.from), a.failed || b.failed};
    }));
    if (round.failed) return ranks_.agree(status);
    if (round.from == kNone) break;
    const std::uint64_t to = round.from / how_.stripe * how_.stripe + range;
    Outbox<FileWrite> writes;
    while (part != parts.end() && part->offset < to) {
      const std::uint64_t length =
          std::min<std::uint64_t>(part->bytes.size(), how_.stripe - part->offset % how_.stripe);
      writes.add(how_.rank_of(part->offset, ranks_.size()),
                 {part->offset, part->bytes.first(length)});
      part->offset += length;
      part->bytes = part->bytes.subspan(length);
      if (part->bytes.empty()) ++part;
    }
    NMB_ASSIGN(const Inbox<FileWrite> arrived, exchange(ranks_, writes));
    status = write(arrived);
  }
  runs_.clear();
  bytes_ = {};
  look_at_ = kPart;
  return {};
}

Status StripeWriter::write_alone() {
  for (const FileWrite& part : in_file_order()) NMB_TRY(buffer_.write_at(part.offset, part.bytes));
  runs_.clear();
  bytes_ = {};
  return {};
}

Status StripeWriter::write(const Inbox<FileWrite>& arrived) {
  std::vector<FileWrite> parts;
  for (const auto& [rank, part] : arrived) parts.push_back(part);
  std::ranges::sort(parts, {}, &FileWrite::offset);
  WriteBuffer together(file_, kRoundBytes);
  for (const FileWrite& part : parts) NMB_TRY(together.write_at(part.offset, part.bytes));
  return together.flush();
}

}  // namespace nmb
