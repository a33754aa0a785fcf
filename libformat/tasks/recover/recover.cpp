#include "recover/recover.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "client/decode_group.h"
#include "commit/automatic_view.h"
#include "merge/packer.h"
#include "merge/reporting/merge.h"
#include "model/find_above.h"
#include "model/name_rules.h"
#include "reader/file_reader.h"
#include "recover/mended_file.h"
#include "recover/recovery_plan.h"
#include "superblock/choosing.h"
#include "superblock/settled_head.h"
#include "table/kept_rows.h"
#include "verify/verify.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

constexpr std::uint64_t kMostKeptProvenance = 64 << 20;  // limit for one generation

class Recoverer {
 public:
  Recoverer(std::shared_ptr<const ByteSource> file, const RecoveryOptions& options)
      : file_(std::move(file)), options_(options) {}

  Result<Recovery> run() {
    if (!options_.output.empty()) NMB_TRY(check_output());
    NMB_ASSIGN(const FileKind kind, kind_of(*file_));
    if (is_classic(kind) || kind == FileKind::kHdf5)
      return Status(
          Code::kUnsupported, file_->name(), kNoOffset, "",
          joined_text("recovery needs an NMB file; this is a ", kind_name(kind), " file"));
    NMB_TRY(take_newest());
    NMB_ASSIGN(Scan scan, scan_file(*file_, {std::max(1u, options_.writer.threads),
                                             options_.writer.cancel, options_.on_search}));
    NMB_ASSIGN(evidence_, weigh_evidence(*file_, std::move(scan)));
    // If the file table is lost, the file may refer to an existing output.
    if (outputs_ && (!evidence_.current() || has_lost_file_table()))
      NMB_TRY(outputs_->refuse_unknown(file_->name(), "its list of other files may be lost"));
    NMB_TRY(plan());
    evidence_.blocks = {};
    evidence_.pages = {};
    NMB_TRY(mend());
    describe();
    if (recovery_.recovered() > 0 || !recovery_.is_loss()) NMB_TRY(write());
    return std::move(recovery_);
  }

 private:
  // Refuses the output before the file is read.
  Status check_output() {
    outputs_ = options_.outputs;
    if (!outputs_) {
      const auto own = std::make_shared<OutputSet>();
      NMB_TRY(own->add_output(options_.output, false));
      outputs_ = own;
    }
    if (file_->path()) NMB_TRY(outputs_->check_input(*file_->path(), "input"));
    return check_new_output(options_.output,
                            {.overwrite = options_.writer.overwrite, .sync = options_.writer.sync});
  }

  // If head and trailer are sound, blocks are looked for only in the newest generation. Its bytes
  // do not change, so commits during the recovery do no harm. Bytes after it belong to no
  // generation.
  Status take_newest() {
    const Result<Choice> choice = choose_newest(*file_, TrailerScope::kAll);
    if (choice.status().code() == Code::kIo) return choice.status();
    if (!choice.ok() || !choice->lost.ok() || !choice->reading.settled()) return {};
    if (!choice->in_progress && (choice->pending || choice->stray)) return {};
    // If the trailer differs, head and end may come from two files.
    const FoundSuperblock& newest = choice->newest;
    const TrailerSearch search(*file_, choice->reading.size, choice->reading.file_id);
    NMB_ASSIGN(const std::optional<FoundSuperblock> trailer,
               search.ending_at(newest.fields.file_length));
    if (!trailer || trailer->bytes != newest.bytes) return {};
    NMB_ASSIGN(file_, as_committed(file_, choice->reading, newest));
    return {};
  }

  Status plan() {
    Head head;
    head.superblock = evidence_.reading;
    head.dictionary = evidence_.dictionary;
    const ReaderCore core(*file_, std::move(head), options_.external);
    NMB_ASSIGN(const CurrentIndex index, CurrentIndex::read(*file_, evidence_));
    has_whole_index_ = index.is_whole();
    if (has_whole_index_)
      for (const BlockEntry& entry : index.entries()) names_.emplace(entry.order, entry.name);
    NMB_ASSIGN(plans_, plan_recovery(core, evidence_, index, options_));
    return {};
  }

  Status mend() {
    std::vector<std::uint64_t>& orders = parts_.without_statistics;
    for (const RecoveredEntry& block : plans_.blocks)
      if (block.found.state == FoundBlock::State::kPartial ||
          block.found.state == FoundBlock::State::kUnverified ||
          block.found.doubt != BlockDoubt::kNone)
        orders.push_back(block.entry.order);
    std::ranges::sort(orders);
    orders.erase(std::unique(orders.begin(), orders.end()), orders.end());
    if (!orders.empty() && !evidence_.reading.statistics.absent())
      add_loss("statistics of blocks that are doubtful or recovered in part");
    NMB_ASSIGN(mended_, mend_file(file_, evidence_, plans_.blocks, parts_));
    NMB_ASSIGN(const std::unique_ptr<FileReader> reader,
               FileReader::open(mended_, {.external = options_.external}));
    NMB_TRY(find_lost_originals(*reader));
    NMB_TRY(find_lost_tables(*reader));
    const std::size_t known = orders.size();
    NMB_TRY(find_wrong_statistics(*reader));
    const Result<std::vector<std::string>> provenance = reader->provenance();
    if (provenance.status().code() == Code::kIo) return provenance.status();
    if (!provenance.ok()) add_loss("provenance: " + provenance.status().message());
    if (parts_.damaged_originals.empty() && orders.size() == known) return {};
    NMB_ASSIGN(mended_, mend_file(file_, evidence_, plans_.blocks, parts_));
    return {};
  }

  bool has_lost_file_table() const {
    if (!evidence_.newest || evidence_.newest->file_table.absent()) return false;
    const Place& found = evidence_.reading.file_table;
    return found.absent() ||
           (evidence_.current() && found.position != evidence_.newest->file_table.position);
  }

  Status find_lost_originals(const FileReader& reader) {
    if (has_lost_file_table())
      add_loss("the file table, which names originals and files that hold values");
    NMB_ASSIGN(const std::vector<ExternalFile> files, reader.external_files());
    // The name of each recovered block, by the block's order.
    std::unordered_map<std::uint64_t, std::string_view> recovered;
    for (const RecoveredEntry& block : plans_.blocks)
      if (block.found.state != FoundBlock::State::kLeftOut)
        recovered.emplace(block.entry.order, block.found.name);
    // Without a superblock, it is unknown whether the file had a file table.
    bool may_be_missing = has_lost_file_table() || !evidence_.newest;
    std::set<std::string_view> kept;  // blocks whose originals are kept
    for (std::uint32_t i = 0; i < files.size(); ++i) {
      if (!files[i].is_original) continue;
      // Nothing is lost with an original whose block was replaced or removed.
      if (has_whole_index_ && !names_.contains(files[i].order)) continue;
      const Status whole = reader.give_back(i + 1, [this](std::span<const std::byte>) {
        const bool stops = options_.writer.cancel && options_.writer.cancel->load();
        return stops ? Status(Code::kIo, "interrupted") : Status();
      });
      if (whole.code() == Code::kIo) return whole;
      const auto block = recovered.find(files[i].order);
      if (block != recovered.end() && whole.ok()) {
        kept.insert(block->second);
        continue;
      }
      if (!whole.ok()) parts_.damaged_originals.push_back(i);
      std::string why = whole.message();
      if (whole.ok()) why = "the block that was made from it is not recovered";
      if (whole.ok() && can_be_opened())
        why += "; the original is whole, and nmconvert --original writes it to a file";
      add_loss("original " + in_quotes(files[i].path) + ": " + why);
      if (const auto known = names_.find(files[i].order); known != names_.end())
        lost_originals_.insert(known->second);
      else if (block != recovered.end())
        lost_originals_.emplace(block->second);
      else
        may_be_missing = true;
    }
    return may_be_missing ? find_values_without(kept, reader) : Status();
  }

  // Returns whether a reader can open the damaged file.
  bool can_be_opened() const {
    return FileReader::open(file_, {.external = options_.external}).ok();
  }

  // Finds values that no kept original has, and that may have been in a lost original whose block
  // is not known. The merge finds values of originals whose blocks are known.
  Status find_values_without(const std::set<std::string_view>& kept, const FileReader& reader) {
    const auto is_known = [&](std::string_view block) {
      return has_at_or_above(kept, block) || has_at_or_above(lost_originals_, block);
    };
    for (const RecoveredEntry& planned : plans_.blocks) {
      if (planned.found.state == FoundBlock::State::kLeftOut || is_known(planned.found.name))
        continue;
      NMB_ASSIGN(const std::optional<BlockEntry> entry, reader.find(planned.found.name));
      if (!entry) continue;
      const Result<std::shared_ptr<const LoadedBlock>> block = reader.block(*entry);
      if (block.status().code() == Code::kUnsupported) continue;  // a block of a later version
      NMB_TRY(block.status());
      NMB_ASSIGN(const std::vector<hdf5::Undecoded> lost, hdf5::undecoded_variables(**block));
      for (const hdf5::Undecoded& one : lost)
        if (!one.is_lost)
          add_loss("variable " + in_quotes("/" + one.path) + ": its values " + one.why +
                   "; only an original had them, and it is lost");
    }
    return {};
  }

  Status find_lost_tables(const FileReader& reader) {
    std::vector<Status> damaged;
    NMB_TRY(reader.kept_rows(true, &damaged).status());
    for (const Status& status : damaged) add_loss("statistics or tags: " + status.message());
    return {};
  }

  // Finds blocks whose statistics are not those of their values. Their statistics are left out.
  Status find_wrong_statistics(const FileReader& reader) {
    if (!reader.has_statistics()) return {};
    class Rules : public Findings {
     public:
      void report(Finding finding) override {
        has_wrong_statistics_ = has_wrong_statistics_ || std::string_view(finding.rule) == "R-ST-3";
      }
      bool has_wrong_statistics() const { return has_wrong_statistics_; }

     private:
      bool has_wrong_statistics_ = false;
    } rules;
    std::vector<std::string> damaged;
    VerifierOptions options;
    options.external = options_.external;
    options.threads = options_.writer.threads;
    options.on_damaged_block = [&](const std::string& block) { damaged.push_back(block); };
    NMB_TRY(verify(*mended_, options, rules).status());
    if (!rules.has_wrong_statistics()) return {};
    for (const std::string& name : damaged) {
      NMB_ASSIGN(const std::optional<BlockEntry> entry, reader.find(name));
      if (!entry) continue;
      parts_.without_statistics.push_back(entry->order);
      add_loss("statistics of block " + in_quotes(name) + ": they are not those of its values");
    }
    std::ranges::sort(parts_.without_statistics);
    return {};
  }

  void add_loss(std::string text) { recovery_.other_losses.push_back(std::move(text)); }

  void describe() {
    for (RecoveredEntry& block : plans_.blocks) recovery_.blocks.push_back(std::move(block.found));
    recovery_.lost = std::move(plans_.lost);
    recovery_.generation = evidence_.generation;
    const Superblock* const current = evidence_.current();
    recovery_.may_lack_blocks = !current;
    if (!current) return;
    recovery_.recorded_blocks = current->totals.blocks;
    if (has_whole_index_) return;
    // A block that is lost and also recovered in an older version counts once.
    std::uint64_t names = recovery_.blocks.size();
    for (const LostBlock& lost : recovery_.lost)
      names += !std::ranges::binary_search(recovery_.blocks, lost.name, {}, &FoundBlock::name);
    if (current->totals.blocks > names)
      recovery_.lost_without_name = current->totals.blocks - names;
    // If some of these names belong to removed blocks, more blocks are lost than were counted.
    recovery_.may_lack_blocks =
        names > 0 && (std::ranges::any_of(recovery_.blocks,
                                          [](const FoundBlock& block) {
                                            return block.doubt == BlockDoubt::kPerhapsOlder ||
                                                   block.doubt == BlockDoubt::kPerhapsNotCommitted;
                                          }) ||
                      std::ranges::any_of(recovery_.lost, &LostBlock::perhaps_removed));
  }

  // Without an output, a dry run finds what could not be written.
  Status write() {
    const bool is_plan = options_.output.empty();
    const Superblock& reading = evidence_.reading;
    PackOptions pack_options;
    pack_options.inputs = {file_->name()};
    pack_options.source = {
        mended_, recovery_.lacks_objects(), {lost_originals_.begin(), lost_originals_.end()}};
    pack_options.output = options_.output;
    pack_options.outputs = is_plan ? std::make_shared<const OutputSet>() : outputs_;
    pack_options.block_name = "{group}";
    pack_options.originals = Originals::kStore;
    pack_options.refused_losses = RefusedLosses::kNone;
    pack_options.external = options_.external;
    pack_options.provenance = [](const std::vector<PackSource>& sources) {
      std::vector<std::string> kept;
      std::uint64_t bytes = 0;
      for (const std::string& text : sources.front().provenance)
        if ((bytes += text.size() + 24) <= kMostKeptProvenance) kept.push_back(text);
      return kept;
    };
    FileWriterOptions& writer = pack_options.writer;
    static_cast<OutputOptions&>(writer) = options_.writer;
    writer.dry_run = is_plan;
    if (evidence_.newest) {
      writer.piece_size = reading.piece_size;
      writer.inline_limit = reading.inline_limit;
      writer.leaf_rows = reading.leaf_rows;
      writer.node_rows = reading.node_rows;
      writer.map_rows = reading.map_rows;
      if (!evidence_.newest->view.absent() && !is_plan) writer.hdf5_view = Hdf5View::kAuto;
      writer.on_no_view = [this](const std::string& reason) {
        add_loss("the new file has no view: " + reason);
        return Status();
      };
    }
    Communicator alone;
    PackReport report;
    Status packed = pack(pack_options, &report, alone);
    if (packed.rule() == "R-ST-2") {
      add_loss("statistics: " + packed.message());
      pack_options.keep_statistics = false;
      report = {};
      packed = pack(pack_options, &report, alone);
    }
    if (!report.conflicts.empty() && packed.code() == Code::kConflict)
      return Status(Code::kConflict, report.conflicts.front().text());
    NMB_TRY(packed);
    if (is_plan) NMB_TRY(plan_view());
    using Kind = PackLoss::Kind;
    for (const PackLoss& loss : report.losses)
      if (loss.kind == Kind::kAddition || loss.kind == Kind::kReference ||
          loss.kind == Kind::kValues || loss.kind == Kind::kDamage)
        add_loss(loss.line());
    if (!is_plan) recovery_.bytes_out = report.bytes_out;
    return {};
  }

  // Finds out whether the new file could have a view. The writer makes a view from the written
  // file, so a dry run makes none.
  Status plan_view() {
    if (!evidence_.newest || evidence_.newest->view.absent()) return {};
    const Status view = check_view_of_copy(*mended_, options_.writer.cancel);
    if (view.code() != Code::kUnsupported) return view;
    add_loss("the new file has no view: " + view.message());
    return {};
  }

  std::shared_ptr<const ByteSource> file_;
  const RecoveryOptions& options_;
  std::shared_ptr<const OutputSet> outputs_;
  Evidence evidence_;
  bool has_whole_index_ = false;
  // If the index is whole: names of blocks, by the orders of the blocks.
  std::unordered_map<std::uint64_t, std::string> names_;
  RecoveryPlan plans_;
  MendedParts parts_;
  // Names of the blocks of lost originals, if they are known.
  std::set<std::string, std::less<>> lost_originals_;
  std::shared_ptr<const ByteSource> mended_;
  Recovery recovery_;
};

}  // namespace

std::uint64_t Recovery::count(FoundBlock::State state) const {
  return static_cast<std::uint64_t>(std::ranges::count(blocks, state, &FoundBlock::state));
}

std::uint64_t Recovery::recovered() const {
  return blocks.size() - count(FoundBlock::State::kLeftOut);
}

std::uint64_t Recovery::doubtful() const {
  return static_cast<std::uint64_t>(std::ranges::count_if(blocks, [](const FoundBlock& block) {
    return block.state != FoundBlock::State::kLeftOut && block.doubt != BlockDoubt::kNone;
  }));
}

bool Recovery::lacks_objects() const {
  return count(FoundBlock::State::kLeftOut) > 0 || doubtful() > 0 || !lost.empty() ||
         lost_without_name > 0 || may_lack_blocks;
}

bool Recovery::is_loss() const {
  return lacks_objects() || count(FoundBlock::State::kWhole) != blocks.size() ||
         !other_losses.empty();
}

Result<Recovery> recover(std::shared_ptr<const ByteSource> file, const RecoveryOptions& options) {
  return Recoverer(std::move(file), options).run();
}

}  // namespace nmb
