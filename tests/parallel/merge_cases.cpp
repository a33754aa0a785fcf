// Several ranks merge inputs to the same file as one process, and report the same conflicts.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "merge/reporting/merge.h"
#include "model/classic.h"
#include "support/faulty_output.h"
#include "support/rank_cases.h"
#include "support/rank_outcome.h"
#include "support/rank_program.h"

namespace nmb {
namespace {

using test::RankFolder;

// A CDF-5 file of groups, each of a variable with `length` values and one of a number.
struct Input {
  std::vector<std::string> groups;
  std::uint64_t length = 3;
  std::string title;  // a global attribute; empty: none
};

Status write_input(const std::string& path, const Input& input) {
  Metadata metadata;
  if (!input.title.empty())
    NMB_TRY(metadata.put_att(kGlobal, "title", Type::kChar, std::as_bytes(std::span(input.title))));
  for (const std::string& group : input.groups) {
    const std::string start = "_grp_" + group + "_";
    NMB_ASSIGN(const DimId x, metadata.def_dim(start + "x", input.length));
    NMB_TRY(metadata.def_var(start + "energy", Type::kDouble, {{x}}).status());
    NMB_TRY(metadata.def_var(start + "label", Type::kInt, {}).status());
  }
  NMB_ASSIGN(const ClassicLayout layout, layout_classic(metadata, Kind::kCdf5));
  std::ofstream file(path, std::ios::binary);
  NMB_TRY(encode_classic_header(metadata, Kind::kCdf5, 0,
                                [&](std::span<const std::byte> part) -> Status {
                                  file.write(reinterpret_cast<const char*>(part.data()),
                                             static_cast<std::streamsize>(part.size()));
                                  return {};
                                }));
  for (std::uint64_t i = layout.header_length; i < layout.fixed_end; ++i)
    file.put(static_cast<char>(i * 7 % 251));
  return file.flush() ? Status() : Status(Code::kIo, path, kNoOffset, "", "cannot be written");
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string text_of(const PackReport& report) {
  std::string out = std::to_string(report.inputs) + " " + std::to_string(report.bytes_in) + " " +
                    std::to_string(report.value_bytes) + " " + std::to_string(report.bytes_out);
  for (const PackConflict& c : report.conflicts)
    out += "\n" + std::string(conflict_name(c.kind)) + "; " + c.object + "; " + c.first_file +
           "; " + c.second_file + "; " + c.found + "; " + c.expected;
  for (const Status& status : report.unreadable) out += "\n" + status.text();
  for (const std::string& warning : report.warnings) out += "\n" + warning;
  return out;
}

// Collective. Merges the inputs by all ranks and, on rank 0, alone.
Status merge_both_ways(Communicator& ranks, const RankFolder& folder,
                       const std::vector<Input>& inputs, PackOptions options, Code outcome,
                       std::size_t conflicts = 0) {
  options.writer.sync = false;
  options.writer.piece_size = 65536;
  auto name = [&](std::size_t i) { return folder.file("in" + std::to_string(i) + ".nc"); };
  auto write = [&]() -> Status {
    for (std::size_t i = 0; i < inputs.size(); ++i) NMB_TRY(write_input(name(i), inputs[i]));
    return {};
  };
  NMB_TRY(ranks.agree(ranks.rank() == 0 ? write() : Status()));
  for (std::size_t i = 0; i < inputs.size(); ++i) options.inputs.push_back(name(i));
  options.output = folder.file("ranks.nmb");
  PackReport planned;
  PackOptions dry = options;
  dry.writer.dry_run = true;
  const Status plan = pack(dry, &planned, ranks);
  NMB_TRY(ranks.agree(expect(plan.code() == outcome, plan.text())));
  PackReport report;
  const Status status = pack(options, &report, ranks);
  NMB_TRY(ranks.agree(expect(status.code() == outcome, status.text())));
  auto compare = [&]() -> Status {
    NMB_TRY(expect(plan.text() == status.text() && planned.plan.has_value() == status.ok(),
                   "found plan " + plan.text() + "\nexpected " + status.text()));
    NMB_TRY(expect(text_of(planned) == text_of(report) && planned.totals == report.totals,
                   "found plan " + text_of(planned) + "\nexpected " + text_of(report)));
    PackOptions alone = options;
    alone.output = folder.file("alone.nmb");
    alone.writer.layer = {};
    PackReport expected;
    const Status done = pack(alone, &expected);
    NMB_TRY(expect(done.code() == outcome, done.text()));
    NMB_TRY(expect(expected.conflicts.size() == conflicts, text_of(expected)));
    NMB_TRY(expect(text_of(report) == text_of(expected),
                   "found " + text_of(report) + "\nexpected " + text_of(expected)));
    if (outcome != Code::kOk)
      return expect(test::names_in(std::filesystem::path(options.output).parent_path()).size() ==
                        inputs.size(),
                    "no file is left");
    return expect(content_of(options.output) == content_of(alone.output), "the same bytes");
  };
  return ranks.agree(ranks.rank() == 0 ? compare() : Status());
}

std::vector<Input> many_inputs() {
  std::vector<Input> inputs;
  for (std::size_t i = 0; i < 23; ++i) {
    Input& input = inputs.emplace_back();
    for (std::size_t g = 0; g < i * 5 % 13; ++g)
      input.groups.push_back("r" + std::to_string(i) + "e" + std::to_string(g));
    input.length = i % 6 == 0 ? 9000 : 1 + i * 3;
    if (i % 2 == 0) input.title = "simulation";
  }
  return inputs;
}

PackOptions by_groups(const std::string& block_name) {
  PackOptions options;
  options.block_by = {BlockRule::By::kPrefix, "^_grp_(r[0-9]+e[0-9]+)_"};
  options.block_name = block_name;
  return options;
}

RANK_CASE(MergedWholeAsByOneProcess) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  return merge_both_ways(ranks, folder, many_inputs(), {}, Code::kOk);
}

RANK_CASE(MergedByGroupsAsByOneProcess) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  PackOptions options = by_groups("{stem}/{group}");
  options.samples = {.by = SampleRule::By::kVariables, .variables = 2};
  options.unique_groups = true;
  options.writer.threads = 2;
  return merge_both_ways(ranks, folder, many_inputs(), options, Code::kOk);
}

// All inputs have one parent, whose attributes are the same.
RANK_CASE(MergedParentsAsByOneProcess) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  return merge_both_ways(ranks, folder, many_inputs(), by_groups("run/{group}"), Code::kOk);
}

RANK_CASE(MergedFilesThatAreMergedThemselves) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  NMB_TRY(merge_both_ways(ranks, folder, many_inputs(), {}, Code::kOk));
  PackOptions options;
  options.inputs = {folder.file("alone.nmb"), folder.file("in3.nc"), folder.file("ranks.nmb")};
  options.writer.sync = false;
  options.output = folder.file("again.nmb");
  PackReport report;
  NMB_TRY(pack(options, &report, ranks));
  auto compare = [&]() -> Status {
    NMB_TRY(expect(report.totals.blocks == 2 * 23 + 1, "47 blocks"));
    options.output = folder.file("again_alone.nmb");
    NMB_TRY(pack(options, &report));
    return expect(content_of(folder.file("again.nmb")) == content_of(options.output),
                  "the same bytes");
  };
  return ranks.agree(ranks.rank() == 0 ? compare() : Status());
}

RANK_CASE(MergedNothingButOneInput) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  return merge_both_ways(ranks, folder, {{{"r1e1", "r1e2"}, 40000, "one"}}, by_groups("{group}"),
                         Code::kOk);
}

// Collective. No rank writes more than its share of `bytes` and what sharing leaves where it is.
Status expect_shares(Communicator& ranks, const std::vector<test::OutputCall>& calls,
                     std::uint64_t bytes) {
  std::uint64_t written = 0;
  for (const test::OutputCall& call : calls) written += call.bytes.size();
  const std::uint64_t most = bytes / static_cast<std::uint64_t>(ranks.size()) * 17 / 16 + 7 * 65536;
  return ranks.agree(expect(written <= most, "at most " + std::to_string(most) + " bytes, not " +
                                                 std::to_string(written)));
}

RANK_CASE(ValuesOfOneInputMovedByAllRanks) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  const Input large{{"r1e1", "r1e2", "r1e3", "r1e4", "r1e5", "r1e6", "r1e7", "r1e8"}, 50000, "one"};
  const std::vector<Input> inputs{{{"r2e2"}, 7, "one"}, large, {{"r3e3"}, 9, "one"}};
  constexpr std::uint64_t kBytes = 8 * 50000 * 8;
  for (const char* groups : {"", "{group}"}) {
    PackOptions options = *groups == 0 ? PackOptions() : by_groups(groups);
    std::vector<test::OutputCall> calls;
    options.writer.layer = test::recording(calls);
    options.writer.overwrite = true;
    NMB_TRY(merge_both_ways(ranks, folder, inputs, options, Code::kOk));
    NMB_TRY(expect_shares(ranks, calls, kBytes));
  }
  // The file of groups, of which the ranks know one alone.
  PackOptions again;
  again.inputs = {folder.file("alone.nmb")};
  again.output = folder.file("again.nmb");
  again.block_name = "{group}";
  again.writer.sync = false;
  again.writer.piece_size = 65536;
  std::vector<test::OutputCall> calls;
  again.writer.layer = test::recording(calls);
  PackReport report;
  NMB_TRY(pack(again, &report, ranks));
  NMB_TRY(expect_shares(ranks, calls, kBytes));
  auto compare = [&]() -> Status {
    PackOptions alone = again;
    alone.output = folder.file("again_alone.nmb");
    alone.writer.layer = {};
    NMB_TRY(pack(alone, &report));
    return expect(content_of(again.output) == content_of(alone.output), "the same bytes");
  };
  return ranks.agree(ranks.rank() == 0 ? compare() : Status());
}

RANK_CASE(ValuesOfUnitedBlocksMovedByAllRanks) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  std::vector<Input> parts, steps;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::string run = "r" + std::to_string(i);
    parts.push_back({{run + "e1", run + "e2"}, 50000, "one"});
    steps.push_back({{"r1e1", "r2e2"}, 50000 + 251 * i, "one"});
  }
  constexpr std::uint64_t kBytes = 8 * 50000 * 8;
  PackOptions united, joined;
  united.mode = Union();
  joined.mode = Join{.along = "axis:0", .agreement = {.first_values = true}};
  for (PackOptions* options : {&united, &joined}) {
    std::vector<test::OutputCall> calls;
    options->writer.layer = test::recording(calls);
    options->writer.overwrite = true;
    NMB_TRY(
        merge_both_ways(ranks, folder, options == &united ? parts : steps, *options, Code::kOk));
    NMB_TRY(expect_shares(ranks, calls, kBytes));
  }
  return {};
}

// Four inputs whose variables become those of one classic file.
Result<PackOptions> united_to_classic(Communicator& ranks, const RankFolder& folder) {
  PackOptions options;
  options.mode = Union();
  options.classic = Kind::kCdf5;
  options.writer.sync = false;
  options.output = folder.file("ranks.nc");
  auto write = [&]() -> Status {
    for (std::size_t i = 0; i < 4; ++i) {
      const std::string run = "r" + std::to_string(i);
      NMB_TRY(write_input(options.inputs[i], {{run + "e1", run + "e2"}, 150000, "one"}));
    }
    return {};
  };
  for (std::size_t i = 0; i < 4; ++i)
    options.inputs.push_back(folder.file("in" + std::to_string(i) + ".nc"));
  NMB_TRY(ranks.agree(ranks.rank() == 0 ? write() : Status()));
  return options;
}

RANK_CASE(ClassicFileWrittenByAllRanks) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  NMB_ASSIGN(PackOptions options, united_to_classic(ranks, folder));
  std::vector<test::OutputCall> calls;
  options.writer.layer = test::recording(calls);
  PackReport report, expected;
  NMB_TRY(pack(options, &report, ranks));
  std::uint64_t written = 0;
  for (const test::OutputCall& call : calls) written += call.bytes.size();
  const std::uint64_t most =
      (8 * 150000 * 8) / static_cast<std::uint64_t>(ranks.size()) + (2 << 20);
  NMB_TRY(
      ranks.agree(expect(written <= most, std::to_string(written) + " bytes written, expected " +
                                              std::to_string(most) + " at most")));
  auto compare = [&]() -> Status {
    PackOptions alone = options;
    alone.output = folder.file("alone.nc");
    alone.writer.layer = {};
    NMB_TRY(pack(alone, &expected));
    NMB_TRY(expect(text_of(report) == text_of(expected) && report.totals == expected.totals,
                   "found " + text_of(report) + "\nexpected " + text_of(expected)));
    return expect(content_of(options.output) == content_of(alone.output), "the same bytes");
  };
  return ranks.agree(ranks.rank() == 0 ? compare() : Status());
}

// Collective. Merges; call number `call` of rank `failing` that writes finds no room. Returns
// whether there was such a call. All ranks must then fail with the same error.
Result<bool> pack_without_room(Communicator& ranks, PackOptions options, int failing,
                               std::uint64_t call, PackReport* report) {
  test::Fault fault;
  fault.call = call;
  fault.code = Code::kNoSpace;
  if (ranks.rank() == failing) options.writer.layer = fault.layer();
  const Status status = pack(options, report, ranks);
  NMB_ASSIGN(const bool fails, ranks.broadcast_value(failing, fault.calls > call));
  if (fails) NMB_TRY(test::expect_failure_of_all(ranks, status, Code::kNoSpace, "made to fail"));
  NMB_TRY(ranks.agree(expect(status.ok() != fails, status.text())));
  return fails;
}

// Collective. Returns whether only the inputs, and the output if it was written, are in the folder.
// Removes the output.
Status expect_only_inputs(Communicator& ranks, const PackOptions& options, bool is_written) {
  const auto left = [&]() -> Status {
    const std::filesystem::path output = options.output;
    const std::size_t names = test::names_in(output.parent_path()).size();
    NMB_TRY(expect(names == options.inputs.size() + (is_written ? 1 : 0), "files are left"));
    std::filesystem::remove(output);
    return {};
  };
  return ranks.agree(ranks.rank() == 0 ? left() : Status());
}

RANK_CASE(ClassicFileThatOneRankCannotWrite) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  NMB_ASSIGN(const PackOptions options, united_to_classic(ranks, folder));
  for (int failing = 0; failing < ranks.size(); ++failing) {
    bool fails = true;
    for (std::uint64_t call = 0; fails; ++call) {
      PackReport report;
      NMB_ASSIGN(fails, pack_without_room(ranks, options, failing, call, &report));
      NMB_TRY(expect_only_inputs(ranks, options, !fails));
    }
  }
  return {};
}

// Collective. Returns the options of a merge of HDF5 files, which the output stores whole. Each
// rank gets two files. Returns no inputs if the build has no program for HDF5.
Result<PackOptions> hdf5_inputs(Communicator& ranks, const RankFolder& folder) {
  PackOptions options;
  options.originals = Originals::kStore;
  std::get<Pack>(options.mode).digests = RecordedDigests::kSha256;
  options.output = folder.file("merged.nmb");
  options.writer.sync = false;
  options.writer.piece_size = 65536;
  for (int i = 0; i < 2 * ranks.size(); ++i)
    options.inputs.push_back(folder.file("in" + std::to_string(i) + ".h5"));
  const auto write = [&]() -> Status {
    PackOptions one;
    one.inputs = {folder.file("classic.nc")};
    one.output = options.inputs[0];
    one.hdf5.emplace();
    one.writer.sync = false;
    NMB_TRY(write_input(one.inputs[0], {{"r0e0"}, 200000, ""}));
    PackReport report;
    NMB_TRY(pack(one, &report));
    std::filesystem::remove(one.inputs[0]);
    for (std::size_t i = 1; i < options.inputs.size(); ++i)
      std::filesystem::copy_file(options.inputs[0], options.inputs[i]);
    return {};
  };
  const Status written = ranks.agree(ranks.rank() == 0 ? write() : Status());
  if (written.code() == Code::kUnsupported) {
    if (ranks.rank() == 0) std::printf("skipped: %s\n", written.text().c_str());
    options.inputs.clear();
    return options;
  }
  NMB_TRY(written);
  return options;
}

RANK_CASE(OriginalsThatOneRankCannotWrite) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  NMB_ASSIGN(const PackOptions options, hdf5_inputs(ranks, folder));
  if (options.inputs.empty()) return {};
  for (int failing = 0; failing < ranks.size(); ++failing) {
    bool fails = true;
    // With more ranks, fewer calls of each rank fail.
    for (auto call = static_cast<std::uint64_t>(failing); fails;
         call += static_cast<std::uint64_t>(ranks.size())) {
      PackReport report;
      NMB_ASSIGN(fails, pack_without_room(ranks, options, failing, call, &report));
      NMB_TRY(ranks.agree(expect(fails || report.originals == options.inputs.size(),
                                 "found " + std::to_string(report.originals) + " originals")));
      NMB_TRY(expect_only_inputs(ranks, options, !fails));
    }
  }
  return {};
}

RANK_CASE(OriginalsThatOneRankCannotRead) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  NMB_ASSIGN(const PackOptions options, hdf5_inputs(ranks, folder));
  if (options.inputs.empty()) return {};
  for (int failing = 0; failing < ranks.size(); ++failing) {
    // When the rank has copied a part of its first input, its second input loses its last bytes.
    const std::string& input = options.inputs[static_cast<std::size_t>(2 * failing + 1)];
    const std::uint64_t length = std::filesystem::file_size(options.inputs[0]);
    PackOptions faulty = options;
    faulty.writer.progress = [&](std::uint64_t, std::uint64_t) {
      if (ranks.rank() == failing) std::filesystem::resize_file(input, length - 1);
    };
    PackReport report;
    const Status status = pack(faulty, &report, ranks);
    NMB_TRY(test::expect_failure_of_all(ranks, status, Code::kDamaged,
                                        "expected at least " + std::to_string(length)));
    NMB_TRY(expect_only_inputs(ranks, options, false));
    if (ranks.rank() == 0)
      std::filesystem::copy_file(options.inputs[0], input,
                                 std::filesystem::copy_options::overwrite_existing);
    NMB_TRY(ranks.barrier());
  }
  return {};
}

RANK_CASE(ConflictsOfInputsOfDifferentRanks) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  std::vector<Input> inputs = many_inputs();
  inputs[1].groups = {"r1e1", "r7e7"};
  inputs[2].groups = {"r1e1", "r7e7"};
  inputs[4].title = "experiment";
  inputs[14].groups.push_back("r7e7");
  inputs[15].groups = {"r7e7", "odd name"};
  inputs[20].title = "";
  inputs[22].groups.push_back("r1e1");
  // Of r1e1 and r7e7 five uses too many (r7e7 is in input 7 too), an unmatched variable pair, a
  // title.
  PackOptions options = by_groups("{group}");
  NMB_TRY(merge_both_ways(ranks, folder, inputs, options, Code::kConflict, 9));
  options = by_groups("{stem}/{group}");
  options.unique_groups = true;
  return merge_both_ways(ranks, folder, inputs, options, Code::kConflict, 8);
}

RANK_CASE(UnreadableInputsOfAnyRank) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  PackOptions options;
  options.inputs = {folder.file("missing.nc")};
  return merge_both_ways(ranks, folder, many_inputs(), options, Code::kNotFound);
}

}  // namespace
}  // namespace nmb
