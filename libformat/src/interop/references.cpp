// Files that an input refers to (see nmb/references.h).
#include "nmb/references.h"

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "external/external_path.h"
#include "interop/group_block.h"
#include "nmb/file_kind.h"
#include "nmb/file_source.h"
#include "nmb/hdf5_section.h"

namespace nmb {

namespace {

namespace fs = std::filesystem;
using Number = hdf5::Property::Number;

// Files that are read for the sources of virtual data sets of one input.
constexpr std::size_t kMostNested = 65536;

// The name of the n-th source of a virtual data set: "%b" is n, "%%" a percent sign.
std::string numbered(std::string_view name, std::uint64_t n, bool* has_number) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool is_pair = name[i] == '%' && i + 1 < name.size();
    if (is_pair && name[i + 1] == 'b') {
      out += std::to_string(n);
      *has_number = true;
      ++i;
    } else {
      out += name[i];
      if (is_pair && name[i + 1] == '%') ++i;
    }
  }
  return out;
}

// Where the HDF5 library looks for files that a file names.
class Hdf5Names {
 public:
  // sources: gets files that exist and may be sources of virtual data sets; nullptr: not wanted.
  Hdf5Names(const OutputSet& outputs, const std::string& file, std::vector<std::string>* sources)
      : outputs_(outputs), file_(file), sources_(sources) {
    std::error_code none;
    folders_.push_back(fs::path(file).parent_path());
    const fs::path resolved = fs::canonical(file, none).parent_path();
    if (!none && resolved != folders_.front()) folders_.push_back(resolved);
  }

  Status check(std::span<const hdf5::Property> properties) {
    for (const hdf5::Property& p : properties) {
      for (const hdf5::ExternalFile& raw : p.external_files)
        NMB_TRY(check(raw.name, "HDF5_EXTFILE_PREFIX"));
      for (const hdf5::VirtualSource& source : p.sources) NMB_TRY(check_source(source.file));
      for (const hdf5::Link& link : p.links)
        if (link.kind == hdf5::LinkKind::kExternal)
          NMB_TRY(check(link.content.c_str(), "HDF5_EXT_PREFIX"));
    }
    return {};
  }

 private:
  // Numbered sources end at the first that does not exist.
  Status check_source(const std::string& name) {
    constexpr const char* kPrefix = "HDF5_VDS_PREFIX";
    NMB_TRY(check(name, kPrefix));
    for (std::uint64_t n = 0;; ++n) {
      bool has_number = false, found = false;
      const std::string source = numbered(name, n, &has_number);
      if (!has_number && source == name) return {};
      NMB_TRY(check(source, kPrefix, &found));
      if (!has_number || !found) return {};
    }
  }

  Status check(const std::string& name, const char* prefixes, bool* found = nullptr) {
    // A name that stands for the file itself, as that of a source may.
    if (name.empty() || name == ".") return {};
    if (!seen_.insert(name).second && found == nullptr) return {};
    bool any = false;
    for (const fs::path& candidate : candidates(name, prefixes)) {
      NMB_TRY(outputs_.check_reference(candidate.string(), file_));
      if (std::error_code none; !fs::exists(candidate, none)) continue;
      any = true;
      if (sources_ != nullptr && std::string_view(prefixes) == "HDF5_VDS_PREFIX")
        sources_->push_back(candidate.string());
    }
    // The last that HDF5 tries: the name without its folders, beside the file.
    if (!any) {
      const fs::path beside = folders_.back() / fs::path(name).filename();
      NMB_TRY(outputs_.check_reference(beside.string(), file_));
    }
    if (found != nullptr) *found = any;
    return {};
  }

  std::vector<fs::path> candidates(const std::string& name, const char* prefixes) const {
    const fs::path path = name;
    if (path.is_absolute()) return {path};
    std::vector<fs::path> out = {path};
    for (const fs::path& folder : folders_)
      if (!folder.empty()) out.push_back(folder / path);
    const char* const set = std::getenv(prefixes);
    std::string_view rest = set == nullptr ? "" : set;
    while (!rest.empty()) {
      constexpr std::string_view kOrigin = "${ORIGIN}";
      const std::size_t end = rest.find(':');
      std::string_view one = rest.substr(0, end);
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
      if (one.starts_with(kOrigin)) {
        one.remove_prefix(kOrigin.size());
        out.push_back(folders_.back() / fs::path(one).relative_path() / path);
      } else if (!one.empty()) {
        out.push_back(fs::path(one) / path);
      }
    }
    return out;
  }

  const OutputSet& outputs_;
  const std::string& file_;
  std::vector<std::string>* const sources_;
  std::vector<fs::path> folders_;
  std::unordered_set<std::string> seen_;
};

Status check_dataset(const Dataset& dataset, Hdf5Names* names) {
  constexpr Number kNaming[] = {Number::kLinks, Number::kExternalFiles, Number::kVirtual};
  const std::shared_ptr<const Extension> extension = dataset.metadata.extension();
  if (!extension) return {};
  NMB_ASSIGN(const std::vector<hdf5::Property> properties,
             hdf5::decode_properties(extension->hdf5, kNaming));
  return names->check(properties);
}

// *refused: what the check says; the returned status: what reading fails with.
Status check_hdf5(const OutputSet& outputs, std::shared_ptr<const ByteSource> file,
                  std::vector<std::string>* sources, Status* refused) {
  NMB_ASSIGN(const std::shared_ptr<const SpoolFile> spool, SpoolFile::create());
  const std::string path = file->name();
  Hdf5Names names(outputs, path, sources);
  return hdf5::read_file(std::move(file), spool, [&](hdf5::GroupBlock group) -> Status {
    NMB_ASSIGN(const std::shared_ptr<const Block> block,
               hdf5::decode_group(std::move(group), path));
    Status status = check_dataset(*block, &names);
    if (status.code() == Code::kUsage) *refused = status;
    return status;
  });
}

// What HDF5 opens to read a virtual data set, from source to source.
Status check_sources(const OutputSet& outputs, std::vector<std::string> sources) {
  std::set<std::string> seen;
  while (!sources.empty() && seen.size() < kMostNested) {
    std::error_code none;
    const std::string path = fs::canonical(sources.back(), none).string();
    sources.pop_back();
    if (none || !seen.insert(path).second || !fs::is_regular_file(path, none)) continue;
    Result<std::unique_ptr<FileSource>> opened = FileSource::open(path);
    if (!opened.ok()) continue;
    std::shared_ptr<const ByteSource> source = std::move(*opened);
    const Result<FileKind> kind = kind_of(*source);
    if (!kind.ok() || *kind != FileKind::kHdf5) continue;
    Status refused;
    // HDF5 reads fill values where a source cannot be read.
    [[maybe_unused]] const Status read = check_hdf5(outputs, std::move(source), &sources, &refused);
    NMB_TRY(refused);
  }
  return {};
}

}  // namespace

Status check_file_table(const OutputSet& outputs, const Reader& reader) {
  const std::string* const path = reader.file().path();
  if (path == nullptr) return {};
  NMB_ASSIGN(const std::vector<ExternalFile> files, reader.external_files());
  const std::string folder = files.empty() ? std::string() : external_folder(*path);
  for (const ExternalFile& file : files)
    NMB_TRY(outputs.check_reference(file.path.starts_with('/') ? file.path : folder + file.path,
                                    *path));
  return {};
}

Status check_references(const OutputSet& outputs, const Reader& reader) {
  NMB_TRY(check_file_table(outputs, reader));
  const std::string* const path = reader.file().path();
  if (path == nullptr) return {};
  Hdf5Names names(outputs, *path, nullptr);
  return reader.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    if (entry.kind != static_cast<std::uint16_t>(Kind::kExtended)) return true;
    NMB_ASSIGN(const std::shared_ptr<const Block> block, reader.block(entry));
    NMB_TRY(check_dataset(*block, &names));
    return true;
  });
}

Status check_references(const OutputSet& outputs, const Dataset& dataset, const std::string& file) {
  if (!dataset.metadata.extension()) return {};
  Hdf5Names names(outputs, file, nullptr);
  return check_dataset(dataset, &names);
}

Status check_references(const OutputSet& outputs, const std::shared_ptr<const ByteSource>& file,
                        bool nested) {
  NMB_ASSIGN(const FileKind kind, kind_of(*file));
  if (kind == FileKind::kNmb) {
    NMB_ASSIGN(const std::unique_ptr<Reader> reader,
               Reader::open(file, {.external = ExternalPaths::kNone}));
    return check_references(outputs, *reader);
  }
  if (kind != FileKind::kHdf5) return {};
  std::vector<std::string> sources;
  Status refused;
  NMB_TRY(check_hdf5(outputs, file, nested ? &sources : nullptr, &refused));
  return check_sources(outputs, std::move(sources));
}

}  // namespace nmb
