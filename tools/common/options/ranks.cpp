#include "common/options/ranks.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>

#include "parallel/communicator.h"

namespace nmb::tools {

namespace {

constexpr std::uint64_t kRankMemory = 64 << 20;  // with --mem: bytes for each rank

}  // namespace

Status run_on_ranks(Tool& tool, const CLI::App& command, std::size_t parts, Needs needs,
                    const std::function<Status(Communicator&, unsigned)>& body) {
  const unsigned threads = tool.options().threads;
  const std::optional<MpiLibrary> launcher = launched_by();
  if (needs == Needs::kMpi && !launcher)
    return Status(Code::kUsage, "MPI-IO needs MPI; start the program with mpiexec");
  if (launched_ranks() > 1 || needs == Needs::kMpi) {
    NMB_ASSIGN(const std::unique_ptr<Communicator> ranks, open_mpi_ranks(*launcher));
    tool.diagnostics().set_silent(ranks->rank() != 0);
    Status status;
    try {
      status = body(*ranks, command.count("-j") > 0 ? threads : 1);
    } catch (const std::bad_alloc&) {
      status = Status(Code::kLimit, "out of memory on rank " + std::to_string(ranks->rank()));
    }
    // If this rank alone failed, the other ranks must not wait for it.
    if (!status.ok()) ranks->fail(status);
    return status;
  }
  // All ranks share the memory of this process.
  const std::uint64_t memory = tool.options().memory;
  const std::size_t most = memory == 0 ? parts : std::max<std::size_t>(1, memory / kRankMemory);
  const auto count = static_cast<unsigned>(std::min<std::size_t>({threads, parts, most}));
  if (count < 2) {
    Communicator alone;
    return body(alone, threads);
  }
  return run_thread_ranks(static_cast<int>(count), [&](Communicator& ranks) {
    ranks.set_names_ranks(false);
    return body(ranks, threads / count);
  });
}

Status send_names(Communicator& ranks, std::vector<std::string>* names) {
  std::string all;  // a NUL follows each name
  for (const std::string& name : *names) all.append(name).push_back('\0');
  const auto own = std::as_bytes(std::span(all));
  std::vector<std::byte> bytes(own.begin(), own.end());
  NMB_TRY(ranks.broadcast(0, &bytes));
  all.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  names->clear();
  for (std::size_t at = 0; at < all.size(); at += names->back().size() + 1)
    names->emplace_back(all.c_str() + at);
  return {};
}

}  // namespace nmb::tools
