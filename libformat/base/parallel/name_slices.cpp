#include "parallel/name_slices.h"

#include <algorithm>
#include <utility>

#include "parallel/outbox.h"

namespace nmb {

namespace {

// The number of samples per slice. The relative error of a slice's size is about 1 / kSamples.
constexpr std::uint64_t kSamples = 16;

struct Sample {
  std::string_view name;
  double weight;  // number of names that the sample stands for
};

struct Samples {
  double weight;
  std::vector<std::string_view> names;
};

template <class Fields>
void fields(Fields& all, Samples& samples) {
  all(samples.weight, samples.names);
}

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
  Outbox<Samples> out;
  if (!names.empty()) {
    Samples own{static_cast<double>(names.size()) / static_cast<double>(wanted), {}};
    for (std::uint64_t i = 0; i < wanted; ++i)
      own.names.push_back(names[(2 * i + 1) * names.size() / (2 * wanted)]);
    out.add(0, own);
  }
  NMB_ASSIGN(const Inbox<Samples> arrived, exchange(ranks, out));
  std::vector<std::string> chosen;
  if (ranks.rank() == 0) {
    std::vector<Sample> samples;
    for (const auto& [from, of_rank] : arrived)
      for (const std::string_view name : of_rank.names) samples.push_back({name, of_rank.weight});
    std::ranges::sort(samples, {}, &Sample::name);
    const double share = static_cast<double>(total) / static_cast<double>(count);
    double before = 0;
    std::uint64_t slice = 1;
    for (const Sample& sample : samples) {
      before += sample.weight;
      if (slice < count && before >= share * static_cast<double>(slice)) {
        chosen.emplace_back(sample.name);
        while (slice < count && before >= share * static_cast<double>(slice)) ++slice;
      }
    }
  }
  NMB_TRY(broadcast_fields(ranks, 0, &chosen));
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  slices.firsts_ = std::move(chosen);
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
