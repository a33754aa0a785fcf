// Hdf5Input: reads an HDF5 file as an input of a merge. Each group is a block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "client/hdf5_file.h"
#include "files/spool_file.h"
#include "merge/reading/damage_report.h"
#include "merge/reading/input_block.h"
#include "merge/reading/input_changes.h"
#include "merge/reading/input_context.h"
#include "model/dataset.h"
#include "netcdf/netcdf_view.h"
#include "sources/value_source.h"
#include "wire/failure.h"

namespace nmb {

// Starts `nmb-hdf5` for the inputs. With InputOptions::reads_ahead, `nmb-hdf5` already reads the
// next input while an input is read.
class Hdf5Starter {
 public:
  // `options` must outlive the object.
  explicit Hdf5Starter(const InputOptions& options) : options_(options) {}

  // Starts to read the input with position `index` in the list of inputs, unless it is started
  // already. Errors: those of StartedFile::start().
  Result<std::unique_ptr<hdf5::StartedFile>> start(std::size_t index, const std::string& path);
  // Starts the input after `index`. An error is reported when that input is read.
  void start_next(std::size_t index);
  // Limits early starts: an input is started early only if its position is less than `end`.
  void set_end(std::size_t end) { end_ = end; }

 private:
  const InputOptions& options_;
  // One temporary file for each of the two inputs that may be read at the same time.
  std::shared_ptr<const SpoolFile> spools_[2];
  std::unique_ptr<hdf5::StartedFile> started_;  // the next input, if it was started
  std::size_t started_index_ = 0;
  std::size_t end_ = ~std::size_t{0};
};

// An object reads one file.
class Hdf5Input {
 public:
  // index: position of the input in the list of inputs. `context` and `starter` must outlive the
  // object.
  Hdf5Input(InputContext& context, Hdf5Starter& starter, std::size_t index, Source file);

  // Passes the blocks to `visit`. Errors: as InputReader::read().
  Status read(const VisitBlock& visit);
  // Passes the blocks to InputOptions::chooser.
  Status choose();
  // Returns the losses that read() found.
  std::vector<PackLoss> take_losses();

 private:
  using Groups = std::vector<hdf5::Hdf5Group>;

  Result<Groups> read_groups(hdf5::StartedFile& started) const;
  Result<std::vector<bool>> choose_groups(const Groups& groups);
  template <class VisitGroup>
  Status for_each_group(const Groups& groups, VisitGroup visit_group);
  Status note_lengths(const Groups& groups);
  Status note_made_up(const Groups& groups);
  Status note_needed(const Groups& groups);
  Result<bool> read_group(hdf5::Hdf5Group group, std::uint64_t blocks, const VisitBlock& visit);
  // Visits a group whose chunks were checked.
  Result<bool> read_checked(hdf5::Hdf5Group group, std::uint64_t blocks, const VisitBlock& visit);
  Status check_chunks(hdf5::Hdf5Group* group);
  Result<Dataset> decoded(const hdf5::Hdf5Group& group);
  Status note_undecoded(const Dataset& dataset);
  Status change(hdf5::Hdf5Group* group, Dataset* dataset);
  // Returns the new name of a group, with which the paths in the group already begin.
  std::string placed(const std::string& group) const;

  InputContext& context_;
  InputOptions& options_;
  Hdf5Starter& starter_;
  const std::size_t index_;
  const Source file_;
  // How the names of blocks change. The paths in the groups already begin with the new name.
  const PathMove move_;
  InputChanges changes_;
  std::shared_ptr<const DimensionLengths> lengths_;  // set if requested
  std::shared_ptr<const NeededPaths> needed_;        // set if variables are selected
  MadeUpNumbers::First made_up_;  // for each group: its first made-up dimension number
  bool is_original_;              // the output stores the file as an original
  bool becomes_original_;         // the next block gets the file as its original
  DamageReport damage_;
  std::vector<PackLoss> losses_;
};

}  // namespace nmb
