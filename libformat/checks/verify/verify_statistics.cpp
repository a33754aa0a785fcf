// Verifies statistics (spec/tables.md, section 9.3).
#include <string>

#include "extent/data_map.h"
#include "table/statistics_row.h"
#include "values/statistics/count_block.h"
#include "verify/nmb_verifier.h"
#include "verify/status_finding.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

// Returns the name of the first field that differs, or an empty text if no field differs.
std::string difference(const VariableStatistics& found, const VariableStatistics& expected) {
  if (found.elements != expected.elements) return "number of elements";
  if (found.missing != expected.missing) return "number of missing values";
  if (found.nans != expected.nans) return "number of NaN";
  if (found.minimum != expected.minimum) return "minimum";
  if (found.maximum != expected.maximum) return "maximum";
  return found.histogram == expected.histogram ? "" : "histogram";
}

std::string statistics_of(std::string_view block, std::string_view variable) {
  return joined_text("statistics of block \"", block, "\", variable ", variable);
}

}  // namespace

// Checks that each statistics row of a block belongs to one of the block's variables. Requires a
// block whose header and body have no errors.
void NmbVerifier::check_statistics(const EntryRow& row) {
  const BlockEntry& entry = row.entry;
  const auto rows = statistics_rows_.find(entry.order);
  if (!statistics_sound_ || rows == statistics_rows_.end()) return;
  const auto check = [&]() -> Status {
    NMB_ASSIGN(StoredBlock stored, core_->load(entry, false));
    NMB_ASSIGN(const ClassicHeader header,
               decode_body(entry, stored.header.records, stored.body, file_));
    std::uint64_t found_rows = 0;
    for (VarId v = 0; v < header.metadata.variable_count(); ++v) {
      const std::string_view name = header.metadata.variable(v).name;
      NMB_TRY(core_->statistics().for_each_of(
          name, entry.order, [&](const FoundRow& found) -> Result<bool> {
            ++found_rows;
            if (!fits_variable(header.metadata, found.value()))
              report("R-ST-2", found.offset(), statistics_of(entry.name, name),
                     joined_text("statistics of type ", found.value().kind), "the variable's type");
            return true;
          }));
    }
    if (found_rows != rows->second) {
      auto& names = variables_of_[entry.order];
      for (VarId v = 0; v < header.metadata.variable_count(); ++v)
        names.emplace(header.metadata.variable(v).name);
    }
    if (at_least(VerifyLevel::kData)) block_->counted = entry;
    return {};
  };
  const Status status = check();
  if (status.ok()) return;
  if (status.code() != Code::kDamaged) return missed(status);
  Finding finding = finding_of(status);
  finding.object = "statistics of block \"" + entry.name + "\"";
  findings_.report(std::move(finding));
}

// Reports each statistics row with a name that no variable of the row's block has.
void NmbVerifier::find_stray_statistics() {
  if (variables_of_.empty()) return;
  const Status status =
      core_->statistics().for_each(std::nullopt, [&](const FoundRow& found) -> Result<bool> {
        const TableRow row = found.value();
        const auto names = variables_of_.find(row.order);
        const std::string variable(statistics_name(row.name).variable);
        if (names != variables_of_.end() && !names->second.contains(variable))
          report("R-ST-2", found.offset(), joined_text("statistics \"", row.name, "\""),
                 joined_text("a name that no variable has in block ", row.order),
                 "the name of a variable of the block");
        return true;
      });
  if (!status.ok()) missed(status);
}

// Computes the statistics of a block's values and compares them with the recorded statistics.
// Called only if all values of the block have the right sums.
void NmbVerifier::count_again(const BlockEntry& entry) {
  const auto compare = [&]() -> Status {
    NMB_ASSIGN(StoredBlock stored, core_->load(entry, true));
    NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> block,
               core_->decode(entry, stored, nullptr));
    const std::size_t variables = block->metadata.variable_count();
    std::vector<std::optional<FoundRow>> found(variables), parts(variables);
    CountRequest request;
    request.divided.emplace(variables);
    for (VarId v = 0; v < variables; ++v)
      NMB_TRY(core_->statistics().for_each_of(block->metadata.variable(v).name, entry.order,
                                              [&](const FoundRow& row) -> Result<bool> {
                                                const TableRow value = row.value();
                                                switch (statistics_name(value.name).kind) {
                                                  case StatisticsName::Kind::kVariable:
                                                    found[v] = row;
                                                    if (!value.bytes.empty())
                                                      request.level = StatisticsLevel::kHistogram;
                                                    break;
                                                  case StatisticsName::Kind::kParts:
                                                    parts[v] = row;
                                                    (*request.divided)[v] = true;
                                                    break;
                                                  case StatisticsName::Kind::kFunction:
                                                    break;
                                                }
                                                return true;
                                              }));
    std::vector<ByteRange> holes;
    NMB_TRY(core_->for_each_piece(entry, [&](const Piece& piece) -> Status {
      if (piece.hole) holes.push_back({piece.logical, piece.end()});
      return {};
    }));
    NMB_ASSIGN(const BlockStatistics expected,
               count_block(*block, holes, request, options_.threads));
    for (VarId v = 0; v < variables; ++v) {
      const auto differs = [&](const FoundRow& row, const std::string& what) {
        report("R-ST-3", row.offset(), statistics_of(entry.name, block->metadata.variable(v).name),
               "another " + what, "the result computed from the values");
      };
      VariableStatistics counted = expected.variables[v];
      if (!counted.computed) {
        NMB_ASSIGN(const bool is_unknown, may_be_counted(block->metadata, v));
        if (is_unknown) continue;  // the values cannot be decoded here
      }
      if (found[v]) {
        NMB_ASSIGN(const VariableStatistics recorded, row_statistics(found[v]->value()));
        // The recorded statistics may have no histogram.
        if (recorded.histogram.buckets.empty()) counted.histogram = {};
        const std::string what = difference(recorded, counted);
        if (!what.empty()) differs(*found[v], what);
      }
      if (parts[v]) {
        NMB_ASSIGN(const PartRanges recorded, row_parts(parts[v]->value()));
        if (counted.parts != recorded || !counted.has_range) differs(*parts[v], "range of a part");
      }
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
