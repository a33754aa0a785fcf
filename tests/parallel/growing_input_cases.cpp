// NMB inputs that somebody adds to while ranks merge them: the generation that was opened is what
// is merged, and a link to a file that grows is refused.
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "merge/reporting/merge.h"
#include "reader/file_reader.h"
#include "support/corpus.h"
#include "support/model.h"
#include "support/rank_cases.h"
#include "support/rank_outcome.h"
#include "support/rank_program.h"

namespace nmb {
namespace {

using test::Definer;
using test::RankFolder;

// By one process: a file of blocks, or one more generation of it.
Status add_blocks(const std::string& path, bool is_there, const std::vector<std::string>& names,
                  std::uint64_t length) {
  FileWriterOptions options;
  options.sync = false;
  options.piece_size = 65536;
  NMB_ASSIGN(const std::unique_ptr<FileWriter> writer,
             is_there ? FileWriter::open(path, options) : FileWriter::create(path, options));
  Definer definer(*writer);
  for (const std::string& name : names) {
    const BlockId block = definer.block(name);
    definer.variable(block, "v", Type::kDouble, {{definer.dimension(block, "x", length)}});
  }
  NMB_TRY(definer.status());
  NMB_TRY(writer->end_define());
  for (std::size_t i = 0; i < names.size(); ++i) definer.put(names[i], "v", static_cast<int>(i));
  NMB_TRY(definer.status());
  return writer->close();
}

Status remove_and_add(const std::string& path, const std::string& name) {
  FileWriterOptions options;
  options.sync = false;
  NMB_ASSIGN(const std::unique_ptr<FileWriter> writer, FileWriter::open(path, options));
  Definer definer(*writer);
  definer.keep(writer->remove_block(definer.block(name)));
  NMB_TRY(definer.status());
  NMB_TRY(writer->end_define());
  NMB_TRY(writer->close());
  return add_blocks(path, true, {name}, 50000);
}

// Nearly all values lie in one input, so that other ranks take some over from the one that has it.
Result<PackOptions> make_files(Communicator& ranks, const RankFolder& folder) {
  const auto write = [&]() -> Status {
    NMB_TRY(add_blocks(folder.file("large.nmb"), false, {"a", "b/c", "d", "e"}, 200000));
    NMB_TRY(add_blocks(folder.file("small.nmb"), false, {"a"}, 10));
    return add_blocks(folder.file("out.nmb"), false, {"first"}, 10);
  };
  NMB_TRY(ranks.agree(ranks.rank() == 0 ? write() : Status()));
  PackOptions options;
  options.inputs = {folder.file("large.nmb"), folder.file("small.nmb")};
  options.output = folder.file("out.nmb");
  options.block_name = "{stem}/{group}";
  std::get<Pack>(options.mode).append = true;
  options.writer.sync = false;
  return options;
}

// Is called on rank 0 when all inputs are planned and no value is moved yet.
auto meanwhile(std::function<Status()> land, Status* landed) {
  return [land = std::move(land), landed](const std::vector<PackSource>&) {
    *landed = land();
    return std::vector<std::string>();
  };
}

Status expect_out(const RankFolder& folder, std::uint64_t blocks) {
  NMB_ASSIGN(const std::unique_ptr<FileReader> reader, FileReader::open(folder.file("out.nmb")));
  NMB_TRY(expect(reader->totals().blocks == blocks, std::to_string(blocks) + " blocks, not " +
                                                        std::to_string(reader->totals().blocks)));
  const std::string findings = test::findings_of(std::filesystem::path(folder.file("out.nmb")));
  return expect(findings.empty(), "a sound file: " + findings);
}

RANK_CASE(InputGrowsWhileItIsAppended) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  NMB_ASSIGN(PackOptions options, make_files(ranks, folder));
  const auto alone = [&]() -> Status {
    std::filesystem::copy_file(options.output, folder.file("alone.nmb"));
    PackOptions of_one = options;
    of_one.output = folder.file("alone.nmb");
    PackReport report;
    return pack(of_one, &report);
  };
  NMB_TRY(ranks.agree(ranks.rank() == 0 ? alone() : Status()));
  Status landed;
  options.provenance = meanwhile(
      [&] {
        return add_blocks(folder.file("large.nmb"), true, {"b", "later"}, 30000);
      },
      &landed);
  PackReport report;
  NMB_TRY(pack(options, &report, ranks));
  const auto compare = [&]() -> Status {
    NMB_TRY(landed);
    NMB_TRY(expect_out(folder, 6));
    return expect(
        test::read_file(folder.file("out.nmb")) == test::read_file(folder.file("alone.nmb")),
        "the bytes of an input that does not grow");
  };
  return ranks.agree(ranks.rank() == 0 ? compare() : Status());
}

// A block that is another one by then: no rank mixes the values of two.
RANK_CASE(InputChangesWhileItIsAppended) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  NMB_ASSIGN(PackOptions options, make_files(ranks, folder));
  Status landed;
  options.provenance = meanwhile(
      [&]() -> Status {
        for (const char* name : {"a", "b/c", "d", "e"})
          NMB_TRY(remove_and_add(folder.file("large.nmb"), name));
        return {};
      },
      &landed);
  PackReport report;
  const Status status = pack(options, &report, ranks);
  NMB_TRY(ranks.agree(landed));
  // One rank reads what it opened.
  if (ranks.size() == 1) return status.ok() ? expect_out(folder, 6) : status;
  NMB_TRY(test::expect_failure_of_all(ranks, status, Code::kDamaged,
                                      "the file changed while it was read"));
  return ranks.agree(ranks.rank() == 0 ? expect_out(folder, 1) : Status());
}

// A link records the length of its file.
RANK_CASE(InputGrowsWhileItIsLinked) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  NMB_ASSIGN(PackOptions options, make_files(ranks, folder));
  std::get<Pack>(options.mode).link = true;
  Status landed;
  options.provenance = meanwhile(
      [&] { return add_blocks(folder.file("large.nmb"), true, {"later"}, 30000); }, &landed);
  PackReport report;
  const Status status = pack(options, &report, ranks);
  NMB_TRY(ranks.agree(landed));
  NMB_TRY(test::expect_failure_of_all(ranks, status, Code::kDamaged,
                                      "the file changed while it was read"));
  NMB_TRY(ranks.agree(ranks.rank() == 0 ? expect_out(folder, 1) : Status()));
  // Once nobody adds to it any more.
  options.provenance = {};
  NMB_TRY(pack(options, &report, ranks));
  return ranks.agree(ranks.rank() == 0 ? expect_out(folder, 7) : Status());
}

// The writer's lock is that of the ranks together: another one is refused, and theirs goes on.
RANK_CASE(AnotherAppendsMeanwhile) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  NMB_ASSIGN(PackOptions options, make_files(ranks, folder));
  Status landed;
  options.provenance =
      meanwhile([&] { return add_blocks(folder.file("out.nmb"), true, {"other"}, 10); }, &landed);
  PackReport report;
  NMB_TRY(pack(options, &report, ranks));
  NMB_TRY(ranks.agree(
      ranks.rank() == 0
          ? expect(!landed.ok() && landed.message().find("another writer") != std::string::npos,
                   "refused, not: " + landed.text())
          : Status()));
  return ranks.agree(ranks.rank() == 0 ? expect_out(folder, 6) : Status());
}

}  // namespace
}  // namespace nmb
