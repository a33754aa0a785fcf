#include "merge/reading/damage_report.h"

#include <iterator>

#include "model/name_rules.h"
#include "model/paths.h"
#include "wire/joined_text.h"

namespace nmb {

// The largest number of variables of a file for which a report has a line each.
static constexpr std::size_t kMostDamagedNamed = 10;

static std::string object_of(const Metadata& metadata, const std::string& name, VarId variable) {
  return "variable " + in_quotes("/" + joined_path(name, metadata.variable(variable).name));
}

Result<std::vector<hdf5::DamagedChunks>> DamageReport::check(const Dataset& block,
                                                             const std::string& name,
                                                             unsigned threads,
                                                             std::vector<std::string>* warnings) {
  const auto on_left_out = [&](VarId variable, std::uint64_t chunks) {
    warnings->push_back(joined_text(file_, ": ", object_of(block.metadata, name, variable), ": ",
                                    chunks, chunks == 1 ? " chunk was" : " chunks were",
                                    " not checked, because the decoded chunks are too large"));
  };
  Result<std::vector<hdf5::DamagedChunks>> damaged =
      find_damaged_chunks(block, threads, on_left_out, &not_decoded_);
  if (!damaged.ok()) return damaged.status().in_file(file_);
  add(block.metadata, name, *damaged);
  return damaged;
}

void DamageReport::add(const Metadata& metadata, const std::string& name,
                       const std::vector<hdf5::DamagedChunks>& damaged) {
  for (const hdf5::DamagedChunks& chunks : damaged)
    if (losses_.size() < kMostDamagedNamed)
      losses_.push_back({0,
                         {},
                         object_of(metadata, name, chunks.variable),
                         chunks.text(),
                         PackLoss::Kind::kDamage});
    else
      ++more_;
}

void DamageReport::tell(std::vector<PackLoss>* losses, std::vector<std::string>* warnings) {
  for (const std::string& text : not_decoded_.texts()) warnings->push_back(file_ + ": " + text);
  not_decoded_ = {};
  std::ranges::move(losses_, std::back_inserter(*losses));
  losses_.clear();
  if (more_ > 0)
    losses->push_back({0,
                       {},
                       joined_text(more_, more_ == 1 ? " more variable" : " more variables"),
                       "some chunks cannot be decoded; nmverify lists them",
                       PackLoss::Kind::kDamage});
  more_ = 0;
}

}  // namespace nmb
