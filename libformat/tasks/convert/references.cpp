// Finds the files to which an input file refers (see convert/convert.h).
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "client/decode_group.h"
#include "convert/convert.h"
#include "extent/external_path.h"
#include "files/files.h"
#include "files/visited_files.h"
#include "hdf5_types/hdf5_section.h"
#include "hdf5_types/virtual_name.h"
#include "reader/file_reader.h"

namespace nmb {

namespace {

namespace fs = std::filesystem;

// For one set of outputs: the maximum number of files that are read, and the maximum time for
// reading them. Each HDF5 file also has limits of its own.
constexpr std::size_t kMostNested = 65536;
constexpr auto kMostTime = std::chrono::minutes(5);

// Finds the files that an HDF5 file names, and searches for them as the HDF5 library does.
class Hdf5Names {
 public:
  // `input` is the input file that refers to `file`, directly or through other files. Messages name
  // `input`. *nested receives the existing files that may refer to further files.
  Hdf5Names(const OutputSet& outputs, const std::string& file, const std::string& input,
            std::vector<std::string>* nested)
      : outputs_(outputs), input_(input), nested_(nested) {
    std::error_code none;
    folders_.push_back(fs::path(file).parent_path());
    const fs::path resolved = fs::canonical(file, none).parent_path();
    if (!none && resolved != folders_.front()) folders_.push_back(resolved);
  }

  Status check(std::span<const hdf5::Property> properties) {
    for (const hdf5::Property& p : properties) {
      for (const hdf5::ExternalFile& raw : p.external_files) NMB_TRY(check(raw.name, kRawPrefix));
      for (const hdf5::VirtualSource& source : p.sources) NMB_TRY(check_source(source.file));
      for (const hdf5::Link& link : p.links)
        if (link.kind == hdf5::LinkKind::kExternal)
          NMB_TRY(check(link.content.c_str(), "HDF5_EXT_PREFIX"));
    }
    return {};
  }

 private:
  static constexpr std::string_view kRawPrefix = "HDF5_EXTFILE_PREFIX";

  // Checks a source of a virtual data set. If the name of the source contains "%b", also checks the
  // sources with the numbers 0, 1, 2 and so on, until a source does not exist.
  Status check_source(const std::string& name) {
    constexpr const char* kPrefix = "HDF5_VDS_PREFIX";
    NMB_TRY(check(name, kPrefix));
    for (std::uint64_t n = 0;; ++n) {
      bool has_number = false, found = false;
      const std::string source = hdf5::numbered(name, n, &has_number);
      if (!has_number && source == name) return {};
      NMB_TRY(check(source, kPrefix, &found));
      if (!has_number || !found) return {};
    }
  }

  Status check(const std::string& name, std::string_view prefixes, bool* found = nullptr) {
    // An empty name and "." mean the file itself.
    if (name.empty() || name == ".") return {};
    if (!seen_.insert(name).second && found == nullptr) return {};
    bool any = false;
    for (const fs::path& candidate : candidates(name, prefixes))
      NMB_TRY(check_file(candidate, prefixes, &any));
    // If a name with folders leads to no file, HDF5 tries only the last part of the name.
    if (!any) {
      const fs::path last = fs::path(name).filename();
      bool beside = false;
      if (fs::path(name).is_absolute())
        for (const fs::path& candidate : candidates(last, prefixes))
          NMB_TRY(check_file(candidate, prefixes, &beside));
      else
        NMB_TRY(check_file(folders_.back() / last, prefixes, &beside));
    }
    if (found != nullptr) *found = any;
    return {};
  }

  Status check_file(const fs::path& path, std::string_view prefixes, bool* any) {
    NMB_TRY(outputs_.check_reference(path.string(), input_));
    if (std::error_code none; !fs::exists(path, none)) return {};
    *any = true;
    // A file of raw data may have any format, and does not refer to other files.
    if (prefixes != kRawPrefix) nested_->push_back(path.string());
    return {};
  }

  std::vector<fs::path> candidates(const fs::path& path, std::string_view prefixes) const {
    if (path.is_absolute()) return {path};
    std::vector<fs::path> out = {path};
    for (const fs::path& folder : folders_)
      if (!folder.empty()) out.push_back(folder / path);
    const char* const set = std::getenv(std::string(prefixes).c_str());
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
  const std::string& input_;
  std::vector<std::string>* const nested_;
  std::vector<fs::path> folders_;
  std::unordered_set<std::string> seen_;
};

Status check_dataset(const Dataset& dataset, Hdf5Names* names) {
  using Number = hdf5::Property::Number;
  constexpr Number kNaming[] = {Number::kLinks, Number::kExternalFiles, Number::kVirtual};
  const std::shared_ptr<const Extension> extension = dataset.metadata.extension();
  if (!extension) return {};
  NMB_ASSIGN(const std::vector<hdf5::Property> properties,
             hdf5::decode_properties(extension->hdf5, kNaming));
  return names->check(properties);
}

// Follows references from file to file, at any depth.
class ReferenceWalk {
 public:
  // `input` is the path of the input file. All arguments must outlive this object.
  ReferenceWalk(const OutputSet& outputs, const std::string& input, VisitedFiles& visited)
      : outputs_(outputs), input_(input), visited_(visited) {}

  // Checks all names of files that the dataset contains. `file` is the path of the dataset's file.
  Status check(const Dataset& dataset, const std::string& file) {
    if (!dataset.metadata.extension()) return {};
    Hdf5Names names(outputs_, file, input_, &nested_);
    return refuse(check_dataset(dataset, &names));
  }

  Status check_blocks(const FileReader& reader, const std::string& file) {
    Hdf5Names names(outputs_, file, input_, &nested_);
    return reader.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
      if (entry.kind != static_cast<std::uint16_t>(Kind::kExtended)) return true;
      const auto block = reader.block(entry);
      // Other blocks, and originals, can be read although this block is damaged.
      if (block.status().code() == Code::kDamaged) {
        NMB_TRY(refuse(outputs_.refuse_unknown(input_, block.status().text())));
        return true;
      }
      NMB_TRY(block.status());
      NMB_TRY(refuse(check_dataset(**block, &names)));
      return true;
    });
  }

  Status check_table(const FileReader& reader, const std::string& file) {
    NMB_ASSIGN(const std::vector<ExternalFile> files, reader.external_files());
    const std::string folder = files.empty() ? std::string() : external_folder(file);
    for (const ExternalFile& source : files) {
      // The bytes of an original lie in the NMB file itself. Its path only says where they came
      // from.
      if (source.is_original) continue;
      NMB_TRY(refuse(outputs_.check_reference(
          source.path.starts_with('/') ? source.path : folder + source.path, input_)));
    }
    return {};
  }

  Status check_file(std::shared_ptr<const ByteSource> file) {
    NMB_ASSIGN(const FileKind kind, kind_of(*file));
    const std::string path = file->name();
    if (kind == FileKind::kNmb) {
      NMB_ASSIGN(const std::unique_ptr<FileReader> reader,
                 FileReader::open(std::move(file), {.external = ExternalPaths::kNone}));
      NMB_TRY(check_table(*reader, path));
      return check_blocks(*reader, path);
    }
    if (kind != FileKind::kHdf5) return {};
    Hdf5Names names(outputs_, path, input_, &nested_);
    return hdf5::read_file(std::move(file), [&](hdf5::Hdf5Group group) -> Status {
      NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> block,
                 hdf5::decode_group(std::move(group), path));
      return refuse(check_dataset(*block, &names));
    });
  }

  // Reads the files that the checked files name, and the files that these files name in turn. Reads
  // each file only once for one set of outputs.
  Status finish() {
    using Clock = std::chrono::steady_clock;
    while (!nested_.empty()) {
      const std::string path = std::move(nested_.back());
      nested_.pop_back();
      const std::optional<std::string> file = in_its_folder(path);
      if (!file) continue;
      const VisitedFiles::VisitResult entry = visited_.enter(*file, kMostNested, kMostTime);
      if (entry == VisitedFiles::VisitResult::kKnown) continue;
      if (entry == VisitedFiles::VisitResult::kTooMany)
        return outputs_.refuse_unknown(
            input_, "the input refers to more than " + std::to_string(kMostNested) +
                        " files, or reading these files took more than " +
                        std::to_string(kMostTime.count()) + " minutes");
      const auto begin = Clock::now();
      const Status read = look_into(*file);
      visited_.add_time(Clock::now() - begin);
      NMB_TRY(refused_);
      // Other failures to read a file do not matter, because HDF5 returns fill values if a source
      // is damaged.
      if (read.code() == Code::kUnsupported || read.code() == Code::kLimit)
        return outputs_.refuse_unknown(input_, read.text());
    }
    return {};
  }

 private:
  // Stores `status` if the check itself refused a file. Does not store a failure to read a file.
  Status refuse(Status status) {
    if (status.code() == Code::kUsage) refused_ = status;
    return status;
  }

  // Returns the same path for all spellings of the path, or nullopt if no regular file has this
  // path. If a file refers to other files, HDF5 searches for them in the folder of the path with
  // which it opened the file. So symbolic links in the folder are resolved, but a link in the last
  // part of the path is not.
  static std::optional<std::string> in_its_folder(const fs::path& path) {
    std::error_code none;
    if (!fs::is_regular_file(path, none)) return std::nullopt;
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    const fs::path resolved = fs::canonical(folder, none);
    if (none) return std::nullopt;
    return (resolved / path.filename()).string();
  }

  Status look_into(const std::string& path) {
    NMB_ASSIGN(std::unique_ptr<FileSource> opened, FileSource::open(path));
    return check_file(std::move(opened));
  }

  const OutputSet& outputs_;
  const std::string& input_;
  VisitedFiles& visited_;
  std::vector<std::string> nested_;
  Status refused_;
};

}  // namespace

Status check_file_table(const OutputSet& outputs, const FileReader& reader) {
  const std::string* const path = reader.file().path();
  if (path == nullptr) return {};
  return ReferenceWalk(outputs, *path, *outputs.visited_).check_table(reader, *path);
}

Status check_references(const OutputSet& outputs, const FileReader& reader) {
  const std::string* const path = reader.file().path();
  if (path == nullptr) return {};
  ReferenceWalk walk(outputs, *path, *outputs.visited_);
  NMB_TRY(walk.check_table(reader, *path));
  NMB_TRY(walk.check_blocks(reader, *path));
  return walk.finish();
}

Status check_references(const OutputSet& outputs, const Dataset& dataset, const std::string& file) {
  ReferenceWalk walk(outputs, file, *outputs.visited_);
  NMB_TRY(walk.check(dataset, file));
  return walk.finish();
}

Status check_references(const OutputSet& outputs, const std::shared_ptr<const ByteSource>& file) {
  ReferenceWalk walk(outputs, file->name(), *outputs.visited_);
  NMB_TRY(walk.check_file(file));
  return walk.finish();
}

}  // namespace nmb
