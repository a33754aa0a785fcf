// SampleRule: how the number of samples in a block is determined (--samples).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "nmb/dataset.h"
#include "nmb/metadata.h"
#include "nmb/netcdf_view.h"
#include "nmb/status.h"

namespace nmb {

class SampleRule {
 public:
  enum class By { kDefault, kVariables, kDimension, kGroup, kNone };
  // Errors: kUsage.
  static Result<SampleRule> parse(std::string_view text);
  By by() const { return by_; }
  std::uint64_t variables_per_sample() const { return divisor_; }
  const std::string& dimension() const { return dimension_; }

  // The objects of a block that are counted.
  struct Objects {
    std::uint64_t variables = 0;
    std::optional<std::uint64_t> length;  // of dimension(), if the block has it
  };
  Objects objects_of(const Metadata& metadata, std::uint64_t records) const;
  // Counts the objects of a block from HDF5 as netCDF shows it, with the dimensions that it defines
  // itself. lengths: like those for netcdf_view().
  Objects objects_of(const Dataset& dataset, const DimensionLengths* lengths) const;
  // Returns the number of samples in a block with these objects; `group`: its path in its input, ""
  // for the root. Errors: kConflict if the number of variables cannot be divided evenly.
  Result<std::uint64_t> count(const Objects& objects, std::string_view group) const;

 private:
  By by_ = By::kDefault;
  std::uint64_t divisor_ = 1;
  std::string dimension_;
};

}  // namespace nmb
