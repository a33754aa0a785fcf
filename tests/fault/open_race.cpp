// open_race: one process commits as fast as it can while others open, verify, copy and recover the
// file in a loop. Whatever a commit has done so far, each of them gets a generation that is whole,
// and warns of nothing.
//
//     open_race [--opens N] [--readers R] [--verify-every N]
//
// Prints what was met; exit code 1: an opening failed, or something was found.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "files/files.h"
#include "reader/file_reader.h"
#include "recover/recover.h"
#include "support/programs.h"
#include "verify/layout.h"
#include "verify/verify.h"
#include "writer/file_writer.h"

namespace nmb::test {
namespace {

constexpr std::uint64_t kGenerationsOfAFile = 2000;

struct Options {
  std::uint64_t opens = 4000;  // of all readers together
  int readers = 4;
  std::uint64_t verify_every = 16;
};

[[noreturn]] void stop(const Status& status) {
  std::fprintf(stderr, "open_race: writer: %s\n", status.text().c_str());
  _exit(2);
}

// New files replace old ones, so that none gets too large.
[[noreturn]] void commit_for_ever(const std::string& path) {
  FileWriterOptions options;
  options.overwrite = true;
  options.sync = false;
  for (std::uint64_t round = 0;; ++round) {
    auto created = FileWriter::create(path, options);
    if (!created.ok()) stop(created.status());
    std::unique_ptr<FileWriter> writer = *std::move(created);
    Result<BlockId> block = writer->define_block("b");
    const Result<DimId> time = writer->def_dim(*block, "time", kUnlimited);
    const Result<VarId> v = writer->def_var(*block, "v", Type::kInt, std::vector<DimId>{*time});
    if (const Status status = writer->end_define(); !status.ok()) stop(status);
    for (std::uint64_t g = 0; g < kGenerationsOfAFile; ++g) {
      const std::int32_t value = static_cast<std::int32_t>(g);
      if (const Status status = writer->put(*block, *v, {{g}, {1}, {}}, std::span(&value, 1));
          !status.ok())
        stop(status);
      if (const Status status = writer->sync(); !status.ok()) stop(status);
      if (g % 8 != round % 8) continue;
      // The lock comes and goes too.
      writer.reset();
      auto opened = FileWriter::open(path, options);
      if (!opened.ok()) stop(opened.status());
      writer = *std::move(opened);
      block = writer->find_block("b");
      if (!block.ok()) stop(block.status());
      if (const Status status = writer->end_define(); !status.ok()) stop(status);
    }
  }
}

struct Tally {
  std::uint64_t opens = 0, findings = 0, verified = 0;
};

class Told final : public Findings {
 public:
  void report(Finding finding) override { text += finding.text() + "\n"; }
  std::string text;
};

// Warnings of an opening, except those that every commit causes while it is in progress.
std::string open_once(const std::string& path, bool verifies, Tally* tally) {
  auto reader = FileReader::open(path);
  ++tally->opens;
  if (!reader.ok()) return reader.status().text();
  for (const Finding& warning : (*reader)->warnings()) return warning.text();
  // All values of the generation, one a record.
  const auto object = (*reader)->object("b/v");
  if (!object.ok()) return object.status().text();
  const std::uint64_t records = (*object).block->records;
  std::vector<std::int32_t> values(records);
  if (const Status status = object->block->read(object->variable, {{0}, {records}, {}}, values);
      !status.ok())
    return status.text();
  for (std::uint64_t i = 0; i < records; ++i)
    if (values[i] != static_cast<std::int32_t>(i)) return "another value";
  if (records != (*reader)->generation()) return "another number of records";
  if (!verifies) return {};
  ++tally->verified;
  if (const Status status = check_nothing_pending(**reader); !status.ok()) return status.text();
  auto file = FileSource::open(path);
  if (!file.ok()) return file.status().text();
  Told told;
  VerifierOptions options;
  options.level = VerifyLevel::kBlocks;
  const auto summary = verify(**file, options, told);
  if (!summary.ok()) return summary.status().text();
  if (!summary->incomplete.ok()) told.text += summary->incomplete.text();
  if (!told.text.empty()) return told.text;
  if (const auto layout = layout_of(**file); !layout.ok()) return layout.status().text();
  const auto recovery = recover(std::shared_ptr<const ByteSource>(*std::move(file)), {});
  if (!recovery.ok()) return recovery.status().text();
  return recovery->is_loss() ? "the recovery reports a loss" : "";
}

int read_in_a_loop(const std::string& path, const Options& options, int to) {
  Tally tally;
  for (std::uint64_t i = 0; i < options.opens / static_cast<std::uint64_t>(options.readers); ++i) {
    const bool verifies = options.verify_every != 0 && i % options.verify_every == 0;
    const std::string found = open_once(path, verifies, &tally);
    if (found.empty()) continue;
    ++tally.findings;
    std::fprintf(stderr, "open_race: %s\n", found.c_str());
  }
  return ::write(to, &tally, sizeof tally) == sizeof tally ? 0 : 2;
}

int race(const Options& options) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "f.nmb").string();
  const pid_t writer = fork();
  if (writer == 0) commit_for_ever(path);
  while (::access(path.c_str(), F_OK) != 0) {
    if (::waitpid(writer, nullptr, WNOHANG) != 0) return 2;
    ::usleep(1000);
  }
  int ends[2];
  if (::pipe(ends) != 0) return 2;
  for (int i = 0; i < options.readers; ++i)
    if (fork() == 0) _exit(read_in_a_loop(path, options, ends[1]));
  Tally all;
  for (int i = 0; i < options.readers; ++i) {
    Tally one;
    if (::read(ends[0], &one, sizeof one) != sizeof one) return 2;
    all.opens += one.opens, all.findings += one.findings, all.verified += one.verified;
  }
  int status = 0;
  const bool ended = ::waitpid(writer, &status, WNOHANG) != 0;
  ::kill(writer, SIGKILL);
  std::printf("%llu opens, %llu verified and recovered, %llu findings\n",
              static_cast<unsigned long long>(all.opens),
              static_cast<unsigned long long>(all.verified),
              static_cast<unsigned long long>(all.findings));
  return ended ? 2 : all.findings != 0;
}

}  // namespace
}  // namespace nmb::test

int main(int argc, char** argv) {
  nmb::test::Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    const auto value = std::strtoull(argv[i + 1], nullptr, 10);
    if (option == "--opens")
      options.opens = value;
    else if (option == "--readers")
      options.readers = static_cast<int>(value);
    else if (option == "--verify-every")
      options.verify_every = value;
    else
      return 2;
  }
  return options.readers > 0 ? nmb::test::race(options) : 2;
}
