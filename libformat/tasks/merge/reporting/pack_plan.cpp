#include "merge/reporting/pack_plan.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>

#include "origins/value_mover.h"
#include "parallel/outbox.h"
#include "ranks/lustre_striping.h"

namespace nmb {

namespace {

// Returns the peak memory of this process in bytes. ru_maxrss is not used because its first value
// is inherited from the parent process.
Result<std::uint64_t> peak_resident() {
  const char* const path = "/proc/self/status";
  std::ifstream status(path);
  for (std::string word; status >> word;) {
    std::uint64_t kibibytes = 0;
    if (word == "VmHWM:" && status >> kibibytes) return kibibytes << 10;
    status.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return Status(Code::kIo, path, kNoOffset, "", "no line VmHWM in this file");
}

}  // namespace

Status plan_ranks(Communicator& ranks, const PackOptions& options, std::uint64_t bytes,
                  std::uint64_t largest_load, PackPlan* plan) {
  struct Memory {
    std::uint64_t seen = 0, moving = 0;
    // A sixteenth is added for freed memory that cannot be reused.
    std::uint64_t all() const { return seen + seen / 16 + moving; }
  };
  const Result<std::uint64_t> peak = peak_resident();
  NMB_TRY(ranks.agree(peak.status()));
  // Each thread that copies values may hold a block of another rank in memory.
  NMB_ASSIGN(largest_load,
             ranks.all_reduce(largest_load, [](auto a, auto b) { return std::max(a, b); }));
  const Memory own{*peak, options.writer.threads * (kMoveBuffer + largest_load)};
  const bool one_process = ranks.shares_memory();
  NMB_ASSIGN(const Memory memory, ranks.all_reduce(own, [&](const Memory& a, const Memory& b) {
    if (one_process) return Memory{std::max(a.seen, b.seen), a.moving + b.moving};
    return a.all() > b.all() ? a : b;
  }));
  plan->peak_memory = memory.all();
  plan->ranks = ranks.size();
  const int aggregators = options.writer.aggregators;
  const LustreStriping striping =
      lustre_striping(bytes, std::numeric_limits<int>::max(),
                      aggregators > 0 ? std::min(aggregators, ranks.size()) : ranks.size());
  plan->stripe_count = striping.count;
  plan->stripe_size = striping.size;
  const std::string folder = std::filesystem::path(options.output).parent_path().string();
  plan->lustre_command = lustre_command(striping, folder.empty() ? "." : folder);
  return {};
}

Status gather_blocks(Communicator& ranks, PackPlan* plan) {
  using PlanLists = std::pair<decltype(plan->blocks_of_input), decltype(plan->first_blocks)>;
  Outbox<PlanLists> out;
  if (ranks.rank() != 0) out.add(0, {plan->blocks_of_input, plan->first_blocks});
  NMB_ASSIGN(Inbox<PlanLists> arrived, exchange(ranks, out));
  for (auto& [rank, more] : arrived) {
    std::ranges::move(more.first, std::back_inserter(plan->blocks_of_input));
    std::ranges::move(more.second, std::back_inserter(plan->first_blocks));
  }
  if (plan->first_blocks.size() > kFirstBlocks) plan->first_blocks.resize(kFirstBlocks);
  return {};
}

}  // namespace nmb
