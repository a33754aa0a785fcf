// Programs that ranks run together (see support/rank_program.h).
#include "support/rank_program.h"

#include <unistd.h>

#include <cstdlib>
#include <numeric>

#include "support/corpus.h"
#include "support/model.h"

namespace nmb::test {

FileWriterOptions small_pieces() {
  FileWriterOptions options;
  options.piece_size = 65536;
  options.sync = false;
  return options;
}

Result<RankFolder> RankFolder::make(Communicator& ranks) {
  std::string path = (std::filesystem::temp_directory_path() / "nmb_ranks_XXXXXX").string();
  if (ranks.rank() == 0 && !::mkdtemp(path.data())) path.clear();
  auto own = std::as_bytes(std::span(path));
  std::vector<std::byte> bytes(own.begin(), own.end());
  NMB_TRY(ranks.broadcast(0, &bytes));
  path.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (path.empty()) return Status(Code::kIo, "cannot make a temporary folder");
  return RankFolder(path, ranks.rank() == 0);
}

RankFolder::~RankFolder() {
  std::error_code ignored;
  if (owner_) std::filesystem::remove_all(path_, ignored);
}

BlockId Definer::block(std::string_view name) {
  Result<BlockId> found = writer_.find_block(name);
  if (!found.ok() && found.status().code() == Code::kNotFound) found = writer_.define_block(name);
  return value(std::move(found));
}

DimId Definer::dimension(BlockId block, std::string_view name, std::uint64_t length) {
  const Metadata* metadata = value(writer_.metadata(block));
  if (!metadata) return 0;
  if (std::optional<DimId> id = metadata->find_dimension(name)) return *id;
  return value(writer_.def_dim(block, name, length));
}

VarId Definer::variable(BlockId block, std::string_view name, Type type,
                        std::span<const DimId> dimensions) {
  const Metadata* metadata = value(writer_.metadata(block));
  if (!metadata) return 0;
  if (std::optional<VarId> id = metadata->find_variable(name)) return *id;
  return value(writer_.def_var(block, name, type, dimensions));
}

void Definer::text(BlockId block, VarId variable, std::string_view name, std::string_view text) {
  keep(writer_.put_att_text(block, variable, name, text));
}

void Definer::tag(BlockId block, std::string_view name, TagValue value) {
  keep(writer_.set_tag(block, name, std::move(value)));
}

void Definer::field(BlockId block, std::uint64_t EntryFields::*field, std::uint64_t value) {
  keep(writer_.set_field(block, field, value));
}

void Definer::put(std::string_view block, std::string_view variable, int first) {
  const BlockId id = value(writer_.find_block(block));
  const Metadata* metadata = value(writer_.metadata(id));
  if (!metadata) return;
  std::optional<VarId> found = metadata->find_variable(variable);
  if (!found) return keep(Status(Code::kNotFound, "found no variable " + std::string(variable)));
  Hyperslab slab;
  for (DimId dimension : metadata->variable(*found).dimensions) {
    slab.start.push_back(0);
    slab.count.push_back(metadata->dimension(dimension).is_record()
                             ? value(writer_.records(id))
                             : metadata->dimension(dimension).length);
  }
  put(block, variable, slab, first);
}

void Definer::put(std::string_view block, std::string_view variable, const Hyperslab& slab,
                  int first) {
  const BlockId id = value(writer_.find_block(block));
  const Metadata* metadata = value(writer_.metadata(id));
  if (!metadata) return;
  std::optional<VarId> found = metadata->find_variable(variable);
  if (!found) return keep(Status(Code::kNotFound, "found no variable " + std::string(variable)));
  std::vector<int> values(element_count(slab));
  std::iota(values.begin(), values.end(), first);
  for (int& one : values) one %= 127;
  keep(writer_.put(id, *found, slab, std::span<const int>(values)));
}

namespace {

// ranks: those that this process acts for.
Status run(FileWriter& writer, const std::vector<RankPhase>& phases, std::span<const int> ranks,
           int size) {
  for (std::size_t i = 0; i < phases.size(); ++i) {
    Definer definer(writer);
    if (i > 0) definer.keep(writer.redefine());
    for (int rank : ranks) phases[i].define(rank, size, definer);
    NMB_TRY(definer.status());
    NMB_TRY(writer.end_define());
    for (int rank : ranks) phases[i].put(rank, size, definer);
    NMB_TRY(definer.status());
    if (i + 1 < phases.size()) NMB_TRY(writer.sync());
  }
  return writer.close();
}

Status compare(const std::string& together, const std::string& alone) {
  const std::vector<std::byte> a = read_file(together), b = read_file(alone);
  if (a != b) {
    const auto at = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
    return Status(Code::kConflict, "found files of " + std::to_string(a.size()) + " and " +
                                       std::to_string(b.size()) + " bytes that differ at " +
                                       std::to_string(at) + ", expected the same");
  }
  const std::string findings = findings_of(std::filesystem::path(together));
  return findings.empty() ? Status() : Status(Code::kDamaged, "found " + findings);
}

}  // namespace

Status same_bytes(Communicator& ranks, const FileWriterOptions& options,
                  const std::vector<RankPhase>& phases) {
  NMB_ASSIGN(const RankFolder folder, RankFolder::make(ranks));
  {
    NMB_ASSIGN(std::unique_ptr<FileWriter> writer,
               FileWriter::create(folder.file("together.nmb"), options, ranks));
    const int own = ranks.rank();
    NMB_TRY(run(*writer, phases, std::span(&own, 1), ranks.size()));
  }
  auto alone = [&]() -> Status {
    FileWriterOptions of_one = options;
    of_one.io = Io::kPosix;
    of_one.hints.clear();
    NMB_ASSIGN(std::unique_ptr<FileWriter> writer,
               FileWriter::create(folder.file("alone.nmb"), of_one));
    std::vector<int> all(static_cast<std::size_t>(ranks.size()));
    std::iota(all.begin(), all.end(), 0);
    NMB_TRY(run(*writer, phases, all, ranks.size()));
    return compare(folder.file("together.nmb"), folder.file("alone.nmb"));
  };
  return ranks.agree(ranks.rank() == 0 ? alone() : Status());
}

}  // namespace nmb::test
