// DamageReport: collects the chunks of an input that are damaged or cannot be checked.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "merge/reporting/merge.h"
#include "verify/chunk_checker.h"

namespace nmb {

class DamageReport {
 public:
  // file: the name of the input.
  explicit DamageReport(std::string file) : file_(std::move(file)) {}

  // Checks the chunks of a block, and adds the damaged ones. Adds a warning for each variable with
  // chunks that are too large to be decoded. name: the block's name in messages. Returns the
  // damaged chunks. Errors: those of find_damaged_chunks().
  Result<std::vector<hdf5::DamagedChunks>> check(const Dataset& block, const std::string& name,
                                                 unsigned threads,
                                                 std::vector<std::string>* warnings);
  // Adds damaged chunks of a block.
  void add(const Metadata& metadata, const std::string& name,
           const std::vector<hdf5::DamagedChunks>& damaged);
  // Appends a loss for each of the first variables, and a loss with the number of other variables.
  // Appends a warning for each filter with which chunks could not be checked.
  void tell(std::vector<PackLoss>* losses, std::vector<std::string>* warnings);

 private:
  const std::string file_;
  std::vector<PackLoss> losses_;
  std::uint64_t more_ = 0;  // number of variables that are not named
  NotDecoded not_decoded_;
};

}  // namespace nmb
