// Dataset: one dataset for reading, which is either a file or a block of an NMB file.
#pragma once

#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/classic.h"
#include "model/metadata.h"
#include "model/values.h"
#include "nmb/statistics.h"
#include "wire/bytes.h"
#include "wire/kinds.h"

namespace nmb {

// Lengths of unlimited dimensions. The key is the path of the dimension's scale. The value is the
// length of the dimension's longest variable in all groups. Dimensions that no variable uses are
// absent.
using DimensionLengths = std::map<std::string, std::uint64_t>;

// Immutable: safe to share between threads.
struct Dataset {
  std::string name;  // name of the block, or path of the file
  Metadata metadata{Metadata::Names::kAsFound};
  ClassicLayout layout;
  std::uint64_t records = 0;  // length of the record dimension; 0 if there is none
  // The values. Offset 0 is the first byte after the header.
  std::shared_ptr<const ByteSource> extent;
  // Deviations of a classic file's header from the canonical form.
  std::vector<HeaderRemark> remarks;

  Kind kind() const { return layout.kind; }
  Result<VariableShape> shape(VarId variable) const {
    return shape_of(metadata, layout, variable, records);
  }
  // Returns kUsage if the variable has a null dataspace in HDF5, which has no values.
  NMB_EXPORT Status check_has_values(VarId variable) const;
  // Reads a hyperslab into `out`, as read_hyperslab() does. Errors: kUsage if the hyperslab is not
  // inside the variable, or if the length of `out` is not the number of values in the hyperslab;
  // kRange if some values do not fit the type of `out` (even so, all values are converted).
  NMB_EXPORT Status read(VarId variable, const Hyperslab& slab, MutableArray out) const;
  // Reads the whole variable. Errors: those of read(); kLimit if the values do not fit in memory.
  template <class T>
  Result<std::vector<T>> read_all(VarId variable) const {
    NMB_ASSIGN(VariableShape lengths, shape(variable));
    Hyperslab slab;
    slab.start.assign(lengths.lengths.size(), 0);
    slab.count = lengths.lengths;
    const std::uint64_t count = element_count(slab);
    std::vector<T> values;
    try {
      values.resize(static_cast<std::size_t>(count));
    } catch (const std::exception&) {  // std::bad_alloc or std::length_error
      return Status(Code::kLimit, name, kNoOffset, "",
                    std::to_string(count) + " values of a variable do not fit in memory");
    }
    NMB_TRY(read(variable, slab, values));
    return values;
  }
};

// Computes the statistics of all variables from the values, which are read once. level: not kNone.
// VariableStatistics::moments is set too. The result does not depend on `threads`, the number of
// threads. Each thread needs memory for 1 MiB or for a chunk. Errors: kDamaged, kIo.
NMB_EXPORT Result<BlockStatistics> compute_statistics(const Dataset& dataset, StatisticsLevel level,
                                                      unsigned threads);

// Opens a classic file (CDF-1, CDF-2, CDF-5). The dataset keeps `file` open. Errors: kUnknownKind,
// kDamaged, kIo.
NMB_EXPORT Result<std::shared_ptr<const Dataset>> open_classic(
    std::shared_ptr<const ByteSource> file);

}  // namespace nmb
