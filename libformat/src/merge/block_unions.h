// BlockUnions: blocks that several inputs may have: what the inputs say of each is kept until all
// are known, and is then one block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "merge/classic_form.h"
#include "merge/conflict_list.h"
#include "merge/dataset_union.h"
#include "merge/input_reader.h"
#include "nmb/pack.h"

namespace nmb {

// One block of what inputs say: that of one input as it is, or a union.
struct UnitedBlocks {
  const std::string& name;
  const std::string& group;  // in the first input that has it
  std::size_t input = 0;     // that one
  InputBlock* whole = nullptr;
  const Dataset* united = nullptr;
  std::optional<std::uint64_t> samples{};  // of the union, where NMB files have recorded them
};

class BlockUnions {
 public:
  // conflicts, report: must outlive this.
  BlockUnions(const PackOptions& options, ConflictList& conflicts, PackReport& report,
              std::shared_ptr<SourcePool> views);
  ~BlockUnions();

  // A block of the input that is looked at, as it is.
  Status add(const std::string& name, InputBlock& block);
  // Some of one.
  Status add(const std::string& name, const std::string& group, const DatasetUnion::Member& member);
  using Visit = std::function<Status(const UnitedBlocks&)>;
  // All blocks, in the order of their first inputs. inputs: those that were looked at.
  Status finish(const std::vector<std::size_t>& inputs, const Visit& visit);

 private:
  struct Entry;

  Entry& entry_of(const std::string& name, const std::string& group);
  DatasetUnion& union_of(Entry& entry);
  Status unite(Entry& entry, const InputBlock& block);
  Status unite_whole(Entry& entry);
  void take_note(const Entry& entry, UnionNote note);
  void tell_absent(const Entry& entry, const std::vector<std::size_t>& inputs);
  Status check_coordinates(const Entry& entry, const Dataset& all);
  void warn_of_notes();
  Status finish(Entry& entry, const Visit& visit);

  const PackOptions& options_;
  ConflictList& conflicts_;
  PackReport& report_;
  const std::shared_ptr<SourcePool> views_;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::unordered_map<std::string, Entry*> by_name_;
};

// What a block that came from HDF5 loses as a classic dataset.
void tell_losses(const InputBlock& block, const ClassicForm& form, ConflictList& conflicts);

}  // namespace nmb
