// Determines what the inputs of a merge are: classic netCDF, or HDF5. A netCDF output whose kind is
// not given has the kind of its inputs.
#pragma once

#include <cstddef>
#include <optional>

#include "merge/reporting/merge.h"
#include "parallel/communicator.h"
#include "wire/failure.h"
#include "wire/kinds.h"

namespace nmb {

struct InputKinds {
  // The highest kind of the classic inputs, and of the classic blocks of NMB inputs.
  std::optional<Kind> classic{};
  // The first input that is an HDF5 or netCDF-4 file, or has a block that came from one.
  std::optional<std::size_t> hdf5{};

  // The kind of a classic output; nullopt if the output is netCDF-4.
  std::optional<Kind> output() const {
    return hdf5 ? std::nullopt : std::optional(classic.value_or(Kind::kCdf5));
  }
};

// Looks at the kinds of all inputs of `options`, and at the index of NMB inputs. Inputs that cannot
// be opened do not count. Errors: kDamaged, kIo.
NMB_EXPORT Result<InputKinds> kinds_of_inputs(const PackOptions& options);

// Collective. Applies PackOptions::kind_of_inputs: makes the output classic if no input came from
// HDF5. Sets report->kind_note on rank 0.
Status settle_kind(Communicator& ranks, PackOptions* options, PackReport* report);

}  // namespace nmb
