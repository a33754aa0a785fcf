// parallel_ranks [--threads P | --mpi openmpi|mpich] [--traffic] [CASE...]: runs the cases (all of
// them) on P threads, or on the processes of an MPI job. Prints the failures of each rank; exit
// code 1 if there are any, 2 if it could not run. --traffic: prints the messages that each rank
// sent.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>

#include "parallel/communicator.h"
#include "parallel/mpi_plugin.h"
#include "support/narrow_transport.h"
#include "support/rank_cases.h"

namespace nmb {
namespace {

struct Options {
  int threads = 0;  // 0: an MPI job
  std::optional<MpiLibrary> mpi = launched_by();
  bool traffic = false;
  std::vector<RankCase> cases;
};

// Whole lines, also when ranks are threads.
void say(std::FILE* to, const std::string& line) { std::fputs((line + "\n").c_str(), to); }

bool run_rank(const RankCase& rank_case, std::unique_ptr<Transport> transport, bool traffic) {
  if (rank_case.max_message != 0)
    transport = std::make_unique<NarrowTransport>(std::move(transport), rank_case.max_message);
  Communicator ranks(std::move(transport));
  const std::string head =
      std::string(rank_case.name) + ": rank " + std::to_string(ranks.rank()) + ": ";
  const Status status = rank_case.run(ranks);
  if (!status.ok()) {
    ranks.fail(status);
    say(stderr, head + status.text());
  }
  if (traffic)
    say(stdout, head + "messages " + std::to_string(ranks.traffic().messages) + ", bytes " +
                    std::to_string(ranks.traffic().bytes));
  return status.ok();
}

bool run_on_threads(const RankCase& rank_case, const Options& options) {
  std::vector<std::unique_ptr<Transport>> ends = make_thread_network(options.threads);
  std::atomic<bool> passed = true;
  std::vector<std::thread> threads;
  for (std::unique_ptr<Transport>& end : ends)
    threads.emplace_back([&] {
      if (!run_rank(rank_case, std::move(end), options.traffic)) passed = false;
    });
  for (std::thread& thread : threads) thread.join();
  return passed;
}

[[noreturn]] void give_up(const std::string& why) {
  say(stderr, "parallel_ranks: " + why);
  std::exit(2);
}

bool run_on_processes(const RankCase& rank_case, const Options& options) {
  Result<std::unique_ptr<Transport>> transport = open_mpi_transport(*options.mpi, nullptr);
  if (!transport.ok()) give_up(transport.status().text());
  return run_rank(rank_case, std::move(*transport), options.traffic);
}

RankCase find_case(const std::string& name) {
  for (const RankCase& rank_case : rank_cases())
    if (rank_case.name == name) return rank_case;
  give_up("found no case " + name);
}

Options parse(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string value = i + 1 < arguments.size() ? arguments[i + 1] : "";
    if (arguments[i] == "--traffic") {
      options.traffic = true;
    } else if (arguments[i] == "--threads" && std::atoi(value.c_str()) > 0) {
      options.threads = std::atoi(arguments[++i].c_str());
    } else if (arguments[i] == "--mpi" && (value == "openmpi" || value == "mpich")) {
      options.mpi = arguments[++i] == "openmpi" ? MpiLibrary::kOpenMpi : MpiLibrary::kMpich;
    } else {
      options.cases.push_back(find_case(arguments[i]));
    }
  }
  if (options.cases.empty()) options.cases = rank_cases();
  if (options.threads == 0 && !options.mpi)
    give_up("found no launcher of MPI, expected one, --mpi openmpi|mpich or --threads P");
  return options;
}

int run(const std::vector<std::string>& arguments) {
  const Options options = parse(arguments);
  bool passed = true;
  for (const RankCase& rank_case : options.cases)
    passed &= options.threads > 0 ? run_on_threads(rank_case, options)
                                  : run_on_processes(rank_case, options);
  return passed ? 0 : 1;
}

}  // namespace
}  // namespace nmb

int main(int argc, char** argv) { return nmb::run({argv + 1, argv + argc}); }
