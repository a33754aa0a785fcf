// BlockChooser: applies PackOptions::choice to the blocks of inputs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nmb/communicator.h"
#include "nmb/find.h"
#include "nmb/merge.h"
#include "nmb/reader.h"
#include "nmb/status.h"

namespace nmb {

class BlockChooser {
 public:
  // `choice` must outlive the object. Errors: kUsage for an invalid expression.
  static Result<BlockChooser> make(const BlockChoice& choice);

  // Begins the next input. reader: nullptr if the input is not an NMB file. Must outlive the visits
  // of the input's blocks.
  Status begin(const Reader* reader);
  // Returns whether the next block is packed. The blocks of an input are passed in the order of
  // their names. order and load: as in BlockFinder::holds().
  Result<bool> wants(std::string_view name, std::uint64_t order, BlockFinder::Load load);
  // Ends the input. file: the path of the input. Returns the text of a warning, or nullopt.
  std::optional<std::string> end(const std::string& file);

  // Returns whether wants() depends on the inputs before the current input.
  bool counts() const { return choice_->shards > 1; }
  // Returns the number of blocks for which all conditions except the shard hold.
  std::uint64_t position() const { return position_; }
  // Sets the number of such blocks in all inputs before the next input, and forgets which blocks
  // were chosen.
  void restart(std::uint64_t position);

  // Collective. Checks the names that the options contain against the blocks of all inputs, and
  // sets *failure, unless it is set already, if a name is wrong or if no block is packed. Adds
  // warnings on rank 0. output: the path of the output, for messages.
  Status check(Communicator& ranks, const std::string& output, Status* failure,
               PackReport* report) const;

 private:
  explicit BlockChooser(const BlockChoice& choice) : choice_(&choice) {}
  Result<bool> has_conditions(std::string_view name, std::uint64_t order, BlockFinder::Load load);
  std::optional<std::string> missing_names(std::string_view found) const;

  const BlockChoice* choice_;
  std::vector<std::string_view> names_;  // BlockChoice::names, sorted, each once
  std::string has_name_;                 // for each of names_: 1 if an input has it, else 0
  std::optional<FindExpression> where_;
  std::optional<BlockFinder> finder_;  // of the current input
  // For each name in the expression: 1 if a block has it, else 0.
  std::string has_value_;
  // For each name in the expression: the number of inputs with looked-at blocks in which no block
  // has it.
  std::vector<std::uint64_t> inputs_without_;
  std::uint64_t position_ = 0, chosen_ = 0, left_out_ = 0;
  std::uint64_t looked_at_ = 0;  // number of blocks for which the expression was evaluated
};

}  // namespace nmb
