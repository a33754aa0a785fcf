// SourceNames: finds the names of the blocks that nmcat made of its inputs. The provenance of an
// NMB file records the options and the inputs of each run of nmcat.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "merge/dividing/block_template.h"
#include "model/path_move.h"
#include "reader/file_reader.h"

namespace nmb::tools {

class SourceNames {
 public:
  // file: path of the file that nmcat wrote. reader: the file if it is an NMB file, otherwise
  // nullptr. block_name: the template of all sources; if nullopt, the recorded templates are used.
  // sources: the paths of the inputs, in the order of nmcat. Errors: kUnsupported if a run of nmcat
  // divided, united or chose blocks; kUsage for a wrong template; those of Reader.
  static Result<SourceNames> find(const std::string& file, const FileReader* reader,
                                  const std::optional<std::string>& block_name,
                                  std::vector<std::string> sources);

  const std::vector<std::string>& sources() const { return sources_; }
  // Returns the name of the block that block `group` of a source became. has_groups: whether the
  // source is an NMB or HDF5 file.
  Result<std::string> name(std::size_t source, bool has_groups, std::string_view group) const;
  // Returns how the paths of a source's objects changed. group: the name of one of the source's
  // blocks.
  PathMove move(std::size_t source, std::string_view group) const;

 private:
  // A run of nmcat.
  struct MergeRun {
    BlockNames names;
    // For each input, by its name without folder: its positions in the list of inputs.
    std::map<std::string, std::vector<std::size_t>, std::less<>> inputs{};
  };
  struct MergeInput {
    std::size_t run = 0, index = 0;
  };
  static Result<std::optional<MergeRun>> read_run(const std::string& file, const std::string& text);
  void place_sources();

  std::vector<std::string> sources_;
  std::vector<MergeRun> runs_;
  std::vector<MergeInput> places_;  // one for each source
};

}  // namespace nmb::tools
