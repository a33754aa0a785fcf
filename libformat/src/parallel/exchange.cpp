// Communicator::exchange(): messages from any ranks to any ranks. Short parcels travel by the bits
// of their distance: in step k each rank passes on to the rank 2^k behind it all those whose
// distance has that bit. So a rank sends ceil(log2(size)) messages, however many others it answers.
// Long parcels go straight; how many of them to expect travels like a short one (Bruck et al.,
// "Efficient Algorithms for All-to-All Communications in Multiport Message-Passing Systems").
#include <algorithm>
#include <bit>

#include "nmb/communicator.h"
#include "parallel/message_codec.h"

namespace nmb {

namespace {

// Bytes for one rank that are short. Half of what all ranks send to one passes through another.
constexpr std::size_t kShort = 256;
// Of a rank that has long ones for many others these are passed on, up to so many bytes in all.
constexpr std::size_t kShortOfMany = 16 << 10, kMostPassedOn = 8 << 20;

// Parcels that come straight to the rank that is still so far away.
struct Count {
  std::uint32_t distance;
  std::uint32_t parcels;
};

// Ahead of a short parcel's bytes.
struct Label {
  std::uint32_t distance;
  std::int32_t from;
  std::uint32_t length;
};

// Those for one rank are added where they meet.
void add_up(std::vector<Count>& counts) {
  std::sort(counts.begin(), counts.end(),
            [](const Count& a, const Count& b) { return a.distance < b.distance; });
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
  MessageWriter parcels;  // each a Label and bytes

  void add(Label label, std::span<const std::byte> bytes) {
    parcels.put(label);
    parcels.put_raw(bytes);
  }
  std::size_t size() const { return counts.size() * sizeof(Count) + parcels.size(); }
};

// straight: how many long parcels are on the way to this rank.
Status Communicator::pass_on(OnTheWay own, std::vector<Message>* arrived, std::uint32_t* straight) {
  const Tag tag = next_tag();
  OnTheWay here = std::move(own);
  add_up(here.counts);
  hold(here.size());
  for (int step = 1; step < size_; step *= 2) {
    const auto bit = static_cast<std::uint32_t>(step);
    const std::size_t held = here.size();
    OnTheWay leaving, staying;
    for (const Count& count : here.counts) {
      if (count.distance & bit)
        leaving.counts.push_back({count.distance - bit, count.parcels});
      else
        staying.counts.push_back(count);
    }
    const std::vector<std::byte> parcels = here.parcels.take();
    for (MessageReader in(parcels); !in.at_end();) {
      auto label = in.get<Label>();
      const std::span<const std::byte> bytes = in.get_raw(label.length);
      const bool leaves = (label.distance & bit) != 0;
      if (leaves) label.distance -= bit;
      (leaves ? leaving : staying).add(label, bytes);
    }
    MessageWriter out;
    out.put_bytes(std::as_bytes(std::span(leaving.counts)));
    out.put_raw(leaving.parcels.take());
    NMB_TRY(send((rank_ + step) % size_, tag, out.take()));
    NMB_ASSIGN(const Message message, receive((rank_ - step + size_) % size_, tag));
    MessageReader in(message.bytes());
    for (MessageReader each(in.get_bytes()); !each.at_end();)
      staying.counts.push_back(each.get<Count>());
    while (!in.at_end()) {
      const auto label = in.get<Label>();
      const std::span<const std::byte> bytes = in.get_raw(label.length);
      if (label.distance == 0)
        arrived->emplace_back(label.from, std::vector(bytes.begin(), bytes.end()), 0);
      else
        staying.add(label, bytes);
    }
    add_up(staying.counts);
    here = std::move(staying);
    hold(here.size());
    held_ -= held;
  }
  held_ -= here.size();
  *straight = here.counts.empty() ? 0 : here.counts[0].parcels;
  return {};
}

Result<std::vector<Message>> Communicator::exchange(std::vector<Parcel> parcels) {
  const Tag tag = next_tag();
  std::vector<Message> arrived;
  std::stable_sort(parcels.begin(), parcels.end(),
                   [](const Parcel& a, const Parcel& b) { return a.to < b.to; });
  struct Post {
    std::span<Parcel> parcels;  // to one rank
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
    for (Parcel& parcel : post.parcels) arrived.emplace_back(rank_, std::move(parcel.bytes), 0);
  }
  if (size_ == 1) return arrived;

  const auto few = 2 * static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(size_ - 1)));
  const bool many = static_cast<std::size_t>(std::ranges::count_if(
                        posts, [](const Post& post) { return post.bytes > kShort; })) > few;
  OnTheWay own;
  for (const Post& post : posts) {
    const auto distance = static_cast<std::uint32_t>((post.parcels[0].to - rank_ + size_) % size_);
    const bool is_short = post.bytes <= kShort || (many && post.bytes <= kShortOfMany &&
                                                   own.size() + post.bytes <= kMostPassedOn);
    for (Parcel& parcel : post.parcels) {
      if (is_short)
        own.add({distance, rank_, static_cast<std::uint32_t>(parcel.bytes.size())}, parcel.bytes);
      else
        NMB_TRY(send(parcel.to, tag, parcel.bytes));
      parcel.bytes = {};
    }
    if (!is_short)
      own.counts.push_back({distance, static_cast<std::uint32_t>(post.parcels.size())});
  }
  std::uint32_t straight = 0;
  NMB_TRY(pass_on(std::move(own), &arrived, &straight));
  NMB_TRY(receive_all(tag, straight, &arrived));
  std::stable_sort(arrived.begin(), arrived.end(),
                   [](const Message& a, const Message& b) { return a.from() < b.from(); });
  return arrived;
}

}  // namespace nmb
