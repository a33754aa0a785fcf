// Two ranks that disagree: all ranks get the same message, with block, object, field and the two
// values; no new file is left, and committed content stays.
#include <functional>
#include <memory>
#include <string>

#include "support/corpus.h"
#include "support/model.h"
#include "support/rank_cases.h"
#include "support/rank_outcome.h"
#include "support/rank_program.h"

namespace nmb {
namespace {

using test::Definer;
using test::expect_failure_of_all;
using test::names_in;
using test::RankFolder;

FileWriterOptions quick() {
  FileWriterOptions options;
  options.sync = false;
  return options;
}

// The two that disagree.
int first_of(const Communicator& ranks) { return ranks.size() / 3; }
int second_of(const Communicator& ranks) { return ranks.size() - 1; }

std::string on_first(const Communicator& ranks) {
  return " on rank " + std::to_string(first_of(ranks));
}
std::string on_second(const Communicator& ranks) {
  return " on rank " + std::to_string(second_of(ranks));
}

void define_own(Communicator& ranks, Definer& definer) {
  const BlockId block = definer.block("own/" + std::to_string(ranks.rank()));
  definer.dimension(block, "x", 3);
}

// The actions of the first and the second rank; the others have only blocks of their own.
using Define = std::function<void(bool second, Definer&)>;

Status define_and_fail(Communicator& ranks, const std::string& path, const Define& define,
                       Code code, const std::string& said) {
  NMB_ASSIGN(const std::unique_ptr<FileWriter> writer, FileWriter::create(path, quick(), ranks));
  Definer definer(*writer);
  define_own(ranks, definer);
  if (ranks.rank() == first_of(ranks)) define(false, definer);
  if (ranks.rank() == second_of(ranks)) define(true, definer);
  NMB_TRY(ranks.agree(definer.status()));
  NMB_TRY(expect_failure_of_all(ranks, writer->end_define(), code, said));
  // It stays.
  NMB_TRY(expect_failure_of_all(ranks, writer->close(), code, said));
  return expect_failure_of_all(ranks, writer->find_block("own/0").status(), code, said);
}

Status expect_empty(Communicator& ranks, const RankFolder& folder) {
  NMB_TRY(ranks.barrier());
  return ranks.agree(expect(names_in(folder.file("")).empty(), "an empty folder"));
}

Status refuses(Communicator& ranks, const Define& define, Code code, const std::string& said) {
  if (ranks.size() == 1) return {};
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  NMB_TRY(define_and_fail(ranks, folder.file("a.nmb"), define, code, said));
  return expect_empty(ranks, folder);
}

// "block "run/fields": WHAT: found FOUND on rank B, expected EXPECTED as on rank A"
Status conflicts(Communicator& ranks, const Define& define, const std::string& what,
                 const std::string& found, const std::string& expected) {
  return refuses(ranks, define, Code::kConflict,
                 "block \"run/fields\": " + what + ": found " + found + on_second(ranks) +
                     ", expected " + expected + " as" + on_first(ranks));
}

// The block with dimensions x and y and variable v, changed by the second.
struct Fields {
  explicit Fields(Definer& to)
      : definer(to), block(to.block("run/fields")), x(to.dimension(block, "x", 5)) {}
  VarId variable(Type type, std::vector<DimId> dimensions) {
    return definer.variable(block, "v", type, dimensions);
  }
  Definer& definer;
  BlockId block;
  DimId x;
};

RANK_CASE(ConflictOfDimensionLengths) {
  return conflicts(
      ranks,
      [](bool second, Definer& definer) {
        definer.dimension(definer.block("run/fields"), "n", second ? 6 : 5);
      },
      "dimension \"n\": length", "6", "5");
}

RANK_CASE(ConflictOfAFixedAndTheRecordDimension) {
  return conflicts(
      ranks,
      [](bool second, Definer& definer) {
        definer.dimension(definer.block("run/fields"), "n", second ? std::uint64_t{kUnlimited} : 5);
      },
      "dimension \"n\": length", "unlimited", "5");
}

RANK_CASE(ConflictOfRecordDimensions) {
  return conflicts(
      ranks,
      [](bool second, Definer& definer) {
        definer.dimension(definer.block("run/fields"), second ? "step" : "time", kUnlimited);
      },
      "dimensions \"time\" and \"step\": record dimension", "\"step\"", "\"time\"");
}

RANK_CASE(ConflictOfVariableTypes) {
  return conflicts(
      ranks,
      [](bool second, Definer& definer) {
        Fields fields(definer);
        fields.variable(second ? Type::kFloat : Type::kDouble, {fields.x});
      },
      "variable \"v\": type", "float", "double");
}

RANK_CASE(ConflictOfTags) {
  return conflicts(
      ranks,
      [](bool second, Definer& definer) {
        const BlockId block = definer.block("run/fields");
        definer.tag(block, "same", 2.5);
        definer.tag(block, "run", second ? TagValue(4952.0) : TagValue(std::int64_t{4952}));
      },
      "tag \"run\"", "4952.0", "4952");
}

RANK_CASE(ConflictOfShapes) {
  return conflicts(
      ranks,
      [](bool second, Definer& definer) {
        Fields fields(definer);
        fields.variable(Type::kInt,
                        second ? std::vector{fields.x, fields.x} : std::vector{fields.x});
      },
      "variable \"v\": shape", "2 dimensions", "1 dimension");
}

RANK_CASE(ConflictOfDimensionsOfAVariable) {
  return conflicts(
      ranks,
      [](bool second, Definer& definer) {
        Fields fields(definer);
        const DimId y = definer.dimension(fields.block, "y", 5);
        fields.variable(Type::kInt, {second ? y : fields.x});
      },
      "variable \"v\": dimension at index 0", "\"y\"", "\"x\"");
}

RANK_CASE(ConflictOfAttributeTypes) {
  return conflicts(
      ranks,
      [](bool second, Definer& definer) {
        Fields fields(definer);
        const VarId v = fields.variable(Type::kInt, {fields.x});
        const int limit = 3;
        definer.keep(definer.writer().put_att(fields.block, v, "limit",
                                              second ? Type::kShort : Type::kInt,
                                              std::span<const int>(&limit, 1)));
      },
      "variable \"v\": attribute \"limit\": type", "short", "int");
}

RANK_CASE(ConflictOfAttributeValues) {
  return conflicts(
      ranks,
      [](bool second, Definer& definer) {
        Fields fields(definer);
        definer.text(fields.block, fields.variable(Type::kInt, {fields.x}), "units",
                     second ? "m" : "km");
      },
      "variable \"v\": attribute \"units\": values", "\"m\"", "\"km\"");
}

RANK_CASE(ConflictOfAMissingAttribute) {
  return conflicts(
      ranks,
      [](bool second, Definer& definer) {
        Fields fields(definer);
        const VarId v = fields.variable(Type::kInt, {fields.x});
        if (!second) definer.text(fields.block, v, "units", "km");
      },
      "variable \"v\": attribute \"units\"", "no attribute", "\"km\"");
}

RANK_CASE(ConflictOfBlockAttributes) {
  return conflicts(
      ranks,
      [](bool second, Definer& definer) {
        definer.text(definer.block("run/fields"), kGlobal, "title", second ? "two" : "one");
      },
      "attribute \"title\": values", "\"two\"", "\"one\"");
}

// A block of one name, packed by two ranks: nobody knows whose values to take.
RANK_CASE(ConflictOfPackedBlocks) {
  return refuses(
      ranks,
      [](bool, Definer& definer) {
        test::ModelBlock block;
        block.dimensions = {{"x", 5}};
        PackedBlock packed = test::packed_block("run/fields", block, Kind::kCdf5, 0);
        definer.keep(definer.writer().pack_block(std::move(packed)).status());
      },
      Code::kConflict,
      "block \"run/fields\": found packed or renamed" + on_second(ranks) +
          ", expected only packed or renamed" + on_first(ranks));
}

// A file with a block that all ranks defined. Then `change` defines, and is to fail as said.
Status refuses_later(Communicator& ranks,
                     const std::function<Status(FileWriter&, Definer&)>& change,
                     const std::string& said, Code code = Code::kConflict) {
  if (ranks.size() == 1) return {};
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  const std::string path = folder.file("a.nmb");
  std::vector<std::byte> committed;
  auto run = [&]() -> Status {
    NMB_ASSIGN(const std::unique_ptr<FileWriter> writer, FileWriter::create(path, quick(), ranks));
    Definer definer(*writer);
    define_own(ranks, definer);
    const BlockId block = definer.block("run/fields");
    const DimId x = definer.dimension(block, "x", 5);
    definer.variable(block, "v", Type::kInt, {{x}});
    NMB_TRY(ranks.agree(definer.status()));
    NMB_TRY(writer->end_define());
    definer.put("run/fields", "v", 1);
    NMB_TRY(ranks.agree(definer.status()));
    NMB_TRY(writer->sync());
    committed = test::read_file(path);
    NMB_TRY(writer->redefine());
    const Status status = change(*writer, definer);
    NMB_TRY(ranks.agree(definer.status()));
    return expect_failure_of_all(ranks, status, code, "block \"run/" + said);
  };
  NMB_TRY(run());
  NMB_TRY(ranks.barrier());
  NMB_TRY(ranks.agree(expect(test::read_file(path) == committed, "the file as it was committed")));
  return ranks.agree(
      expect(names_in(folder.file("")) == std::vector<std::string>{"a.nmb"}, "one file"));
}

// Both ranks define.
Status refuses_definitions(Communicator& ranks, const Define& define, const std::string& said) {
  return refuses_later(
      ranks,
      [&](FileWriter& writer, Definer& definer) {
        if (ranks.rank() == first_of(ranks)) define(false, definer);
        if (ranks.rank() == second_of(ranks)) define(true, definer);
        return writer.end_define();
      },
      said);
}

// The first defines, and the second puts values.
Status refuses_values(Communicator& ranks, const std::function<void(Definer&)>& define) {
  return refuses_later(
      ranks,
      [&](FileWriter& writer, Definer& definer) -> Status {
        if (ranks.rank() == first_of(ranks)) define(definer);
        NMB_TRY(writer.end_define());
        Definer puts(writer);
        if (ranks.rank() == second_of(ranks)) puts.put("run/fields", "v", 5);
        return ranks.agree(puts.status());
      },
      "fields\" is changed by another rank", Code::kUsage);
}

RANK_CASE(ConflictOfChangesOfACommittedBlock) {
  return refuses_definitions(
      ranks,
      [](bool second, Definer& definer) {
        definer.text(definer.block("run/fields"), kGlobal, "title", second ? "two" : "one");
      },
      "fields\": attribute \"title\": values: found \"two\"" + on_second(ranks) +
          ", expected \"one\" as" + on_first(ranks));
}

// The second rank adds a variable that the first does not add.
RANK_CASE(ConflictOfAdditionsToACommittedBlock) {
  return refuses_definitions(
      ranks,
      [](bool second, Definer& definer) {
        const BlockId block = definer.block("run/fields");
        definer.text(block, kGlobal, "title", "later");
        if (second) definer.variable(block, "more", Type::kInt, {});
      },
      "fields\": rank " + std::to_string(second_of(ranks)) +
          " has changed it otherwise than rank " + std::to_string(first_of(ranks)));
}

// The second rank has put values to a block that the first changes.
RANK_CASE(ConflictOfAChangeAndUncommittedValues) {
  return refuses_later(
      ranks,
      [&](FileWriter& writer, Definer& definer) -> Status {
        NMB_TRY(writer.end_define());
        if (ranks.rank() == second_of(ranks)) definer.put("run/fields", "v", 5);
        NMB_TRY(ranks.agree(definer.status()));
        NMB_TRY(writer.redefine());
        if (ranks.rank() == first_of(ranks))
          definer.text(definer.block("run/fields"), kGlobal, "title", "later");
        return writer.end_define();
      },
      "fields\": found values put" + on_second(ranks) + ", expected only changed" +
          on_first(ranks));
}

RANK_CASE(ConflictOfAChangeAndARemoval) {
  return refuses_definitions(
      ranks,
      [](bool second, Definer& definer) {
        const BlockId block = definer.block("run/fields");
        if (second)
          definer.keep(definer.writer().remove_block(block));
        else
          definer.text(block, kGlobal, "title", "later");
      },
      "fields\": found removed or renamed" + on_second(ranks) + ", expected only changed" +
          on_first(ranks));
}

RANK_CASE(ConflictOfANewNameAndADefinition) {
  return refuses_definitions(
      ranks,
      [](bool second, Definer& definer) {
        if (second)
          definer.block("run/other");
        else
          definer.keep(definer.writer().rename_block(definer.block("run/fields"), "run/other"));
      },
      "other\": found defined" + on_second(ranks) + ", expected only packed or renamed" +
          on_first(ranks));
}

// The put of a rank to a block that another rank changes is refused at once.
RANK_CASE(ConflictOfValuesAndARemoval) {
  return refuses_values(ranks, [](Definer& definer) {
    definer.keep(definer.writer().remove_block(definer.block("run/fields")));
  });
}

RANK_CASE(ConflictOfValuesAndANewName) {
  return refuses_values(ranks, [](Definer& definer) {
    definer.keep(definer.writer().rename_block(definer.block("run/fields"), "run/other"));
  });
}

RANK_CASE(ConflictOfValuesAndAChange) {
  return refuses_values(ranks, [](Definer& definer) {
    definer.text(definer.block("run/fields"), kGlobal, "title", "later");
  });
}

// A rank opens the file, or asks for another one, while the others create one.
Status refuses_creation(Communicator& ranks, const std::function<void(FileWriterOptions*)>& change,
                        const std::string& name, Code code, const std::string& said) {
  if (ranks.size() == 1) return {};
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  const bool second = ranks.rank() == second_of(ranks);
  FileWriterOptions options = quick();
  if (second) change(&options);
  NMB_TRY(expect_failure_of_all(
      ranks, FileWriter::create(folder.file(second ? name : "a.nmb"), options, ranks).status(),
      code, said));
  return expect_empty(ranks, folder);
}

RANK_CASE(ConflictOfOptions) {
  NMB_TRY(refuses_creation(
      ranks, [](FileWriterOptions* options) { options->piece_size = 65536; }, "a.nmb", Code::kUsage,
      "found piece size 65536" + on_second(ranks) + ", expected 1048576 as on rank 0"));
  NMB_TRY(refuses_creation(
      ranks, [](FileWriterOptions* options) { options->metadata_codec = MetadataCodec::kNone; },
      "a.nmb", Code::kUsage, "found metadata codec 0" + on_second(ranks) + ", expected 2"));
  return refuses_creation(
      ranks, [](FileWriterOptions* options) { options->piece_size = 3; }, "a.nmb", Code::kUsage,
      "found piece size 3, expected a power of 2 from 65536 to 2^30 (" +
          on_second(ranks).substr(1) + ")");
}

RANK_CASE(ConflictOfPaths) {
  return refuses_creation(
      ranks, [](FileWriterOptions*) {}, "b.nmb", Code::kUsage, "b.nmb\"" + on_second(ranks));
}

RANK_CASE(ConflictOfCreationAndOpening) {
  if (ranks.size() == 1) return {};
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  const std::string path = folder.file("a.nmb");
  NMB_TRY(expect_failure_of_all(
      ranks,
      (ranks.rank() == second_of(ranks) ? FileWriter::open(path, quick(), ranks)
                                        : FileWriter::create(path, quick(), ranks))
          .status(),
      Code::kUsage, "found mode append" + on_second(ranks) + ", expected create as on rank 0"));
  return expect_empty(ranks, folder);
}

// The second rank calls something else than all others.
Status refuses_calls(Communicator& ranks, bool in_define_mode, Status (FileWriter::*others)(),
                     Status (FileWriter::*second)(), const std::string& said) {
  if (ranks.size() == 1) return {};
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  {
    NMB_ASSIGN(const std::unique_ptr<FileWriter> writer,
               FileWriter::create(folder.file("a.nmb"), quick(), ranks));
    if (!in_define_mode) NMB_TRY(writer->end_define());
    const bool is_second = ranks.rank() == second_of(ranks);
    NMB_TRY(expect_failure_of_all(ranks, (writer.get()->*(is_second ? second : others))(),
                                  Code::kUsage, said));
  }
  return expect_empty(ranks, folder);
}

RANK_CASE(ConflictOfCalls) {
  NMB_TRY(refuses_calls(ranks, false, &FileWriter::redefine, &FileWriter::sync,
                        "found sync()" + on_second(ranks) + " and redefine() on rank 0"));
  NMB_TRY(refuses_calls(ranks, false, &FileWriter::sync, &FileWriter::close,
                        "found close()" + on_second(ranks) + " and sync() on rank 0"));
  NMB_TRY(refuses_calls(ranks, true, &FileWriter::end_define, &FileWriter::sync,
                        "found sync()" + on_second(ranks) + " and end_define() on rank 0"));
  return refuses_calls(ranks, true, &FileWriter::sync, &FileWriter::sync,
                       "sync() is not allowed in define mode; call end_define() first");
}

// Values of a shared block are put; none are dropped because another rank keeps it.
RANK_CASE(SharedBlocksTakeNoValues) {
  NMB_ASSIGN(const test::RankFolder folder, test::RankFolder::make(ranks));
  FileWriterOptions options;
  options.sync = false;
  NMB_ASSIGN(std::unique_ptr<FileWriter> writer,
             FileWriter::create(folder.file("taken.nmb"), options, ranks));
  NMB_ASSIGN(const BlockId block, writer->define_block("shared"));
  NMB_ASSIGN(const DimId x, writer->def_dim(block, "x", 100));
  NMB_TRY(writer->def_var(block, "v", Type::kByte, std::span(&x, 1)).status());
  NMB_TRY(writer->end_define());
  static const std::vector<std::byte> bytes(100);
  const Status status = writer->take_values(block, std::make_shared<const MemorySource>(bytes),
                                            {{0, 0, 0, 0, 100, 1}});
  NMB_TRY(expect(ranks.size() == 1 ? status.ok() : status.code() == Code::kUsage,
                 "refused where several ranks share the block: " + status.text()));
  return writer->close();
}

}  // namespace
}  // namespace nmb
