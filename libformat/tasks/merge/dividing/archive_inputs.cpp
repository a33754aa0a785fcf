#include "merge/dividing/archive_inputs.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convert/convert.h"
#include "files/files.h"
#include "merge/reading/block_chooser.h"
#include "merge/reading/input_options.h"
#include "merge/reading/input_selection.h"
#include "model/paths.h"
#include "parallel/outbox.h"
#include "reader/file_reader.h"
#include "wire/natural_order.h"

namespace nmb {

namespace {

using BlockList = std::vector<std::string>;

// Sorts the blocks of a file into inputs.
class ArchiveBlocks {
 public:
  explicit ArchiveBlocks(const FileReader& reader) : reader_(reader) {}

  // Adds a block. Blocks must be added in the order of their names.
  Status add(const BlockEntry& entry) {
    std::set<std::string, std::less<>> above;
    for (std::string_view at = entry.name; !at.empty();) {
      at = split_path(at).parent;
      if (const auto group = groups_.find(at); group != groups_.end()) {
        inputs_[group->second].blocks.push_back(entry.name);
        return {};
      }
      above.emplace(at);
    }
    parents_.merge(above);
    NMB_ASSIGN(const bool is_group, InputSelection::is_group(reader_, entry));
    if (is_group) groups_.emplace(entry.name, inputs_.size());
    inputs_.push_back({{entry.name}, entry.dimensions + entry.variables > 0});
    return {};
  }

  // Returns the blocks of each input. A block above other inputs is not an input if it has only
  // attributes.
  std::vector<BlockList> take() {
    std::vector<BlockList> out;
    for (Input& input : inputs_)
      if (input.has_content || !parents_.contains(input.blocks.front()))
        out.push_back(std::move(input.blocks));
    std::ranges::stable_sort(out, natural_less, [](const BlockList& blocks) -> std::string_view {
      return blocks.front();
    });
    return out;
  }

 private:
  struct Input {
    BlockList blocks;
    bool has_content;  // the first block has dimensions or variables
  };

  const FileReader& reader_;
  std::vector<Input> inputs_;
  std::map<std::string, std::size_t, std::less<>> groups_;  // the index of the input of each group
  std::set<std::string, std::less<>> parents_;  // paths above the first blocks of inputs
};

struct DividedInputs {
  Status status;
  std::vector<std::string> inputs;
  std::vector<BlockList> blocks;
};

template <class Fields>
void fields(Fields& all, DividedInputs& divided) {
  all(divided.status, divided.inputs, divided.blocks);
}

// Returns the inputs that the blocks of a file become, or no input if the file is not divided.
Result<std::vector<BlockList>> divide(const std::string& path, const PackOptions& options,
                                      PackReport* report) {
  Result<std::unique_ptr<FileSource>> opened = FileSource::open(path);
  if (!opened.ok()) return std::vector<BlockList>();
  const std::shared_ptr<const FileSource> file = *std::move(opened);
  const Result<FileKind> kind = kind_of(*file);
  const std::optional<BlockChoice>& choice = options.choice();
  if (!kind.ok() || *kind == FileKind::kUnknown) return std::vector<BlockList>();
  if (*kind != FileKind::kNmb) {
    if (!choice) return std::vector<BlockList>();
    return Status(Code::kUsage, path, kNoOffset, "",
                  "blocks are chosen from a single NMB file; this is a " +
                      std::string(kind_name(*kind)) + " file");
  }
  const ReadOptions read{.cache_bytes = kCachedBytesOfInput, .external = options.external};
  NMB_ASSIGN(const std::unique_ptr<FileReader> reader, FileReader::open(file, read));
  std::vector<bool> chosen;  // for each block; empty if all blocks are chosen
  if (choice) {
    NMB_ASSIGN(BlockChooser chooser, BlockChooser::make(*choice, BlockChooser::Groups::kWithBelow));
    NMB_ASSIGN(chosen, chooser.choose(*reader, reader.get(), 0, path, &report->warnings));
    Communicator alone;
    Status failure;
    NMB_TRY(chooser.check(alone, options.output, &failure, report));
    NMB_TRY(failure);
  }
  ArchiveBlocks blocks(*reader);
  auto is_chosen = chosen.begin();
  NMB_TRY(reader->for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    if (chosen.empty() || *is_chosen++) NMB_TRY(blocks.add(entry));
    return true;
  }));
  std::vector<BlockList> inputs = blocks.take();
  // The file is one input already.
  if (!choice && inputs.size() == 1 && inputs.front().front().empty()) {
    if (options.joins() && options.inputs.size() == 1 && inputs.front().size() > 1)
      report->archive_note =
          "the groups of this file count as one input, so nothing is joined; BlockChoice::names "
          "chooses groups that are joined";
    inputs.clear();
  }
  return inputs;
}

Result<DividedInputs> divide_all(const PackOptions& options, PackReport* report) {
  DividedInputs out;
  for (const std::string& path : options.inputs) {
    Result<std::vector<BlockList>> blocks = divide(path, options, report);
    if (!blocks.ok()) return blocks.status().in_file(path);
    if (blocks->empty()) blocks->emplace_back();
    out.inputs.insert(out.inputs.end(), blocks->size(), path);
    std::ranges::move(*blocks, std::back_inserter(out.blocks));
  }
  if (std::ranges::all_of(out.blocks, [](const BlockList& blocks) { return blocks.empty(); }))
    out.blocks.clear();
  return out;
}

}  // namespace

Status divide_archives(Communicator& ranks, PackOptions* options, PackReport* report) {
  if (!options->unites() || options->source.bytes) return {};
  if (options->inputs.size() > 1 && !options->divides_archives) return {};
  DividedInputs divided;
  if (ranks.rank() == 0) {
    Result<DividedInputs> found = divide_all(*options, report);
    divided.status = found.status();
    if (found.ok()) divided = *std::move(found);
  }
  NMB_TRY(broadcast_fields(ranks, 0, &divided));
  NMB_TRY(divided.status);
  options->inputs = std::move(divided.inputs);
  options->input_blocks = std::move(divided.blocks);
  // Paths in a block from HDF5 begin with its old name, so each block is united, even a single one.
  if (!options->input_blocks.empty()) options->unite_single = true;
  return {};
}

}  // namespace nmb
