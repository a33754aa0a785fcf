#include "merge/rank_inputs.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <new>

#include "convert/convert.h"
#include "files/journaled_output.h"
#include "merge/reading/input_order.h"
#include "merge/reporting/pack_report.h"
#include "reader/file_reader.h"

namespace nmb {

namespace {

// Returns whether the error makes the whole run fail instead of making one input unusable.
bool stops(const Status& status) { return status.code() == Code::kUsage && status.file().empty(); }

}  // namespace

Status RankInputs::prepare() {
  const auto in_process = static_cast<std::size_t>(ranks_.shares_memory() ? ranks_.size() : 1);
  from_.files =
      std::make_shared<FilePool>(std::max<std::size_t>(1, FilePool::most_files() / in_process));
  // This pool keeps blocks of kind 6 open. It has a place for each thread, because each thread may
  // read values of a different block.
  from_.views = std::make_shared<SourcePool>(options_.writer.threads + 1);
  from_.read.cache_bytes = kCachedBytesOfInput;
  from_.read.external = options_.external;
  if (options_.pack().choice) {
    NMB_ASSIGN(BlockChooser chooser, BlockChooser::make(*options_.pack().choice));
    chooser_.emplace(std::move(chooser));
  }
  NMB_ASSIGN(planner_, InputPlanner::make(
                           *this, [this](const std::string& group) { note_group(group); },
                           from_.views, chooser_ ? &*chooser_ : nullptr));
  if (ranks_.rank() == 0) report_repeated();
  return {};
}

// Reports inputs that are given twice, even under different names: as a conflict in mode tiles, as
// a warning in the other modes.
void RankInputs::report_repeated() {
  for (const auto& [first, second] : repeated_files(options_.inputs)) {
    if (options_.blocks_of(first) || options_.blocks_of(second)) continue;
    if (options_.has_tiles())
      conflicts_.add_at({second, 0}, ConflictKind::kInput, "/", first, second,
                        "the same file twice", "each file once");
    else
      report_.warnings.push_back(options_.inputs[second] + ": the same file as the input " +
                                 options_.inputs[first]);
  }
}

Status RankInputs::check_outputs() const {
  const OutputSet& outputs = *options_.outputs;
  for (const std::string& input : options_.inputs) NMB_TRY(outputs.check_input(input, "input"));
  const bool begins_anew = !options_.resume.empty() && !JournaledOutput::has_notes(options_.output);
  if (options_.external != ExternalPaths::kAny && !begins_anew) return {};
  for (std::size_t i = 0; i < options_.inputs.size(); ++i) {
    if (!options_.is_first_of_file(i)) continue;
    const auto file = PooledFile::open(options_.inputs[i], from_.files);
    // Problems of an input are reported when it is planned.
    if (!file.ok()) continue;
    const Status status = check_references(outputs, *file);
    if (status.code() == Code::kUsage) return status;
  }
  return {};
}

Status RankInputs::look_at_all() {
  for (const std::string& input : options_.inputs) {
    const auto kind = [&]() -> Result<FileKind> {
      NMB_ASSIGN(const std::unique_ptr<FileSource> file, FileSource::open(input));
      NMB_ASSIGN(const FileKind found, kind_of(*file));
      if (found == FileKind::kUnknown) return refused_kind(*file, found);
      return found;
    }();
    if (!kind.ok()) report_.unreadable.push_back(kind.status().in_file(input));
  }
  return verdict(report_, options_);
}

Status RankInputs::number_blocks(InputShare share) {
  if (!chooser_ || !chooser_->counts() || ranks_.size() == 1) return {};
  for (std::size_t i = share.begin; i < share.end && !is_cancelled(); ++i) {
    const std::string& path = options_.inputs[i];
    Result<std::shared_ptr<PooledFile>> file =
        PooledFile::open_and_keep(from_.files, [path] { return FileSource::open(path); });
    // Problems of an input are reported when it is planned.
    if (file.ok()) (void)planner_->choose(i, std::move(*file));
  }
  const std::uint64_t count = chooser_->position();
  NMB_ASSIGN(const std::uint64_t before,
             ranks_.scan_before(count, std::uint64_t{0}, std::plus<>()));
  chooser_->restart(before);
  last_position_ = before + count;
  return {};
}

Status RankInputs::take(InputShare share, MergeSink& sink) {
  for (std::size_t i = share.begin; i < share.end; ++i) {
    if (is_cancelled()) return interrupted();
    NMB_TRY(take(i, sink));
  }
  if (last_position_ && report_.unreadable.empty() && chooser_->position() != *last_position_)
    return Status(Code::kDamaged, options_.inputs[share.begin], kNoOffset, "",
                  "this file or an input after it changed while it was read");
  return {};
}

Status RankInputs::take(std::size_t index, MergeSink& sink) {
  InputOutcome input;
  open_and_plan(index, sink, &input);
  return settle(std::move(input));
}

Status RankInputs::describe(InputShare share, InputDescriber& describer) {
  describer_ = &describer;
  for (std::size_t i = share.begin; i < share.end; ++i) {
    if (is_cancelled()) return interrupted();
    describer.begin();
    InputOutcome input;
    const bool is_left = !open_and_plan(i, describer, &input);
    if (is_left)
      describer.leave(i);
    else
      describer.end(input);
    if (stops(input.status)) break;
  }
  return {};
}

void RankInputs::note_group(const std::string& group) {
  if (is_reading_again_) return;
  if (describer_)
    describer_->note_group(group);
  else
    names_.note_group(group);
}

bool RankInputs::open_and_plan(std::size_t index, MergeSink& sink, InputOutcome* input) {
  const std::string& path = options_.inputs[index];
  input->index = index;
  conflicts_.begin_input(index);
  if (options_.source.bytes) {
    plan_source(options_.source.bytes, sink, input);
    return true;
  }
  // The file stays open until its kind is known. Otherwise an NMB file to which another process
  // appends would count as changed when it is opened again.
  const bool is_open =
      options_.blocks_of(index) && !files_.empty() && files_.back()->name() == path;
  Result<std::shared_ptr<PooledFile>> file =
      is_open ? files_.back()
              : PooledFile::open_and_keep(from_.files, [path] { return FileSource::open(path); });
  if (!file.ok()) {
    input->status = file.status();
    return true;
  }
  if (describer_ && describer_->leaves_values()) {
    const Result<FileKind> kind = kind_of(**file);
    if (kind.ok() && !is_classic(*kind)) return false;
  }
  if (!is_open) files_.push_back(*file);
  plan_source(std::move(*file), sink, input);
  return true;
}

void RankInputs::plan_source(Source source, MergeSink& sink, InputOutcome* input) {
  input->is_opened = true;
  input->size = options_.is_first_of_file(input->index) ? source->size() : 0;
  try {
    input->status = planner_->plan(input->index, std::move(source), sink);
  } catch (const std::bad_alloc&) {
    input->status = Status(Code::kLimit, "out of memory");
  }
  if (input->status.ok()) input->extras = planner_->take_extras();
}

Status RankInputs::read_again(std::size_t index, MergeSink& sink) {
  const Occurrence here = conflicts_.here();
  const std::size_t conflicts = conflicts_.size(), warnings = report_.warnings.size();
  InputOutcome input;
  is_reading_again_ = true;
  planner_->set_end(0);
  open_and_plan(index, sink, &input);
  is_reading_again_ = false;
  conflicts_.all().erase(conflicts_.all().begin() + static_cast<std::ptrdiff_t>(conflicts),
                         conflicts_.all().end());
  report_.warnings.resize(warnings);
  conflicts_.look_at(here);
  // Blocks of this input now refer to the rows that were read last.
  const auto known = std::ranges::find(extras_, index, [](const auto& each) { return each.first; });
  if (known != extras_.end() && input.extras.rows)
    known->second.rows = std::move(input.extras.rows);
  return input.status;
}

Status RankInputs::settle(InputOutcome input) {
  report_.inputs += input.is_opened;
  report_.bytes_in += input.size;
  if (stops(input.status)) return input.status;
  if (!input.status.ok()) {
    report_.unreadable.push_back(input.status.in_file(conflicts_.input(input.index)));
    return {};
  }
  report_.sources.push_back({input.index, {}, input.size, std::move(input.extras.provenance)});
  // The losses of all blocks of a file are reported together.
  if (!options_.is_first_of_file(input.index) && !extras_.empty()) {
    InputExtras& all = extras_.back().second;
    all.tagged += input.extras.tagged;
    all.counted += input.extras.counted;
    std::ranges::move(input.extras.losses, std::back_inserter(all.losses));
    return {};
  }
  if (input.extras.rows || !input.extras.losses.empty())
    extras_.emplace_back(input.index, std::move(input.extras));
  return {};
}

void RankInputs::report_losses(const MergeWriter* blocks) {
  for (const auto& [input, extras] : extras_)
    report_losses(
        input, extras,
        blocks && extras.rows ? blocks->kept_of(extras.rows.get()) : MergeWriter::KeptCounts{});
}

void RankInputs::report_losses(std::size_t input, const InputExtras& extras,
                               MergeWriter::KeptCounts kept) {
  for (const PackLoss& loss : extras.losses) report_.losses.emplace_back(loss).input = input;
  const auto of_blocks = [](std::uint64_t count) {
    return "of " + std::to_string(count) + (count == 1 ? " block" : " blocks");
  };
  if (extras.tagged > kept.tagged)
    report_.losses.push_back(
        {input,
         {},
         "tags",
         of_blocks(extras.tagged - kept.tagged) + " not copied whole are left out",
         PackLoss::Kind::kTags,
         extras.tagged - kept.tagged});
  if (extras.counted > kept.counted)
    report_.warnings.push_back(options_.inputs[input] + ": the statistics " +
                               of_blocks(extras.counted - kept.counted) +
                               " not copied whole are left out; use MergeOptions::statistics to "
                               "compute statistics again");
}

void RankInputs::end_planning() {
  counts_ = planner_->counts();
  planner_.reset();
}

Status RankInputs::check_choice(Status* failure) {
  return chooser_ ? chooser_->check(ranks_, options_.output, failure, &report_) : Status();
}

Status RankInputs::check_unchanged() const {
  for (const auto& file : files_) NMB_TRY(file->check_unchanged());
  return {};
}

}  // namespace nmb
