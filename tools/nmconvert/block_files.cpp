#include "nmconvert/block_files.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "handles/glob.h"
#include "merge/reading/input_selection.h"
#include "model/paths.h"
#include "model/text.h"

namespace nmb::tools {

namespace {

namespace fs = std::filesystem;

using Names = std::set<std::string, std::less<>>;

// Returns the path of a file below `folder`. A name with the parts ".." or "." could lead to
// another folder. what: the object that has this name, for messages.
Result<std::string> path_below(const FileReader& reader, const std::string& folder,
                               const std::string& name, const char* what) {
  const fs::path path = name;
  if (name.find('\0') != name.npos || path.is_absolute() || !path.has_filename() ||
      std::ranges::any_of(path, [](const fs::path& part) { return part == ".." || part == "."; }))
    return Status(Code::kConflict, reader.file().name(), kNoOffset, "",
                  std::string("the ") + what + " \"" + printable(name) +
                      "\" is not the path of a file; without --out-dir, -o names the output");
  return (fs::path(folder) / path).string();
}

Status not_found(const FileReader& reader, const std::string& text) {
  return Status(Code::kNotFound, reader.file().name(), kNoOffset, "", text);
}

// Returns the name of the file for the block, without an ending. The root block has the name of the
// NMB file.
std::string stem_for(const FileReader& reader, const std::string& block) {
  return block.empty() ? std::string(stem_of(reader.file().name())) : block;
}

// Returns whether a group in `groups` is above the block.
bool is_below(const Names& groups, std::string_view block) {
  while (!block.empty()) {
    block = split_path(block).parent;
    if (groups.contains(block)) return true;
  }
  return false;
}

Status check_paths(const FileReader& reader, const std::vector<BlockFile>& files) {
  std::map<std::string_view, std::string_view> blocks;
  for (const BlockFile& file : files) {
    const auto [known, is_new] = blocks.emplace(file.output, file.block);
    if (!is_new)
      return Status(Code::kConflict, reader.file().name(), kNoOffset, "",
                    "the originals of blocks \"" + printable(known->second) + "\" and \"" +
                        printable(file.block) + "\" have the same path \"" +
                        printable(file.output) + "\"; write them with -o, one by one");
  }
  return {};
}

}  // namespace

Status no_block_matches(const FileReader& reader, const std::string& glob) {
  if (glob.find_first_of("*?[\\") == glob.npos)
    return not_found(reader, "found no block \"" + printable(glob) + "\"");
  NMB_ASSIGN(const std::optional<BlockEntry> exact, reader.find(glob));
  return not_found(reader, "no block matches \"" + printable(glob) + "\"" +
                               (exact ? "; a block has this name: write a backslash before "
                                        "*, ?, [ and backslashes that are part of a name"
                                      : ""));
}

Result<std::vector<BlockFile>> files_of_blocks(const FileReader& reader, const std::string& glob,
                                               const std::string& folder,
                                               const std::string& ending) {
  NMB_ASSIGN(const NamePattern pattern, NamePattern::glob(glob));
  std::vector<BlockFile> out;
  Names groups;
  NMB_TRY(
      reader.for_each_entry(pattern.literal_prefix(), [&](const BlockEntry& entry) -> Result<bool> {
        NMB_ASSIGN(const bool matches, pattern.matches(entry.name));
        if (!matches || is_below(groups, entry.name)) return true;
        NMB_ASSIGN(const bool is_group, InputSelection::is_group(reader, entry));
        if (is_group) groups.insert(entry.name);
        BlockFile file{entry.name, {}, entry.raw_length + entry.extent_length, {}};
        NMB_ASSIGN(file.output,
                   path_below(reader, folder, stem_for(reader, entry.name) + ending, "block"));
        out.push_back(std::move(file));
        return true;
      }));
  if (out.empty()) return no_block_matches(reader, glob);
  return out;
}

Result<std::vector<BlockFile>> files_of_originals(const FileReader& reader, const std::string& glob,
                                                  const std::string& folder) {
  NMB_ASSIGN(const NamePattern pattern, NamePattern::glob(glob));
  NMB_ASSIGN(const std::vector<OriginalFile> originals, originals_of(reader));
  std::vector<BlockFile> out;
  Names with_original;
  for (const OriginalFile& original : originals) {
    if (!original.block || original.number == 0) continue;  // removed, or a classic file
    with_original.insert(*original.block);
    NMB_ASSIGN(bool matches, pattern.matches(*original.block));
    if (!matches) NMB_ASSIGN(matches, pattern.matches(original.file.path));
    if (!matches) continue;
    BlockFile file{*original.block, {}, original.file.size, original};
    NMB_ASSIGN(file.output, path_below(reader, folder, original.file.path, "original"));
    out.push_back(std::move(file));
  }
  NMB_TRY(
      reader.for_each_entry(pattern.literal_prefix(), [&](const BlockEntry& entry) -> Result<bool> {
        NMB_ASSIGN(const bool matches, pattern.matches(entry.name));
        // A block below a block with an original is a group in the original.
        if (!matches || with_original.contains(entry.name) || is_below(with_original, entry.name))
          return true;
        if (is_from_hdf5(entry))
          return not_found(reader, "found no original of block \"" + printable(entry.name) +
                                       "\", which came from HDF5; use --extract to write a new "
                                       "file from the block; nothing was written");
        BlockFile file{entry.name, {}, entry.raw_length + entry.extent_length, {}};
        NMB_ASSIGN(file.output,
                   path_below(reader, folder, stem_for(reader, entry.name) + ".nc", "block"));
        out.push_back(std::move(file));
        return true;
      }));
  if (out.empty())
    return not_found(reader, "no original and no block matches \"" + printable(glob) +
                                 "\"; nminspect files lists the originals");
  NMB_TRY(check_paths(reader, out));
  return out;
}

}  // namespace nmb::tools
