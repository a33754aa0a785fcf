// MergeOptions: the options of a merge as its steps use them.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "convert/hdf5_options.h"
#include "nmb/bytes.h"
#include "nmb/dataset.h"
#include "nmb/merge.h"
#include "nmb/reader.h"
#include "nmb/status.h"

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
  MergeOptions() = default;
  explicit MergeOptions(PackOptions options) : PackOptions(std::move(options)) {}

  // If source.bytes is set, the only input is read from it, and `inputs` has only its name.
  MendedSource source{};
  // For union and join: whether a block that only one input has is treated like a block that
  // several inputs have.
  bool unite_single = false;
  // For the temporary file of an HDF5 output: whether values of united blocks stay in the inputs,
  // if the inputs store them in the same form.
  bool link_united = false;
  // With `classic`: if set, the result is passed to this function on rank 0 as a dataset of kind
  // CDF-5, and `output` is not written. Values of the dataset are read from the inputs. If a file
  // is made from the dataset, call check_inputs() before the file gets its name.
  std::function<Status(const std::shared_ptr<const Dataset>& dataset,
                       const std::function<Status()>& check_inputs)>
      on_dataset{};
  // With `hdf5`: if set, this function is called on rank 0, and `output` is not written. `merged`
  // has the temporary NMB file `path` open. The file has the merged values, or links to values that
  // stay in the inputs. Pass `options` to the function that writes a file.
  std::function<Status(const Reader& merged, const std::string& path, const Hdf5Options& options)>
      on_merged{};

  // Return the rules of the mode; nullptr if the merge has another mode.
  const PackMode* pack() const { return std::get_if<PackMode>(&mode); }
  const JoinMode* join() const { return std::get_if<JoinMode>(&mode); }
  const TilesMode* tiles() const { return std::get_if<TilesMode>(&mode); }

  // Return a rule; if the mode does not have the rule, its default.
  bool appends() const { return pack() && pack()->append; }
  bool links() const { return pack() && pack()->link; }
  RecordedDigests digests() const { return pack() ? pack()->digests : RecordedDigests::kNone; }
  const std::string& along() const { return join() ? join()->along : kNoText; }
  const std::string& key() const { return join() ? join()->key : kNoText; }
  bool first_values() const {
    if (const auto* const unites = std::get_if<UnionMode>(&mode)) return unites->first_values;
    return tiles() && tiles()->first_values;
  }
  bool strict_attributes() const {
    if (const auto* const unites = std::get_if<UnionMode>(&mode)) return unites->strict_attributes;
    return join() ? join()->strict_attributes : tiles() && tiles()->strict_attributes;
  }
  Mismatch on_mismatch() const {
    if (const auto* const unites = std::get_if<UnionMode>(&mode)) return unites->on_mismatch;
    if (join()) return join()->on_mismatch;
    return tiles() && tiles()->skip_mismatches ? Mismatch::kSkip : Mismatch::kConflict;
  }
  bool fill_missing() const {
    return join() ? join()->fill_missing : tiles() && tiles()->fill_missing;
  }

 private:
  static inline const std::string kNoText{};
};

}  // namespace nmb
