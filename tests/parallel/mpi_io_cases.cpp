// Files written by MPI-IO: who may, what hints and names are taken, and writes that are cut short.
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "support/corpus.h"
#include "support/model.h"
#include "support/programs.h"
#include "support/rank_cases.h"
#include "support/rank_outcome.h"
#include "support/rank_program.h"
#include "support/rank_session.h"

namespace nmb {
namespace {

namespace fs = std::filesystem;

using test::Definer;
using test::expect_failure_of_all;
using test::RankFolder;

FileWriterOptions mpi_io() {
  FileWriterOptions options;
  options.io = Io::kMpiIo;
  options.sync = false;
  return options;
}

// Collective: what rank 0 finds in the folder while the others wait; content: of the first file.
Status expect_left(Communicator& ranks, const std::string& folder,
                   const std::vector<std::string>& names, std::string_view content = {}) {
  auto look = [&]() -> Status {
    NMB_TRY(expect(test::names_in(folder) == names, "these files and no others"));
    if (content.empty()) return {};
    const std::vector<std::byte> found = test::read_file(fs::path(folder) / names[0]);
    return expect(std::ranges::equal(found, std::as_bytes(std::span(content))), "the old target");
  };
  return ranks.agree(ranks.rank() == 0 ? look() : Status());
}

// No writer is made, and no file.
Status expect_refusal(Communicator& ranks, const RankFolder& folder,
                      const FileWriterOptions& options, std::string_view said,
                      const std::string& name = "f.nmb") {
  const Status status = FileWriter::create(folder.file(name), options, ranks).status();
  NMB_TRY(expect_failure_of_all(ranks, status, Code::kUsage, said));
  return expect_left(ranks, folder.file(""), {});
}

RANK_CASE(MpiIoNeedsRanksOfMpi) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  const std::string_view why = "MPI-IO needs ranks of MPI";
  if (!ranks.mpi_io()) NMB_TRY(expect_refusal(ranks, folder, mpi_io(), why));
  const Status alone = FileWriter::create(folder.file("alone.nmb"), mpi_io()).status();
  return expect_failure_of_all(ranks, alone, Code::kUsage, why);
}

RANK_CASE(HintsNeedMpiIo) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  FileWriterOptions options;
  options.hints = {{"cb_nodes", "1"}};
  return expect_refusal(ranks, folder, options, "needs MPI-IO");
}

RANK_CASE(MpiIoRefusesHintsThatMpiDoesNotTake) {
  if (!ranks.mpi_io()) return {};
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  for (const auto& [key, value] :
       {std::pair(std::string(), std::string("1")), std::pair(std::string("a"), std::string()),
        std::pair(std::string(5000, 'k'), std::string("1")),
        std::pair(std::string("a"), std::string(5000, 'v'))}) {
    FileWriterOptions options = mpi_io();
    options.hints = {{"cb_nodes", "1"}, {key, value}};
    NMB_TRY(expect_refusal(ranks, folder, options, "expected a key of 1 to "));
  }
  return {};
}

RANK_CASE(MpiIoRefusesOptionsThatDifferBetweenRanks) {
  if (!ranks.mpi_io() || ranks.size() == 1) return {};
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  FileWriterOptions options = mpi_io();
  options.hints = {{"cb_nodes", std::to_string(ranks.rank() + 1)}};
  NMB_TRY(expect_refusal(ranks, folder, options, "expected \"cb_nodes=1\" as on rank 0"));
  options = mpi_io();
  if (ranks.rank() == 0) options.io = Io::kPosix;
  return expect_refusal(ranks, folder, options, "found I/O mpiio");
}

// Only of the name itself: folders may be called anything.
RANK_CASE(MpiIoRefusesNamesThatItWouldTakeForOthers) {
  if (!ranks.mpi_io()) return {};
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  NMB_TRY(expect_refusal(ranks, folder, mpi_io(), "and no ':' for MPI-IO", "run:5.nmb"));
  NMB_TRY(expect_refusal(ranks, folder, mpi_io(), "expected at most 200", std::string(220, 'n')));
  std::string deep = folder.file("12:30");
  for (int i = 0; i < 5; ++i) deep += "/" + std::string(100, 'd');
  if (ranks.rank() == 0) fs::create_directories(deep);
  NMB_TRY(ranks.barrier());
  NMB_ASSIGN(const auto writer, FileWriter::create(deep + "/f.nmb", mpi_io(), ranks));
  NMB_TRY(writer->close());
  return expect_left(ranks, deep, {"f.nmb"});
}

// A file is opened again, changed in two generations, and its values moved by two threads.
RANK_CASE(MpiIoOpensFilesAgain) {
  if (!ranks.mpi_io()) return {};
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  for (const Io io : {Io::kPosix, Io::kMpiIo}) {
    FileWriterOptions options = test::session_options();
    options.io = io;
    options.threads = 2;
    const std::string path = folder.file(io == Io::kPosix ? "posix.nmb" : "mpiio.nmb");
    NMB_TRY(test::create_session(ranks, path, options));
    NMB_TRY(test::change_session(ranks, path, options));
  }
  auto compare = [&]() -> Status {
    const std::string posix = folder.file("posix.nmb"), mpiio = folder.file("mpiio.nmb");
    NMB_TRY(expect(test::read_file(posix) == test::read_file(mpiio), "the same bytes by both"));
    return expect(test::findings_of(fs::path(mpiio)).empty(), "no findings");
  };
  return ranks.agree(ranks.rank() == 0 ? compare() : Status());
}

// The writer gathers by itself what MPI-IO would: as many ranks write metadata as "cb_nodes" says,
// and only these open the file.
RANK_CASE(CbNodesSaysHowManyRanksOpenTheFile) {
  if (!ranks.mpi_io()) return {};
  for (const int nodes : {1, 2, 100}) {
    NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
    FileWriterOptions options = mpi_io();
    options.hints = {{"cb_nodes", std::to_string(nodes)}};
    options.alignment = 4096;
    options.metadata_codec = MetadataCodec::kNone;
    NMB_ASSIGN(const auto writer, FileWriter::create(folder.file("f.nmb"), options, ranks));
    Definer definer(*writer);
    for (int i = 0; i < 60; ++i)
      definer.text(definer.block("rank" + std::to_string(ranks.rank()) + "/" + std::to_string(i)),
                   kGlobal, "title", std::string(300, 'x'));
    NMB_TRY(ranks.agree(definer.status()));
    NMB_TRY(writer->end_define());
    NMB_TRY(writer->sync());
    bool open = false;
    for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
      std::error_code gone;
      open = open || fs::equivalent(entry.path(), folder.file("f.nmb"), gone);
    }
    NMB_ASSIGN(const int all, ranks.all_reduce(open ? 1 : 0, std::plus<>()));
    NMB_TRY(ranks.agree(expect(all == std::min(nodes, ranks.size()),
                               "as many ranks with the file open as hinted")));
    NMB_TRY(writer->close());
  }
  return {};
}

// MPI libraries divide by it.
RANK_CASE(MpiIoRefusesNoRanksToWrite) {
  if (!ranks.mpi_io()) return {};
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  FileWriterOptions options = mpi_io();
  options.hints = {{"cb_nodes", "0"}};
  const Status status = FileWriter::create(folder.file("f.nmb"), options, ranks).status();
  return expect_failure_of_all(ranks, status, Code::kUsage, "cb_nodes=0");
}

RANK_CASE(MpiIoRefusesATargetThatIsThere) {
  if (!ranks.mpi_io()) return {};
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  const std::string path = folder.file("f.nmb");
  if (ranks.rank() == 0) test::write_file(path, std::string_view("somebody's"));
  NMB_TRY(ranks.barrier());
  const Status status = FileWriter::create(path, mpi_io(), ranks).status();
  NMB_TRY(expect_failure_of_all(ranks, status, Code::kExists, "the file exists"));
  return expect_left(ranks, folder.file(""), {"f.nmb"}, "somebody's");
}

// A limit on the length of files that this process writes.
class LengthLimit {
 public:
  explicit LengthLimit(std::uint64_t bytes) : signal_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~LengthLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, signal_);
  }
  LengthLimit(const LengthLimit&) = delete;
  LengthLimit& operator=(const LengthLimit&) = delete;

 private:
  rlimit before_{};
  void (*signal_)(int);
};

// The limit lies in the values of the last rank: some of a write is done, then no more.
Status write_past_the_limit(Communicator& ranks, const std::string& path) {
  constexpr std::uint64_t kValues = 300'000;
  constexpr std::uint64_t kBytes = kValues * 8;
  FileWriterOptions options = mpi_io();
  options.overwrite = true;
  NMB_ASSIGN(const std::unique_ptr<FileWriter> writer, FileWriter::create(path, options, ranks));
  Definer definer(*writer);
  const std::string name = "rank" + std::to_string(ranks.rank());
  const BlockId block = definer.block(name);
  const DimId x = definer.dimension(block, "x", kValues);
  definer.variable(block, "v", Type::kDouble, {{x}});
  NMB_TRY(ranks.agree(definer.status()));
  NMB_TRY(writer->end_define());
  const auto rank = static_cast<std::uint64_t>(ranks.rank());
  std::optional<LengthLimit> limit;
  if (ranks.rank() == ranks.size() - 1) limit.emplace(rank * kBytes + kBytes / 2);
  definer.put(name, "v", 1);
  // The writer keeps what put() said.
  return writer->close();
}

RANK_CASE(AShortWriteByMpiIoFailsAllRanks) {
  if (!ranks.mpi_io()) return {};
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  const std::string path = folder.file("f.nmb");
  for (const bool exists : {false, true}) {
    if (exists && ranks.rank() == 0) test::write_file(path, std::string_view("an old target"));
    NMB_TRY(ranks.barrier());
    const Status status = write_past_the_limit(ranks, path);
    NMB_TRY(expect_failure_of_all(ranks, status, Code::kNoSpace, "File too large"));
    if (exists)
      NMB_TRY(expect_left(ranks, folder.file(""), {"f.nmb"}, "an old target"));
    else
      NMB_TRY(expect_left(ranks, folder.file(""), {}));
  }
  return {};
}

}  // namespace
}  // namespace nmb
