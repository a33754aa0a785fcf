// UnionBuilder: unites blocks that several inputs have. Collects the parts of each block from all
// inputs. Then makes one block from these parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "convert/recode.h"
#include "files/spool_file.h"
#include "merge/reading/merge_sink.h"
#include "merge/reporting/merge_step.h"
#include "merge/uniting/dataset_union.h"
#include "merge/uniting/union_input.h"
#include "sources/late_values.h"
#include "sources/partition_key.h"
#include "values/chunk_coding.h"

namespace nmb {

class UnionBuilder final : public MergeSink, public MergeStep {
 public:
  // A function that reads an input again after another rank has read it. Passes the input's blocks
  // to `sink`. The input's messages are not reported again.
  using ReadAgain = std::function<Status(std::size_t input, MergeSink& sink)>;

  // held: how many bytes of values may be kept for inputs that this rank reads. helpers: encode
  // chunks; may be nullptr.
  UnionBuilder(const MergeStep& step, std::shared_ptr<SourcePool> views, std::uint64_t held,
               ReadAgain read_again, ChunkHelpers* helpers);
  ~UnionBuilder() override;

  // Begins an input. The input must also be the current input of `conflicts`.
  void begin_input(Source file) override {
    file_ = std::move(file);
    selections_.clear();
  }
  Status take_whole(const OutputName& name, InputBlock& block) override;
  Status take_part(const OutputName& name, InputPart part) override;
  // Takes a block of an input that another rank read. If no other input has a block with this name,
  // this rank reads the block again.
  Status take_described(const OutputName& name, std::shared_ptr<const UnionDescription> block);

  // Passes all blocks to `sink`, in the order in which they first occur in the inputs. A block that
  // only one input has is passed unchanged. Blocks that several inputs have are passed as one
  // united block. inputs: all inputs that were read.
  Status finish(const std::vector<std::size_t>& inputs, MergeSink& sink);

 private:
  struct NamedUnion;
  class Loader;

  NamedUnion* find(const std::string& name) const;
  NamedUnion& entry_of(const OutputName& name);
  DatasetUnion& union_of(NamedUnion& entry, const Metadata& first,
                         const std::vector<std::uint32_t>& levels);
  bool is_along(const NamedUnion& entry, const Metadata& first,
                const std::vector<std::uint32_t>& levels);
  // Returns false if there is nothing to unite yet.
  template <class Keep>
  bool take(NamedUnion& entry, const InputFacts& facts, Keep keep);
  Status unite(NamedUnion& entry, const InputBlock& block);
  Status unite(NamedUnion& entry, const UnionDescription& block);
  Status unite(NamedUnion& entry, const UnionInput& block);
  Status unite_whole(NamedUnion& entry);
  Status unite_first(NamedUnion& entry);
  Status load(NamedUnion& entry);
  Status check_tile(const NamedUnion& entry, const Metadata& metadata);
  void report_missing(FoundConflict found, bool may_fill);
  void note_set_size(NamedUnion& entry, const InputFacts& facts);
  void check_set(const NamedUnion& entry);
  bool check_icebergs(const NamedUnion& entry, std::int64_t size);
  void report_set(const NamedUnion& entry, std::size_t second, std::size_t first, std::string found,
                  std::string expected, bool may_fill);
  std::string missing_numbers(const std::vector<std::size_t>& inputs, std::int64_t count) const;
  void take_note(const NamedUnion& entry, UnionNote note);
  void report_absent(const NamedUnion& entry, const std::vector<std::size_t>& inputs);
  Status add_gaps(const std::vector<std::size_t>& inputs);
  void add_gaps(NamedUnion& entry, const std::string& dimension,
                const std::vector<std::size_t>& inputs);
  const NamedUnion* joined_above(const NamedUnion& entry, std::string_view dimension) const;
  std::optional<std::uint64_t> joined_length(const NamedUnion& entry, std::string_view dimension,
                                             std::size_t input) const;
  Status add_keys(const std::vector<std::size_t>& inputs);
  static KeyColumn column_of(const NamedUnion& entry, VarId variable, std::uint32_t member);
  Status add_events(NamedUnion* events, const std::string& variable,
                    const std::vector<std::size_t>& inputs,
                    const std::set<std::size_t>& in_conflict);
  Status add_numbers(NamedUnion& entry, const std::string& variable,
                     const std::set<std::size_t>& in_conflict);
  void report_key(std::size_t input, std::string object, std::string found, std::string expected);
  Status check_coordinates(const NamedUnion& entry,
                           const std::vector<JoinedCoordinate>& coordinates);
  Status check_along();
  Status check_subset();
  void keep_used_types();
  bool is_in_subset(const NamedUnion& entry) const;
  void note_choice(const NamedUnion& entry);
  void warn_of_notes();
  Status finish(NamedUnion& entry, MergeSink& sink);
  Status count_decompressed(const NamedUnion& entry, const Dataset& all);
  Status take_group(const NamedUnion& entry, const Dataset& group, std::vector<std::byte> body,
                    std::optional<WantedChunks> wanted, MergeSink& sink);

  const std::shared_ptr<SourcePool> views_;
  std::uint64_t held_budget_;
  const ReadAgain read_again_;
  ChunkHelpers* const helpers_;
  // For each variable: the number of inputs whose fill value is lost.
  std::map<std::string, std::size_t> lost_fill_values_;
  const std::shared_ptr<PartitionKey> key_ = std::make_shared<PartitionKey>();
  Source file_;
  DimensionSelections selections_;         // in the blocks of this input
  bool has_along_ = false;                 // whether an input has the dimension of Join::along
  bool has_unlimited_ = false;             // see InputFacts
  std::vector<std::uint8_t> subset_used_;  // DatasetSubset::used of all blocks
  std::shared_ptr<SpoolFile> chunks_;      // chunk tables and chunks that were encoded again
  std::vector<std::unique_ptr<NamedUnion>> entries_;
  std::unordered_map<std::string, NamedUnion*> by_name_;
};

}  // namespace nmb
