// Which ranks write metadata and index (see writer/aggregation.h).
#include "writer/aggregation.h"

#include <sys/vfs.h>

#include <algorithm>
#include <filesystem>

#include "wire/system_error.h"

namespace nmb {

namespace {

// Of file systems that several machines share and that lock no ranges for them.
constexpr std::uint64_t kBeeGfs = 0x19830326;
constexpr std::uint64_t kOrangeFs = 0x20030528;

constexpr std::uint64_t kStripe = 1 << 20;
constexpr std::uint64_t kStripeOfOneNode = 64 << 10;
constexpr std::uint64_t kLargestBlock = 1 << 26;

Result<FileSystem> file_system_of(const std::string& path) {
  struct statfs info;
  if (::statfs(path.c_str(), &info) != 0)
    return system_error(errno, path, "ask for the file system");
  return FileSystem{static_cast<std::uint64_t>(info.f_type),
                    static_cast<std::uint64_t>(info.f_bsize)};
}

}  // namespace

Aggregation choose_aggregation(const FileSystem& file_system, int ranks, int nodes) {
  Aggregation chosen;
  chosen.stripe = nodes <= 1 ? kStripeOfOneNode : kStripe;
  const std::uint64_t block = file_system.block_size;
  if (block > 0 && block <= kLargestBlock)
    chosen.stripe = (chosen.stripe + block - 1) / block * block;
  const bool locks = file_system.magic != kBeeGfs && file_system.magic != kOrangeFs;
  // Ranks of one machine share its cache, and what locks it holds. Machines take them from one
  // another (Lustre, GPFS) or see old bytes (NFS): so few bytes are better written by one.
  chosen.writers = nodes <= 1 ? ranks : locks ? 1 : std::min(nodes, ranks);
  // Values are many: one rank would take long.
  chosen.value_writers = nodes <= 1 ? ranks : std::min(nodes, ranks);
  return chosen;
}

Result<Aggregation> agree_on_aggregation(Communicator& ranks, const std::string& path, bool create,
                                         const WriterOptions& options) {
  struct View {
    bool failed;
    FileSystem file_system;  // of the lowest rank
    int nodes;
  };
  View view{false, {}, ranks.leads_node() ? 1 : 0};
  Status status;
  if (ranks.rank() == 0) {
    const std::string folder = std::filesystem::path(path).parent_path().string();
    const auto found = file_system_of(!create ? path : folder.empty() ? "." : folder);
    status = found.status();
    view.failed = !found.ok();
    if (found.ok()) view.file_system = *found;
  }
  NMB_ASSIGN(view, ranks.all_reduce(view, [](View below, const View& above) {
    below.nodes += above.nodes;
    return below;
  }));
  if (view.failed) return ranks.agree(status);
  Aggregation how = choose_aggregation(view.file_system, ranks.size(), view.nodes);
  if (options.aggregators > 0)
    how.writers = how.value_writers = std::min(options.aggregators, ranks.size());
  if (options.alignment > 0) how.stripe = options.alignment;
  return how;
}

}  // namespace nmb
