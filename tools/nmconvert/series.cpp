#include "nmconvert/series.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <system_error>
#include <utility>

#include "convert/write_variables.h"
#include "files/files.h"
#include "files/temporary_names.h"
#include "merge/packer.h"
#include "model/name_rules.h"
#include "model/naming_attributes.h"
#include "netcdf/calendar_time.h"
#include "netcdf/netcdf_view.h"
#include "netcdf/own_attribute.h"
#include "netcdf/selected_variables.h"
#include "parallel/workers.h"
#include "reader/file_reader.h"
#include "wire/joined_text.h"
#include "wire/system_error.h"

namespace nmb::tools {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNoTime = "fx";  // for variables without times

// A hidden folder in which files are written before they get their final names. The destructor
// removes the folder and its content.
class Staging {
 public:
  explicit Staging(const std::string& folder) : folder_(hidden_name(folder + "/series")) {
    remove_stale_files(folder + "/series");
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  ~Staging() {
    std::error_code none;
    fs::remove_all(folder_, none);
  }

  Status make() {
    std::error_code error;
    fs::create_directory(folder_, error);
    return error ? system_error(error.value(), folder_, "make the folder") : Status();
  }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }

 private:
  const std::string folder_;
};

class SeriesWriter {
 public:
  SeriesWriter(const SeriesOptions& options, PackReport* report, std::vector<SeriesFile>* files)
      : options_(options), report_(*report), files_(*files), staging_(options.folder) {}

  Status run() {
    NMB_TRY(check_template());
    PackOptions join;
    join.inputs = options_.inputs;
    join.output = staging_.path("joined");
    join.divides_archives = true;
    join.sorts_blocks_by_name = options_.sorts_blocks_by_name;
    join.external = options_.external;
    join.block_name = "{group}";
    join.strict = options_.strict;
    join.mode = Join{.history = options_.history,
                     .drop_tracking_id = options_.drop_tracking_id,
                     .monotonic = true,
                     .rebase_times = options_.rebase_times};
    join.unite_single = true;
    join.writer.threads = options_.write.threads;
    join.writer.cancel = options_.write.cancel;
    if (options_.classic)
      set_classic(&join);
    else
      set_hdf5(&join);
    NMB_TRY(staging_.make());
    Communicator alone;
    const Status written = pack(join, &report_, alone);
    refer_to_records();
    if (written.file() != join.output) return written;
    return written.at(options_.folder, kNoOffset);
  }

 private:
  static Status usage(const std::string& text) { return Status(Code::kUsage, text); }

  void set_classic(PackOptions* join) {
    join->classic = Kind::kCdf5;
    join->on_dataset = [this](const std::shared_ptr<const Dataset>& joined,
                              const std::function<Status()>& check_inputs) {
      NMB_TRY(plan(*joined));
      NMB_TRY(write_all([&](std::size_t number, const std::string& path) -> Status {
        NMB_ASSIGN(const Dataset selected, selected_variables(*joined, variables_[number].all));
        return write_classic(selected, *options_.classic, path, write_options({}));
      }));
      NMB_TRY(check_inputs());
      return publish();
    };
  }

  // Values in chunks are joined as in any merge to HDF5: chunks that fit are copied undecoded.
  void set_hdf5(PackOptions* join) {
    join->compression = options_.compression;
    join->hdf5.emplace();
    join->on_merged = [this](const FileReader& joined, const std::string& path,
                             const ExtractOptions& convert) -> Status {
      if (joined.totals().blocks != 1)
        return Status(Code::kConflict, options_.inputs.front(), kNoOffset, "",
                      "the inputs have groups; time series need files without groups");
      NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> block, joined.block(""));
      NMB_ASSIGN(const ClassicView view,
                 classic_view(block, Kind::kCdf5, nullptr, std::nullopt, {}, OwnTypes::kKept));
      NMB_TRY(check_complete(*block, view));
      NMB_ASSIGN(const Dataset texts, with_texts(view));
      NMB_TRY(plan(texts));
      const ExtractOptions write = write_options(convert);
      NMB_TRY(write_all([&](std::size_t number, const std::string& output) -> Status {
        NMB_ASSIGN(const std::vector<VarId> ids, numbers_in(*block, texts, variables_[number].all));
        return write_variables(joined, path, ids, output, write);
      }));
      return publish();
    };
  }

  // A conflict about missing records must not name an option that only other tools have.
  void refer_to_records() {
    for (PackConflict& conflict : report_.conflicts)
      if (conflict.kind == ConflictKind::kDimension && conflict.object == "of records")
        conflict.expected =
            "at least one; make the dimension of the times unlimited in the inputs (xarray: "
            "unlimited_dims; NCO: ncks --mk_rec_dmn)";
  }

  // Returns the dataset of a view in which attributes that name variables are text again.
  static Result<Dataset> with_texts(const ClassicView& view) {
    Dataset out = *view.dataset;
    for (const ClassicView::OwnAttribute& one : view.own_attributes) {
      if (!names_variables(one.name)) continue;
      const auto attribute = out.metadata.find_attribute(one.owner, one.name);
      if (!attribute) continue;
      NMB_ASSIGN(const OwnAttributeValues own, decode_own(attribute->values));
      const std::string text = string_attribute(own.types, own.attribute(one.name));
      NMB_TRY(
          out.metadata.put_att(one.owner, one.name, Type::kChar, std::as_bytes(std::span(text))));
    }
    return out;
  }

  // Refuses a joined dataset with variables that cannot be written.
  Status check_complete(const LoadedBlock& block, const ClassicView& view) const {
    if (view.left_out.empty()) return {};
    const std::string name(netcdf_name(block.metadata, view.left_out.front()));
    const std::string object = "variable " + in_quotes(name);
    const auto loss = std::ranges::find(view.losses, object, &Loss::object);
    return Status(Code::kUnsupported, options_.inputs.front(), kNoOffset, "",
                  object + " cannot be written to a file of its own" +
                      (loss == view.losses.end() ? "" : ": " + loss->text));
  }

  // Returns the options for one output. Several outputs are written at a time.
  ExtractOptions write_options(ExtractOptions write) const {
    write.overwrite = false;
    write.sync = options_.write.sync;
    write.check = options_.write.check;
    write.threads = 1;
    write.cancel = options_.write.cancel;
    return write;
  }

  // Returns the numbers that variables of a view have in the block.
  static Result<std::vector<VarId>> numbers_in(const LoadedBlock& block, const Dataset& view,
                                               const std::vector<VarId>& variables) {
    std::vector<VarId> out;
    for (const VarId v : variables) {
      const std::string_view name = view.metadata.variable(v).name;
      const std::optional<VarId> found = block.metadata.find_variable(name);
      if (!found)
        return Status(Code::kDamaged, "the joined file lacks variable " + std::string(name));
      out.push_back(*found);
    }
    std::ranges::sort(out);
    return out;
  }

  Status check_template() const {
    std::string rest = filled("", "", "");
    if (rest.find_first_of("{}") != rest.npos)
      return usage("the pattern \"" + options_.name +
                   "\" has braces that are not {variable}, {first} or {last}");
    if (rest.find('/') != rest.npos)
      return usage("the pattern \"" + options_.name + "\" has a /; use a pattern without /");
    if (options_.name.find("{variable}") == options_.name.npos)
      return usage("the pattern \"" + options_.name + "\" lacks {variable}");
    return {};
  }

  std::string filled(std::string_view variable, std::string_view first,
                     std::string_view last) const {
    const std::pair<std::string_view, std::string_view> words[] = {
        {"{variable}", variable}, {"{first}", first}, {"{last}", last}};
    std::string out;
    std::string_view rest = options_.name;
    while (!rest.empty()) {
      const auto* const word =
          std::ranges::find_if(words, [&](const auto& w) { return rest.starts_with(w.first); });
      if (word != std::end(words)) {
        out += word->second;
        rest.remove_prefix(word->first.size());
      } else {
        out += rest.front();
        rest.remove_prefix(1);
      }
    }
    return out;
  }

  Result<TimeRange> range_of(const Dataset& dataset) const {
    const Metadata& metadata = dataset.metadata;
    NMB_ASSIGN(const VarId time, time_coordinate(dataset));
    NMB_ASSIGN(const CalendarTime calendar,
               CalendarTime::parse(char_attribute(metadata, time, "units"),
                                   char_attribute(metadata, time, "calendar")));
    NMB_ASSIGN(const std::vector<double> values, time_values(dataset, time));
    if (values.empty()) return Status(Code::kConflict, "the inputs have no records");
    if (std::ranges::adjacent_find(values, std::greater_equal<>()) != values.end())
      return Status(Code::kConflict, "found times that do not ascend");
    return time_range(calendar, values);
  }

  Status plan(const Dataset& dataset) {
    const Result<TimeRange> range = range_of(dataset);
    if (!range.ok()) return range.status().in_file(options_.inputs.front());
    NMB_ASSIGN(variables_, series_variables(dataset));
    if (variables_.empty())
      return Status(Code::kConflict, options_.inputs.front(), kNoOffset, "",
                    "the inputs have no variables except coordinates; nothing was written");
    OutputSet outputs;
    std::set<std::string> names;
    for (const SeriesVariables& one : variables_) {
      const std::string name(dataset.metadata.variable(one.main).name);
      const bool has_time = dataset.metadata.is_record_variable(one.main);
      SeriesFile file{name,
                      {},
                      has_time ? range->first : std::string(kNoTime),
                      has_time ? range->last : std::string(kNoTime)};
      file.path = filled(name, file.first, file.last);
      if (!names.insert(file.path).second)
        return usage("two variables have the output " + file.path);
      if (file.path.empty() || file.path == "." || file.path == "..")
        return usage("the pattern gives no file name for variable " + name);
      file.path = options_.folder + "/" + file.path;
      NMB_TRY(check_new_output(file.path, {.overwrite = options_.write.overwrite}));
      NMB_TRY(outputs.add(file.path, "output"));
      files_.push_back(std::move(file));
    }
    for (const std::string& input : options_.inputs) NMB_TRY(outputs.check_input(input, "input"));
    if (!outputs.replaces()) return {};
    for (const std::string& input : options_.inputs) {
      NMB_ASSIGN(std::shared_ptr<const ByteSource> file, FileSource::open(input));
      NMB_TRY(check_references(outputs, file));
    }
    return {};
  }

  // Writes all files with hidden names, several files at a time. make(number, path) writes one
  // file.
  template <class Make>
  Status write_all(const Make& make) {
    std::atomic<std::size_t> next{0};
    const std::size_t threads =
        std::clamp<std::size_t>(options_.write.threads, 1, std::max<std::size_t>(files_.size(), 1));
    return share_work(threads, [&](const std::atomic<bool>& stop) -> Status {
      for (std::size_t i; !stop && (i = next++) < files_.size();)
        NMB_TRY(finish(i, make(i, staged(i))));
      return {};
    });
  }

  // Records the size of a file after make() has returned `made`.
  Status finish(std::size_t number, const Status& made) {
    SeriesFile& file = files_[number];
    const std::string path = staged(number);
    // The message names the output, because users do not know the hidden names.
    if (!made.ok()) return made.file().starts_with(path) ? made.at(file.path, kNoOffset) : made;
    std::error_code none;
    file.bytes = fs::file_size(path, none);
    return {};
  }

  std::string staged(std::size_t number) const { return staging_.path(std::to_string(number)); }
  std::string replaced(std::size_t number) const { return staged(number) + ".old"; }

  // Gives all files their names. After a failure, restores the files that existed before.
  Status publish() {
    std::size_t done = 0;
    Status status;
    for (; done < files_.size() && status.ok(); ++done) status = publish_one(done);
    if (status.ok()) return options_.write.sync ? sync_folder() : Status();
    while (done-- > 0) {
      std::error_code none;
      const bool is_published = !fs::exists(staged(done), none);
      if (is_published) fs::remove(files_[done].path, none);
      if (fs::exists(replaced(done), none)) fs::rename(replaced(done), files_[done].path, none);
    }
    return status;
  }

  Status publish_one(std::size_t number) const {
    const std::string& path = files_[number].path;
    if (options_.write.cancel && options_.write.cancel->load())
      return Status(Code::kIo, path, kNoOffset, "", "interrupted; nothing was written");
    NMB_TRY(check_new_output(path, {.overwrite = options_.write.overwrite}));
    if (::rename(path.c_str(), replaced(number).c_str()) != 0 && errno != ENOENT)
      return system_error(errno, path, "replace");
    if (::rename(staged(number).c_str(), path.c_str()) != 0)
      return system_error(errno, path, "rename to");
    return {};
  }

  Status sync_folder() const {
    const int folder = ::open(options_.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return system_error(errno, options_.folder, "sync");
    const bool ok = ::fsync(folder) == 0 || errno == EINVAL;
    const int error = errno;
    ::close(folder);
    return ok ? Status() : system_error(error, options_.folder, "sync");
  }

  const SeriesOptions& options_;
  PackReport& report_;
  std::vector<SeriesFile>& files_;
  Staging staging_;
  std::vector<SeriesVariables> variables_;  // by file
};

}  // namespace

Status write_series(const SeriesOptions& options, PackReport* report,
                    std::vector<SeriesFile>* files) {
  return SeriesWriter(options, report, files).run();
}

}  // namespace nmb::tools
