// One rank reads, all get it: opening, blocks, values; and the errors of that.
#include <memory>
#include <numeric>
#include <string>

#include "files/files.h"
#include "reader/file_reader.h"
#include "support/counting_source.h"
#include "support/rank_cases.h"
#include "support/rank_program.h"

namespace nmb {
namespace {

using test::CountingSource;
using test::RankFolder;

// 300 blocks with values, written by rank 0.
Status write_blocks(const std::string& path) {
  FileWriterOptions options;
  options.sync = false;
  NMB_ASSIGN(std::unique_ptr<FileWriter> writer, FileWriter::create(path, options));
  test::Definer definer(*writer);
  for (int i = 0; i < 300; ++i) {
    const BlockId block = definer.block("b" + std::to_string(i));
    const DimId x = definer.dimension(block, "x", 5000);
    definer.variable(block, "v", Type::kInt, {{x}});
  }
  definer.keep(writer->end_define());
  for (int i = 0; i < 300; ++i) definer.put("b" + std::to_string(i), "v", i);
  NMB_TRY(definer.status());
  return writer->close();
}

RANK_CASE(OneRankReadsForAll) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  const std::string path = folder.file("blocks.nmb");
  NMB_TRY(ranks.agree(ranks.rank() == 0 ? write_blocks(path) : Status()));
  NMB_ASSIGN(const std::unique_ptr<FileSource> file, FileSource::open(path));
  const auto counted = std::make_shared<const CountingSource>(*file);
  NMB_ASSIGN(const std::unique_ptr<FileReader> reader, FileReader::open(counted, {}, ranks));
  NMB_TRY(expect(reader->totals().blocks == 300, "all blocks"));
  const std::string_view names[] = {"b7", "b299"};
  NMB_ASSIGN(const auto blocks, reader->open_blocks(names));
  std::vector<int> values(5000);
  NMB_TRY(reader->get_all_same({blocks[1], 0}, {{0}, {5000}, {}}, values));
  NMB_TRY(expect(values[0] == 299 % 127 && values[1] == 300 % 127, "the values"));
  NMB_TRY(expect(ranks.rank() == 0 || counted->reads() == 0, "no reads but by rank 0"));
  // Every rank another block: each has its own.
  const std::string own = "b" + std::to_string(100 + ranks.rank());
  const std::string_view different[] = {own};
  NMB_ASSIGN(const auto mine, reader->open_blocks(different));
  NMB_TRY(expect(mine[0]->entry.name == own, "the rank's own block"));
  // Independent calls go on working.
  NMB_ASSIGN(const Object object, reader->object("b" + std::to_string(ranks.rank()) + "/v"));
  NMB_ASSIGN(const std::vector<int> all, object.block->read_all<int>(object.variable));
  NMB_TRY(expect(all[0] == ranks.rank(), "the values of an own block"));
  return ranks.barrier();
}

RANK_CASE(ReadersGetTheSameFailure) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  const std::string path = folder.file("blocks.nmb");
  const Status missing = FileReader::open(path, {}, ranks).status();
  NMB_TRY(expect(missing.code() == Code::kNotFound, "no file on any rank: " + missing.text()));
  NMB_TRY(ranks.agree(ranks.rank() == 0 ? write_blocks(path) : Status()));
  NMB_ASSIGN(const std::unique_ptr<FileSource> file, FileSource::open(path));
  {
    // Rank 0's first read fails: nobody else tries.
    const auto counted = std::make_shared<const CountingSource>(*file, 0);
    const Status status = FileReader::open(counted, {}, ranks).status();
    NMB_TRY(expect(status.code() == Code::kIo, "rank 0's failure: " + status.text()));
    NMB_TRY(expect(ranks.rank() == 0 || counted->reads() == 0, "no reads but by rank 0"));
  }
  NMB_ASSIGN(const std::unique_ptr<FileReader> reader, FileReader::open(path, {}, ranks));
  // One rank wants what is not there.
  const std::string_view names[] = {ranks.rank() == ranks.size() - 1 ? "nowhere" : "b1"};
  const Status status = reader->open_blocks(names).status();
  NMB_TRY(expect(status.code() == Code::kNotFound, "not found on any rank: " + status.text()));
  return ranks.barrier();
}

}  // namespace
}  // namespace nmb
