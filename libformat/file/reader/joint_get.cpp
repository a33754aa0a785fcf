#include "reader/joint_get.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "parallel/workers.h"
#include "reader/scatter_window.h"
#include "values/read_checks.h"
#include "wire/joined_text.h"

namespace nmb {

Result<JointGet> JointGet::of(const LoadedBlock& block, VarId variable, const Hyperslab* slab,
                              MutableArray out) {
  const Metadata& metadata = block.metadata;
  if (variable >= metadata.variable_count())
    return failure(Code::kUsage, "found variable ID ", variable, " in a block with ",
                   metadata.variable_count(), " variables");
  const KnownSource known = block.extent ? block.extent->known() : KnownSource();
  const auto* const source = std::get_if<const ExtentSource*>(&known);
  if (!source) return failure(Code::kUsage, "the block of a request does not come from a Reader");
  if (metadata.extension())
    return Status(Code::kUnsupported,
                  "a request cannot read a variable of a block of kind 6; use Dataset::read");
  NMB_TRY(check_memory_type(metadata.variable(variable), out.type()));
  NMB_ASSIGN(VariableShape shape, block.shape(variable));
  if (slab) NMB_TRY(check_hyperslab(shape, *slab));
  NMB_TRY(check_count(out.count(), slab ? element_count(*slab) : shape.elements()));
  return JointGet{&block, variable, *source,
                  slab ? RunCursor(shape, *slab) : RunCursor::whole(shape), out};
}

namespace {

// Reads selections of one extent. numbers: indexes into `gets`, which has a target for each.
class ExtentGets {
 public:
  ExtentGets(std::span<const JointGet> gets, ScatterWindow& window)
      : gets_(gets), window_(window) {}

  Status read(std::span<std::uint32_t> numbers) {
    if (add_runs(numbers)) return {};
    std::vector<RunCursor> cursors;
    cursors.reserve(numbers.size());
    for (const std::uint32_t i : numbers) cursors.push_back(gets_[i].cursor);
    return merge_runs(cursors,
                      [&](std::size_t i, std::uint64_t offset, std::uint64_t element,
                          std::uint64_t elements) -> Status {
                        const std::uint64_t size = cursors[i].element_size();
                        window_.add(*gets_[numbers[i]].source, numbers[i], offset, element * size,
                                    elements * size);
                        return {};
                      });
  }

 private:
  // Reads selections of one run each that share no bytes. Returns false, and reads nothing, if
  // there are others.
  bool add_runs(std::span<std::uint32_t> numbers) {
    for (const std::uint32_t i : numbers)
      if (!gets_[i].cursor.at_end() && gets_[i].cursor.next_run() != RunCursor::kNoRun)
        return false;
    const auto begin = [&](std::uint32_t i) { return gets_[i].cursor.offset(); };
    std::ranges::sort(numbers, {}, begin);
    std::uint64_t end = 0;
    for (const std::uint32_t i : numbers) {
      const RunCursor& run = gets_[i].cursor;
      if (run.at_end()) continue;
      if (run.offset() < end) return false;
      end = run.offset() + run.elements() * run.element_size();
    }
    for (const std::uint32_t i : numbers) {
      const RunCursor& run = gets_[i].cursor;
      if (!run.at_end())
        window_.add(*gets_[i].source, i, run.offset(), 0, run.elements() * run.element_size());
    }
    return true;
  }

  std::span<const JointGet> gets_;
  ScatterWindow& window_;
};

}  // namespace

Status get_jointly(std::span<const JointGet> gets, std::span<Status> statuses, unsigned threads) {
  constexpr std::uint64_t kTaskBytes = std::uint64_t{1} << 20;
  std::vector<GetTarget> targets;
  targets.reserve(gets.size());
  for (const JointGet& get : gets)
    targets.push_back({get.block->metadata.variable(get.variable).type, get.out.type(),
                       get.block->kind(), get.out.data()});
  // Two loaded copies of a block count as the same block.
  const auto block = [&](std::uint32_t i) {
    const BlockEntry& entry = gets[i].block->entry;
    return std::tuple(&gets[i].source->file(),
                      entry.extent_position != 0 ? entry.extent_position : entry.position,
                      entry.position);
  };
  std::vector<std::uint32_t> order(gets.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, {}, block);
  // A task is the work on neighbouring blocks of at least kTaskBytes.
  std::vector<std::span<std::uint32_t>> blocks;
  std::vector<std::size_t> tasks{0};
  std::uint64_t bytes = 0;
  for (auto first = order.begin(); first != order.end();) {
    const auto end = std::find_if(first, order.end(),
                                  [&](std::uint32_t i) { return block(i) != block(*first); });
    blocks.emplace_back(first, end);
    for (auto i = first; i != end; ++i)
      bytes += gets[*i].out.count() * memory_type_size(gets[*i].out.type());
    if ((threads > 1 && bytes >= kTaskBytes) || end == order.end()) {
      tasks.push_back(blocks.size());
      bytes = 0;
    }
    first = end;
  }
  std::atomic<std::size_t> next{0};
  const auto work = [&](const std::atomic<bool>& stop) -> Status {
    ScatterWindow window(targets);
    ExtentGets extent(gets, window);
    for (std::size_t task; (task = next++) + 1 < tasks.size() && !stop;) {
      for (std::size_t b = tasks[task]; b < tasks[task + 1]; ++b) NMB_TRY(extent.read(blocks[b]));
      window.flush();
    }
    return {};
  };
  NMB_TRY(share_work(std::min<std::size_t>(std::max(threads, 1u), tasks.size() - 1), work));
  for (std::size_t i = 0; i < gets.size(); ++i)
    statuses[i] = targets[i].status.ok()
                      ? range_status(gets[i].block->metadata.variable(gets[i].variable),
                                     targets[i].out_of_range)
                      : targets[i].status;
  return {};
}

}  // namespace nmb
