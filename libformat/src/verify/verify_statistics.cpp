// Verifies statistics (spec/format.md, section 9.2).
#include <string>

#include "extent/data_map.h"
#include "statistics/count_block.h"
#include "statistics/statistics_section.h"
#include "verify/nmb_verifier.h"
#include "verify/status_finding.h"

namespace nmb {

namespace {

// The first thing in which two differ; empty: nothing.
std::string difference(const VariableStatistics& found, const VariableStatistics& expected) {
  if (found.elements != expected.elements) return "number of elements";
  if (found.missing != expected.missing) return "number of missing values";
  if (found.nans != expected.nans) return "number of NaN";
  if (found.minimum != expected.minimum) return "minimum";
  if (found.maximum != expected.maximum) return "maximum";
  return found == expected ? "" : "histogram";
}

}  // namespace

// What they say of themselves, of a block that has been found sound so far.
void NmbVerifier::check_statistics(const EntryRow& row) {
  const BlockEntry& entry = row.entry;
  const auto check = [&]() -> Status {
    NMB_ASSIGN(StoredBlock stored, core_->load(entry, false));
    NMB_ASSIGN(const ClassicHeader header,
               decode_body(entry, stored.header.records, stored.body, file_));
    NMB_ASSIGN(const auto statistics, read_statistics(file_, entry, header.metadata));
    if (statistics && at_least(VerifyLevel::kData)) block_->counted = entry;
    return {};
  };
  const Status status = check();
  if (status.ok()) return;
  if (status.code() != Code::kDamaged) return missed(status);
  Finding finding = finding_of(status);
  finding.object = "statistics of block \"" + entry.name + "\"";
  findings_.report(std::move(finding));
}

// Whether the values of a block, which have their sums, are such as its statistics say.
void NmbVerifier::count_again(const BlockEntry& entry) {
  const auto compare = [&]() -> Status {
    NMB_ASSIGN(StoredBlock stored, core_->load(entry, true));
    NMB_ASSIGN(const std::shared_ptr<const Block> block,
               core_->decode(entry, stored, nullptr, false));
    NMB_ASSIGN(const auto found, read_statistics(file_, entry, block->metadata));
    std::vector<ByteRange> holes;
    NMB_TRY(core_->for_each_piece(entry, [&](const Piece& piece) -> Status {
      if (piece.hole) holes.push_back({piece.logical, piece.end()});
      return {};
    }));
    NMB_ASSIGN(const BlockStatistics expected,
               count_block(*block, holes, found->level, options_.threads));
    for (VarId v = 0; v < expected.variables.size(); ++v) {
      // What is not counted says nothing.
      if (!found->variables[v].computed) continue;
      const std::string what = difference(found->variables[v], expected.variables[v]);
      if (!what.empty())
        report("R-ST-3", entry.statistics.position,
               "statistics of block \"" + entry.name + "\", variable " +
                   std::string(block->metadata.variable(v).name),
               "another " + what, "that of its values");
    }
    return {};
  };
  const Status status = compare();
  if (status.ok()) return;
  if (status.code() != Code::kDamaged) return missed(status);
  Finding finding = finding_of(status);
  finding.object = "statistics of block \"" + entry.name + "\"";
  findings_.report(std::move(finding));
}

}  // namespace nmb
