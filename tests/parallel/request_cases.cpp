// Requests that ranks make each for itself and wait for together: the bytes, the failures and the
// messages of put_all().
#include <memory>
#include <numeric>
#include <string>

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

FileWriterOptions overwriting() {
  FileWriterOptions options;
  options.piece_size = 65536;
  options.sync = false;
  options.overwrite = true;
  return options;
}

// Of all ranks: records of two variables, and a fixed one; and a block of each rank's own.
void define(const Communicator& ranks, Definer& definer) {
  for (const std::string& name : {std::string("shared"), "own" + std::to_string(ranks.rank())}) {
    const BlockId block = definer.block(name);
    const DimId time = definer.dimension(block, "time", kUnlimited);
    const DimId x = definer.dimension(block, "x", 700);
    definer.variable(block, "level", Type::kInt, {{time, x}});
    definer.variable(block, "count", Type::kShort, {{time}});
    definer.variable(block, "grid", Type::kDouble, {{x}});
  }
}

// Collective. A new file with those definitions, to which values may be put.
Result<std::unique_ptr<FileWriter>> start(Communicator& ranks, const std::string& path) {
  NMB_ASSIGN(std::unique_ptr<FileWriter> writer, FileWriter::create(path, overwriting(), ranks));
  Definer definer(*writer);
  define(ranks, definer);
  NMB_TRY(ranks.agree(definer.status()));
  NMB_TRY(writer->end_define());
  return writer;
}

struct Put {
  BlockId block;
  VarId variable;
  Hyperslab slab;
  std::vector<int> values;
};

// Of one rank after the other; those of one place in the shared block overlap among ranks.
std::vector<Put> puts_of(const Communicator& ranks, FileWriter& writer, int round) {
  const auto rank = static_cast<std::uint64_t>(ranks.rank());
  const auto at = static_cast<std::uint64_t>(round) * 4;
  const BlockId shared = *writer.find_block("shared");
  const BlockId own = *writer.find_block("own" + std::to_string(ranks.rank()));
  std::vector<Put> puts{{own, 0, {{at, 0}, {rank, 700}, {}}, {}},
                        {shared, 1, {{at + rank}, {3}, {}}, {}},
                        {shared, 0, {{at + rank / 2, 0}, {2, 700}, {}}, {}},
                        {own, 2, {{rank}, {100}, {3}}, {}},
                        {shared, 2, {{rank * 30}, {100}, {}}, {}},
                        {shared, 0, {{at + 100, rank}, {1, 20}, {1, 5}}, {}}};
  for (Put& put : puts) {
    put.values.resize(element_count(put.slab));
    std::iota(put.values.begin(), put.values.end(), ranks.rank() * 1000 + round);
  }
  return puts;
}

// Three generations.
enum class Way { kCalls, kRequests, kLists };
Status write(Communicator& ranks, const std::string& path, Way way) {
  NMB_ASSIGN(const std::unique_ptr<FileWriter> writer, start(ranks, path));
  for (int round = 0; round < 3; ++round) {
    const std::vector<Put> puts = puts_of(ranks, *writer, round);
    std::vector<RequestId> requests;
    for (const Put& put : puts) {
      const std::span<const int> values(put.values);
      if (way == Way::kLists && put.slab.stride.empty()) {
        // A selection for each index of the first dimension.
        std::vector<std::uint64_t> numbers;
        for (std::uint64_t i = 0; i < put.slab.count[0]; ++i) {
          Hyperslab one = put.slab;
          one.start[0] += i;
          one.count[0] = 1;
          numbers.insert(numbers.end(), one.start.begin(), one.start.end());
          numbers.insert(numbers.end(), one.count.begin(), one.count.end());
        }
        NMB_ASSIGN(const RequestId request,
                   writer->iput(put.block, put.variable, Hyperslabs{numbers}, values));
        requests.push_back(request);
      } else if (way != Way::kCalls) {
        NMB_ASSIGN(const RequestId request,
                   writer->iput(put.block, put.variable, put.slab, values));
        requests.push_back(request);
      } else {
        NMB_TRY(writer->put_all(put.block, put.variable, put.slab, values));
      }
    }
    if (way != Way::kCalls) NMB_TRY(writer->wait_all(requests));
    NMB_TRY(writer->sync());
  }
  return writer->close();
}

// All values as readers see them.
Result<std::string> values_of(const std::string& path) {
  std::string text = test::findings_of(std::filesystem::path(path));
  NMB_ASSIGN(const std::unique_ptr<FileReader> reader, FileReader::open(path));
  NMB_TRY(reader->for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> block, reader->block(entry));
    for (VarId v = 0; v < 3; ++v) {
      NMB_ASSIGN(const std::vector<double> values, block->read_all<double>(v));
      text += "\n" + entry.name + ":";
      for (const double value : values) text += " " + std::to_string(value);
    }
    return true;
  }));
  return text;
}

RANK_CASE(RequestsPutTheValuesThatPutAllDoes) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  const std::string calls = folder.file("calls.nmb"), requests = folder.file("requests.nmb"),
                    lists = folder.file("lists.nmb");
  NMB_TRY(write(ranks, calls, Way::kCalls));
  NMB_TRY(write(ranks, requests, Way::kRequests));
  NMB_TRY(write(ranks, lists, Way::kLists));
  auto compare = [&]() -> Status {
    NMB_ASSIGN(const std::string expected, values_of(calls));
    for (const std::string& path : {requests, lists}) {
      NMB_ASSIGN(const std::string found, values_of(path));
      NMB_TRY(expect(found == expected && found[0] == '\n', "the same values, and no findings"));
    }
    return {};
  };
  return ranks.agree(ranks.rank() == 0 ? compare() : Status());
}

// The same values by one request or by a thousand.
RANK_CASE(RequestsMakeTheBytesOfOneCall) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  const auto rank = static_cast<std::uint64_t>(ranks.rank());
  constexpr std::uint64_t kRecords = 40;
  std::vector<int> values(kRecords * 700);
  std::iota(values.begin(), values.end(), ranks.rank());
  std::vector<std::vector<std::byte>> files;
  for (const bool many : {false, true}) {
    const std::string path = folder.file(many ? "many.nmb" : "one.nmb");
    NMB_ASSIGN(const std::unique_ptr<FileWriter> writer, start(ranks, path));
    NMB_ASSIGN(const BlockId block, writer->find_block("shared"));
    const Hyperslab all{{rank * kRecords / 2, 0}, {kRecords, 700}, {}};
    std::vector<RequestId> requests;
    if (many) {
      for (std::uint64_t i = kRecords * 25; i-- > 0;) {
        const Hyperslab part{{all.start[0] + i / 25, i % 25 * 28}, {1, 28}, {}};
        NMB_ASSIGN(const RequestId request,
                   writer->iput(block, 0, part, std::span<const int>(values).subspan(i * 28, 28)));
        requests.push_back(request);
      }
      NMB_TRY(writer->wait_all(requests));
    } else {
      NMB_TRY(writer->put_all(block, 0, all, std::span<const int>(values)));
    }
    NMB_TRY(writer->close());
    if (ranks.rank() == 0) files.push_back(test::read_file(path));
  }
  return ranks.agree(ranks.rank() != 0 ? Status() : expect(files[0] == files[1], "the same bytes"));
}

// Messages of one wait_all() in which all ranks' blocks grow.
Result<std::uint64_t> messages(Communicator& ranks, const std::string& path, std::uint64_t count) {
  NMB_ASSIGN(const std::unique_ptr<FileWriter> writer, start(ranks, path));
  NMB_ASSIGN(const BlockId shared, writer->find_block("shared"));
  NMB_ASSIGN(const BlockId own, writer->find_block("own" + std::to_string(ranks.rank())));
  const auto rank = static_cast<std::uint64_t>(ranks.rank());
  const std::vector<int> record(700, ranks.rank());
  std::vector<RequestId> requests;
  for (std::uint64_t i = 0; i < count; ++i) {
    for (const BlockId block : {shared, own}) {
      const Hyperslab slab{{rank * count + i, 0}, {1, 700}, {}};
      NMB_ASSIGN(const RequestId request,
                 writer->iput(block, 0, slab, std::span<const int>(record)));
      requests.push_back(request);
    }
  }
  const std::uint64_t before = ranks.traffic().messages;
  NMB_TRY(writer->wait_all(requests));
  const std::uint64_t sent = ranks.traffic().messages - before;
  NMB_TRY(writer->close());
  return ranks.all_reduce(sent, std::plus<>());
}

RANK_CASE(MessagesDoNotGrowWithRequests) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  NMB_ASSIGN(const std::uint64_t few, messages(ranks, folder.file("few.nmb"), 1));
  NMB_ASSIGN(const std::uint64_t many, messages(ranks, folder.file("many.nmb"), 100));
  // Every rank may send values to every other.
  const auto size = static_cast<std::uint64_t>(ranks.size());
  return expect(many <= few + size * (size - 1),
                "as many messages for 200 requests a rank as for 2, and values, not " +
                    std::to_string(many) + " and " + std::to_string(few));
}

RANK_CASE(RangeErrorsOfRequestsAreToldToAll) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  const std::string path = folder.file("range.nmb");
  const bool last = ranks.rank() == ranks.size() - 1;
  NMB_ASSIGN(const std::unique_ptr<FileWriter> writer, start(ranks, path));
  NMB_ASSIGN(const BlockId block, writer->find_block("shared"));
  const std::vector<int> fits{1}, large{70000};
  std::vector<RequestId> requests;
  for (const std::vector<int>* values : {&fits, &large}) {
    const Hyperslab slab{{static_cast<std::uint64_t>(ranks.rank())}, {1}, {}};
    // All but the last rank have nothing to wait for.
    if (!last) break;
    NMB_ASSIGN(const RequestId request,
               writer->iput(block, 1, slab, std::span<const int>(*values)));
    requests.push_back(request);
  }
  std::vector<Status> statuses(requests.size());
  const Status status = writer->wait_all(requests, statuses);
  NMB_TRY(test::expect_failure_of_all(ranks, status, Code::kRange, "found 1 values of variable"));
  if (last) {
    NMB_TRY(expect(statuses[0].ok() && statuses[1].code() == Code::kRange, "of one request"));
    NMB_ASSIGN(const std::uint64_t records, writer->records(block));
    NMB_TRY(expect(records == static_cast<std::uint64_t>(ranks.size()), "all values put"));
  }
  return writer->close();
}

// Would catch: a wrong request on one rank after which no rank can use its writer.
RANK_CASE(AWrongRequestOfOneRankFailsAll) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  const std::string path = folder.file("wrong.nmb");
  NMB_ASSIGN(const std::unique_ptr<FileWriter> writer, start(ranks, path));
  const std::vector<RequestId> requests(ranks.rank() == ranks.size() / 2 ? 1 : 0, 77);
  const Status status = writer->wait_all(requests);
  NMB_TRY(test::expect_failure_of_all(ranks, status, Code::kUsage, "found request ID 77"));
  return writer->close();
}

// Open requests of one rank keep all from committing, and all may go on.
RANK_CASE(OpenRequestsOfOneRankAreToldToAll) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  const std::string path = folder.file("open.nmb");
  NMB_ASSIGN(const std::unique_ptr<FileWriter> writer, start(ranks, path));
  NMB_ASSIGN(const BlockId block, writer->find_block("shared"));
  const std::vector<int> value{5};
  std::vector<RequestId> requests;
  if (ranks.rank() == ranks.size() - 1) {
    NMB_ASSIGN(const RequestId request,
               writer->iput(block, 1, {{0}, {1}, {}}, std::span<const int>(value)));
    requests.push_back(request);
  }
  for (const Status& status : {writer->sync(), writer->close()})
    NMB_TRY(test::expect_failure_of_all(ranks, status, Code::kUsage, "1 request is open"));
  NMB_TRY(writer->wait_all(requests));
  NMB_TRY(writer->close());
  auto check = [&]() -> Status {
    NMB_ASSIGN(const std::unique_ptr<FileReader> reader, FileReader::open(path));
    NMB_ASSIGN(const Object object, reader->object("shared/count"));
    NMB_ASSIGN(const std::vector<int> values, object.block->read_all<int>(object.variable));
    return expect(values == value, "the value of the request");
  };
  return ranks.agree(ranks.rank() == 0 ? check() : Status());
}

// Requests that are made in define mode, or before the definitions change, are put afterwards.
RANK_CASE(RequestsStayOpenWhileDefinitionsChange) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  const std::string path = folder.file("modes.nmb");
  const auto size = static_cast<std::uint64_t>(ranks.size());
  const auto rank = static_cast<std::uint64_t>(ranks.rank());
  const int early = 10 + ranks.rank(), late = 20 + ranks.rank(), never = -1;
  NMB_ASSIGN(const std::unique_ptr<FileWriter> writer,
             FileWriter::create(path, test::small_pieces(), ranks));
  NMB_ASSIGN(const BlockId block, writer->define_block("b"));
  NMB_ASSIGN(const DimId time, writer->def_dim(block, "time", kUnlimited));
  NMB_TRY(writer->def_var(block, "v", Type::kInt, std::span(&time, 1)).status());
  const auto at = [](std::uint64_t record) { return Hyperslab{{record}, {1}, {}}; };
  const auto one = [](const int& value) { return std::span<const int>(&value, 1); };
  NMB_ASSIGN(const RequestId first, writer->iput(block, 0, at(rank), one(early)));
  NMB_TRY(expect(writer->iput(block, 1, at(rank), one(early)).status().code() == Code::kUsage,
                 "no such variable"));
  NMB_TRY(writer->end_define());
  NMB_ASSIGN(const RequestId second, writer->iput(block, 0, at(size + rank), one(late)));
  NMB_ASSIGN(const RequestId cancelled, writer->iput(block, 0, at(rank), one(never)));
  NMB_TRY(writer->redefine());
  NMB_ASSIGN(const DimId x, writer->def_dim(block, "x", 3));
  NMB_TRY(writer->def_var(block, "fixed", Type::kInt, std::span(&x, 1)).status());
  NMB_TRY(writer->end_define());
  NMB_TRY(writer->cancel(std::span(&cancelled, 1)));
  NMB_TRY(expect(writer->cancel(std::span(&cancelled, 1)).code() == Code::kUsage, "it is closed"));
  const RequestId both[] = {first, second};
  NMB_TRY(writer->wait_all(both));
  NMB_TRY(writer->close());
  auto check = [&]() -> Status {
    NMB_ASSIGN(const std::unique_ptr<FileReader> reader, FileReader::open(path));
    NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> read, reader->block("b"));
    NMB_ASSIGN(const std::vector<int> values, read->read_all<int>(0));
    NMB_TRY(expect(values.size() == 2 * size, "two records of each rank"));
    for (std::uint64_t i = 0; i < size; ++i)
      NMB_TRY(expect(
          values[i] == 10 + static_cast<int>(i) && values[size + i] == 20 + static_cast<int>(i),
          "the values of both requests"));
    return expect(test::findings_of(std::filesystem::path(path)).empty(), "a sound file");
  };
  return ranks.agree(ranks.rank() == 0 ? check() : Status());
}

// Every rank reads what it wants, with requests of its own.
RANK_CASE(EachRankReadsByRequestsOfItsOwn) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  const std::string path = folder.file("read.nmb");
  NMB_TRY(write(ranks, path, Way::kRequests));
  NMB_ASSIGN(const std::unique_ptr<FileReader> reader, FileReader::open(path, {}, ranks));
  GetRequests requests;
  std::vector<RequestId> ids;
  std::vector<std::vector<double>> found, expected;
  for (const std::string& name : {std::string("shared"), "own" + std::to_string(ranks.rank())}) {
    NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> block, reader->block(name));
    for (VarId v = 0; v < 3; ++v) {
      NMB_ASSIGN(const VariableShape shape, block->shape(v));
      NMB_ASSIGN(std::vector<double> values, block->read_all<double>(v));
      found.emplace_back(values.size());
      expected.push_back(std::move(values));
      const Hyperslab all{std::vector<std::uint64_t>(shape.lengths.size(), 0), shape.lengths, {}};
      NMB_ASSIGN(const RequestId id, requests.iget({block, v}, all, std::span(found.back())));
      ids.push_back(id);
    }
  }
  NMB_TRY(requests.wait(ids));
  NMB_TRY(expect(found == expected, "the values"));
  return ranks.barrier();
}

}  // namespace
}  // namespace nmb
