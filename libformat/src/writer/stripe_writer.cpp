// Metadata and index on their way to the ranks that write them (see writer/stripe_writer.h).
#include "writer/stripe_writer.h"

#include <algorithm>

#include "parallel/letters.h"

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
  std::vector<Run> kept;
  auto to = bytes_.begin();
  auto keep = [&](std::uint64_t offset, std::span<const std::byte> part) {
    if (part.empty()) return;
    kept.push_back({offset, part.size()});
    to = std::copy(part.begin(), part.end(), to);
  };
  std::span<const std::byte> rest = bytes_;
  for (const Run& run : runs_) {
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

Status StripeWriter::pass_on(Status status) {
  if (ranks_.size() == 1) return status;
  if (status.ok() && writes_) status = write_whole_stripes();
  NMB_ASSIGN(std::size_t left,
             ranks_.all_reduce(status.ok() ? bytes_.size() : kFailure,
                               [](std::size_t a, std::size_t b) { return std::max(a, b); }));
  if (left == kFailure) return ranks_.agree(status);
  std::span<const std::byte> rest = bytes_;
  auto run = runs_.begin();
  for (; left > 0; left -= std::min(left, round_)) {
    Letters letters;
    for (std::size_t round = std::min(rest.size(), round_); round > 0;) {
      const std::uint64_t length =
          std::min<std::uint64_t>({round, run->length, how_.stripe - run->offset % how_.stripe});
      MessageWriter& letter = letters.to(how_.rank_of(run->offset, ranks_.size()));
      letter.put(run->offset);
      letter.put_bytes(rest.first(length));
      rest = rest.subspan(length);
      round -= length;
      run->offset += length;
      run->length -= length;
      if (run->length == 0) ++run;
    }
    NMB_ASSIGN(const std::vector<Message> arrived, ranks_.exchange(letters.take()));
    NMB_TRY(ranks_.agree(write(arrived)));
  }
  runs_.clear();
  bytes_ = {};
  look_at_ = kPart;
  return {};
}

Status StripeWriter::write(const std::vector<Message>& arrived) {
  struct Part {
    std::uint64_t offset;
    std::span<const std::byte> bytes;
  };
  std::vector<Part> parts;
  for (const Message& message : arrived) {
    for (MessageReader in(message.bytes()); !in.at_end();) {
      const auto offset = in.get<std::uint64_t>();
      parts.push_back({offset, in.get_bytes()});
    }
  }
  std::sort(parts.begin(), parts.end(),
            [](const Part& a, const Part& b) { return a.offset < b.offset; });
  WriteBuffer together(file_, kRoundBytes);
  for (const Part& part : parts) NMB_TRY(together.write_at(part.offset, part.bytes));
  return together.flush();
}

}  // namespace nmb
