// NmbInput: reads an NMB file as an input of a merge.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "convert/moved_paths.h"
#include "merge/reading/damage_report.h"
#include "merge/reading/input_block.h"
#include "merge/reading/input_changes.h"
#include "merge/reading/input_context.h"
#include "merge/reading/input_extras.h"
#include "merge/reading/input_originals.h"
#include "netcdf/netcdf_view.h"
#include "reader/file_reader.h"
#include "sources/value_source.h"
#include "wire/failure.h"

namespace nmb {

// An object reads one file.
class NmbInput {
 public:
  // index: position of the input in the list of inputs. `context` must outlive the object.
  NmbInput(InputContext& context, std::size_t index, Source file);

  // Passes the blocks to `visit`. Errors: as InputReader::read().
  Result<InputExtras> read(const VisitBlock& visit);
  // Passes the blocks to InputOptions::chooser.
  Status choose();

 private:
  Status open();
  Status read_provenance();
  Status share_archive();
  Status read_rows();
  Status read_blocks(const VisitBlock& visit);
  Status read_only_block(const VisitBlock& visit);
  Result<std::vector<bool>> choose_blocks();
  Status note_lengths();
  Status note_needed();
  std::string group_of(const BlockEntry& entry) const;
  Status survey();
  Status visit_blocks(const std::vector<bool>& chosen, const VisitBlock& visit);
  Status find_losses();

  Result<bool> read_entry(const BlockEntry& entry, const VisitBlock& visit);
  Status note_undecoded(const LoadedBlock& block);
  Status forget_originals(const LoadedBlock& block, MovedContent* moved);
  Status note_damage(const LoadedBlock& block);
  Result<MovedContent> changed(const LoadedBlock& block, const Source& values);
  Result<Source> body_of(const BlockEntry& entry);
  Status describe(const LoadedBlock& source, InputBlock* block);
  Status add_stored_values(const BlockEntry& entry, InputBlock* block);
  Status keep_rows(const LoadedBlock& block, PackedBlock* packed);

  InputContext& context_;
  InputOptions& options_;
  const std::size_t index_;
  const Source file_;
  // The blocks that are read (PackOptions::input_blocks); nullptr if these are all blocks.
  const std::vector<std::string>* const blocks_;
  std::shared_ptr<const FileReader> reader_;
  InputExtras extras_;
  InputChanges changes_;
  bool is_first_ = true;       // see PackOptions::is_first_of_file()
  bool is_surveying_ = false;  // blocks are passed to InputOptions::survey
  DamageReport damage_;
  std::shared_ptr<InputOriginals> originals_ = std::make_shared<InputOriginals>();
  std::shared_ptr<const DimensionLengths> lengths_;  // set if requested
  std::shared_ptr<const NeededPaths> needed_;        // set if variables are selected
  std::optional<FileDimensionsReader> dimensions_;   // set if made-up names are needed
  // Whether the block of PackOptions::only_block is a classic dataset. Such a dataset is read
  // alone and becomes the root. A group is read with all blocks below it and keeps its path.
  bool becomes_root_ = false;
};

}  // namespace nmb
