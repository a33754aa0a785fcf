// MergeOptions: the options of a merge as its steps use them.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "convert/hdf5_options.h"
#include "merge/reporting/merge.h"
#include "reader/file_reader.h"
#include "values/dataset.h"
#include "wire/bytes.h"
#include "wire/failure.h"

namespace nmb {

// The rest of a damaged file.
struct MendedSource {
  std::shared_ptr<const ByteSource> bytes{};  // must not change while it is read
  // Whether some objects of the file may be lost. Hard links, references and sources of virtual
  // data sets that lead to objects which `bytes` does not have are then left out. Soft and external
  // links stay.
  bool lacks_objects = false;
  std::set<std::string> lost_originals{};  // names of the blocks whose originals are lost
};

// The options of pack(), and what only callers inside the library set.
struct MergeOptions : PackOptions {
  // If source.bytes is set, the only input is read from it, and `inputs` has only its name.
  MendedSource source{};
  // For union and join: whether a block that only one input has is treated like a block that
  // several inputs have.
  bool unite_single = false;
  // For the temporary file of an HDF5 output: whether values of united blocks stay in the inputs,
  // if the inputs store them in the same form.
  bool link_united = false;
  std::string resume_key{};                                   // as in CoreOptions
  std::function<Status(const ByteSource&)> before_publish{};  // as in CoreOptions
  // With `classic`: if set, the result is passed to this function on rank 0 as a dataset of kind
  // CDF-5, and `output` is not written. Values of the dataset are read from the inputs. If a file
  // is made from the dataset, call check_inputs() before the file gets its name.
  std::function<Status(const std::shared_ptr<const Dataset>& dataset,
                       const std::function<Status()>& check_inputs)>
      on_dataset{};
  // With `hdf5`: if set, this function is called on rank 0, and `output` is not written. `merged`
  // has the temporary NMB file `path` open. The file has the merged values, or links to values that
  // stay in the inputs. Pass `options` to the function that writes a file.
  std::function<Status(const FileReader& merged, const std::string& path,
                       const Hdf5Options& options)>
      on_merged{};

  bool packs() const { return std::holds_alternative<PackMode>(mode); }
  bool joins() const { return std::holds_alternative<JoinMode>(mode); }
  bool has_tiles() const { return std::holds_alternative<TilesMode>(mode); }

  // Returns the rules of a mode; the defaults, which change nothing, if the merge has another mode.
  template <class Mode>
  const Mode& rules() const {
    static const Mode kDefaults{};
    return std::holds_alternative<Mode>(mode) ? std::get<Mode>(mode) : kDefaults;
  }
  const PackMode& pack() const { return rules<PackMode>(); }
  const JoinMode& join() const { return rules<JoinMode>(); }

  // Rules that several modes have.
  bool strict_attributes() const {
    return rules<UnionMode>().strict_attributes || join().strict_attributes ||
           rules<TilesMode>().strict_attributes;
  }
  bool first_values() const {
    return rules<UnionMode>().first_values || rules<TilesMode>().first_values;
  }
  bool fill_missing() const { return join().fill_missing || rules<TilesMode>().fill_missing; }
  Mismatch on_mismatch() const {
    if (rules<TilesMode>().skip_mismatches) return Mismatch::kSkip;
    return joins() ? join().on_mismatch : rules<UnionMode>().on_mismatch;
  }
};

}  // namespace nmb
