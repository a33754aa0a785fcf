#include "ranks/aggregation.h"

#include <sys/vfs.h>
#include <sys/xattr.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <map>

#include "wire/endian.h"
#include "wire/system_error.h"

namespace nmb {

namespace {

// On NFS, a machine sees the writes of another machine only after the file was closed and opened
// again.
constexpr std::uint64_t kNfs = 0x6969;

constexpr std::uint64_t kStripe = 1 << 20;
constexpr std::uint64_t kStripeOfOneNode = 64 << 10;
constexpr std::uint64_t kLargestBlock = 1 << 26;

Result<FileSystem> file_system_of(const std::string& path) {
  struct statfs info;
  if (::statfs(path.c_str(), &info) != 0) return system_error(errno, path, "query the file system");
  FileSystem found{static_cast<std::uint64_t>(info.f_type),
                   static_cast<std::uint64_t>(info.f_bsize)};
  std::array<std::byte, 4096> layout;
  const ssize_t length = ::getxattr(path.c_str(), "lustre.lov", layout.data(), layout.size());
  if (length > 0)
    take_lustre_layout(std::span(layout).first(static_cast<std::size_t>(length)), &found);
  return found;
}

// Applies MPI-IO hints. The striping hints change *file_system. The hint "cb_nodes" sets
// *aggregators, because the writer gathers values itself and does not use MPI-IO for this. Hints
// whose values are not numbers are ignored.
void take_hints(const FileWriterOptions& options, FileSystem* file_system, int* aggregators) {
  for (const auto& [key, value] : options.hints) {
    std::uint32_t number = 0;
    const char* const end = value.data() + value.size();
    if (std::from_chars(value.data(), end, number).ptr != end || number > kLargestBlock) continue;
    if (key == "striping_factor") file_system->stripes = static_cast<int>(number);
    if (key == "striping_unit") file_system->stripe_size = number;
    if (key == "cb_nodes") *aggregators = static_cast<int>(number);
  }
}

// Returns the lowest rank of each node, in ascending order. Collective.
Result<std::vector<int>> leaders_of(Communicator& ranks) {
  std::string mine;
  if (ranks.leads_node()) {
    const int rank = ranks.rank();
    mine.assign(reinterpret_cast<const char*>(&rank), sizeof rank);
  }
  NMB_ASSIGN(const std::string all,
             ranks.all_reduce(mine, [](const std::string& below, const std::string& above) {
               return below + above;
             }));
  std::vector<int> leaders(all.size() / sizeof(int));
  std::memcpy(leaders.data(), all.data(), all.size());
  return leaders;
}

// Chooses `count` ranks, spread evenly over the nodes, and returns them in ascending order.
// Collective.
Result<std::vector<int>> spread_over_nodes(Communicator& ranks, int count) {
  const int mine = ranks.node_leader();
  NMB_ASSIGN(const std::string all,
             ranks.all_reduce(
                 std::string(reinterpret_cast<const char*>(&mine), sizeof mine),
                 [](const std::string& below, const std::string& above) { return below + above; }));
  std::map<int, int> on_node;                // number of ranks seen so far on each node
  std::vector<std::pair<int, int>> by_turn;  // index of the rank on its node, and the rank
  for (int rank = 0; rank < ranks.size(); ++rank) {
    int leader = 0;
    std::memcpy(&leader, all.data() + static_cast<std::size_t>(rank) * sizeof leader,
                sizeof leader);
    by_turn.emplace_back(on_node[leader]++, rank);
  }
  std::ranges::sort(by_turn);
  std::vector<int> chosen;
  for (const auto& [turn, rank] : std::span(by_turn).first(static_cast<std::size_t>(count)))
    chosen.push_back(rank);
  std::ranges::sort(chosen);
  return chosen;
}

}  // namespace

void take_lustre_layout(std::span<const std::byte> layout, FileSystem* file_system) {
  // The layout is a little-endian struct lov_user_md_v1 or lov_user_md_v3 (see lustre_user.h).
  constexpr std::uint32_t kPlain = 0x0BD10BD0, kPlainOfPool = 0x0BD30BD0;
  constexpr std::size_t kSizeAt = 24, kCountAt = 28, kNeeded = 32;
  constexpr std::uint16_t kAllTargets = 0xFFFF;
  if (layout.size() < kNeeded) return;
  const auto magic = load_le<std::uint32_t>(layout.data());
  if (magic != kPlain && magic != kPlainOfPool) return;
  file_system->stripe_size = load_le<std::uint32_t>(layout.data() + kSizeAt);
  const auto count = load_le<std::uint16_t>(layout.data() + kCountAt);
  file_system->stripes = count == kAllTargets ? 0 : count;
}

Aggregation choose_aggregation(const FileSystem& file_system, int ranks, int nodes) {
  Aggregation chosen;
  if (nodes <= 1) {
    // Ranks on one machine share the machine's cache and its locks.
    chosen.stripe = kStripeOfOneNode;
    chosen.writers = chosen.value_writers = ranks;
  } else {
    const bool usable =
        file_system.stripe_size >= kStripeOfOneNode && file_system.stripe_size <= kLargestBlock;
    chosen.stripe = usable ? file_system.stripe_size : kStripe;
    chosen.value_writers = std::min(nodes, ranks);
    // With more writers than storage targets, several writers would compete for the locks of one
    // target.
    const int targets = file_system.stripes > 0 ? file_system.stripes : nodes;
    chosen.writers = file_system.magic == kNfs ? 1 : std::min(chosen.value_writers, targets);
  }
  const std::uint64_t block = file_system.block_size;
  if (block > 0 && block <= kLargestBlock)
    chosen.stripe = (chosen.stripe + block - 1) / block * block;
  return chosen;
}

Result<Aggregation> agree_on_aggregation(Communicator& ranks, const std::string& path, bool create,
                                         const FileWriterOptions& options) {
  struct FileSystemReply {
    bool ok;
    FileSystem file_system;
  };
  FileSystemReply found{true, {}};
  Status status;
  if (ranks.rank() == 0) {
    const std::string folder = std::filesystem::path(path).parent_path().string();
    const auto here = file_system_of(!create ? path : folder.empty() ? "." : folder);
    status = here.status();
    found.ok = here.ok();
    if (here.ok()) found.file_system = *here;
  }
  NMB_ASSIGN(found, ranks.broadcast_value(0, found));
  if (!found.ok) return ranks.agree(status);
  int aggregators = 0;
  take_hints(options, &found.file_system, &aggregators);
  if (options.aggregators > 0) aggregators = options.aggregators;
  NMB_ASSIGN(std::vector<int> leaders, leaders_of(ranks));
  const int nodes = static_cast<int>(leaders.size());
  Aggregation how = choose_aggregation(found.file_system, ranks.size(), nodes);
  if (aggregators > 0) how.writers = how.value_writers = std::min(aggregators, ranks.size());
  if (options.alignment > 0) how.stripe = options.alignment;
  const int most = std::max(how.writers, how.value_writers);
  if (nodes == 1 || most == ranks.size()) return how;
  how.candidates = std::move(leaders);
  if (most > nodes) {
    NMB_ASSIGN(how.candidates, spread_over_nodes(ranks, most));
  }
  return how;
}

}  // namespace nmb
