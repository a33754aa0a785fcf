// MergeWriter: passes the blocks of a merge to a Writer.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "merge/reading/merge_sink.h"
#include "merge/reading/sample_counts.h"
#include "merge/reporting/merge_step.h"
#include "merge/storing/output_part.h"
#include "merge/storing/shared_names.h"
#include "merge/storing/tagger.h"
#include "merge/storing/value_storage.h"
#include "writer/file_writer.h"

namespace nmb {

class MergeWriter final : public MergeSink, public MergeStep {
 public:
  // `writer`, `names` and `tagger` must outlive the object.
  MergeWriter(const MergeStep& step, FileWriter& writer, SharedNames& names, Tagger& tagger)
      : MergeStep(step),
        writer_(writer),
        names_(names),
        tagger_(tagger),
        storage_(options_, &report_.warnings) {}

  void begin_input(Source file) override;
  Status take_whole(const OutputName& name, InputBlock& block) override;
  Status take_part(const OutputName& name, InputPart part) override;

  // Call this after the last input.
  Status finish_inputs() { return finish_input(); }
  // Counts of this rank, with the names and the meaning that they have in PackReport.
  struct Counts {
    std::uint64_t originals = 0, digested = 0, original_bytes = 0, stored_twice = 0, replaced = 0,
                  replaced_tags = 0;
  };
  const Counts& counts() const { return counts_; }
  // Encodes values; call this before end_define(). helpers: see ValueStorage::code_all().
  Status code_values(ChunkHelpers* helpers) {
    return storage_.code_all(writer_, parts_, sources_, helpers);
  }
  // Passes the values of all parts to the writer. Call this after end_define().
  Status take_values();

  // Returns whether some block has the dimension that the sample rule names.
  bool has_sample_dimension() const { return has_sample_dimension_; }
  // See ValueStorage. `i` is an index in PackOptions::compression->chunk.
  bool needs_plugin() const { return storage_.needs_plugin(); }
  std::uint64_t plain_for_view() const { return storage_.plain_for_view(); }
  const ChunkUse& chunk_use(std::size_t i) const { return storage_.chunk_use(i); }

  // Counts of blocks that were taken unchanged from one input. tagged: blocks with tags. counted:
  // blocks with statistics.
  struct KeptCounts {
    std::uint64_t tagged = 0, counted = 0;
  };
  KeptCounts kept_of(const KeptRows* rows) const {
    const auto found = kept_.find(rows);
    return found == kept_.end() ? KeptCounts{} : found->second;
  }

  static constexpr std::uint32_t kOfOutput = ~std::uint32_t{0};
  const std::vector<std::uint32_t>& inputs() const { return inputs_; }
  // Returns the names of the first kFirstBlocks blocks. Returns all names if there are fewer
  // blocks.
  std::vector<std::string> take_first_names() { return std::move(first_names_); }

  // Returns the source for which origin_of() made this origin. Other ranks open such a source from
  // the description that send_values() makes (merge/uniting/sent_values.h). Returns nullptr for
  // every other origin.
  const ByteSource* sent_by(std::string_view origin) const;

 private:
  Status make_room(const OutputName& name);
  Status check_blocks_below() const;
  std::optional<BlockId> defined(Result<BlockId> id, const OutputName& name, Status* status);
  Result<std::uint64_t> samples_of(const OutputName& name, const SampleCounts& counts,
                                   std::optional<std::uint64_t> recorded);
  Status take_empty(const OutputName& name);
  Status set_tags(BlockId id, const std::vector<Tag>& tags);
  Status place_originals(BlockId id);
  Status link_to_original(BlockId id, LinkedValues values);
  Status finish_input();
  bool is_of_output(BlockId id) const { return id >= inputs_.size() || inputs_[id] == kOfOutput; }
  Result<bool> keeps_paths(const OutputName& name, const InputBlock& block);
  std::string origin_of(Source values);

  FileWriter& writer_;
  SharedNames& names_;
  Tagger& tagger_;
  ValueStorage storage_;
  bool has_sample_dimension_ = false;
  Counts counts_;
  std::set<std::string> replaced_names_;  // blocks that the current input replaces
  // For each BlockId: the first input that has the block, or kOfOutput if the output already had
  // the block.
  std::vector<std::uint32_t> inputs_;
  std::vector<std::string> first_names_;
  std::unordered_map<const KeptRows*, KeptCounts> kept_;
  std::vector<OutputPart> parts_;
  std::vector<PartSource> sources_;
  std::vector<Source> sent_;  // sources, by the number in their origin
  // --- originals ---
  Status failed_;  // failure of finish_input()
  // State of the current input. unplaced_: originals that have no block yet. numbers_: the writer's
  // number of each original, by InputOriginal::number. unlinked_: values in originals that have no
  // number yet.
  std::vector<InputOriginal> unplaced_;
  std::unordered_map<std::uint32_t, std::uint32_t> numbers_;
  std::vector<std::pair<BlockId, LinkedValues>> unlinked_;
  std::string empty_;  // the name of the last empty block of the input
};

}  // namespace nmb
