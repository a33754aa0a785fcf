#include "common/original_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "compare/compare.h"
#include "model/text.h"

namespace nmb::tools {

namespace {

// Originals; the key is the order of the original's block.
using ByOrder = std::multimap<std::uint64_t, OriginalFile>;

Result<ByOrder> by_order(const FileReader& reader) {
  ByOrder out;
  NMB_ASSIGN(const std::vector<ExternalFile> files, reader.external_files());
  for (std::uint32_t i = 0; i < files.size(); ++i)
    if (files[i].is_original)
      out.emplace(files[i].order, OriginalFile{i + 1, files[i], std::nullopt});
  return out;
}

// Returns the original if exactly one was found. Errors: kConflict if several were found. `where`
// says in the message how the originals are related to `name`.
Result<std::optional<OriginalFile>> only_one(const FileReader& reader, const std::string& name,
                                             const std::vector<OriginalFile>& found,
                                             const char* where, bool by_path) {
  if (found.empty()) return std::optional<OriginalFile>();
  if (found.size() == 1) return std::optional(found.front());
  constexpr std::size_t kMostNamed = 5;
  std::string list;
  for (std::size_t i = 0; i < std::min(found.size(), kMostNamed); ++i)
    list += fmt::format("{}\"{}\"", i > 0 ? ", " : "",
                        printable(by_path ? found[i].file.path : *found[i].block));
  return Status(Code::kConflict, reader.file().name(), kNoOffset, "",
                fmt::format("{} originals {} \"{}\" ({}{}); use the {} of one original",
                            found.size(), where, printable(name), list,
                            found.size() > kMostNamed ? ", ..." : "", by_path ? "path" : "block"));
}

}  // namespace

Result<std::vector<OriginalFile>> originals_of(const FileReader& reader) {
  NMB_ASSIGN(ByOrder known, by_order(reader));
  std::vector<OriginalFile> out, classic;
  NMB_TRY(reader.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    const auto [begin, end] = known.equal_range(entry.order);
    for (auto at = begin; at != end; ++at) at->second.block = entry.name;
    const FileDigests& digests = entry.file_digests;
    if (!digests.has_xxh3() || entry.growth != 0) return true;
    OriginalFile file;
    file.file.size = entry.raw_length + entry.extent_length;
    file.file.digest = digests.xxh3;
    if (digests.has_sha256()) file.file.sha256 = digests.sha256;
    file.block = entry.name;
    classic.push_back(std::move(file));
    return true;
  }));
  for (auto& [order, original] : known) out.push_back(std::move(original));
  std::ranges::sort(out, {}, &OriginalFile::number);
  std::ranges::move(classic, std::back_inserter(out));
  return out;
}

Result<std::optional<OriginalFile>> find_original(const FileReader& reader,
                                                  const std::string& name) {
  NMB_ASSIGN(const ByOrder known, by_order(reader));
  if (known.empty()) return std::optional<OriginalFile>();
  std::vector<OriginalFile> found;
  const auto take = [&](const BlockEntry& entry) -> Result<bool> {
    const auto [begin, end] = known.equal_range(entry.order);
    for (auto at = begin; at != end; ++at) {
      found.push_back(at->second);
      found.back().block = entry.name;
    }
    return true;
  };
  NMB_ASSIGN(const std::optional<BlockEntry> entry, reader.find(name));
  if (entry) NMB_TRY(take(*entry).status());
  if (!found.empty()) return only_one(reader, name, found, "became block", true);
  // The block of a classic file contains the whole file, and has no original.
  if (entry && entry->kind != static_cast<std::uint16_t>(Kind::kExtended))
    return std::optional<OriginalFile>();
  NMB_TRY(reader.for_each_entry(name.empty() ? "" : name + "/", take));
  if (!found.empty()) return only_one(reader, name, found, "became blocks below", false);
  const auto has_path = [&](const auto& one) { return one.second.file.path == name; };
  if (std::ranges::none_of(known, has_path)) return std::optional<OriginalFile>();
  NMB_TRY(reader.for_each_entry("", take));
  std::erase_if(found, [&](const OriginalFile& original) { return original.file.path != name; });
  if (found.empty())
    return Status(
        Code::kNotFound, reader.file().name(), kNoOffset, "",
        fmt::format("the block of original \"{}\" was replaced or removed; nminspect files "
                    "lists the blocks of all originals",
                    printable(name)));
  if (found.size() > 1)
    return Status(Code::kConflict, reader.file().name(), kNoOffset, "",
                  fmt::format("{} originals have the path \"{}\"; use the block of one original",
                              found.size(), printable(name)));
  return std::optional(found.front());
}

std::string without_original_text(const std::string& output, std::uint64_t count,
                                  const std::string& option) {
  return fmt::format(
      "{}: stores no {} of {} HDF5 {}, because {} changes how values are stored; nmconvert "
      "--original cannot write {}",
      output, count == 1 ? "original" : "originals", count, count == 1 ? "file" : "files", option,
      count == 1 ? "this file" : "these files");
}

std::string parted_originals_text(const std::string& output, std::uint64_t count) {
  return fmt::format(
      "{}: stores no {} of {} HDF5 {}, because only some of {} blocks are chosen; nmconvert "
      "--original cannot write {}",
      output, count == 1 ? "original" : "originals", count, count == 1 ? "file" : "files",
      count == 1 ? "its" : "their", count == 1 ? "this file" : "these files");
}

std::optional<std::string> stored_twice_text(const std::string& output, std::uint64_t stored_twice,
                                             std::uint64_t original_bytes) {
  if (stored_twice <= original_bytes / 100) return std::nullopt;
  return fmt::format(
      "{}: stores {} bytes of values twice, in originals and in blocks, because blocks cannot "
      "refer "
      "to these values in the originals (for example strings of variable length); --no-originals "
      "stores no originals",
      output, stored_twice);
}

Json original_json(const OriginalFile& original) {
  Json json{{"file", original.number > 0 ? Json(json_text(original.file.path)) : Json()},
            {"bytes", original.file.size},
            {"block", nullptr},
            {"xxh3_128", digest_text(original.file.digest)},
            {"sha256", nullptr}};
  if (original.block) json["block"] = json_text(*original.block);
  if (original.file.sha256) json["sha256"] = digest_text(*original.file.sha256);
  return json;
}

}  // namespace nmb::tools
