// BlockChooser: applies Pack::choice to the blocks of inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/named_blocks.h"
#include "find/find.h"
#include "merge/reporting/merge.h"
#include "parallel/communicator.h"
#include "reader/file_reader.h"
#include "sources/value_source.h"
#include "wire/failure.h"

namespace nmb {

class BlockChooser {
 public:
  // kAlone: each block is chosen for itself. kWithBelow: a chosen group brings the blocks below it,
  // unless BlockChoice::excludes leaves them out; a group that is excluded, or that belongs to
  // another shard, takes the blocks below it along.
  enum class Groups : std::uint8_t { kAlone, kWithBelow };
  // `choice` must outlive the object. Errors: kUsage for an invalid expression.
  static Result<BlockChooser> make(const BlockChoice& choice, Groups groups = Groups::kAlone);

  // Returns for each block of the next input, in the order of names, whether it is packed. reader:
  // nullptr if the input is not an NMB file. prefix: the number of bytes before the path of a group
  // in the name of its block. Adds warnings about blocks for which the expression cannot be
  // decided.
  Result<std::vector<bool>> choose(const hdf5::NamedBlocks& blocks, const FileReader* reader,
                                   std::size_t prefix, const std::string& file,
                                   std::vector<std::string>* warnings);
  // Returns whether the only block of the next input, which is a classic file, is packed. Adds
  // warnings as choose() does.
  Result<bool> choose_classic(const Source& file, std::vector<std::string>* warnings);

  // Returns whether the choice depends on the inputs before the current input.
  bool counts() const {
    return choice_->shard && !choice_->shard->is_all() && !choice_->shard->seed;
  }
  // Returns the number of blocks for which all conditions except the shard hold.
  std::uint64_t position() const { return position_; }
  // Sets the number of such blocks in all inputs before the next input, and forgets which blocks
  // were chosen.
  void restart(std::uint64_t position);

  // Collective. Checks the names in the options against the blocks of all inputs. If a name is
  // wrong or no block is packed, sets *failure, unless it is set already. Adds warnings on rank 0.
  // output: the path of the output, for messages.
  Status check(Communicator& ranks, const std::string& output, Status* failure,
               PackReport* report) const;

 private:
  // Why the blocks below a group are chosen or left out.
  enum class GroupChoice : std::uint8_t { kChosen, kExcluded, kOfOtherShard };

  BlockChooser(const BlockChoice& choice, Groups groups) : choice_(&choice), groups_(groups) {}
  Status begin(const FileReader* reader);
  Result<bool> wants(std::string_view name, std::uint64_t order, BlockFinder::Load load);
  Result<bool> wants_group(const hdf5::NamedBlocks& blocks, const BlockEntry& entry,
                           std::string_view name, BlockFinder::Load load);
  void end(const std::string& file, std::vector<std::string>* warnings);
  Result<bool> has_conditions(std::string_view name, std::uint64_t order, BlockFinder::Load load);
  Result<bool> is_excluded(std::string_view name) const;
  bool is_listed(std::string_view name);
  std::optional<std::string> missing_names(std::string_view found) const;

  const BlockChoice* choice_;
  Groups groups_;
  std::map<std::string, GroupChoice, std::less<>>
      group_choices_;                    // of groups of the current input, by name
  std::vector<std::string_view> names_;  // BlockChoice::names, sorted, each once
  std::string has_name_;                 // for each of names_: 1 if an input has it, else 0
  std::optional<FindExpression> where_;
  std::optional<BlockFinder> finder_;  // of the current input
  // For each name in the expression: 1 if a block has it, else 0.
  std::string has_value_;
  // FindExpression::Met of each part of the expression, in all blocks: 1 for alike, 2 for unlike.
  std::string met_;
  // For each name in the expression: the number of inputs in which the expression was evaluated,
  // but no block has the name.
  std::vector<std::uint64_t> inputs_without_;
  std::uint64_t position_ = 0, chosen_ = 0, left_out_ = 0;
  std::uint64_t looked_at_ = 0;  // number of blocks for which the expression was evaluated
};

}  // namespace nmb
