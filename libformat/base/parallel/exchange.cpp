// Implements Communicator::exchange(), which sends messages from any ranks to any ranks. Long
// parcels are sent directly. Short parcels pass through other ranks (Bruck et al., "Efficient
// Algorithms for All-to-All Communications in Multiport Message-Passing Systems"). The distance of
// a parcel is the number of ranks still to go. In step k, rank r sends to rank (r + 2^k) mod size
// all parcels whose distance has bit k set. So a rank sends ceil(log2(size)) messages for any
// number of destinations.
//
// Parcels with the same bytes are combined when they meet on a rank, even if their senders and
// destinations differ. So a parcel that one rank sends to many ranks, or many ranks send to one
// rank, passes each rank only once. The number of long parcels that a rank must expect is routed
// like a short parcel.
#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <unordered_map>

#include "parallel/communicator.h"
#include "parallel/outbox.h"
#include "wire/hash.h"

namespace nmb {

namespace {

// The parcels for one rank are short if they have at most kShort bytes together. A short parcel is
// sent up to ceil(log2(size)) times.
constexpr std::size_t kShort = 256;
// If a rank has more than kShort bytes for each of many ranks, the limit for one rank is
// kShortOfMany instead, as long as all short parcels of the sender together have at most
// kMostPassedOn bytes.
constexpr std::size_t kShortOfMany = 16 << 10, kMostPassedOn = 8 << 20;

// The number of parcels that are sent directly to the rank at this distance.
struct Count {
  std::uint32_t distance;
  std::uint32_t parcels;
};

// The remaining distance of short parcels, and their sender.
struct Route {
  std::uint32_t distance;
  std::int32_t from;
};

// All short parcels from one rank to another rank, each stored as its length and its bytes. Routes
// whose parcels have the same bytes share one bundle.
struct Bundle {
  std::vector<Route> routes;
  std::vector<std::byte> bytes;
};

// A bundle in a message.
struct PassedOn {
  std::vector<Route> routes;
  std::span<const std::byte> bytes;
};

template <class Fields>
void fields(Fields& all, PassedOn& passed) {
  all(passed.routes, passed.bytes);
}

// Adds up the counts for each rank.
void add_up(std::vector<Count>& counts) {
  std::ranges::sort(counts, {}, &Count::distance);
  std::size_t kept = 0;
  for (const Count& count : counts) {
    if (kept > 0 && counts[kept - 1].distance == count.distance)
      counts[kept - 1].parcels += count.parcels;
    else
      counts[kept++] = count;
  }
  counts.resize(kept);
}

}  // namespace

struct Communicator::OnTheWay {
  std::vector<Count> counts;
  std::unordered_multimap<std::uint64_t, Bundle> bundles;  // bundles, by the hash of their bytes
  std::size_t in_bundles = 0;                              // bytes in all bundles

  std::size_t size() const { return counts.size() * sizeof(Count) + in_bundles; }

  void add(std::span<const Route> routes, std::span<const std::byte> bytes) {
    if (routes.empty()) return;
    in_bundles += routes.size_bytes();
    const std::uint64_t sum = sum_of(bytes);
    const auto [first, last] = bundles.equal_range(sum);
    for (auto at = first; at != last; ++at) {
      if (!std::ranges::equal(at->second.bytes, bytes)) continue;
      at->second.routes.insert(at->second.routes.end(), routes.begin(), routes.end());
      return;
    }
    in_bundles += bytes.size();
    bundles.emplace(sum, Bundle{{routes.begin(), routes.end()}, {bytes.begin(), bytes.end()}});
  }

  // Removes the parcels that must go to the rank `step` after this rank, and returns them as a
  // message.
  std::vector<std::byte> leave(std::uint32_t step) {
    std::vector<Count> leaving, staying;
    for (const Count& count : counts) {
      if (count.distance & step)
        leaving.push_back({count.distance - step, count.parcels});
      else
        staying.push_back(count);
    }
    counts = std::move(staying);
    FieldsOut out;
    out(leaving);
    for (auto at = bundles.begin(); at != bundles.end();) {
      Bundle& bundle = at->second;
      std::vector<Route>& routes = bundle.routes;
      const auto first =
          std::stable_partition(routes.begin(), routes.end(),
                                [&](const Route& route) { return (route.distance & step) == 0; });
      if (first == routes.end()) {
        ++at;
        continue;
      }
      PassedOn passed{{first, routes.end()}, bundle.bytes};
      for (Route& route : passed.routes) route.distance -= step;
      out(passed);
      in_bundles -= passed.routes.size() * sizeof(Route);
      routes.erase(first, routes.end());
      if (!routes.empty()) {
        ++at;
        continue;
      }
      in_bundles -= bundle.bytes.size();
      at = bundles.erase(at);
    }
    return out.take();
  }
};

// Passes short parcels on until all of them have arrived. Sets *straight to the number of long
// parcels that are sent directly to this rank.
Status Communicator::pass_on(Tag tag, OnTheWay own, std::vector<Message>* arrived,
                             std::uint32_t* straight) {
  OnTheWay here = std::move(own);
  add_up(here.counts);
  hold(here.size());
  for (int step = 1; step < size_; step *= 2) {
    const std::size_t held = here.size();
    NMB_TRY(send((rank_ + step) % size_, tag, here.leave(static_cast<std::uint32_t>(step))));
    NMB_ASSIGN(const Message message, receive((rank_ - step + size_) % size_, tag));
    FieldsIn in(message.bytes());
    std::ranges::copy(in.next<std::vector<Count>>(), std::back_inserter(here.counts));
    add_up(here.counts);
    std::vector<Route> further;
    while (!in.at_end()) {
      const auto [routes, bytes] = in.next<PassedOn>();
      further.clear();
      std::vector<int> senders;
      for (const Route& route : routes) {
        if (route.distance == 0)
          senders.push_back(route.from);
        else
          further.push_back(route);
      }
      here.add(further, bytes);
      if (senders.empty()) continue;
      const auto shared =
          std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
      delivered_ += bytes.size();
      for (const int from : senders) {
        delivered_ += sizeof(Route);
        for (FieldsIn each(*shared); !each.at_end();)
          arrived->emplace_back(from, shared, each.next<std::span<const std::byte>>());
      }
    }
    NMB_TRY(agree_on_fields(*this, in.status()));
    hold(here.size());
    held_ -= held;
  }
  held_ -= here.size();
  *straight = here.counts.empty() ? 0 : here.counts[0].parcels;
  return {};
}

Result<std::vector<Message>> Communicator::exchange(std::vector<Parcel> parcels) {
  // Tags of the messages of pass_on(), and of the long parcels, which are received later.
  const Tag passed = next_tag(Operation::kExchange), tag = next_tag(Operation::kExchange);
  std::vector<Message> arrived;
  const auto memory = transport_ ? transport_->memory() : nullptr;
  std::ranges::stable_sort(parcels, {}, &Parcel::to);
  struct Post {
    std::span<Parcel> parcels;  // parcels for one rank
    std::size_t bytes = 0;
  };
  std::vector<Post> posts;
  for (std::size_t i = 0, j; i < parcels.size(); i = j) {
    Post post;
    for (j = i; j < parcels.size() && parcels[j].to == parcels[i].to; ++j)
      post.bytes += parcels[j].bytes.size();
    post.parcels = std::span(parcels).subspan(i, j - i);
    if (parcels[i].to != rank_) {
      posts.push_back(post);
      continue;
    }
    for (Parcel& parcel : post.parcels)
      arrived.emplace_back(rank_, std::move(parcel.bytes), memory);
  }
  if (size_ == 1) return arrived;

  delivered_ = 0;
  const auto few = 2 * static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(size_ - 1)));
  const bool many = static_cast<std::size_t>(std::ranges::count_if(
                        posts, [](const Post& post) { return post.bytes > kShort; })) > few;
  OnTheWay own;
  for (const Post& post : posts) {
    const auto distance = static_cast<std::uint32_t>((post.parcels[0].to - rank_ + size_) % size_);
    const bool is_short = post.bytes <= kShort || (many && post.bytes <= kShortOfMany &&
                                                   own.size() + post.bytes <= kMostPassedOn);
    FieldsOut bundle;
    for (Parcel& parcel : post.parcels) {
      if (is_short) {
        bundle(std::span<const std::byte>(parcel.bytes));
      } else {
        NMB_TRY(send(parcel.to, tag, std::move(parcel.bytes)));
      }
      parcel.bytes = {};
    }
    if (is_short) own.add(std::array{Route{distance, rank_}}, bundle.take());
    if (!is_short)
      own.counts.push_back({distance, static_cast<std::uint32_t>(post.parcels.size())});
  }
  std::uint32_t straight = 0;
  NMB_TRY(pass_on(passed, std::move(own), &arrived, &straight));
  const std::size_t passed_on = arrived.size();
  NMB_TRY(receive_all(tag, straight, &arrived));
  // The caller now holds the bytes of all messages at once.
  for (std::size_t i = passed_on; i < arrived.size(); ++i) delivered_ += arrived[i].bytes().size();
  hold(delivered_);
  held_ -= delivered_;
  std::ranges::stable_sort(arrived, {}, &Message::from);
  complete();
  return arrived;
}

}  // namespace nmb
