// Chooses slices of the name space (see parallel/name_slices.h).
#include "parallel/name_slices.h"

#include <algorithm>
#include <utility>

#include "parallel/message_codec.h"

namespace nmb {

namespace {

// The number of samples per slice. The relative error of a slice's size is about 1 / kSamples.
constexpr std::uint64_t kSamples = 16;

struct Sample {
  std::string_view name;
  double weight;  // number of names that the sample represents
};

}  // namespace

Result<NameSlices> NameSlices::choose(Communicator& ranks, std::span<const std::string_view> names,
                                      std::uint64_t least, std::vector<int> owners) {
  NameSlices slices;
  slices.ranks_ = ranks.size();
  const std::size_t most = owners.empty() ? static_cast<std::size_t>(ranks.size()) : owners.size();
  slices.owners_ = std::move(owners);
  if (ranks.size() == 1) return slices;
  NMB_ASSIGN(const std::uint64_t total,
             ranks.all_reduce(std::uint64_t{names.size()}, std::plus<>()));
  const std::uint64_t count = std::clamp<std::uint64_t>(total / least, 1, most);
  if (count == 1) return slices;
  const std::uint64_t wanted = (names.size() * count * kSamples + total - 1) / total;
  std::vector<Communicator::Parcel> parcels;
  if (!names.empty()) {
    MessageWriter out;
    out.put(static_cast<double>(names.size()) / static_cast<double>(wanted));
    for (std::uint64_t i = 0; i < wanted; ++i)
      out.put_text(names[(2 * i + 1) * names.size() / (2 * wanted)]);
    parcels.push_back({0, out.take()});
  }
  NMB_ASSIGN(const std::vector<Message> arrived, ranks.exchange(std::move(parcels)));
  MessageWriter chosen;
  if (ranks.rank() == 0) {
    std::vector<Sample> samples;
    for (const Message& message : arrived) {
      MessageReader in(message.bytes());
      const auto weight = in.get<double>();
      while (!in.at_end()) samples.push_back({in.get_text(), weight});
    }
    std::ranges::sort(samples, {}, &Sample::name);
    const double share = static_cast<double>(total) / static_cast<double>(count);
    double before = 0;
    std::uint64_t slice = 1;
    for (const Sample& sample : samples) {
      before += sample.weight;
      if (slice < count && before >= share * static_cast<double>(slice)) {
        chosen.put_text(sample.name);
        while (slice < count && before >= share * static_cast<double>(slice)) ++slice;
      }
    }
  }
  std::vector<std::byte> bytes = chosen.take();
  NMB_TRY(ranks.broadcast(0, &bytes));
  for (MessageReader in(bytes); !in.at_end();) {
    const std::string_view first = in.get_text();
    if (slices.firsts_.empty() || slices.firsts_.back() < first) slices.firsts_.emplace_back(first);
  }
  return slices;
}

std::vector<std::size_t> NameSlices::cut(std::span<const std::string_view> names) const {
  std::vector<std::size_t> begins{0};
  for (const std::string& first : firsts_) {
    auto it = std::lower_bound(names.begin() + static_cast<std::ptrdiff_t>(begins.back()),
                               names.end(), first);
    begins.push_back(static_cast<std::size_t>(it - names.begin()));
  }
  begins.push_back(names.size());
  return begins;
}

}  // namespace nmb
