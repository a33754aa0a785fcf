// nmbench-BACKEND JOB OUT: runs one kernel with one library, under mpiexec or alone. JOB is a file
// with a JSON object; OUT gets a JSON array with the results of each process. Exit code 3: the
// library has no way to do this, with the reason on standard error.
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "kernel.h"

namespace nmb::bench {

namespace {

constexpr int kFailed = 1, kUsage = 2, kRefused = 3;

using Kernel = void (*)(Run&);
const std::map<std::string, Kernel> kKernels = {{"create", run_create},
                                                {"open_one", run_open_one},
                                                {"list", run_list},
                                                {"read_metadata", run_read_metadata},
                                                {"epoch", run_epoch},
                                                {"write", run_write},
                                                {"read", run_read},
                                                {"overwrite", run_overwrite},
                                                {"append", run_append},
                                                {"step_arrays", run_step_arrays},
                                                {"same_values", run_same_values},
                                                {"small_arrays", run_small_arrays},
                                                {"commits", run_commits},
                                                {"decomposed", run_decomposed},
                                                {"thread_create", run_by_threads},
                                                {"thread_small_arrays", run_by_threads}};

std::string path_of_rank(const std::string& path, int rank) {
  const std::size_t name = path.rfind('/') + 1;  // npos + 1 is 0
  return path.substr(0, name) + "rank_" + std::to_string(rank) + "_" + path.substr(name);
}

std::string host_name() {
  char text[256] = {};
  gethostname(text, sizeof text - 1);
  return text;
}

// The first line of what the library says of itself.
std::string mpi_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string all(text);  // Open MPI counts the NUL
  return all.substr(0, all.find('\n'));
}

// All processes' texts in order of ranks, on rank 0.
std::vector<std::string> gather(const std::string& text, int rank, int size) {
  const int length = static_cast<int>(text.size());
  std::vector<int> lengths(static_cast<std::size_t>(size)), places(lengths.size());
  MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  int sum = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) places[i] = std::exchange(sum, sum + lengths[i]);
  std::string all(static_cast<std::size_t>(rank == 0 ? sum : 0), ' ');
  MPI_Gatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(), places.data(), MPI_CHAR, 0,
              MPI_COMM_WORLD);
  std::vector<std::string> texts;
  for (std::size_t i = 0; rank == 0 && i < lengths.size(); ++i)
    texts.push_back(
        all.substr(static_cast<std::size_t>(places[i]), static_cast<std::size_t>(lengths[i])));
  return texts;
}

void run(const std::string& job_path, const std::string& out_path, int rank, int size) {
  std::ifstream in(job_path);
  if (!in) throw std::runtime_error(job_path + ": cannot be read");
  Job job(nlohmann::json::parse(in));
  // A launcher of another MPI library starts processes that do not know each other.
  const auto processes = job.number("processes", static_cast<std::uint64_t>(size));
  if (processes != static_cast<std::uint64_t>(size))
    throw std::runtime_error("processes of the MPI job: " + std::to_string(size) + ", expected " +
                             std::to_string(processes) + "; look at --launcher");
  const std::string name = job.text("kernel");
  const auto kernel = kKernels.find(name);
  if (kernel == kKernels.end()) throw std::runtime_error("there is no kernel " + name);
  const std::unique_ptr<Backend> backend = make_backend(job.text("library"));

  Run run{job, *backend, rank, size, job.text("path"), {}};
  FileOptions& options = run.options;
  options.collective_data = job.flag("collective_data", true);
  options.collective_metadata = job.flag("collective_metadata", true);
  options.file_per_process = job.flag("file_per_process");
  options.checks = job.flag("checks");
  options.sync = job.flag("sync");
  options.hash_size = job.number("hash_size", 0);
  options.latest = job.flag("latest");
  options.compact = job.flag("compact");
  options.hints = job.pairs("hints");
  options.alignment = job.number("alignment", 0);
  options.alignment_threshold = job.number("alignment_threshold", 0);
  if (options.file_per_process) run.path = path_of_rank(run.path, rank);
  kernel->second(run);

  nlohmann::json& row = run.row;
  row["rank"] = rank;
  if (rank == 0) row["mpi"] = mpi_version();
  row["host"] = host_name();
  row["cpu_seconds"] = Meter::cpu_seconds();
  row["library"] = backend->traits().library;
  row["phases"] = run.meter.json();
  row["total"] = run.meter.total();
  row["wall"] = run.meter.wall();
  if (const std::string notes = backend->notes(); !notes.empty()) row["notes"] = notes;
  nlohmann::json numbers = nlohmann::json::object();
  for (const auto& [key, value] : backend->numbers()) numbers[key] = value;
  row["numbers"] = numbers;
  const std::vector<std::string> texts = gather(row.dump(), rank, size);
  if (rank != 0) return;
  nlohmann::json all = nlohmann::json::array();
  for (const std::string& text : texts) all.push_back(nlohmann::json::parse(text));
  std::ofstream out(out_path);
  out << all.dump(1) << "\n";
  if (!out.flush()) throw std::runtime_error(out_path + ": cannot be written");
}

}  // namespace

void check_same(bool same, const std::string& what) {
  if (!same) throw std::runtime_error("what was read back differs: " + what);
}

void Run::check_shares_file() const {
  if (size > 1 && !options.file_per_process && !backend.traits().shares_file)
    throw Refused("one file can be written by one process only");
}
void Run::check_shares_reading() const {
  if (size > 1 && !options.file_per_process && !backend.traits().shares_reading)
    throw Refused("one file can be read by one process only");
}

}  // namespace nmb::bench

int main(int argc, char** argv) {
  using namespace nmb::bench;
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s JOB OUT (nmbench starts this program)\n", argv[0]);
    return kUsage;
  }
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int code = 0;
  try {
    run(argv[1], argv[2], rank, size);
  } catch (const Refused& refused) {
    std::fprintf(stderr, "nmbench refused: %s\n", refused.what());
    code = kRefused;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "nmbench failed: %s\n", error.what());
    code = kFailed;
  }
  // The others may wait for this process.
  if (code != 0 && size > 1) MPI_Abort(MPI_COMM_WORLD, code);
  MPI_Finalize();
  return code;
}
