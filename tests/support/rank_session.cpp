// Programs of ranks for tests of failures (see support/rank_session.h).
#include "support/rank_session.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>

#include "dump/dump.h"
#include "parallel/collective_call.h"
#include "reader/file_reader.h"
#include "support/model.h"
#include "support/rank_cases.h"
#include "support/rank_program.h"
#include "support/sanitized.h"
#include "wire/hash.h"

namespace nmb::test {

namespace {

std::string own(const Communicator& ranks, const std::string& name) {
  return "rank" + std::to_string(ranks.rank()) + "/" + name;
}

void define_values(Definer& definer, const std::string& name, std::uint64_t length) {
  const BlockId block = definer.block(name);
  const DimId x = definer.dimension(block, "x", length);
  definer.variable(block, "v", Type::kShort, {{x}});
}

void pack(Definer& definer, const std::string& name, int first) {
  ModelBlock block;
  block.dimensions = {{"x", 3000}};
  ModelVariable variable;
  variable.name = "v";
  variable.type = Type::kShort;
  variable.dimensions = {0};
  for (int i = 0; i < 3000; ++i) variable.values.push_back((first + i) % 100);
  block.variables = {variable};
  definer.keep(definer.writer().pack_block(packed_block(name, block, Kind::kCdf2, 0)).status());
}

// This rank's part of a variable that all ranks share.
void put_part(const Communicator& ranks, Definer& definer, const std::string& name,
              std::uint64_t length, int first) {
  const auto rank = static_cast<std::uint64_t>(ranks.rank());
  const auto size = static_cast<std::uint64_t>(ranks.size());
  const std::uint64_t from = rank * length / size, to = (rank + 1) * length / size;
  definer.put(name, "v", {{from}, {to - from}, {}}, first);
}

// Every rank's, in put_all().
Status put_record(Communicator& ranks, Definer& definer, FileWriter& writer) {
  const std::vector<int> values{ranks.rank(), 1, 2};
  const auto at = static_cast<std::uint64_t>(ranks.rank());
  const BlockId block = definer.value(writer.find_block("records"));
  const VarId variable = 0;
  NMB_TRY(ranks.agree(definer.status()));
  return writer.put_all(block, variable, {{at}, {values.size()}, {}}, std::span<const int>(values));
}

// The same by requests, with some of a block of the rank's own.
Status put_by_requests(Communicator& ranks, Definer& definer, FileWriter& writer) {
  const std::vector<int> values{3, 1, 4, 1, 5};
  const auto at = static_cast<std::uint64_t>(ranks.rank());
  std::vector<RequestId> requests;
  for (const std::string& name : {std::string("records"), own(ranks, "new")})
    for (const std::uint64_t from : {at, at + 3})
      requests.push_back(
          definer.value(writer.iput(definer.value(writer.find_block(name)), 0,
                                    {{from}, {values.size()}, {}}, std::span<const int>(values))));
  NMB_TRY(ranks.agree(definer.status()));
  return writer.wait_all(requests);
}

// Reads values that are not committed, and all ranks change the definitions of their block; a new
// variable moves the records.
Status get_and_change(Communicator& ranks, Definer& definer, FileWriter& writer) {
  NMB_ASSIGN(const BlockId block, writer.find_block("records"));
  std::vector<int> found(5);
  const Get get{block, 0, {{static_cast<std::uint64_t>(ranks.rank()) + 3}, {5}, {}}, found};
  NMB_TRY(writer.get_all(std::span(&get, 1)));
  const std::vector<int> before = found;
  NMB_TRY(writer.redefine());
  const DimId x = definer.dimension(block, "fixed x", 300);
  definer.variable(block, "fixed", Type::kInt, std::span(&x, 1));
  NMB_TRY(ranks.agree(definer.status()));
  NMB_TRY(writer.end_define());
  NMB_TRY(writer.get_all(std::span(&get, 1)));
  return ranks.agree(expect(found == before, "the same values at their new offsets"));
}

constexpr std::uint64_t kSmall = 100, kMiddle = 4000, kLarge = 40000, kShared = 50000;

}  // namespace

FileWriterOptions session_options(OutputLayer layer) {
  FileWriterOptions options;
  options.piece_size = 65536;
  options.inline_limit = 512;
  options.overwrite = true;
  options.alignment = 4096;  // several ranks write even to small files
  options.sync = layer != nullptr;
  options.layer = std::move(layer);
  return options;
}

Status create_session(Communicator& ranks, const std::string& path,
                      const FileWriterOptions& options) {
  NMB_ASSIGN(const std::unique_ptr<FileWriter> writer, FileWriter::create(path, options, ranks));
  Definer definer(*writer);
  define_values(definer, own(ranks, "small"), kSmall);
  define_values(definer, own(ranks, "middle"), kMiddle);
  define_values(definer, own(ranks, "large"), kLarge);
  define_values(definer, "shared", kShared);
  define_values(definer, "records", kUnlimited);
  define_values(definer, own(ranks, "steps"), kUnlimited);
  pack(definer, own(ranks, "packed"), ranks.rank());
  NMB_TRY(ranks.agree(definer.status()));
  NMB_TRY(writer->end_define());
  for (const char* name : {"small", "middle", "large"})
    definer.put(own(ranks, name), "v", ranks.rank());
  put_part(ranks, definer, "shared", kShared, 7 * ranks.rank());
  return writer->close();
}

Status change_session(Communicator& ranks, const std::string& path,
                      const FileWriterOptions& options) {
  NMB_ASSIGN(const std::unique_ptr<FileWriter> writer, FileWriter::open(path, options, ranks));
  Definer definer(*writer);
  definer.keep(writer->remove_block(definer.block(own(ranks, "middle"))));
  definer.keep(writer->rename_block(definer.block(own(ranks, "small")), own(ranks, "tiny")));
  definer.text(definer.block(own(ranks, "large")), kGlobal, "title", "changed");
  define_values(definer, own(ranks, "new"), kLarge);
  define_values(definer, "new shared", kShared);
  NMB_TRY(ranks.agree(definer.status()));
  NMB_TRY(writer->end_define());
  definer.put(own(ranks, "new"), "v", 5);
  put_part(ranks, definer, "new shared", kShared, ranks.rank());
  NMB_TRY(writer->sync());
  // Records alone go to two growth pages, which the commit behind takes in.
  definer.put(own(ranks, "steps"), "v", {{0}, {10}, {}}, 1);
  NMB_TRY(put_record(ranks, definer, *writer));
  NMB_TRY(writer->sync());
  definer.put(own(ranks, "steps"), "v", {{10}, {10}, {}}, 2);
  NMB_TRY(writer->sync());
  // Values that are committed, and records behind them: they wait for places.
  definer.put(own(ranks, "new"), "v", {{9}, {50}, {}}, 40);
  put_part(ranks, definer, "shared", kShared, 9);
  NMB_TRY(put_record(ranks, definer, *writer));
  NMB_TRY(put_by_requests(ranks, definer, *writer));
  NMB_TRY(get_and_change(ranks, definer, *writer));
  NMB_TRY(writer->sync());
  NMB_TRY(writer->redefine());
  define_values(definer, own(ranks, "last"), kMiddle);
  NMB_TRY(ranks.agree(definer.status()));
  NMB_TRY(writer->end_define());
  definer.put(own(ranks, "last"), "v", 6);
  return writer->close();
}

Status run_session(Communicator& ranks, const std::string& path,
                   const std::function<Status()>& session) {
  return collective_call(ranks, out_of_memory_on(ranks).in_file(path), session);
}

std::string content_of(const std::string& path) {
  std::string text;
  auto read = [&]() -> Status {
    NMB_ASSIGN(const std::unique_ptr<FileReader> reader, FileReader::open(path));
    return reader->for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
      NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> block, reader->block(entry));
      NMB_TRY(write_cdl_header({entry.name, block->metadata, block->kind(), block->records},
                               [&](std::string_view part) -> Status {
                                 text += part;
                                 return {};
                               }));
      std::vector<std::byte> values(block->extent->size());
      NMB_TRY(block->extent->read_at(0, values));
      text += "values " + std::to_string(sum_of(values)) + "\n";
      return true;
    });
  };
  const Status status = read();
  return status.ok() ? text : "cannot read: " + status.text();
}

namespace {

char watched[512];

void bark(int) {
  (void)!::write(STDERR_FILENO, watched, std::strlen(watched));
  std::abort();
}

}  // namespace

Watchdog::Watchdog(const std::string& what) {
  std::snprintf(watched, sizeof watched, "not done in time: %s\n", what.c_str());
  std::signal(SIGALRM, bark);
  ::alarm(60);
}

Watchdog::~Watchdog() { ::alarm(0); }

}  // namespace nmb::test
