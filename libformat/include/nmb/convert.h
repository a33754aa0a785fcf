// convert: writes a file of another kind with the same content: NMB, netCDF (CDF-1, 2, 5), netCDF-4
// or HDF5.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "nmb/error.h"
#include "nmb/options.h"
#include "nmb/statistics.h"
#include "nmb/types.h"

namespace nmb {

class Ranks;

struct ConvertOptions {
  // --- what is written ---
  FileKind to = FileKind::kNmb;
  // HDF5 outputs: whether the file is written so that netCDF-4 programs can read all of it.
  bool netcdf = true;
  // If set, only this block of an NMB file and the blocks below it are written. An input with
  // several blocks needs this for a classic output, which has one block.
  std::optional<std::string> block{};
  // Whether the output leaves out and reports what `to` cannot hold. If false, such content makes
  // the call fail.
  bool lossy = false;
  // How values are stored in NMB and HDF5 files.
  Storing storing{};
  Hdf5View hdf5_view = Hdf5View::kOff;                  // NMB
  StatisticsLevel statistics = StatisticsLevel::kNone;  // NMB
  // NMB: whether an HDF5 or netCDF-4 input is stored byte for byte too.
  bool originals = true;

  // --- what happens to the files ---
  bool replace = false;  // whether the output may replace an existing file
  bool sync = true;      // whether the call waits until the data are on the device
  bool check = true;     // whether the result is read back and compared
  bool strict = false;   // whether a loss or warning makes the call fail, even with `lossy`
  ExternalPaths external = ExternalPaths::kBeneath;  // which external files of the input are read

  // --- what changes the speed ---
  unsigned threads = 1;
  // If set, the call is collective: these ranks share the work. All get its outcome; rank 0 gets
  // the report. The arguments must be the same on all ranks, as in merge().
  Ranks* ranks = nullptr;
  // --- callback and cancelling ---
  // Called by one thread at a time. `done` and `total` count bytes of values.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress{};
  // If set, the call stops with kIo "interrupted" once *cancel is true, and the output stays as it
  // was.
  const std::atomic<bool>* cancel = nullptr;
};

struct ConvertReport {
  // Content of the input that the output lacks. Without `lossy`, the call fails if there is any
  // loss, except tags and the values of chunks that cannot be decoded.
  std::vector<std::string> losses{};
  // Other facts for the caller, for example: the output has a value in another form, HDF5 programs
  // need a plug-in for its codec, or why it has no HDF5 view.
  std::vector<std::string> warnings{};
};

// Converts a file. A failure leaves `output` as it was. *report is filled also after a failure;
// `report` may be null. Errors: kConflict if `to` cannot hold the content; kUsage; kNotFound;
// kUnknownKind; kDamaged; kUnsupported; kExists; kIo; kNoSpace.
NMB_EXPORT Status try_convert(const std::string& input, const std::string& output,
                              const ConvertOptions& options = {}, ConvertReport* report = nullptr);
inline ConvertReport convert(const std::string& input, const std::string& output,
                             const ConvertOptions& options = {}) {
  ConvertReport report;
  nmb::check(try_convert(input, output, options, &report));
  return report;
}

}  // namespace nmb
