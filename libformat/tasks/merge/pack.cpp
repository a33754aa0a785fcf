// Implements pack() (see merge/reporting/merge.h): completes the options, and makes HDF5 outputs
// from a temporary NMB file.
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "convert/convert.h"
#include "convert/write_merged.h"
#include "files/files.h"
#include "files/journaled_output.h"
#include "files/temporary_names.h"
#include "merge/dividing/archive_inputs.h"
#include "merge/input_kinds.h"
#include "merge/packer.h"
#include "merge/reading/input_order.h"
#include "merge/reporting/merge.h"
#include "reader/file_reader.h"
#include "sources/value_message.h"
#include "wire/hash.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

// Returns a text that contains everything on which the bytes of the output depend. If an input
// changes while it is read, the run fails.
std::string resume_key(const PackOptions& options) {
  std::string key = options.resume;
  for (const std::vector<std::string>& blocks : options.input_blocks)
    for (const std::string& name : blocks) key += '\0' + name;
  for (std::size_t i = 0; i < options.inputs.size(); ++i) {
    if (!options.is_first_of_file(i)) continue;
    const std::string& path = options.inputs[i];
    struct stat about {};
    const bool is_there = ::stat(path.c_str(), &about) == 0;
    key += '\0' + path + '\0';
    if (is_there)
      key += std::to_string(about.st_size) + " " + std::to_string(about.st_mtim.tv_sec) + "." +
             std::to_string(about.st_mtim.tv_nsec);
  }
  return key;
}

// Returns nullopt for a file that cannot be found.
std::vector<std::optional<FileStamp>> stamps_of(const std::vector<std::string>& paths) {
  std::vector<std::optional<FileStamp>> stamps;
  for (const std::string& path : paths) {
    const Result<FileStamp> stamp = FileSource::stamp_of(path);
    stamps.push_back(stamp.ok() ? std::optional(*stamp) : std::nullopt);
  }
  return stamps;
}

Status check_stamps(const std::vector<std::string>& paths,
                    const std::vector<std::optional<FileStamp>>& before) {
  const std::vector<std::optional<FileStamp>> now = stamps_of(paths);
  const auto [changed, expected] = std::ranges::mismatch(now, before);
  if (changed == now.end()) return {};
  return file_changed(paths[static_cast<std::size_t>(changed - now.begin())]);
}

void remove_if_exists(const std::string& path) {
  std::error_code none;
  std::filesystem::remove(path, none);
}

// Removes the file, if it exists, when this object is destroyed.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string path) : path_(std::move(path)), name_(path_) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { remove_if_exists(path_); }

 private:
  const std::string path_;
  const TemporaryName name_;
};

ExtractOptions extract_options(const PackOptions& options) {
  ExtractOptions extract;
  static_cast<OutputOptions&>(extract) = static_cast<const OutputOptions&>(options.writer);
  extract.plain = options.hdf5->plain;
  extract.check = options.hdf5->check;
  extract.on_losses = options.hdf5->on_losses;
  if (!options.compression) return extract;
  extract.chunk = options.compression->chunk;
  if (options.compression->codec != PieceCodec::kDeflate) return extract;
  extract.deflate = options.compression->level;
  extract.shuffle = options.compression->shuffle;
  return extract;
}

// Returns a JSON object that identifies a run.
std::string key_text(const std::string& resume_key) {
  return joined_text("{\"resume_key\":\"", sum_of(std::as_bytes(std::span(resume_key))), "\"}");
}

// Describes the temporary NMB file that an earlier run finished.
Status describe_finished(const PackOptions& options, const FileReader& between,
                         PackReport* report) {
  report->totals = between.totals();
  report->inputs = options.inputs.size();
  for (std::size_t i = 0; i < options.inputs.size(); ++i) {
    if (!options.is_first_of_file(i)) continue;
    NMB_ASSIGN(const FileStamp stamp, FileSource::stamp_of(options.inputs[i]));
    report->bytes_in += stamp.size;
  }
  report->warnings.push_back(options.output +
                             ": an earlier run has merged the inputs; its warnings are not "
                             "repeated");
  NMB_ASSIGN(const InputKinds kinds, kinds_of_inputs(options));
  report->has_classic_blocks = kinds.classic.has_value();
  return between.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    report->value_bytes += entry.extent_length;
    return true;
  });
}

// Opens the temporary NMB file that an earlier run of the same call left. Returns nullptr if there
// is no such file. Errors: kExists if the file belongs to another call.
Result<std::unique_ptr<FileReader>> finished_merge(const std::string& between,
                                                   const std::string& output,
                                                   const std::string& key,
                                                   const ReadOptions& reading) {
  std::error_code none;
  if (!std::filesystem::exists(between, none)) return std::unique_ptr<FileReader>();
  NMB_ASSIGN(std::unique_ptr<FileReader> reader, FileReader::open(between, reading));
  NMB_ASSIGN(const std::vector<std::string> recorded, reader->provenance());
  if (recorded == std::vector<std::string>{key}) return reader;
  return Status(Code::kExists, output, kNoOffset, "",
                between +
                    " belongs to a run with different inputs or options; remove it to start "
                    "again");
}

// Merges into a temporary NMB file next to the output, and then writes the HDF5 output from that
// file.
Status merge_to_hdf5(const PackOptions& options, PackReport* report, Communicator& ranks) {
  NMB_TRY(ranks.first(
      [&] { return check_new_output(options.output, {.overwrite = options.writer.overwrite}); }));
  const bool resumes = !options.resume.empty(), is_dry = options.writer.dry_run;
  NMB_ASSIGN(const std::string between,
             ranks.broadcast_value(
                 0, resumes ? between_name(options.output) : hidden_name(options.output) + ".nmb"));
  std::optional<TemporaryFile> removed;
  if (ranks.rank() == 0 && !resumes) removed.emplace(between);
  // Messages name the output, because the user does not know the temporary file.
  const auto naming = [&](const std::string& file, const Status& status) {
    if (status.ok() || status.file() != between) return status;
    return status.at(file, kNoOffset);
  };
  PackOptions first = options;
  first.output = between;
  first.keep_statistics = false;
  first.originals = Originals::kNone;
  first.writer.hdf5_view = Hdf5View::kOff;
  first.link_united = ranks.size() == 1 && !is_dry;
  // The provenance of the temporary file is the key of the run, if the run may be resumed.
  const std::string key = resumes ? key_text(options.writer.resume_key) : std::string();
  first.provenance = nullptr;
  if (resumes) first.provenance = [&](const std::vector<PackSource>&) { return std::vector{key}; };
  first.writer.sync = resumes;
  first.writer.layer = nullptr;
  const std::string& source = options.hdf5->source;
  const std::string& in_messages = source.empty() ? options.output : source;
  if (is_dry) {
    first.writer.inline_limit = 0;  // readers check inline values, which a dry run does not have
    first.writer.before_publish = [&](const ByteSource& file) -> Status {
      NMB_ASSIGN(
          const std::unique_ptr<FileReader> reader,
          FileReader::open(std::shared_ptr<const ByteSource>(std::shared_ptr<void>(), &file)));
      return naming(in_messages, check_hdf5(*reader, between, extract_options(options)));
    };
  }
  // The temporary file has no checksums of linked values. Therefore the stamps of the inputs are
  // compared to find inputs that change.
  const std::vector<std::optional<FileStamp>> stamps = stamps_of(options.inputs);
  ReadOptions reading;
  if (first.link_united) {
    reading.external = ExternalPaths::kAny;
    reading.unverified = Unverified::kLinkedValues;
  }
  bool is_finished = false;
  if (resumes) {
    Result<std::unique_ptr<FileReader>> known = std::unique_ptr<FileReader>();
    if (ranks.rank() == 0) known = finished_merge(between, options.output, key, reading);
    NMB_TRY(ranks.first([&] { return known.status(); }));
    NMB_ASSIGN(is_finished, ranks.broadcast_value(0, *known != nullptr));
    if (is_finished)
      NMB_TRY(ranks.first([&] { return describe_finished(options, **known, report); }));
  }
  const Status merged = is_finished ? Status() : merge_inputs(first, report, ranks);
  for (std::string& text : report->warnings)
    if (text.starts_with(between + ": ")) text.replace(0, between.size(), options.output);
  NMB_TRY(naming(options.output, merged));
  if (is_dry) {
    if (ranks.rank() == 0 && ranks.size() > 1 && !ranks.shares_memory())
      report->warnings.push_back(options.output +
                                 ": a dry run of several processes does not report what an HDF5 "
                                 "file cannot hold; a dry run of one process does");
    return {};
  }
  // Values that are linked in the temporary file are copied into the output.
  report->value_bytes += std::exchange(report->linked_bytes, 0);
  return ranks.first([&]() -> Status {
    NMB_ASSIGN(const std::unique_ptr<FileReader> reader, FileReader::open(between, reading));
    ExtractOptions convert = extract_options(options);
    // Names phony_dim_N in united blocks are made up, unless they may be those of a classic input.
    convert.made_up_names = options.hdf5->plain && !report->has_classic_blocks;
    if (first.link_united)
      convert.links_unchanged = [&]() -> Status { return check_stamps(options.inputs, stamps); };
    if (options.on_merged)
      return naming(options.output, options.on_merged(*reader, between, convert));
    NMB_TRY(naming(in_messages, write_merged(*reader, between, options.output, convert)));
    // It is not an error if another process has already removed the output.
    if (const auto result = FileSource::open(options.output); result.ok())
      report->bytes_out = (*result)->size();
    // A run that was killed may have left a journal beside the complete file.
    if (resumes)
      for (const std::string& path : {between, resumable_name(between), journal_name(between)})
        remove_if_exists(path);
    return {};
  });
}

}  // namespace

std::string between_name(const std::string& path) {
  constexpr std::string_view kEnding = "part";
  std::string name = resumable_name(path);
  name.resize(name.size() - kEnding.size());
  return name + "nmb";
}

Status add_outputs(const PackOptions& options, OutputSet* outputs) {
  const bool resumes = !options.resume.empty();
  // The output may be classic if its kind is still unknown.
  const bool may_lack_between = !options.hdf5 || options.kind_of_inputs;
  if (!options.writer.dry_run) {
    if (options.hdf5) JournaledOutput::remove_published(between_name(options.output));
    if (may_lack_between) JournaledOutput::remove_published(options.output);
  }
  NMB_TRY(outputs->add_output(options.output, resumes && may_lack_between));
  return resumes && options.hdf5 ? outputs->add_output(between_name(options.output), true)
                                 : Status();
}

Status pack(const PackOptions& options, PackReport* report, Communicator& ranks) {
  PackOptions settled = options;
  NMB_TRY(check_options(settled));
  if (!settled.outputs) {
    const auto own = std::make_shared<OutputSet>();
    NMB_TRY(ranks.agree(add_outputs(settled, own.get())));
    settled.outputs = own;
  }
  NMB_TRY(divide_archives(ranks, &settled, report));
  NMB_TRY(order_inputs(ranks, &settled, report));
  NMB_TRY(settle_kind(ranks, &settled, report));
  if (settled.classic) NMB_TRY(check_options(settled));
  // If an input changes, ranks may see different sizes and times. Therefore all ranks use the key
  // that rank 0 computes.
  if (!settled.resume.empty()) {
    NMB_ASSIGN(settled.writer.resume_key,
               ranks.broadcast_value(0, ranks.rank() == 0 ? resume_key(settled) : std::string()));
  }
  return settled.hdf5 ? merge_to_hdf5(settled, report, ranks)
                      : merge_inputs(settled, report, ranks);
}

Status pack(const PackOptions& options, PackReport* report) {
  Communicator alone;
  return pack(options, report, alone);
}

}  // namespace nmb
